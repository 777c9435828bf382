// Tells of questions outside of the screen in view: to screen readers, in the title, and on the desktop.

import { h } from './view.js';
import { invalidate, state } from './store.js';
import { count } from './format.js';
import { go, link } from './router.js';
import { plain } from './text.js';

/** @type {string} */
let said = '';

/** Says something to whoever listens instead of looking. @param {string} text */
export function announce(text) {
  said = text;
  invalidate();
}

/** The place screen readers watch. */
export const announcer = () => h('div.sr', { 'aria-live': 'assertive', 'aria-atomic': 'true', id: 'announcer' }, said);

/** @param {ConsoleEvent} event */
export function notice(event) {
  if (event.kind === 'question.asked') {
    const question = event.data;
    const text = `${plain(question.client || 'A program')} asks: ${plain(question.tool || question.kind)} ${plain(question.subject)}`;
    // The number makes two like questions two announcements.
    announce(`${text}; ${count(state.questions.size, 'question')} waiting`);
    notify(question.id, text);
  }
  if (event.kind === 'question.settled') {
    const settled = state.settled.get(event.data.id);
    announce(`Question about ${plain(settled?.question.tool ?? 'a call')} ${event.data.how}`);
    notes.get(event.data.id)?.close();
    notes.delete(event.data.id);
  }
}

/** @param {string} screen @param {number} waiting */
export function titleBadge(screen, waiting) {
  const title = `${waiting ? `(${waiting}) ` : ''}${screen} – Tectum`;
  if (document.title !== title) document.title = title;
  const sign = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=icon]'));
  const href = waiting ? 'icon-waiting.svg' : 'icon.svg';
  if (sign && sign.getAttribute('href') !== href) sign.href = href;
}

/** @type {Map<string, Notification>} */
const notes = new Map();

export const canAskToNotify = () => 'Notification' in window && Notification.permission === 'default';

export async function askToNotify() {
  await Notification.requestPermission();
  invalidate();
}

/** @param {string} id @param {string} text */
function notify(id, text) {
  if (!document.hidden || !('Notification' in window) || Notification.permission !== 'granted') return;
  try {
    const note = new Notification(`Tectum: ${count(state.questions.size, 'question')} waiting`, { body: text.slice(0, 300), tag: id, icon: 'icon.svg' });
    note.onclick = () => {
      focus();
      go(link('approvals', id));
      note.close();
    };
    notes.set(id, note);
  } catch {
    // Some systems allow notifications from service workers only; the title tells as well.
  }
}
