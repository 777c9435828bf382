// Activity: every call, newest first, while they happen; filters; a call's detail beside the list.

import { h } from './view.js';
import { CallList } from './call-list.js';
import { Window } from './virtual.js';
import { callPane, loadCall } from './call-pane.js';
import { empty, failed, mark, page } from './parts.js';
import { icon } from './icons.js';
import { hear, onSnapshot, state } from './store.js';
import { go, link } from './router.js';
import { clock, count, exactly, number, quoted, short, took } from './format.js';
import { brief, line, plain, shown } from './text.js';
import { setKeys } from './keys.js';

const list = new CallList();
const rows = new Window();
let open = false;
/** @type {import('./router.js').Place} */
let here = { screen: 'activity', item: null, query: {} };
let typed = 0;

/** @type {Record<string, [Parameters<typeof mark>[0], string]>} */
const VERDICTS = { allowed: ['ok', 'allowed'], asked: ['info', 'asked'], denied: ['bad', 'denied'], refused: ['warn', 'refused'] };
const FAULT = /** @type {[Parameters<typeof mark>[0], string]} */ (['bad', 'failed']);

hear((event) => {
  if (open && event.kind === 'call.ended') list.live({ at: event.at, ...event.data }, rows.top < 4);
});
onSnapshot(() => open && void list.load());
setKeys('activity', {
  j: ['next call', () => step(1)],
  k: ['call before', () => step(-1)],
});

/** @param {number} by */
function step(by) {
  const at = list.rows.findIndex((each) => each.call === here.item);
  const to = list.rows[at < 0 ? 0 : at + by];
  if (!to) return;
  rows.reveal(list.rows.indexOf(to), rowHeight());
  go(link('activity', to.call, here.query), here.item !== null);
}

/** The height of a row as the style sheet has it. */
const rowHeight = () => Math.round(parseFloat(getComputedStyle(document.documentElement).fontSize) * (document.documentElement.dataset.density === 'compact' ? 1.86 : 2.43));

/** @param {string} name @param {string} value */
const choose = (name, value) => go(link('activity', here.item, { ...here.query, [name]: value }), true);

/** @type {ConsoleScreen} */
export const activity = {
  id: 'activity',
  name: 'Activity',
  enter(place, arrived) {
    const same = JSON.stringify(place.query) === JSON.stringify(list.filter);
    here = place;
    if (place.item) loadCall(place.item);
    if (arrived || !same || !open) {
      open = true;
      if (!same) rows.scroll(0);
      void list.load(place.query);
    }
  },
  leave() {
    open = false;
    rows.top = 0;
    // What was read far below is not kept while nobody looks.
    list.rows.length = Math.min(list.rows.length, 200);
  },
  view() {
    const filtered = Object.values(here.query).some(Boolean);
    const sub = list.ready ? `${list.next !== null && list.total === list.rows.length ? 'at least ' : ''}${count(list.total, 'call')}${filtered ? ' with this filter' : ' on record'}, ${state.calls.size} in flight` : ' ';
    return page({ title: 'Activity', sub, class: `fill activity${here.item ? ' with-pane' : ''}`, cli: command(filtered) },
      filters(),
      h('div.panes', null,
        h('div.list-pane', null, list.error && failed(list.error, () => void list.load()), fresh(), !list.ready ? null : list.total === 0 ? nothing(filtered) : calls()),
        here.item && h('aside.pane', { 'aria-label': 'Call', key: 'pane' }, callPane(here.item, link('activity', null, here.query)))));
  },
};

/** The same at a terminal. @param {boolean} filtered */
function command(filtered) {
  if (!filtered) return 'tectum log tail -f';
  const { q, tool, client, session, verdict, failed } = here.query;
  const options = Object.entries({ tool, client, session, verdict: { allowed: 'allow', asked: 'ask' }[verdict] ?? (verdict && 'deny') }).filter(([, value]) => value).map(([name, value]) => ` --${name} ${quoted(value)}`);
  return `tectum log search${q ? ` ${quoted(q)}` : ''}${options.join('')}${failed ? ' --failed' : ''}`;
}

