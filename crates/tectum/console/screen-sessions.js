// Sessions: the list with search; of one, its calls over time, its tools, the files it touched, and undo, replay, export.

import { h } from './view.js';
import { action, empty, facts, figures, mark, page, panel, resource } from './parts.js';
import { table } from './table.js';
import { icon } from './icons.js';
import { download, get, post } from './net.js';
import { invalidate, onSnapshot, state } from './store.js';
import { count, exactly, number, quoted, short, took, when } from './format.js';
import { gantt } from './chart-gantt.js';
import { map } from './chart-map.js';
import { bars } from './chart-bars.js';
import { diff } from './diff.js';
import { go, link } from './router.js';
import { line, plain, shown } from './text.js';

let words = '';
let typed = 0;
/** @type {any[]} */
let older = [];
/** @type {any} */
let next = null;
/** @type {string | null} */
let name = null;
/** @type {string | null} */
let path = null;

const path_of = () => `/api/console/sessions/${encodeURIComponent(/** @type {string} */ (name))}`;
const list = resource(async () => {
  const page = await get('/api/console/sessions', { q: words, limit: 100 });
  older = [];
  next = page.next;
  return page.sessions;
});
const one = resource(async () => {
  const session = await get(path_of());
  // A command changes its folder, as far as anybody knows; that is no file.
  return { ...session, files: (session.files ?? []).filter((/** @type {any} */ file) => file.path !== '.') };
});
const change = resource(() => get(`${path_of()}/diff`, { path }));
const act = action();
/** @type {any} what an undo would do, before it is done */
let plan = null;
/** @type {any} */
let replayed = null;

onSnapshot(() => list.value && void list.load());

/** @type {ConsoleScreen} */
export const sessions = {
  id: 'sessions',
  name: 'Sessions',
  enter(place) {
    if (place.item) {
      if (place.item !== name) {
        name = place.item;
        plan = replayed = act.error = act.done = null;
        one.clear();
        void one.load();
      }
      path = place.query.file ?? null;
      change.clear();
      if (path) void change.load();
    } else void list.load();
  },
  leave: () => void (name = null),
  view: (place) => (place.item ? session(place.item) : all()),
};

