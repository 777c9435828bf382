// Starts the page: signs in, draws the frame around the screen that the address names, and draws again when
// something changed.

import { h, render } from './view.js';
import { connect, connectNow, disconnect, hear, state, whenChanged } from './store.js';
import { signIn, whenSignedOut, words } from './net.js';
import { place } from './router.js';
import { SCREENS, rail } from './rail.js';
import { signInScreen } from './sign-in.js';
import { help, listen } from './keys.js';
import { announcer, notice, titleBadge } from './notices.js';
import { tips } from './tips.js';
import { icon } from './icons.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
let current = place();
/** @type {any} */
let trouble = null;
let asked = false;

function draw() {
  asked = false;
  const screen = SCREENS.find((each) => each.id === current.screen) ?? SCREENS[0];
  if (state.link === 'signed out') {
    document.title = 'Sign in – Tectum';
    render(root, signInScreen(trouble, enter));
    return;
  }
  titleBadge(screen.name, state.questions.size);
  render(root, h('div.shell', null,
    h('a.skip', { href: '#main', onclick: skip }, 'Skip to the content'),
    rail(screen.id),
    h('main', { id: 'main', tabindex: -1 }, linkState(), state.now ? screen.view(current) : state.link === 'lost' ? null : h('div.page', { 'aria-busy': 'true' })),
    announcer(),
    help()));
}

/** A line above everything while the house cannot be heard. */
function linkState() {
  if (state.link !== 'lost') return null;
  const { message, hint } = state.trouble ? words(state.trouble) : { message: 'The connection to Tectum ended.', hint: 'This page connects again by itself; what you see is the last state.' };
  return h('div.link-lost', { role: 'status' }, icon('warn'), h('span', null, h('b', null, message), ' ', hint), h('button.btn', { onclick: connectNow }, 'Try now'));
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function soon() {
  if (asked) return;
  asked = true;
  // A page in the background gets no frames, and must still tell of questions in its title.
  if (document.hidden) setTimeout(draw, 100);
  else requestAnimationFrame(draw);
}

/** @param {string} code */
async function enter(code) {
  trouble = null;
  try {
    await signIn(code);
    begin();
  } catch (error) {
    trouble = error;
    state.link = 'signed out';
    soon();
  }
}

/** Connects, and lets the screen in view read what it shows. */
function begin() {
  connect();
  arrive(true);
}

/** @param {boolean} fresh whether another screen was in view before */
function arrive(fresh) {
  SCREENS.find((each) => each.id === current.screen)?.enter?.(current, fresh);
}

function move() {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code) {
    // The code must not stay in the address, the history or a bookmark.
    history.replaceState(null, '', '#/now');
    current = place();
    void enter(decodeURIComponent(code));
    return;
  }
  const before = current;
  current = place();
  const [from, to] = [before, current].map((at) => SCREENS.find((each) => each.id === at.screen));
  if (from !== to) from?.leave?.();
  if (state.link !== 'signed out') arrive(from !== to);
  soon();
  if (from !== to || before.item !== current.item) {
    scrollTo(0, 0);
    // On a narrow page the list of screens is a row, of which only a part is in view.
    requestAnimationFrame(() => requestAnimationFrame(() => shownNow(from !== to)));
  }
}

/** @param {boolean} other whether it is another screen */
function shownNow(other) {
  document.querySelector('.rail [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  // Whoever does not see the page hears where it is now.
  if (other) /** @type {HTMLElement | null} */ (document.querySelector('main h1'))?.focus({ preventScroll: true });
}

whenChanged(soon);
whenSignedOut(disconnect);
hear(notice);
listen(() => current.screen);
tips();
addEventListener('hashchange', move);
document.addEventListener('visibilitychange', () => (soon(), connectNow()));
// Relative times and countdowns go on while nothing happens.
setInterval(() => !document.hidden && state.link !== 'signed out' && soon(), 1000);
if (!location.hash) history.replaceState(null, '', '#/now');
if (location.hash.startsWith('#code=')) move();
else {
  current = place();
  begin();
}
// What the file itself shows until now.
root.textContent = '';
draw();
