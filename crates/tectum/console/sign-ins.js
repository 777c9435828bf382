// The browsers that are signed in, each of which can be signed out from here.

import { h } from './view.js';
import { get, request } from './net.js';
import { failed, resource } from './parts.js';
import { when } from './format.js';
import { shown } from './text.js';

const list = resource(() => get('/console/sessions'));

/** @param {string} id */
async function end(id) {
  await request('DELETE', `/console/sessions/${encodeURIComponent(id)}`);
  await list.load();
}

export const signInsPanel = () => [
  h('h3', { key: 'title', ref: (/** @type {Element | null} */ el) => el && void list.load() }, 'Signed-in browsers'),
  h('div', { key: 'list' }, list.error ? failed(list.error) : h('ul.sign-ins', null, list.value?.sessions.map((/** @type {any} */ session) =>
    h('li', { key: session.id }, h('div', null, h('b', null, session.this ? 'This browser' : shown(browser(session.agent))), h('span.note', null, 'since ', when(session.since), ', seen ', when(session.last_seen))),
      !session.this && h('button.btn', { onclick: () => end(session.id).catch((error) => ((list.error = error), list.load())) }, 'Sign out'))))),
];

/** @param {string} agent */
const browser = (agent) => /(Firefox|Edg|Chrome|Safari)\/[\d.]+/.exec(agent ?? '')?.[0].replace('Edg', 'Edge').replace('/', ' ') ?? String(agent ?? 'A browser').slice(0, 60);
