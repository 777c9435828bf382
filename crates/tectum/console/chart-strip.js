// The life of a server as a strip: when it ran, and each death.

import { h } from './view.js';
import { ago, clock, millis } from './format.js';
import { plain } from './text.js';

/** @param {{name: string, since: any, up: boolean, deaths: {at: any, why: string}[], now: number, hours: number}} given */
export function strip({ name, since, up, deaths, now, hours }) {
  const from = now - hours * 3_600_000;
  const place = (/** @type {any} */ at) => Math.max(0, Math.min(100, ((millis(at) - from) / (now - from)) * 100));
  const recent = deaths.filter((death) => millis(death.at) > from);
  const began = Number.isNaN(millis(since)) ? from : millis(since);
  const words = `${plain(name)}: ${up ? `up since ${ago(began, now)}` : 'not up'}, ${recent.length} deaths in ${hours} h`;
  return h('div.strip', { role: 'img', 'aria-label': words },
    up && h('i.strip-up', { style: { left: `${place(began)}%`, right: '0' }, 'data-tip': words }),
    recent.map((death, at) => h('i.strip-death', { key: at, style: { left: `${place(death.at)}%` }, 'data-tip': `${clock(death.at)}: ${plain(death.why)}` })));
}
