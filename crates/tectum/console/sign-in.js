// The screen for whoever is not signed in.

import { h } from './view.js';
import { failed } from './parts.js';

/** @param {any} trouble why the last code did not count @param {(code: string) => void} enter */
export const signInScreen = (trouble, enter) =>
  h('main.sign-in', null,
    h('form.panel', {
      onsubmit(/** @type {SubmitEvent} */ event) {
        event.preventDefault();
        const given = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('code'));
        // A whole address may be pasted as well.
        enter(given.replace(/^.*#code=/, ''));
      },
    },
    h('h1', null, 'Sign in to Tectum'),
    h('p', null, 'Run this where Tectum runs. It prints an address with a code that counts once:'),
    h('pre.command', null, 'tectum console'),
    h('label', { for: 'code' }, 'Code or address'),
    h('div.field-row', null,
      h('input', { id: 'code', name: 'code', autocomplete: 'off', spellcheck: 'false', required: true, autofocus: true }),
      h('button.btn.primary', { type: 'submit' }, 'Sign in')),
    trouble && failed(trouble),
    h('p.note', null, 'Whoever is signed in may answer questions for you. The sign-in ends after 12 hours, or when Tectum ends.')));
