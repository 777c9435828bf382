// Orchestration: tracks, their tickets as a graph, what each worker says, and the questions of steps and workers.

import { h } from './view.js';
import { empty, facts, mark, page, panel, resource } from './parts.js';
import { get } from './net.js';
import { hear, invalidate, onSnapshot, questions } from './store.js';
import { count } from './format.js';
import { graph } from './chart-graph.js';
import { link } from './router.js';
import { longText } from './values.js';
import { line, plain, shown } from './text.js';

const status = resource(() => get('/api/gui/mma_status'));
/** @type {string | null} */
let chosen = null;
let open = false;
let asked = false;

/** The streams grow without an event, so a track at work is looked at every second. */
function soon(ms = 300) {
  if (asked || !open) return;
  asked = true;
  setTimeout(async () => {
    asked = false;
    if (!open) return;
    await status.load();
    if (status.value?.mma_status === 'executing') soon(1000);
  }, ms);
}
hear((event) => (event.kind === 'mma.changed' || event.kind.startsWith('question.')) && soon());
onSnapshot(() => soon(0));

/** @type {Record<string, [Parameters<typeof mark>[0], string]>} */
const STATES = { todo: ['off', 'to do'], in_progress: ['busy', 'in progress'], completed: ['ok', 'completed'], blocked: ['bad', 'blocked'] };
const OVERALL = /** @type {Record<string, [Parameters<typeof mark>[0], string]>} */ ({ idle: ['off', 'idle'], planning: ['busy', 'planning'], executing: ['busy', 'executing'], done: ['ok', 'done'] });

/** @type {ConsoleScreen} */
export const orchestration = {
  id: 'orchestration',
  name: 'Orchestration',
  enter() {
    open = true;
    soon(0);
  },
  leave: () => void (open = false),
  view() {
    const value = status.value;
    const [kind, word] = OVERALL[value?.mma_status] ?? ['off', plain(value?.mma_status ?? '')];
    const sub = value ? [mark(kind, word), value.active_tier && [' ', line(value.active_tier), ' is at work'], value.mma_step_mode && ' · each ticket is asked about'] : ' ';
    return page({ title: 'Orchestration', sub }, waiting(), status.show(body, 8));
  },
};

function waiting() {
  const open = questions().filter((question) => ['step', 'spawn', 'plan'].includes(question.kind));
  if (!open.length) return null;
  const words = { step: 'Begin the ticket', spawn: 'Start a worker for', plan: 'Run the track', call: '', ask: '' };
  return panel(`${count(open.length, 'question')} for you`, { class: 'ask' }, h('ul.rows', null, open.map((question) => h('li', { key: question.id }, h('a', { href: link('approvals', question.id) }, words[question.kind], ' ', h('b', null, line(question.subject)), '?')))));
}

/** @param {any} value */
function body(value) {
  const tickets = value.active_tickets ?? [];
  const proposed = value.proposed_tracks ?? [];
  if (!tickets.length && !proposed.length && !value.tracks?.length) return empty('No track is worked on', ['A track is a goal cut into tickets that workers do in their order. Begin one with ', h('code', null, 'tectum run --track FILE'), '.']);
  const ticket = tickets.find((/** @type {any} */ each) => each.id === chosen) ?? null;
  return [
    tickets.length ? panel(['Track ', h('code', null, line(value.active_track))], { note: `${tickets.filter((/** @type {any} */ each) => each.status === 'completed').length} of ${count(tickets.length, 'ticket')} completed`, flush: true },
      graph({
        label: `Tickets of ${plain(value.active_track)}`, chosen, choose: (id) => ((chosen = chosen === id ? null : id), invalidate()),
        nodes: tickets.map((/** @type {any} */ each) => ({ id: each.id, title: each.id, after: each.depends_on ?? [], state: each.status, word: STATES[each.status]?.[1] ?? each.status, note: each.assigned_to ?? '' })),
      })) : null,
    ticket ? ticketPanel(ticket) : null,
    tickets.length ? panel('Tickets', { class: 'as-list' }, h('ul.rows', null, tickets.map((/** @type {any} */ each) => {
      const [kind, word] = STATES[each.status] ?? ['off', each.status];
      return h('li', { key: each.id, class: 'ticket' }, mark(kind, word), h('span', null, h('b', null, line(each.id)), ' ', shown(each.description)), h('span.note', null, each.depends_on?.length ? ['after ', line(each.depends_on.join(', '))] : 'first', each.blocked_reason && [': ', line(each.blocked_reason)]));
    }))) : null,
    streams(value.mma_streams ?? {}),
    proposed.map((/** @type {any} */ track) => panel(['Proposed: ', h('code', null, line(track.id))], { key: track.id }, h('p', null, shown(track.description)), h('ul.plain', null, track.tickets.map((/** @type {any} */ each) => h('li', null, h('b', null, line(each.id)), ' ', shown(each.description)))))),
    value.tracks?.length ? panel('All tracks', {}, h('ul.rows', null, value.tracks.map((/** @type {any} */ track) => h('li', { key: track.id }, h('b', null, line(track.id)), h('span', null, shown(track.description), track.stall && h('span.is-bad', null, ' ', line(track.stall))), h('span.note', null, `${track.completed} of ${track.tickets}${track.blocked ? `, ${track.blocked} blocked` : ''}`))))) : null,
  ];
}

/** @param {any} ticket */
const ticketPanel = (ticket) =>
  panel(['Ticket ', h('code', null, line(ticket.id))], {}, h('p', null, shown(ticket.description)), facts([
    ['State', mark(...(STATES[ticket.status] ?? ['off', plain(ticket.status)]))], ['Worker', line(ticket.assigned_to)], ['File', ticket.target_file && h('code', null, shown(ticket.target_file))],
    ['Shown to it', ticket.context_requirements?.length ? h('ul.plain', null, ticket.context_requirements.map((/** @type {string} */ path) => h('li', null, h('code', null, shown(path))))) : null],
    ['After', ticket.depends_on?.length && line(ticket.depends_on.join(', '))], ['Blocked', ticket.blocked_reason && shown(ticket.blocked_reason)],
    ['Its last words', ticket.result && shown(ticket.result)], ['Why it failed', ticket.analysis && shown(ticket.analysis)],
  ]));

/** @param {Record<string, string>} all */
function streams(all) {
  const names = Object.keys(all);
  if (!names.length) return null;
  return panel('What the workers say', { note: 'the end of each stream' }, h('div.streams', null, names.map((name) => h('section', { key: name }, h('h3', null, line(name)), longText(all[name].slice(-4000), `stream-${name}`, name)))));
}
