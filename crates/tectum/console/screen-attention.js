// Attention: what holds it over time, the news that were told, and why; organs can be pinned and muted.

import { h } from './view.js';
import { action, empty, mark, page, panel } from './parts.js';
import { get, post } from './net.js';
import { hear, invalidate, onSnapshot, state } from './store.js';
import { when } from './format.js';
import { figure, plot, sized } from './chart.js';
import { json } from './values.js';
import { line, plain, shown } from './text.js';

/** @type {any} */
let value = null;
/** @type {any} */
let trouble = null;
let off = false;
let open = false;
const act = action();

async function load() {
  try {
    value = await get('/api/attention');
    off = value.on === false;
    trouble = null;
  } catch (error) {
    off = /** @type {any} */ (error).status === 404;
    trouble = off ? null : error;
  }
  invalidate();
}
hear((event) => open && event.kind === 'attention.news' && void load());
onSnapshot(() => open && void load());

/** @type {ConsoleScreen} */
export const attention = {
  id: 'attention',
  name: 'Attention',
  enter() {
    open = true;
    void load();
  },
  leave: () => void (open = false),
  view: () => page({ title: 'Attention', sub: 'What changes around the agent, and what of it was told' },
    act.show(),
    off
      ? empty('Attention is off', ['It watches files, commands and servers, and tells the model only what matters. Switch it on in tectum.toml: ', h('code', null, '[attention] organs = "internal"'), '.'])
      : trouble ? h('div', null, shown(trouble.message)) : value ? [organs(value.organs ?? []), news(value.news ?? [])] : null),
};

/** @param {any} organ @param {any} body */
const change = (organ, body) =>
  void act.run(organ.name, async () => {
    await post(`/api/attention/organs/${encodeURIComponent(organ.name)}`, body);
    await load();
  });

/** @param {any[]} list */
function organs(list) {
  if (!list.length) return empty('No organ watches anything yet');
  const salience = (/** @type {any} */ organ) => (organ.salience ?? []).map((/** @type {any} */ each) => (typeof each === 'number' ? each : each.value ?? 0));
  const most = Math.max(0.001, ...list.flatMap(salience));
  return figure({
    name: 'salience', title: 'Salience', unit: 'by organ, over time', columns: ['Organ', 'Now', 'State'],
    rows: () => list.map((organ) => [line(organ.name), (salience(organ).at(-1) ?? 0).toFixed(2), stateMark(organ)]),
  }, h('ul.organs', null, list.map((organ) => {
    const values = salience(organ);
    return h('li', { key: organ.name, class: organ.muted ? 'off' : '' },
      h('div', null, h('b', null, line(organ.name)), reading(organ.readings?.at(-1))), stateMark(organ),
      sized(`organ-${organ.name}`, 34, (width) => plot(width, 34, { role: 'img', 'aria-label': `Salience of ${plain(organ.name)}` },
        h('line.grid', { x1: 0, x2: width, y1: 33, y2: 33 }),
        values.map((/** @type {number} */ each, /** @type {number} */ at) => h('rect.calls', { x: (at * width) / values.length, width: Math.max(1, width / values.length - 1), y: 33 - (each / most) * 30, height: (each / most) * 30, 'data-tip': each.toFixed(2) })))),
      h('span.num', null, (values.at(-1) ?? 0).toFixed(2)),
      h('span', null,
        h('button.btn.quiet', { disabled: !state.mayAnswer, 'aria-pressed': organ.pinned ? 'true' : 'false', onclick: () => change(organ, { pin: !organ.pinned }) }, organ.pinned ? 'Unpin' : 'Pin'),
        h('button.btn.quiet', { disabled: !state.mayAnswer, 'aria-pressed': organ.muted ? 'true' : 'false', onclick: () => change(organ, { mute: !organ.muted }) }, organ.muted ? 'Unmute' : 'Mute')));
  })));
}

/** @param {any} organ */
const stateMark = (organ) => {
  const state = organ.muted ? 'muted' : organ.pinned ? 'pinned' : plain(organ.state);
  return mark({ muted: 'off', pinned: 'info', waiting: 'busy', stale: 'warn' }[state] ?? /** @type {any} */ ('ok'), state);
};

/** What an organ saw last. @param {any} last */
const reading = (last) => last && h('span.note.last', { title: plain(JSON.stringify(last)) }, when(last.at), last.path && [': ', line(last.path)]);

/** @param {any[]} list */
const news = (list) =>
  panel('News', {}, list.length
    ? h('ul.rows.news', null, list.map((each) => h('li', { key: each.id },
      h('div', null, h('p', null, shown(each.sentence)), h('p.note', null, each.urgent && [mark('warn', 'urgent'), ' · '], line(each.organ), ' · ', when(each.at), each.told?.length ? each.told.map((/** @type {any} */ told) => [' · told ', line(told.client), ' ', line(told.how), told.seen ? ', seen' : '']) : ' · not told')),
      each.why && h('details', null, h('summary', null, 'Why'), json(each.why, `why-${each.id}`)))))
    : empty('No news yet', 'Sentences that were worth telling the model appear here.'));
