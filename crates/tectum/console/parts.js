// The pieces that screens are put together from: pages, panels, marks, lists of facts, messages, things being read.

import { h } from './view.js';
import { invalidate } from './store.js';
import { words } from './net.js';
import { icon } from './icons.js';
import { plain, shown } from './text.js';

/** @typedef {import('./view.js').Child} Child */

/**
 * A screen: its title, a sentence, actions, and what it shows.
 * @param {{title: Child, sub?: Child, actions?: Child, cli?: string, class?: string, back?: [string, string]}} head @param {Child[]} body
 */
export const page = (head, ...body) =>
  h('div.page', { class: head.class },
    h('header.page-head', null,
      h('div.page-title', null, head.back && h('a.back', { href: head.back[0] }, icon('back'), head.back[1]), h('h1', { tabindex: -1 }, head.title), head.sub && h('p.sub', null, head.sub)),
      h('div.page-actions', null, head.actions, head.cli && copy(head.cli, 'Copy as command'))),
    body);

/** @param {Child} title @param {{actions?: Child, note?: Child, class?: string, key?: any, flush?: boolean}} more @param {Child[]} body */
export const panel = (title, more, ...body) =>
  h('section.panel', { class: `${more.class ?? ''}${more.flush ? ' flush' : ''}`, key: more.key },
    title && h('header.panel-head', null, h('h2', null, title), more.note && h('span.note', null, more.note), more.actions && h('div.panel-actions', null, more.actions)),
    h('div.panel-body', null, body));

/** What stands where nothing is: a fact, and what to do. @param {Child} title @param {Child} [text] @param {Child} [action] */
export const empty = (title, text, action) => h('div.empty', null, h('p.empty-title', null, title), text && h('p', null, text), action);

/** @param {any} error @param {() => void} [retry] */
export function failed(error, retry) {
  const { message, hint } = words(error);
  return h('div.failed', { role: 'alert' }, icon('warn'), h('div', null, h('p.failed-title', null, shown(message)), hint && h('p', null, shown(hint))), retry && h('button.btn', { onclick: retry }, 'Try again'));
}

export const loading = (lines = 4) => h('div.loading', { 'aria-busy': 'true', 'aria-label': 'Reading' }, Array.from({ length: lines }, () => h('div.bone', null)));

/**
 * A short mark: a word with a sign of its own, so that colour is never the only difference.
 * @param {'ok' | 'bad' | 'warn' | 'info' | 'off' | 'busy'} kind @param {Child} word @param {string} [title]
 */
export const mark = (kind, word, title) => h('span.mark', { class: `is-${kind}`, title }, icon(`mark-${kind}`), h('span', null, word));

/** @param {string} href @param {Child} text @param {Record<string, any>} [more] */
export const anchor = (href, text, more = {}) => h('a', { href, ...more }, text);

/** @type {string | null} */
let copied = null;
/** A button that puts a text on the clipboard. @param {string} text @param {string} label */
export const copy = (text, label) =>
  h('button.btn.quiet.copy', {
    title: plain(text),
    async onclick() {
      await navigator.clipboard.writeText(text);
      copied = text;
      invalidate();
      setTimeout(() => {
        copied = null;
        invalidate();
      }, 1500);
    },
  }, icon(copied === text ? 'check' : 'copy'), h('span', null, copied === text ? 'Copied' : label));

/** Names and values below each other. @param {[string, Child][]} pairs */
export const facts = (pairs) => h('dl.facts', null, pairs.filter(([, value]) => value !== null && value !== undefined && value !== '').map(([name, value]) => [h('dt', { key: `t-${name}` }, name), h('dd', { key: name }, value)]));

/** Large numbers beside each other. @param {{label: string, value: Child, note?: Child, kind?: string}[]} items */
export const figures = (items) => h('dl.figures', null, items.map((item) => h('div.fig', { class: item.kind }, h('dt', null, item.label), h('dd', null, item.value), h('dd.fig-note', null, item.note ?? ' '))));

/** @param {string} label @param {[string, Child][]} items @param {string} current @param {(id: string) => void} choose */
export const segments = (label, items, current, choose) =>
  h('div.segments', { role: 'group', 'aria-label': label }, items.map(([id, text]) => h('button', { 'aria-pressed': id === current ? 'true' : 'false', onclick: () => choose(id) }, text)));

/** A switch with a word. @param {string} label @param {boolean} on @param {(on: boolean) => void} change @param {boolean} [disabled] */
export const toggle = (label, on, change, disabled) =>
  h('button.switch', { role: 'switch', 'aria-checked': on ? 'true' : 'false', 'aria-label': label, disabled, onclick: () => change(!on) }, h('span.knob', null));

/**
 * Something that is read from the house. An answer that a later request overtook is dropped.
 * @template T @param {() => Promise<T>} read
 */
export function resource(read) {
  let turn = 0;
  const self = {
    /** @type {T | null} */
    value: null,
    /** @type {any} */
    error: null,
    busy: false,
    async load() {
      const mine = ++turn;
      self.busy = true;
      invalidate();
      try {
        const value = await read();
        if (mine !== turn) return;
        self.value = value;
        self.error = null;
      } catch (error) {
        if (mine !== turn) return;
        self.error = error;
      }
      self.busy = false;
      invalidate();
    },
    clear() {
      turn++;
      self.value = null;
      self.error = null;
      self.busy = false;
    },
    /** What to draw: the value, or why there is none. @param {(value: T) => Child} draw */
    show(draw, lines = 4) {
      if (self.error && self.value === null) return failed(self.error, () => void self.load());
      if (self.value === null) return loading(lines);
      return [self.error && failed(self.error, () => void self.load()), draw(self.value)];
    },
  };
  return self;
}

/**
 * A thing a person does that takes a moment: its button is off meanwhile, and what went wrong stays until the next try.
 */
export function action() {
  const self = {
    /** @type {any} */
    busy: null,
    /** @type {any} */
    error: null,
    /** @type {Child} */
    done: null,
    /** @param {any} name @param {() => Promise<Child | void>} work */
    async run(name, work) {
      if (self.busy !== null) return;
      self.busy = name;
      self.error = self.done = null;
      invalidate();
      try {
        self.done = (await work()) ?? null;
      } catch (error) {
        self.error = error;
      }
      self.busy = null;
      invalidate();
    },
    show: () => [self.error && failed(self.error), self.done && h('div.done', { role: 'status' }, icon('check'), h('div', null, self.done))],
  };
  return self;
}
