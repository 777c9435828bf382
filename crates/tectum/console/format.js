// Writes numbers, durations and times the way the whole page does.

import { h } from './view.js';

const whole = new Intl.NumberFormat('en');
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clockTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** `12,345`. @param {number | null | undefined} value */
export const number = (value) => (value === null || value === undefined || Number.isNaN(value) ? '–' : whole.format(Math.round(value)));

/** `12.3k`. @param {number | null | undefined} value */
export function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size < 1000) return Number.isInteger(value) ? String(value) : value.toFixed(size < 10 ? 1 : 0);
  const [by, unit] = size < 999_500 ? [1e3, 'k'] : size < 999.5e6 ? [1e6, 'M'] : [1e9, 'G'];
  const scaled = value / by;
  return `${scaled.toFixed(Math.abs(scaled) < 10 ? 1 : 0).replace(/\.0$/, '')}${unit}`;
}

/** `340 ms`, `1.2 s`, `3 min 4 s`. @param {number | null | undefined} ms */
export function took(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
  if (ms < 1) return ms === 0 ? '0 ms' : `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms < 10 ? +ms.toFixed(1) : Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${+seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** `1 call`, `2 calls`. @param {number | null | undefined} count @param {string} word @param {string} [many] */
export const count = (count, word, many = `${word}s`) => `${number(count)} ${count === 1 ? word : many}`;

/** Milliseconds since 1970 of anything that means a time. @param {any} at @returns {number} */
export function millis(at) {
  if (typeof at === 'number') return at < 1e11 ? at * 1000 : at;
  return at ? Date.parse(at) : NaN;
}

/** `12 s ago`. @param {any} at @param {number} [now] */
export function ago(at, now = Date.now()) {
  const ms = now - millis(at);
  if (Number.isNaN(ms)) return '–';
  if (ms < 0) return `in ${took(-ms)}`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 2) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days < 60 ? (days === 1 ? 'yesterday' : `${days} days ago`) : exact.format(millis(at)).slice(0, 11);
}

/** The exact time, in words. @param {any} at */
export const exactly = (at) => (Number.isNaN(millis(at)) ? '' : exact.format(millis(at)));

/** `14:03:59`. @param {any} at */
export const clock = (at) => (Number.isNaN(millis(at)) ? '–' : clockTime.format(millis(at)));

/** A relative time, with the exact one on hover. @param {any} at */
export const when = (at) => h('time', { datetime: Number.isNaN(millis(at)) ? undefined : new Date(millis(at)).toISOString(), title: exactly(at) }, ago(at));

/** A word as a shell takes it. @param {string} text */
export const quoted = (text) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
