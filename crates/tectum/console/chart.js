// What all pictures share: a frame with a title, a unit and the same as a table; a width that follows the window; scales.

import { h } from './view.js';
import { invalidate } from './store.js';
import { clock, exactly, millis } from './format.js';

/** @type {Map<string, number>} */
const widths = new Map();
/** @type {Map<Element, string>} */
const names = new Map();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    const name = names.get(target);
    const width = Math.floor(contentRect.width);
    if (name && widths.get(name) !== width) {
      widths.set(name, width);
      invalidate();
    }
  }
});

/** Pictures grow with the type, which is larger on a very large screen. */
const scale = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 14;

/** @param {number} width @param {number} height both as if type had its usual size @param {Record<string, any>} props @param {import('./view.js').Child[]} children */
export const plot = (width, height, props, ...children) => h('svg.plot', { ...props, viewBox: `0 0 ${width} ${height}`, width: width * scale(), height: height * scale() }, children);

/** A drawing that knows its width. @param {string} name @param {number} height @param {(width: number) => import('./view.js').Child} draw */
export const sized = (name, height, draw) =>
  h('div.sized', {
    style: { 'min-height': `${height * scale()}px` },
    ref(/** @type {Element | null} */ el) {
      if (el) {
        names.set(el, name);
        observer.observe(el);
      } else {
        for (const [each, of] of names) if (of === name && !each.isConnected) observer.unobserve(each), names.delete(each);
      }
    },
  }, widths.get(name) ? draw(/** @type {number} */ (widths.get(name)) / scale()) : null);

/** @type {Set<string>} */
const asTable = new Set();

/**
 * A picture, its legend, and the table that says the same.
 * @param {{name: string, title: import('./view.js').Child, unit?: string, legend?: [string, string][], columns: string[], rows: () => any[][], none?: string}} about @param {import('./view.js').Child} picture
 */
export function figure(about, picture) {
  const table = asTable.has(about.name);
  const flip = () => {
    table ? asTable.delete(about.name) : asTable.add(about.name);
    invalidate();
  };
  const rows = about.none ? [] : table ? about.rows() : [];
  return h('figure.chart', { key: about.name },
    h('figcaption', null, h('h2', null, about.title), about.unit && h('span.note', null, about.unit),
      about.legend && h('span.legend', null, about.legend.map(([kind, word]) => h('span', null, h('i', { class: `swatch ${kind}` }), word))),
      h('button.btn.quiet.flip', { onclick: flip, 'aria-pressed': table ? 'true' : 'false' }, table ? 'Picture' : 'Table')),
    about.none ? h('p.chart-none', null, about.none)
      : table
        ? h('div.table-box', { tabindex: 0, role: 'group', 'aria-label': 'The same as a table' }, h('table', null,
          h('thead', null, h('tr', null, about.columns.map((head, at) => h('th', { scope: 'col', class: at ? 'num' : '' }, head)))),
          h('tbody', null, rows.map((row) => h('tr', null, row.map((cell, at) => h('td', { class: at ? 'num' : '' }, cell)))))))
        : picture);
}

/** Round values from 0 to above the largest. @param {number} most @param {number} [count] */
export function ticks(most, count = 3) {
  if (!(most > 0)) return [0, 1];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= rough) ?? rough;
  const out = [];
  for (let at = 0; at < most + step; at += step) out.push(+at.toPrecision(12));
  return out;
}

/** Words for a span of time on an axis: where a day ends, its date. @param {any} at @param {number} span */
export const timeLabel = (at, span) => (span > 2 * 86_400_000 ? exactly(at).slice(0, 6) : clock(at).slice(0, span > 600_000 ? 5 : 8));

/** Indices of an axis that get a word. @param {number} length @param {number} width */
export function labelled(length, width) {
  const every = Math.max(1, Math.ceil(length / Math.max(2, Math.floor(width / 90))));
  return Array.from({ length: Math.ceil(length / every) }, (_, at) => at * every);
}

/** @param {any[]} list @param {(item: any) => any} at */
export const span = (list, at) => (list.length ? millis(at(list[list.length - 1])) - millis(at(list[0])) : 0);
