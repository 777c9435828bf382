// Shows values of strangers: JSON with its structure, long texts complete but not all at once.

import { h } from './view.js';
import { invalidate } from './store.js';
import { count, number } from './format.js';
import { plain, shown } from './text.js';

/** Characters and members that are drawn before somebody asks for the rest. */
const LONG = 8000;
const MANY = 100;
/** @type {Set<string>} */
const opened = new Set();

/** @param {string} key @param {string} word */
const more = (key, word) =>
  h('button.more', {
    key: `more-${key}`,
    onclick() {
      opened.add(key);
      invalidate();
    },
  }, word);

/** A text, in full on request. @param {string} text @param {string} key @param {string} [label] */
export function longText(text, key, label = 'Text') {
  const cut = text.length > LONG && !opened.has(key);
  return h('div.long', null, h('pre.code', { tabindex: 0, role: 'group', 'aria-label': plain(label) }, shown(cut ? text.slice(0, LONG) : text) || h('span.note', null, 'empty')), cut && more(key, `Show all ${number(text.length)} characters`));
}

/** Any JSON value. @param {any} value @param {string} key where the value stands, so that what was opened stays open */
export const json = (value, key) => h('div.json', { tabindex: 0, role: 'group', 'aria-label': 'JSON' }, node(value, key, 0));

/** @param {any} value @param {string} key @param {number} depth @returns {import('./view.js').Child} */
function node(value, key, depth) {
  if (value === null || typeof value === 'boolean') return h('span.s-key', null, String(value));
  if (typeof value === 'number') return h('span.s-num', null, String(value));
  if (typeof value === 'string') return text(value, key);
  const list = Array.isArray(value);
  const names = list ? value.map((_, at) => at) : Object.keys(value);
  const [open, close] = list ? '[]' : '{}';
  if (!names.length) return h('span', null, open + close);
  const few = names.length > MANY && !opened.has(key) ? names.slice(0, MANY) : names;
  return h('details', { open: depth < 3 && names.length <= 40 },
    h('summary', null, open, h('span.note', null, ` ${count(names.length, list ? 'item' : 'member')} `)),
    h('ul', null, few.map((name) => h('li', { key: name }, !list && [h('span.name', null, shown(JSON.stringify(name))), ': '], node(value[name], `${key}.${name}`, depth + 1)))),
    few.length < names.length && more(key, `Show all ${number(names.length)}`),
    close);
}

/** @param {string} value @param {string} key */
function text(value, key) {
  const cut = value.length > LONG && !opened.has(key);
  const told = cut ? value.slice(0, LONG) : value;
  const body = told.includes('\n') ? h('span.s-str.block', null, shown(told)) : h('span.s-str', null, '"', shown(told), '"');
  return [body, cut && more(key, `Show all ${number(value.length)} characters`)];
}
