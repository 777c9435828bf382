// The keyboard: keys that count everywhere, keys of the screen in view, and the list of both.

import { h } from './view.js';
import { invalidate } from './store.js';
import { link, go } from './router.js';
import { signInsPanel } from './sign-ins.js';
import { icon } from './icons.js';

/** `g` and then one of these. */
const PLACES = { n: 'now', a: 'approvals', c: 'activity', s: 'sessions', t: 'tools', v: 'servers', p: 'policy', x: 'context', o: 'orchestration', e: 'attention' };

/** @type {Map<string, Record<string, [string, () => void]>>} screen, key: what it does */
const ofScreens = new Map();
let shownHelp = false;
let prefix = 0;

/** @param {string} screen @param {Record<string, [string, () => void]>} keys */
export const setKeys = (screen, keys) => ofScreens.set(screen, keys);

/** @param {() => string} screen the one in view */
export function listen(screen) {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && shownHelp) return hideHelp();
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest('input, textarea, select, [contenteditable], dialog')) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    const quick = Date.now() - prefix < 1500;
    prefix = 0;
    if (quick && event.key in PLACES) {
      event.preventDefault();
      return go(link(PLACES[/** @type {keyof typeof PLACES} */ (event.key)]));
    }
    if (event.key === 'g') return void (prefix = Date.now());
    if (event.key === '?') return showHelp();
    if (event.key === '/') {
      const field = /** @type {HTMLElement | null} */ (document.querySelector('input[type=search]'));
      if (field) event.preventDefault();
      return field?.focus();
    }
    const own = ofScreens.get(screen())?.[event.key];
    // Enter and space belong to what is focused.
    if (own && !(target.closest('button, a, summary') && (event.key === 'Enter' || event.key === ' '))) {
      event.preventDefault();
      own[1]();
    }
  });
}

export function showHelp() {
  shownHelp = true;
  invalidate();
}

function hideHelp() {
  shownHelp = false;
  invalidate();
}

/** The list of keys, as a dialog above the page. */
export function help() {
  if (!shownHelp) return null;
  const list = (/** @type {[string, string][]} */ pairs) => h('dl.keys', null, pairs.map(([keys, text]) => [h('dt', null, keys.split(' ').map((key) => h('kbd', null, key))), h('dd', null, text)]));
  return h('dialog.help', {
    ref: (/** @type {HTMLDialogElement | null} */ dialog) => dialog && setTimeout(() => dialog.isConnected && !dialog.open && dialog.showModal()),
    'aria-labelledby': 'help-title', onclose: hideHelp,
  },
  h('header', null, h('h2', { id: 'help-title' }, 'Keys and sign-ins'), h('button.btn.quiet', { onclick: hideHelp, 'aria-label': 'Close' }, icon('close'))),
  h('div.help-columns', null,
    h('section', null, h('h3', null, 'Everywhere'), list([['?', 'this list'], ['/', 'search in this screen'], ['Esc', 'leave a field'], ...Object.entries(PLACES).map(([key, to]) => /** @type {[string, string]} */ ([`g ${key}`, to[0].toUpperCase() + to.slice(1)]))])),
    h('section', null, [...ofScreens].map(([screen, keys]) => [h('h3', { key: screen }, screen[0].toUpperCase() + screen.slice(1)), list(Object.entries(keys).map(([key, [text]]) => [key, text]))]), signInsPanel())));
}
