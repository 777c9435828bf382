// Now: what the agent is doing, what waits for a person, what runs, and how it went in the last minutes.

import { h } from './view.js';
import { empty, failed, figures, loading, mark, page, panel, resource } from './parts.js';
import { PULSE, hear, onSnapshot, questions, refreshWords, state } from './store.js';
import { ago, count, millis, number, short, took, when } from './format.js';
import { get } from './net.js';
import { columns } from './chart-columns.js';
import { heat } from './chart-heat.js';
import { bars } from './chart-bars.js';
import { serverMark } from './server-mark.js';
import { link } from './router.js';
import { brief, line, plain, shown } from './text.js';

const MINUTES = PULSE / 60;
const COLUMNS = 60;
/** Words and pictures are read again at most so often, and only when something happened. */
const WORDS_EVERY = 2000;
const STATS_EVERY = 10_000;
const stats = resource(() => get('/api/console/stats', { since: new Date(Date.now() - PULSE * 1000).toISOString(), buckets: COLUMNS }));
const hour = resource(() => get('/api/console/stats', { since: new Date(Date.now() - 3_600_000).toISOString(), buckets: COLUMNS }));
let open = false;
let [readWords, readStats] = [0, 0];
let [newWords, newStats] = [false, false];

function read() {
  readStats = Date.now();
  newStats = false;
  void stats.load();
  void hour.load();
}
hear((event) => {
  if (event.kind.startsWith('call.') || event.kind.startsWith('question.')) newWords = newStats = true;
});
onSnapshot(() => open && read());
setInterval(() => {
  if (!open || document.hidden || state.link !== 'live') return;
  const now = Date.now();
  if (newWords && now - readWords >= WORDS_EVERY) {
    readWords = now;
    newWords = false;
    refreshWords().catch(() => (newWords = true));
  }
  if (newStats && now - readStats >= STATS_EVERY) read();
}, 500);

/** @type {ConsoleScreen} */
export const now = {
  id: 'now',
  name: 'Now',
  enter(_, arrived) {
    open = true;
    if (arrived || !stats.value) read();
  },
  leave: () => void (open = false),
  view() {
    const { house, session, client } = state.now;
    const sub = [client ? [line(client.name), client.version && h('span.note', null, ' ', line(client.version))] : 'No client is connected', ' in ', h('code', { title: plain(house.project) }, shown(house.project)), ', up ', took((house.uptime ?? 0) * 1000)];
    return page({ title: shown(state.now.doing || 'Nothing is being done.'), sub, class: 'now', cli: state.now.terminal || 'tectum status' },
      waiting(),
      sums(session),
      h('div.columns.wide-left', null,
        h('div.stack', null,
          columns({ name: 'pulse', title: 'Calls and errors', unit: `a second, last ${MINUTES} minutes`, series: live(), per: PULSE / COLUMNS }),
          flights()),
        h('div.stack', null, serverList(), errors())),
      h('div.columns', null,
        !hour.value && h('div.chart.to-come', null, hour.error ? failed(hour.error, read) : loading(8)),
        hour.value && heat({ name: 'heat', title: 'Time calls took, last hour', heat: hour.value.heat }),
        hour.value && bars({
          name: 'tokens', title: 'Tokens by tool, last hour', unit: 'estimated', words: ['to the model', 'from the model'],
          items: hour.value.tools.map((/** @type {any} */ tool) => ({ label: tool.tool, href: link('tools', tool.tool), first: tool.tokens_out, second: tool.tokens_in })), none: 'No call in this hour.',
        })));
  },
};

