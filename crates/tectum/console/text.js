// Shows texts of strangers as they are: every character that is invisible, that moves the cursor or that turns the
// direction of the text is shown by its name instead of doing what it does.

import { h } from './view.js';

const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\ue000-\uf8ff\ud800-\udfff]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/u;
const EACH = new RegExp(INVISIBLE.source, 'gu');
const C0 = 'NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(' ');
/** @type {Record<string, string>} */
const NAMES = {
  '7F': 'delete', A0: 'no-break space', AD: 'soft hyphen', '200B': 'zero width space', '200C': 'zero width non-joiner',
  '200D': 'zero width joiner', '200E': 'left-to-right mark', '200F': 'right-to-left mark', '202A': 'left-to-right embedding',
  '202B': 'right-to-left embedding', '202C': 'end of embedding', '202D': 'left-to-right override',
  '202E': 'right-to-left override', 2066: 'left-to-right isolate', 2067: 'right-to-left isolate',
  2068: 'first strong isolate', 2069: 'end of isolate', FEFF: 'byte order mark', '61C': 'Arabic letter mark',
};
const EMOJI_BEFORE = /[\p{Emoji}\p{Emoji_Modifier}\ufe0f]$/u;

/** How a hidden character is called: `ESC`, `U+202E`. @param {string} char */
function label(char) {
  const code = /** @type {number} */ (char.codePointAt(0));
  return code < 32 ? C0[code] : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** @param {string} char */
function explained(char) {
  const code = /** @type {number} */ (char.codePointAt(0));
  const hex = code.toString(16).toUpperCase();
  return `${NAMES[hex] ?? (code < 32 || (code > 126 && code < 160) ? 'control character' : 'invisible character')}, U+${hex.padStart(4, '0')}`;
}

/** Parts of an emoji that need no mention. @param {string} text @param {number} at @param {string} char */
const partOfEmoji = (text, at, char) => (char === '\ufe0f' || char === '\u200d') && EMOJI_BEFORE.test(text.slice(Math.max(0, at - 2), at)) && !/[0-9#*]\ufe0f?$/.test(text.slice(0, at));

/** @param {string} text @param {(char: string) => any} show @returns {any[]} */
function split(text, show) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(EACH)) {
    if (partOfEmoji(text, match.index, match[0])) continue;
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(show(match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/**
 * A text as content of an element; lines stay lines.
 * @param {any} value @returns {import('./view.js').Child}
 */
export function shown(value) {
  const text = typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value);
  if (!INVISIBLE.test(text)) return text;
  return split(text, (char) => h('span.ctl', { title: explained(char) }, label(char)));
}

/** A text on one line: line ends and tabs are shown, too. @param {any} value */
export function line(value) {
  const text = String(value ?? '');
  if (!/[\n\t]/.test(text)) return shown(text);
  return text.split(/([\n\t])/).map((part) => (part === '\n' ? h('span.ctl', { title: 'line end' }, '⏎') : part === '\t' ? h('span.ctl', { title: 'tab' }, '⇥') : shown(part)));
}

/** The same in few words: line ends are only marked. @param {any} value */
export const brief = (value) => line(String(value ?? '').trim().replace(/\s*\n\s*/g, ' · '));

/** The same as a plain string, for titles and labels. @param {any} value */
export function plain(value) {
  const text = String(value ?? '');
  return INVISIBLE.test(text) ? split(text, (char) => `⟨${label(char)}⟩`).join('') : text;
}