const nothing = (/** @type {boolean} */ filtered) =>
  filtered
    ? empty('No call fits this filter', 'Take a word or a condition away.', h('button.btn', { onclick: () => go(link('activity'), true) }, 'Show all calls'))
    : empty('No call yet', ['Connect an agent, and its calls appear here as they happen: ', h('code', null, 'tectum connect'), ' writes the entry for your client.']);

/** Newer calls do not push away what somebody reads. */
const fresh = () => (list.fresh ? h('button.fresh', { onclick: () => (rows.scroll(0), void list.load()) }, icon('back'), `${number(list.fresh)} new ${list.fresh === 1 ? 'call' : 'calls'}`) : null);

function calls() {
  const head = [['', 'State'], ['time', 'Time'], ['tool', 'Tool'], ['subject', 'Subject'], ['opt', 'Client'], ['opt num', 'Tokens'], ['num', 'Took']];
  return rows.view({
    count: list.total, before: list.prepended, row: rowHeight(), label: 'Calls', need: (end) => void list.need(end),
    head: head.map(([kind, word]) => h('span', { class: kind, role: 'columnheader' }, word)),
    draw(index, key) {
      const call = list.rows[index];
      if (!call) return h('div.v-row.wait', { key, role: 'row', 'aria-rowindex': index + 2 }, h('span', { role: 'cell' }, '…'));
      const on = call.call === here.item;
      const [kind, word] = call.ok || call.verdict === 'denied' || call.verdict === 'refused' ? VERDICTS[call.verdict] ?? ['ok', 'ok'] : FAULT;
      const to = link('activity', call.call, here.query);
      return h('div.v-row', { key, role: 'row', 'aria-rowindex': index + 2, class: on ? 'on' : '', onclick: () => go(to) },
        h('span', { role: 'cell' }, mark(kind, word, call.message ? plain(call.message) : undefined)),
        h('span.time', { role: 'cell', title: exactly(call.at) }, clock(call.at)),
        h('span.tool', { role: 'cell' }, h('a', { href: to, 'aria-current': on ? 'true' : undefined }, line(call.tool))),
        h('span.subject', { role: 'cell', title: plain(call.subject) }, line(call.subject), !call.ok && call.message && h('span.why', null, brief(call.message))),
        h('span.opt', { role: 'cell' }, line(call.client)),
        h('span.opt.num', { role: 'cell' }, short((call.tokens_in ?? 0) + (call.tokens_out ?? 0))),
        h('span.num', { role: 'cell' }, took(call.took_ms)));
    },
  });
}

function filters() {
  const pick = (/** @type {'tool' | 'server' | 'client'} */ name, /** @type {string} */ all) => {
    const values = new Set(list.seen[name]);
    if (here.query[name]) values.add(here.query[name]);
    return h('select', { 'aria-label': name, value: here.query[name] ?? '', class: here.query[name] ? 'set' : '', onchange: (/** @type {any} */ event) => choose(name, event.target.value) },
      h('option', { value: '' }, all), [...values].sort().map((value) => h('option', { key: value, value }, plain(value))));
  };
  return h('form.filters', { role: 'search', onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    h('div.search', null, icon('search'), h('input', {
      type: 'search', placeholder: 'Words in tool, subject or message', 'aria-label': 'Words', value: here.query.q ?? '', autocomplete: 'off', spellcheck: 'false',
      oninput(/** @type {any} */ event) {
        const turn = ++typed;
        const text = event.target.value;
        setTimeout(() => turn === typed && choose('q', text), 200);
      },
    })),
    pick('tool', 'All tools'), pick('server', 'All servers'), pick('client', 'All clients'),
    h('select', { 'aria-label': 'verdict', value: here.query.verdict ?? '', class: here.query.verdict ? 'set' : '', onchange: (/** @type {any} */ event) => choose('verdict', event.target.value) },
      h('option', { value: '' }, 'Any verdict'), Object.keys(VERDICTS).map((verdict) => h('option', { value: verdict }, verdict))),
    h('label.check', null, h('input', { type: 'checkbox', checked: here.query.failed === 'true', onchange: (/** @type {any} */ event) => choose('failed', event.target.checked ? 'true' : '') }), 'Failed only'),
    here.query.session && h('button.btn.tag', { type: 'button', onclick: () => choose('session', '') }, 'Session ', shown(here.query.session), icon('close')));
}

