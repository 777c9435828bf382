// A list of any length of which only the rows in view exist.

import { h } from './view.js';
import { invalidate } from './store.js';

const BEYOND = 12;

export class Window {
  constructor() {
    this.top = 0;
    this.height = 800;
    /** The first row that was drawn, and what is added to an index to name its element. */
    this.first = 0;
    this.last = 0;
    this.shift = 0;
    /** @type {HTMLElement | null} */
    this.el = null;
    this.observer = new ResizeObserver(() => {
      if (!this.el || this.height === this.el.clientHeight) return;
      this.height = this.el.clientHeight;
      invalidate();
    });
  }

  /** @param {number} [to] */
  scroll(to = 0) {
    if (this.el) this.el.scrollTop = to;
    this.top = to;
    invalidate();
  }

  /** Brings a row into view. @param {number} index @param {number} row its height */
  reveal(index, row) {
    if (!this.el) return;
    const head = row;
    if (index * row < this.top) this.scroll(index * row);
    else if ((index + 1) * row + head > this.top + this.height) this.scroll((index + 1) * row + head - this.height);
  }

  /**
   * `before` counts the rows that came in on top, so that the others keep their elements.
   * @param {{count: number, before: number, row: number, label: string, head: import('./view.js').Child, draw: (index: number, key: number) => import('./view.js').Child, need: (end: number) => void}} given
   */
  view({ count, before, row, label, head, draw, need }) {
    const first = Math.max(0, Math.min(Math.floor(this.top / row), count - 1) - BEYOND);
    const last = Math.min(count, Math.ceil((this.top + this.height) / row) + BEYOND);
    need(last);
    const [from, to] = [first - before, last - before];
    // After a jump no row is in view that was before: their elements are used again instead of made anew.
    if (from >= this.last || to <= this.first) this.shift += this.first - from;
    [this.first, this.last] = [from, to];
    const rows = [];
    for (let index = first; index < last; index++) rows.push(draw(index, index - before + this.shift));
    return h('div.v-scroll', {
      tabindex: 0, role: 'table', 'aria-label': label, 'aria-rowcount': count + 1,
      ref: (/** @type {any} */ el) => {
        if (this.el) this.observer.unobserve(this.el);
        this.el = el;
        if (el) {
          this.observer.observe(el);
          el.scrollTop = this.top;
        }
      },
      onscroll: () => {
        if (this.el) this.top = this.el.scrollTop;
        invalidate();
      },
    },
    h('div.v-head', { role: 'row' }, head),
    h('div.v-space', { role: 'rowgroup', style: { height: `${count * row}px` } }, h('div.v-rows', { role: 'presentation', style: { transform: `translateY(${first * row}px)` } }, rows)));
  }
}
