// Approvals: the queue of questions, and everything a person needs to answer the one in view, or several at once.

import { h } from './view.js';
import { action, empty, failed, mark, page } from './parts.js';
import { answer, answering, countdown, deskOf, questionPane } from './question-pane.js';
import { questions, state } from './store.js';
import { post } from './net.js';
import { ago, count } from './format.js';
import { go, link } from './router.js';
import { line, plain } from './text.js';
import { setKeys } from './keys.js';
import { switchLayout } from './diff.js';

/** Keys do nothing for this long after another question came under them by itself. */
const SETTLING = 600;
/** @type {Set<string>} */
const chosen = new Set();
const several = action();
/** @type {string | null} */
let selected = null;
let movedAt = 0;
let open = false;

/** @type {ConsoleScreen} */
export const approvals = {
  id: 'approvals',
  name: 'Approvals',
  enter(place) {
    open = true;
    if (place.item) selected = place.item;
  },
  leave: () => void (open = false),
  view(place) {
    const waiting = questions();
    const current = select(place.item, waiting);
    for (const id of chosen) if (!state.questions.has(id)) chosen.delete(id);
    const settled = [...state.settled.entries()].reverse().slice(0, 8);
    const sub = waiting.length ? `${count(waiting.length, 'question')} waiting, the oldest first` : 'Nothing waits for you';
    return page({ title: 'Approvals', sub, class: 'fill approvals', cli: 'tectum pending' },
      !state.mayAnswer && failed({ message: 'You can look, but not answer.', hint: 'Run `tectum console` and open the address that it prints.' }),
      several.show(),
      chosen.size > 1 && together(waiting),
      h('div.panes', null,
        h('div.list-pane.queue', null,
          waiting.length ? h('ul.queue-list', { 'aria-label': 'Questions' }, waiting.map((question) => item(question, question.id === current))) : nothing(),
          settled.length ? h('section.settled', null, h('h2', null, 'Settled while this page was open'), h('ul.rows', null, settled.map(([id, { how, question, at }]) => h('li', { key: id }, settledMark(how), h('span', null, h('b', null, line(question.tool || question.kind)), ' ', line(question.subject)), h('span.note', null, ago(at)))))) : null),
        current && h('section.pane.wide', { 'aria-label': 'Question', key: 'pane' }, pane(current))));
  },
};

const nothing = () => empty('Nothing waits for you', ['A call under an ', h('code', null, 'ask'), ' rule waits here until you decide. Rules are in ', h('a', { href: link('policy') }, 'Policy'), '.']);

/** @param {string} how */
const settledMark = (how) => mark(how === 'approved' ? 'ok' : how === 'denied' ? 'bad' : 'off', how === 'elsewhere' ? 'settled' : how);

/** @param {string} id */
function pane(id) {
  const question = state.questions.get(id);
  if (question) return questionPane(question);
  const over = state.settled.get(id);
  if (over) return h('div.pane-body', { key: `over-${id}` }, h('div.done', { role: 'status' }, settledMark(over.how), h('div', null, h('p.failed-title', null, over.how === 'expired' ? 'Nobody answered in time, so the call was refused.' : over.how === 'withdrawn' ? 'The one who asked does not wait any more.' : `This question was ${over.how === 'elsewhere' ? 'settled while the page was not connected' : over.how}.`), h('p', null, h('b', null, line(over.question.tool)), ' ', line(over.question.subject)))), deskOf(id).done);
  return h('div.pane-body', { key: 'unknown' }, failed({ message: 'This question does not wait any more, or never did.', hint: 'The list shows those that do; Activity shows what became of calls.' }));
}

/** The question in view: the one the address names; when that is settled, the next one. @param {string | null} named @param {Question[]} waiting */
function select(named, waiting) {
  if (named && (state.questions.has(named) || state.settled.has(named) || !waiting.length)) selected = named;
  else if (!selected || !state.questions.has(selected)) {
    if (selected && waiting.length) movedAt = Date.now();
    selected = waiting[0]?.id ?? selected;
  }
  return selected;
}

/** @param {Question} question @param {boolean} on */
const item = (question, on) =>
  h('li', { key: question.id, class: on ? 'on' : '' },
    h('input', { type: 'checkbox', 'aria-label': `Choose ${plain(question.tool || question.kind)} ${plain(question.subject)}`, checked: chosen.has(question.id), onchange: () => toggle(question.id) }),
    h('a', { href: link('approvals', question.id), 'aria-current': on ? 'true' : undefined },
      h('span.queue-title', null, h('b', null, line(question.tool || question.kind)), countdown(question)),
      h('span.queue-subject', null, line(question.subject) || ' '),
      h('span.note', null, line(question.client || question.caller), ' · ', ago(question.asked_at))));

/** @param {string} id */
function toggle(id) {
  chosen.has(id) ? chosen.delete(id) : chosen.add(id);
  movedAt = 0;
}

/** @param {Question[]} waiting */
function together(waiting) {
  const list = waiting.filter((question) => chosen.has(question.id));
  const all = (/** @type {'approve' | 'deny'} */ decision) =>
    several.run(decision, async () => {
      const results = await Promise.allSettled(list.map((question) => post(`/api/approvals/${encodeURIComponent(question.id)}/answer`, { decision, ...(decision === 'approve' && { remember: 'once' }) })));
      chosen.clear();
      const wrong = results.filter((result) => result.status === 'rejected').length;
      return `${count(results.length - wrong, 'question')} ${decision === 'approve' ? 'approved' : 'denied'}${wrong ? `, ${wrong} not: they were settled before` : ''}.`;
    });
  const busy = several.busy !== null || !state.mayAnswer;
  return h('div.together', { role: 'group', 'aria-label': 'Answer several' }, h('b', null, `${list.length} chosen`), h('span.note', null, list.map((question) => `${plain(question.tool)} ${plain(question.subject)}`).join(', ')),
    h('button.btn.primary', { disabled: busy, onclick: () => all('approve') }, 'Approve all once'), h('button.btn.danger', { disabled: busy, onclick: () => all('deny') }, 'Deny all'), h('button.btn.quiet', { onclick: () => chosen.clear() }, 'Clear'));
}

/** @param {number} by */
function step(by) {
  const waiting = questions();
  const at = waiting.findIndex((question) => question.id === selected);
  const to = waiting[Math.max(0, Math.min(waiting.length - 1, at + by))];
  movedAt = 0;
  if (to) go(link('approvals', to.id), true);
}

/** Does something with the question in view, unless it came there this moment. @param {(question: Question) => void} act */
const withCurrent = (act) => () => {
  const question = selected && state.questions.get(selected);
  if (open && question && Date.now() - movedAt > SETTLING) act(question);
};

setKeys('approvals', {
  j: ['next question', () => step(1)],
  k: ['question before', () => step(-1)],
  a: ['approve once', withCurrent((question) => answer(question, { decision: 'approve', remember: 'once' }))],
  s: ['approve for the session', withCurrent((question) => question.kind === 'call' && answer(question, { decision: 'approve', remember: 'session' }))],
  d: ['deny, with a reason', withCurrent((question) => answering(question, 'deny'))],
  e: ['edit, then approve', withCurrent((question) => answering(question, 'edit'))],
  x: ['choose for answering several', withCurrent((question) => toggle(question.id))],
  Escape: ['back from a denial or an edit', withCurrent((question) => answering(question, 'look'))],
  u: ['side by side or unified', switchLayout],
});
