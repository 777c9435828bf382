// Amounts by name as bars, the largest first: what the model was sent, and what it sent.

import { h } from './view.js';
import { figure } from './chart.js';
import { number, short } from './format.js';
import { line, plain } from './text.js';

const MOST = 10;

/** @param {{name: string, title: string, unit: string, words: [string, string], items: {label: string, href?: string, first: number, second: number}[], none?: string}} given */
export function bars({ name, title, unit, words, items, none }) {
  const all = [...items].sort((a, b) => b.first + b.second - a.first - a.second).filter((item) => item.first + item.second > 0);
  const top = all[0] ? all[0].first + all[0].second : 1;
  const few = all.slice(0, MOST);
  const percent = (/** @type {number} */ value) => `${((value / top) * 100).toFixed(2)}%`;
  return figure({
    name, title, unit, legend: words[1] ? [['first', words[0]], ['second', words[1]]] : undefined, none: all.length ? undefined : none ?? 'Nothing yet.',
    columns: ['Name', ...words.filter(Boolean)], rows: () => all.map((item) => [line(item.label), number(item.first), ...(words[1] ? [number(item.second)] : [])]),
  }, h('ol.bars', null, few.map((item) =>
    h('li', { key: item.label, 'data-tip': `${plain(item.label)}\n${number(item.first)} ${words[0]}${words[1] ? `, ${number(item.second)} ${words[1]}` : ''}` },
      h('span.bar-name', null, item.href ? h('a', { href: item.href }, line(item.label)) : line(item.label)),
      h('span.bar-track', { 'aria-hidden': 'true' }, h('i.first', { style: { width: percent(item.first) } }), h('i.second', { style: { width: percent(item.second) } })),
      h('span.bar-value', null, short(item.first + item.second)))),
  all.length > few.length && h('li.bar-rest', null, `and ${all.length - few.length} more, in the table`)));
}