function all() {
  return page({ title: 'Sessions', sub: 'Everything that clients did here, from the record', cli: words ? `tectum log search ${quoted(words)}` : 'tectum log list' },
    h('form.filters', { role: 'search', onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      h('div.search', null, icon('search'), h('input', {
        type: 'search', placeholder: 'Search in all calls of all sessions', 'aria-label': 'Search', value: words, autocomplete: 'off',
        oninput(/** @type {any} */ event) {
          words = event.target.value;
          const turn = ++typed;
          setTimeout(() => turn === typed && void list.load(), 250);
        },
      }))),
    list.show((sessions) => {
      const rows = [...sessions, ...older];
      if (!rows.length) return words ? empty('No session has these words', 'Take a word away.') : empty('No session yet', 'The first call of a client begins one.');
      return [
        table({
          id: 'sessions', label: 'Sessions', rows, key: (row) => row.name, row: (row) => ({ class: 'link', onclick: () => go(link('sessions', row.name)) }),
          columns: [
            { head: 'Began', cell: (row) => when(row.first), by: (row) => row.first },
            { head: 'Session', cell: (row) => h('a', { href: link('sessions', row.name) }, line(row.name)) },
            { head: 'Client', cell: (row) => line(row.client), by: (row) => row.client ?? '' },
            { head: 'Door', opt: true, cell: (row) => line(row.door) },
            { head: 'Calls', num: true, cell: (row) => number(row.calls), by: (row) => row.calls },
            { head: 'Failed', num: true, cell: (row) => (row.failed ? h('span.is-bad', null, number(row.failed)) : '0'), by: (row) => row.failed },
            { head: 'Tokens', num: true, opt: true, cell: (row) => short((row.tokens_in ?? 0) + (row.tokens_out ?? 0)), by: (row) => (row.tokens_in ?? 0) + (row.tokens_out ?? 0) },
            { head: 'Time in tools', num: true, opt: true, cell: (row) => took(row.took_ms), by: (row) => row.took_ms },
          ],
        }),
        next && h('button.btn.center', { onclick: () => act.run('more', more) }, 'Older sessions'),
        act.show(),
      ];
    }, 8));
}

async function more() {
  const page = await get('/api/console/sessions', { q: words, limit: 100, before: next });
  older = [...older, ...page.sessions];
  next = page.next;
}

/** @param {string} id */
function session(id) {
  const row = one.value;
  const sub = row && [line(row.client), ' · ', exactly(row.first), ' · ', took(Date.parse(row.last) - Date.parse(row.first))];
  return page({ title: ['Session ', h('code', null, shown(id))], back: [link('sessions'), 'Sessions'], sub: sub ?? ' ', cli: `tectum log show ${quoted(id)}`, actions: row && buttons(id) },
    act.show(), plan && undoPlan(id), replayed && replayResult(),
    one.show((row) => [
      figures([
        { label: 'Calls', value: number(row.calls_total ?? callsOf(row).length), note: h('a', { href: link('activity', null, { session: id }) }, 'in Activity') },
        { label: 'Failed', value: number(row.failed), kind: row.failed ? 'is-bad' : '' },
        { label: 'Tokens to the model', value: short(row.tokens_out), note: 'estimated' },
        { label: 'Tokens from the model', value: short(row.tokens_in), note: 'estimated' },
        { label: 'Time in tools', value: took(row.took_ms) },
      ]),
      gantt({ name: 'gantt', title: row.left_out ? `Calls over time, without ${number(row.left_out)} older ones` : 'Calls over time', calls: callsOf(row) }),
      h('div.columns', null,
        map({ name: 'map', title: 'Files', files: row.files, open: (path) => go(link('sessions', id, { file: path }), true) }),
        bars({ name: 'session-tokens', title: 'Tokens by tool', unit: 'estimated', words: ['to the model', 'from the model'], items: (row.tools ?? []).map((/** @type {any} */ tool) => ({ label: tool.tool, href: link('activity', null, { session: id, tool: tool.tool }), first: tool.tokens_out, second: tool.tokens_in })) })),
      files(id, row),
    ], 8));
}

/** @param {any} row */
const callsOf = (row) => (Array.isArray(row.calls) ? row.calls : []);

/** @param {string} id @param {any} row */
function files(id, row) {
  const changed = row.files.filter((/** @type {any} */ file) => file.changes);
  if (!changed.length) return panel('Changes', {}, h('p.quiet-line', null, 'This session changed no file.'));
  const shownFile = path && changed.find((/** @type {any} */ file) => file.path === path);
  return panel('Changes', { note: count(changed.length, 'file') },
    h('ul.rows.file-list', null, changed.map((/** @type {any} */ file) => h('li', { key: file.path },
      h('a', { href: link('sessions', id, { file: file.path === path ? null : file.path }), 'aria-expanded': file.path === path ? 'true' : 'false', onclick: (/** @type {Event} */ event) => (event.preventDefault(), go(link('sessions', id, { file: file.path === path ? null : file.path }), true)) }, icon('file'), ' ', h('code', null, shown(file.path))),
      h('span.note', null, count(file.changes, 'change'), file.reads ? `, ${count(file.reads, 'read')}` : '')))),
    shownFile && h('div.file-diff', { key: path }, change.show((value) => [h('p.note', null, { 'as left': 'The file is as this session left it.', 'changed since': 'The file was changed since.', 'as before': 'The file is as it was before this session.' }[/** @type {'as left'} */ (value.state)] ?? plain(value.state)), diff(value.diff, value.path, `session-${value.path}`)])));
}

/** @param {string} id */
function buttons(id) {
  const off = act.busy !== null;
  return [
    ['jsonl', 'markdown', 'otel'].map((format) => h('button.btn.quiet', { key: format, disabled: off, onclick: () => act.run(format, () => download(`${path_of()}/export?format=${format}`, `${id}.${format === 'markdown' ? 'md' : format === 'otel' ? 'json' : 'jsonl'}`)) }, `Export ${format === 'jsonl' ? 'JSONL' : format === 'otel' ? 'OTel' : 'Markdown'}`)),
    h('button.btn', { disabled: off, title: 'Runs the recorded calls against their recorded results', onclick: () => act.run('replay', async () => void (replayed = await post(`${path_of()}/replay`))) }, icon('play'), act.busy === 'replay' ? 'Replaying …' : 'Replay'),
    h('button.btn', { disabled: off || !state.mayAnswer, onclick: () => act.run('plan', async () => void (plan = await post(`${path_of()}/undo`, { dry_run: true, since: null }))) }, icon('restart'), 'Undo …'),
  ];
}

/** @param {string} id */
function undoPlan(id) {
  const files = plan.files ?? [];
  const possible = files.filter((/** @type {any} */ file) => !file.refused);
  if (plan.done) return panel('Undone', { note: plan.undo && `tectum undo takes it back: ${plain(plan.undo)}` }, left(plan.not_undone), h('ul.rows', null, files.map((/** @type {any} */ file) => h('li', null, file.refused ? mark('warn', 'left as it is') : mark('ok', plain(file.what)), h('code', null, shown(file.path)), file.refused && h('span.note', null, line(file.refused))))));
  return panel('This would be undone', {
    actions: [h('button.btn.quiet', { onclick: () => ((plan = null), invalidate()) }, 'Cancel'), h('button.btn.danger', { disabled: !possible.length || act.busy !== null, onclick: () => act.run('undo', async () => {
      plan = await post(`${path_of()}/undo`, { dry_run: false, since: null });
      void one.load();
    }) }, `Undo in ${count(possible.length, 'file')}`)],
  },
  files.length ? files.map((/** @type {any} */ file) => h('div.undo-file', { key: file.path }, h('p', null, file.refused ? mark('warn', 'cannot be undone') : mark('info', plain(file.what)), ' ', h('code', null, shown(file.path)), file.refused && h('span.note', null, ' ', line(file.refused))), file.diff && diff(file.diff, file.path, `undo-${id}-${file.path}`))) : h('p.quiet-line', null, 'This session changed nothing that could be undone.'), left(plan.not_undone));
}

/** What no undo takes back. @param {any[] | undefined} list */
const left = (list) => (list?.length ? h('div', null, h('h3', null, 'Not undone'), h('ul.rows', null, list.map((each) => h('li', { key: each.call }, h('a', { href: link('activity', each.call) }, line(each.tool)), h('span', null, line(each.what)), h('span.note', null, line(each.why)))))) : null);

function replayResult() {
  const { calls, same, differs } = replayed;
  return panel('Replay', { actions: h('button.btn.quiet', { onclick: () => ((replayed = null), invalidate()) }, 'Close') },
    facts([['Calls', number(calls)], ['The same', mark(same === calls ? 'ok' : 'warn', `${number(same)} of ${number(calls)}`)]]),
    (differs ?? []).map((/** @type {any} */ each) => h('div', { key: each.call }, h('p', null, h('a', { href: link('activity', each.call) }, line(each.tool))), diff(each.diff, each.tool, `replay-${each.call}`))));
}

