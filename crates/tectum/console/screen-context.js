// Context: what stays in the model's sight, what it has to do, and the files it knows, stale ones first.

import { h } from './view.js';
import { empty, mark, page, panel, resource } from './parts.js';
import { table } from './table.js';
import { get } from './net.js';
import { hear, onSnapshot } from './store.js';
import { count, number, when } from './format.js';
import { longText } from './values.js';
import { line, plain, shown } from './text.js';

const context_ = resource(() => get('/api/console/context'));
let open = false;
let asked = false;

/** Calls change what a model knows; many calls are one question. */
function soon() {
  if (asked || !open) return;
  asked = true;
  setTimeout(() => {
    asked = false;
    if (open) void context_.load();
  }, 1500);
}
hear((event) => (event.kind === 'anchors.changed' || event.kind === 'call.ended') && soon());
onSnapshot(() => open && void context_.load());

/** @type {ConsoleScreen} */
export const context = {
  id: 'context',
  name: 'Context',
  enter() {
    open = true;
    void context_.load();
  },
  leave: () => void (open = false),
  view() {
    const value = context_.value;
    const stale = value ? allFiles(value).filter((file) => file.stale).length : 0;
    const sub = value ? `${count(value.anchors.length, 'anchor')}, ${count(value.todos.length, 'todo')}, ${count(allFiles(value).length, 'file')} known${stale ? `, ${stale} of them stale` : ''}` : ' ';
    return page({ title: 'Context', sub },
      context_.show((value) => [h('div.columns', null, anchors(value.anchors), todos(value.todos)), files(value)], 8));
  },
};

/** @param {any} value @returns {any[]} */
const allFiles = (value) => (value.clients?.length ? value.clients.flatMap((/** @type {any} */ client) => client.files.map((/** @type {any} */ file) => ({ ...file, client: client.name }))) : value.files ?? []);

/** @param {any[]} list */
const anchors = (list) =>
  panel('Anchors', { note: 'stay in the model’s sight' },
    list.length
      ? h('ul.anchors', null, list.map((anchor) => h('li', { key: anchor.key }, h('details', null, h('summary', null, h('b', null, line(anchor.key)), h('span.note', null, `${number(anchor.tokens)} tokens, from ${plain(anchor.from)}`)), longText(anchor.content, `anchor-${anchor.key}`, anchor.key)))))
      : empty('No anchor', 'Results with a directive, and the tool for anchors, put texts here that the model keeps seeing.'));

const STATES = /** @type {Record<string, [Parameters<typeof mark>[0], string]>} */ ({ done: ['ok', 'done'], completed: ['ok', 'done'], in_progress: ['busy', 'in progress'], pending: ['off', 'to do'], todo: ['off', 'to do'], blocked: ['warn', 'blocked'], cancelled: ['off', 'left out'] });
/** @param {any[]} list */
const todos = (list) =>
  panel('Todos', { note: list.length ? `${list.filter((todo) => STATES[todo.state]?.[1] === 'done').length} of ${list.length} done` : undefined },
    list.length
      ? h('ul.rows.todos', null, list.map((todo, at) => {
        const [kind, word] = STATES[todo.state] ?? ['off', todo.state];
        return h('li', { key: at, class: word === 'done' ? 'is-done' : '' }, mark(kind, word), h('span', null, shown(todo.text)));
      }))
      : empty('No todo', 'What the model plans with the todo tool appears here.'));

/** @param {any} value */
function files(value) {
  const rows = allFiles(value);
  const several = (value.clients?.length ?? 0) > 1;
  if (!rows.length && value.follows_files === false) return panel('Files', {}, empty('Files are not followed', ['With ', h('code', null, '[context] refresh = true'), ' Tectum remembers which files a model has read, and tells it when they change.']));
  if (!rows.length) return panel('Files', {}, empty('The model knows no file yet', 'Files that it reads in this conversation are listed here, and whether they changed since.'));
  return panel('Files', { note: 'stale files changed since the model saw them', flush: true }, table({
    id: 'files', label: 'Files', rows, key: (file) => `${file.client ?? ''} ${file.path}`, sort: [0, false],
    columns: /** @type {import('./table.js').Column<any>[]} */ ([
      { head: 'State', cell: (file) => (file.stale ? mark('warn', 'stale') : mark('ok', 'known')), by: (file) => (file.stale ? 0 : 1) },
      { head: 'File', cell: (file) => h('code', null, shown(file.path)), by: (file) => file.path },
      { head: 'Client', hide: !several, cell: (file) => line(file.client ?? '') },
      { head: 'Seen', hide: !rows.some((file) => file.known_at), cell: (file) => when(file.known_at), by: (file) => file.known_at },
      { head: 'Tokens', num: true, cell: (file) => number(file.tokens), by: (file) => file.tokens },
    ]).filter((column) => !column.hide),
  }));
}
