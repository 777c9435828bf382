// A call in detail: what was asked, what the model was sent, what it changed, which rule decided, how long each
// station took, and the record itself.

import { h } from './view.js';
import { get } from './net.js';
import { copy, failed, facts, loading, mark, panel, resource } from './parts.js';
import { icon } from './icons.js';
import { exactly, number, took, when } from './format.js';
import { diff } from './diff.js';
import { json, longText } from './values.js';
import { line, plain, shown } from './text.js';
import { link } from './router.js';
import { ruleText } from './rule-text.js';

/** @type {string | null} */
let current = null;
const detail = resource(() => get(`/api/console/calls/${encodeURIComponent(/** @type {string} */ (current))}`));

/** @param {string} id */
export function loadCall(id) {
  if (id === current && detail.value) return;
  current = id;
  detail.clear();
  void detail.load();
}

/** @param {string} id @param {string} [close] where the pane is closed to */
export const callPane = (id, close) => [
  h('header.pane-head', { key: 'head' }, h('h2', null, detail.value ? line(callOf(detail.value).tool) : 'Call'), h('code.note', null, id), close && h('a.btn.quiet', { href: close, 'aria-label': 'Close', onclick: undefined }, icon('close'))),
  h('div.pane-body', { key: `body-${id}` }, detail.error && !detail.value ? failed(detail.error, () => void detail.load()) : detail.value ? callDetail(detail.value) : loading(6)),
];

/** @param {any} detail @returns {Call} */
const callOf = (detail) => (typeof detail.call === 'object' ? detail.call : detail);

/** @param {any} detail as `/api/console/calls/ID` tells it */
export function callDetail(detail) {
  const call = callOf(detail);
  const id = call.call;
  return [
    h('p.call-subject', { key: 'subject' }, h('code', null, shown(call.subject))),
    detail.fault && h('div.failed', { key: 'fault' }, icon('warn'), h('div', null, h('p.failed-title', null, shown(detail.fault.message ?? call.message)), detail.fault.hint && h('p', null, shown(detail.fault.hint)))),
    facts([
      ['State', mark(call.ok ? 'ok' : 'bad', call.ok ? 'ended well' : plain(call.fault ?? 'failed'))],
      ['Verdict', [line(call.verdict), detail.rule && [': ', ruleText(detail.rule)]]],
      ['Asked', detail.asked && [line(detail.asked.how), detail.asked.by && [' by ', line(detail.asked.by)], detail.asked.seconds !== undefined && ` after ${took(detail.asked.seconds * 1000)}`]],
      ['Effect', detail.effect && line(detail.effect)],
      ['When', [h('span', null, exactly(call.at)), ' (', when(call.at), ')']],
      ['Took', took(call.took_ms)],
      ['Tokens', `${number(call.tokens_in)} from the model, ${number(call.tokens_out)} to the model`],
      ['Client', line(call.client)],
      ['Session', call.session && h('a', { href: link('sessions', call.session) }, line(call.session))],
      ['Server', call.server && h('a', { href: link('servers', call.server) }, line(call.server))],
      ['Sandbox', detail.sandbox && (typeof detail.sandbox === 'string' ? line(detail.sandbox) : json(detail.sandbox, `${id}.sandbox`))],
      ['Paths', detail.paths?.length ? h('ul.plain', null, detail.paths.map((/** @type {any} */ path) => h('li', null, h('code', null, shown(path.path)), ' ', h('span.note', null, line(path.access ?? ''))))) : null],
    ]),
    stations(detail.stations),
    (detail.change ?? []).map((/** @type {any} */ change, /** @type {number} */ at) => h('div', { key: `change-${at}` }, diff(change.diff, change.path, `${id}-${at}`, innerWidth < 1700))),
    panel(['Arguments', detail.edited && h('span.note', null, ' changed by a person')], { key: 'arguments' }, json(detail.arguments, `${id}.arguments`)),
    detail.before_edit && panel('Arguments before a person changed them', { key: 'before' }, json(detail.before_edit, `${id}.before`)),
    panel('What the model was sent', { key: 'sent' }, sent(detail.sent, id)),
    detail.structured !== null && detail.structured !== undefined && panel('Structured result', { key: 'structured' }, json(detail.structured, `${id}.structured`)),
    detail.directives?.length ? panel('Directives', { key: 'directives' }, json(detail.directives, `${id}.directives`)) : null,
    detail.observers?.length ? panel('Copies to observers', { key: 'observers' }, h('ul.plain', null, detail.observers.map((/** @type {any} */ observer) => h('li', null, line(observer.name), ' ', h('span.note', null, line(observer.state)))))) : null,
    detail.entry && h('details.panel.raw', { key: 'entry' }, h('summary', null, 'Journal entry'), json(detail.entry, `${id}.entry`)),
    detail.cli && h('p.pane-foot', { key: 'cli' }, copy(detail.cli, 'Copy as command')),
  ];
}

/** @param {any[] | undefined} content @param {string} id */
function sent(content, id) {
  if (!content?.length) return h('p.note', null, 'Nothing is on record.');
  return content.map((part, at) => {
    if (part.type === 'text') return longText(part.text, `${id}.sent.${at}`, 'What the model was sent');
    if (part.type === 'image' && /^image\/(png|jpeg|gif|webp)$/.test(part.mimeType ?? '') && part.data) return h('img.sent', { src: `data:${part.mimeType};base64,${part.data}`, alt: 'Image that the model was sent' });
    return json(part, `${id}.sent.${at}`);
  });
}

/** The way of the call through the house. @param {any[] | undefined} stations */
function stations(stations) {
  if (!stations?.length) return null;
  const end = Math.max(0.001, ...stations.map((station) => (station.began_ms ?? 0) + (station.took_ms ?? 0)));
  return h('section.stations', { key: 'stations', 'aria-label': 'Stations' }, h('h3', null, 'Stations'), h('ol', null, stations.map((station) =>
    h('li', { key: station.name }, h('span.bar-name', null, line(station.name)),
      h('span.bar-track', { 'aria-hidden': 'true' }, h('i.first', { style: { 'margin-left': `${((station.began_ms ?? 0) / end) * 100}%`, width: `${Math.max(0.6, ((station.took_ms ?? 0) / end) * 100)}%` } })),
      h('span.bar-value', null, took(station.took_ms))))));
}
