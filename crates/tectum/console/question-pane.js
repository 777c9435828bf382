// One question: who asks, what would be done, which rule asks, how long it waits, and the answers to it.

import { h } from './view.js';
import { action, facts } from './parts.js';
import { icon } from './icons.js';
import { invalidate, state } from './store.js';
import { get, post } from './net.js';
import { count, exactly } from './format.js';
import { diff } from './diff.js';
import { Form } from './form.js';
import { json, longText } from './values.js';
import { line, shown } from './text.js';
import { ruleText } from './rule-text.js';

/**
 * What a person is doing about a question.
 * @typedef {{act: ReturnType<typeof action>, mode: 'look' | 'deny' | 'edit', form: Form | null, reason: string, shown: boolean, done: import('./view.js').Child}} Desk
 */
/** @type {Map<string, Desk>} */
const desks = new Map();

/** @param {string} id @returns {Desk} */
export function deskOf(id) {
  let desk = desks.get(id);
  if (!desk) {
    desk = { act: action(), mode: 'look', form: null, reason: '', shown: false, done: null };
    desks.set(id, desk);
    for (const old of [...desks.keys()].slice(0, -100)) desks.delete(old);
  }
  return desk;
}

/** The time that is left. @param {Question} question */
export function countdown(question) {
  const left = Math.max(0, question.expires_at - Date.now());
  const whole = question.expires_at - (question.shown_at ?? question.asked_at);
  const seconds = Math.ceil(left / 1000);
  return h('span.countdown', { class: left < 15_000 ? 'soon' : '', title: `Without an answer it is refused at ${exactly(question.expires_at)}` },
    h('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, h('circle.ring', { cx: 8, cy: 8, r: 6 }), h('circle.left', { cx: 8, cy: 8, r: 6, pathLength: 100, 'stroke-dasharray': `${whole > 0 ? (left / whole) * 100 : 0} 100` })),
    seconds > 120 ? `${Math.ceil(seconds / 60)} min` : `${seconds} s`);
}

/** Says to the house that a person sees it, which starts its clock. @param {Question} question */
function seen(question) {
  const desk = deskOf(question.id);
  if (desk.shown || document.hidden || question.shown_at) return;
  desk.shown = true;
  post(`/api/approvals/${encodeURIComponent(question.id)}/shown`).catch(() => (desk.shown = false));
}

/** @param {Question} question @param {any} body */
export function answer(question, body) {
  const desk = deskOf(question.id);
  if (!state.mayAnswer) return;
  void desk.act.run(body.decision + (body.remember ?? ''), async () => {
    const { remembered } = await post(`/api/approvals/${encodeURIComponent(question.id)}/answer`, body);
    desk.mode = 'look';
    if (remembered) desk.done = h('div.remembered', null, h('p', null, 'Remembered as ', h('code', null, shown(remembered.rule ?? '')), remembered.error && [': ', shown(remembered.error)]), remembered.diff && diff(remembered.diff, 'tectum.toml', `remembered-${question.id}`));
  });
}

/** Opens the reason or the arguments, and puts the cursor there. @param {Question} question @param {'deny' | 'edit' | 'look'} mode */
export function answering(question, mode) {
  const desk = deskOf(question.id);
  if (mode === 'edit' && !desk.form) return void withForm(question, desk);
  desk.mode = mode;
  invalidate();
  if (mode !== 'look') requestAnimationFrame(() => requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector('.answers [data-first], .answers .fields input, .answers .fields textarea'))?.focus()));
}

/** What a script, a ticket or a worker asks about. @param {Question} question */
const proposal = (question) => (question.kind === 'ask' ? '' : question.arguments);

/** Makes the form before it is shown: one that took the place of another would lose what was typed meanwhile. @param {Question} question @param {Desk} desk */
async function withForm(question, desk) {
  const before = desk.mode;
  const given = question.kind === 'call' ? question.arguments : { response: proposal(question) };
  const schema = question.kind === 'call' ? await schemaOf(question.tool) : {};
  desk.form ??= new Form(schema, given ?? {}, `edit-${question.id}`);
  if (desk.mode === before) answering(question, 'edit');
}

/** The schema says what each argument is; without it, the arguments themselves do. @param {string} name */
async function schemaOf(name) {
  try {
    const { tools } = await get('/api/console/tools');
    return tools.find((/** @type {any} */ tool) => tool.name === name)?.schema ?? {};
  } catch {
    return {};
  }
}

