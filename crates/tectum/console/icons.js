// The signs of the page, drawn by hand on a grid of 16.

import { h } from './view.js';

/** @type {Record<string, string>} */
const PATHS = {
  now: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  approvals: 'M8 1.8 13.5 4v4c0 3.2-2.3 5.2-5.5 6.2C4.8 13.2 2.5 11.2 2.5 8V4zM5.6 8l1.8 1.8 3-3.3',
  activity: 'M2 4h12M2 8h12M2 12h8',
  sessions: 'M2.5 3.5h6v2.5h-6zM5.5 8h8v2.5h-8zM3.5 12.5h5',
  tools: 'M13.6 4.2a3.6 3.6 0 0 1-4.8 4.4l-4.6 5a1.4 1.4 0 0 1-2-2l5-4.6a3.6 3.6 0 0 1 4.4-4.8L9.5 4.3l.4 1.8 1.8.4z',
  servers: 'M2.5 2.5h11v4h-11zM2.5 9.5h11v4h-11zM5 4.5h.01M5 11.5h.01',
  policy: 'M8 2v12M3 4.5h10M3 4.5l-1.7 4.7a2 2 0 0 0 3.6 0zM13 4.5l-1.7 4.7a2 2 0 0 0 3.6 0zM5.5 14h5',
  context: 'M3 2.5h7l3 3v8H3zM10 2.5v3h3M5.5 8.5h5M5.5 11h3',
  orchestration: 'M2 6.5h3.5v3H2zM10.5 2h3.5v3h-3.5zM10.5 11h3.5v3h-3.5zM5.5 8h2.5M8 3.5v9M8 3.5h2.5M8 12.5h2.5',
  attention: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  back: 'M10 3 5 8l5 5',
  copy: 'M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3',
  check: 'M3 8.5 6.5 12 13 4.5',
  warn: 'M8 2 15 13.5H1zM8 6.5v3.2M8 11.7v.01',
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14',
  bell: 'M8 2a4 4 0 0 0-4 4c0 4-1.5 5-1.5 5h11S12 10 12 6a4 4 0 0 0-4-4zM6.5 13.5h3',
  keys: 'M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6',
  out: 'M6 2.5H2.5v11H6M7 8h7M11 5l3 3-3 3',
  rows: 'M2 3.5h12M2 6.5h12M2 9.5h12M2 12.5h12',
  down: 'M4 6l4 4 4-4',
  restart: 'M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3',
  folder: 'M1.5 3.5h5l1.5 2h6.5v7.5h-13z',
  file: 'M3.5 1.5h6l3 3v10h-9z',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.5V8l2.5 1.5',
  play: 'M4 2.5v11l9-5.5z',
  table: 'M2 3h12v10H2zM2 6.5h12M6.5 3v10',
  'mark-ok': 'M3.5 8.5 6.5 11.5 12.5 4.8',
  'mark-bad': 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  'mark-warn': 'M8 3v6.5M8 12.5v.01',
  'mark-info': 'M8 7v6M8 3.7v.01',
  'mark-off': 'M4 8h8',
  'mark-busy': 'M8 2.5a5.5 5.5 0 1 0 5.5 5.5',
};

/** @param {string} name @param {string} [label] */
export const icon = (name, label) =>
  h('svg.icon', { viewBox: '0 0 16 16', 'aria-hidden': label ? undefined : 'true', 'aria-label': label, role: label ? 'img' : undefined, class: `icon-${name}` }, h('path', { d: PATHS[name] ?? PATHS['mark-off'] }));