function waiting() {
  const open = questions();
  if (!open.length) return null;
  return panel(`${count(open.length, 'question')} ${open.length === 1 ? 'waits' : 'wait'} for you`, { class: 'ask', actions: h('a.btn.primary', { href: link('approvals', open[0].id) }, open.length === 1 ? 'Look at it' : 'Look at them') },
    h('ul.rows', null, open.slice(0, 5).map((question) => h('li', { key: question.id }, h('a', { href: link('approvals', question.id) }, h('b', null, line(question.tool || question.kind)), ' ', line(question.subject)), h('span.note', null, line(question.client), ', ', when(question.asked_at))))),
    open.length > 5 && h('p.note.more-note', null, `and ${open.length - 5} more`));
}

/** @param {any} session */
function sums(session) {
  if (!session) return null;
  return figures([
    { label: 'Calls', value: number(session.calls), note: ['session since ', when(session.since)] },
    { label: 'Failed', value: number(session.failed), note: session.calls ? `${((session.failed / session.calls) * 100).toFixed(1)} %` : ' ', kind: session.failed ? 'is-bad' : '' },
    { label: 'Tokens to the model', value: short(session.tokens_out), note: 'estimated' },
    { label: 'Tokens from the model', value: short(session.tokens_in), note: 'estimated' },
    { label: 'Time in tools', value: took(session.took_ms), note: session.calls ? `${took(session.took_ms / session.calls)} a call` : ' ' },
  ]);
}

/** The columns of the last minutes: what the record knows, and the events since. */
function live() {
  const width = PULSE / COLUMNS;
  const end = Math.ceil(Date.now() / 1000 / width);
  /** @type {Map<number, {calls: number, errors: number}>} */
  const sums = new Map();
  const recorded = readStats / 1000;
  const add = (/** @type {number} */ second, /** @type {number} */ calls, /** @type {number} */ errors) => {
    const at = Math.floor(second / width);
    const sum = sums.get(at) ?? { calls: 0, errors: 0 };
    sums.set(at, { calls: sum.calls + calls, errors: sum.errors + errors });
  };
  for (const each of stats.value?.series ?? []) add(millis(each.at) / 1000, each.calls, each.errors);
  for (const [second, each] of state.pulse) if (second >= recorded) add(second, each.calls, each.errors);
  return Array.from({ length: COLUMNS }, (_, at) => {
    const index = end - COLUMNS + at;
    return { at: new Date(index * width * 1000).toISOString(), ...(sums.get(index) ?? { calls: 0, errors: 0 }) };
  });
}

function flights() {
  const running = [...state.calls.values()];
  return panel('In flight', { note: running.length ? count(running.length, 'call') : undefined, class: 'steady' },
    running.length
      ? h('ul.rows', null, running.slice(0, 12).map((call) => h('li', { key: call.call }, h('span.spin', { 'aria-hidden': 'true' }), h('span', null, h('b', null, line(call.tool)), ' ', line(call.subject)), h('span.note', null, line(call.client), ', ', took(Math.max(0, Date.now() - millis(call.began)))))), running.length > 12 && h('li.note', null, `and ${running.length - 12} more`))
      : h('p.quiet-line', null, 'No call runs right now.'));
}

function serverList() {
  return panel('Servers', { actions: h('a', { href: link('servers') }, 'All') },
    state.servers.length
      ? h('ul.rows', null, state.servers.slice(0, 10).map((server) => h('li', { key: server.name }, h('a', { href: link('servers', server.name) }, line(server.name)), serverMark(server), h('span.note', null, count(server.tools ?? 0, 'tool')))))
      : empty('No server', 'Only the native tools are offered.', h('a.btn', { href: link('servers') }, 'Add a server')));
}

function errors() {
  return panel('Last errors', { actions: h('a', { href: link('activity', null, { failed: 'true' }) }, 'All') },
    state.errors.length
      ? h('ul.rows.errors', null, state.errors.slice(0, 8).map((error) => h('li', { key: error.call }, h('a', { href: link('activity', error.call) }, mark('bad', line(error.tool))), h('span.message', { title: plain(error.message) }, brief(error.message)), h('span.note', null, ago(error.at)))))
      : h('p.quiet-line', null, 'No call failed.'));
}