/** @param {Question} question */
export function questionPane(question) {
  const desk = deskOf(question.id);
  seen(question);
  const { rule, before } = question;
  return [
    h('header.pane-head.question-head', { key: `head-${question.id}` },
      h('div', null, h('h2', null, line(question.tool || TITLES[question.kind])), h('p.call-subject', null, h('code', null, shown(question.subject)))), countdown(question)),
    h('div.pane-body', { key: `body-${question.id}` },
      preview(question),
      facts([
        ['Who asks', [h('b', null, line(question.client || 'unknown')), question.caller && h('span.note', null, ' through ', line(question.caller))]],
        ['Rule', rule?.text && ruleText(rule)],
        ['Sandbox', question.sandbox && line(question.sandbox)],
        ['Before', question.kind === 'call' && before && (before.approved + before.denied === 0 ? 'Nothing like it was asked yet' : `${count(before.approved, 'time')} approved, ${before.denied} denied${before.failed ? `, ${before.failed} of the approved failed` : ''}`)],
        ['Paths', question.paths?.length ? h('ul.plain', null, question.paths.map((path) => h('li', null, h('code', null, shown(path.path)), h('span.note', null, path.exists ? '' : ' does not exist yet')))) : null],
      ]),
      question.kind === 'call' && desk.mode !== 'edit' && h('details.panel.raw', { open: question.preview.kind === 'none' || question.preview.kind === 'definition' }, h('summary', null, 'Arguments'), json(question.arguments, `${question.id}.arguments`)),
      question.data && Object.keys(question.data).length ? h('details.panel.raw', { open: question.kind === 'ask' }, h('summary', null, question.kind === 'ask' ? 'What the script says' : 'More'), json(question.data, `${question.id}.data`)) : null),
    h('footer.answers', { key: `answers-${question.id}` }, desk.act.show(), answers(question, desk)),
  ];
}

const TITLES = { call: 'A call', ask: 'A script asks', step: 'The next ticket', spawn: 'A worker would be started', plan: 'A plan' };

/** @param {Question} question */
function preview({ id, preview, kind, subject }) {
  if (preview.kind === 'diff') return diff(preview.text, '', id);
  if (preview.kind === 'command') return h('div.shell', null, h('p.note', null, icon('folder'), ' in ', h('code', null, shown(preview.folder || 'the project'))), longText(preview.command, `${id}.command`, 'Command'));
  if (preview.kind === 'address') return h('div.shell', null, h('p.note', null, 'Address'), h('pre.code', null, shown(preview.url)));
  if (preview.kind === 'definition') return h('details.panel.raw', { open: true }, h('summary', null, 'Definition by the server ', h('b', null, line(preview.server))), json(preview.definition, `${id}.definition`));
  if (preview.kind === 'text') return longText(preview.text, `${id}.text`, 'What would be done');
  return kind === 'call' ? null : h('p.ask-text', null, shown(subject));
}

/** @param {Question} question @param {Desk} desk */
function answers(question, desk) {
  const off = desk.act.busy !== null || !state.mayAnswer;
  const is = (/** @type {string} */ name) => (desk.act.busy === name ? ' …' : '');
  const cancel = h('button.btn.quiet', { type: 'button', onclick: () => answering(question, 'look') }, 'Back');
  const escape = (/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && answering(question, 'look');
  if (desk.mode === 'deny') {
    return h('form', {
      onkeydown: escape,
      onsubmit(/** @type {Event} */ event) {
        event.preventDefault();
        answer(question, { decision: 'deny', ...(desk.reason.trim() && { reason: desk.reason.trim() }) });
      },
    },
    h('label', { for: 'reason' }, 'Reason, which the model is told'),
    h('div.field-row', null, h('input', { id: 'reason', 'data-first': true, value: desk.reason, autocomplete: 'off', placeholder: 'Use the existing helper instead', oninput: (/** @type {any} */ event) => (desk.reason = event.target.value) }), h('button.btn.danger', { type: 'submit', disabled: off }, `Deny${is('deny')}`), cancel));
  }
  if (desk.mode === 'edit' && desk.form) {
    const form = desk.form;
    return h('form', {
      onkeydown: escape,
      onsubmit(/** @type {Event} */ event) {
        event.preventDefault();
        const read = form.read();
        if (read) answer(question, question.kind === 'call' ? { decision: 'approve', remember: 'once', arguments: read } : { decision: 'approve', response: read.response });
      },
    },
    form.view(), h('div.field-row.end', null, h('span.note', null, question.kind === 'call' ? 'The call runs with exactly these arguments.' : ''), cancel, h('button.btn.primary', { type: 'submit', disabled: off }, `${question.kind === 'ask' ? 'Answer' : 'Approve with changes'}${is('approveonce')}`)));
  }
  const yes = (/** @type {string} */ remember) => () => answer(question, { decision: 'approve', ...(question.kind === 'call' && { remember }) });
  return h('div.answer-row', null,
    h('button.btn.primary', { disabled: off, onclick: yes('once') }, question.kind === 'call' ? 'Approve once' : 'Approve', is('approveonce'), h('kbd', null, 'a')),
    question.kind === 'call' && [
      h('button.btn', { disabled: off, onclick: yes('session'), title: 'For calls of the same tool on the same subject in this session' }, 'For this session', is('approvesession'), h('kbd', null, 's')),
      h('button.btn', { disabled: off, onclick: yes('project'), title: 'Writes a rule into your settings' }, 'For this project', is('approveproject')),
    ],
    h('button.btn', { disabled: off, onclick: () => answering(question, 'edit') }, question.kind === 'ask' ? 'Answer' : 'Edit', h('kbd', null, 'e')),
    h('button.btn.danger', { disabled: off, onclick: () => answering(question, 'deny') }, 'Deny', h('kbd', null, 'd')));
}

