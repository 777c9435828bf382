// A session as bars over time: calls that ran at once lie above each other. Time in which nothing ran is
// shortened to a mark that says how long it was, since a person thinks for minutes and a call takes milliseconds.

import { h } from './view.js';
import { figure, plot, sized } from './chart.js';
import { clock, millis, took } from './format.js';
import { plain } from './text.js';
import { link } from './router.js';

const ROW = 20;
const TOP = 22;
/** A longer rest is shortened to so many pixels. */
const REST = 2000;
const BREAK = 26;
const MOST_LANES = 14;

/** @param {{name: string, title: string, calls: {call: string, tool: string, at: any, took_ms: number, ok: boolean, subject: string}[]}} given */
export function gantt({ name, title, calls }) {
  const bars = calls.map((call) => ({ call, from: millis(call.at), to: millis(call.at) + Math.max(0.01, call.took_ms ?? 0) })).sort((a, b) => a.from - b.from);
  /** @type {number[]} the end of each lane */
  const lanes = [];
  const placed = bars.map((bar) => {
    let lane = lanes.findIndex((end) => end <= bar.from);
    if (lane < 0) lane = Math.min(lanes.length, MOST_LANES - 1);
    lanes[lane] = Math.max(lanes[lane] ?? 0, bar.to);
    return { ...bar, lane };
  });
  const rests = resting(bars);
  const shortened = rests.reduce((sum, rest) => sum + rest.length, 0);
  const height = TOP + Math.max(1, lanes.length) * ROW + 6;
  const [first, last] = [bars[0]?.from ?? 0, Math.max(0, ...lanes)];
  return figure({
    name, title, unit: 'rests longer than 2 s are shortened', legend: [['calls', 'ok'], ['errors', 'failed']], none: bars.length ? undefined : 'No call in this session.',
    columns: ['Began', 'Tool', 'Subject', 'Took'], rows: () => bars.map(({ call }) => [clock(call.at), plain(call.tool), plain(call.subject), `${took(call.took_ms)}${call.ok ? '' : ', failed'}`]),
  }, sized(name, height, (width) => {
    const busy = Math.max(1, last - first - shortened);
    // Many rests would leave no room for what happened between them.
    const gap = Math.min(BREAK, (width * 0.4) / Math.max(1, rests.length));
    const scale = (width - gap * rests.length - 2) / busy;
    const x = (/** @type {number} */ at) => {
      let before = at - first;
      let breaks = 0;
      for (const rest of rests) {
        if (rest.from >= at) break;
        before -= Math.min(rest.length, at - rest.from);
        breaks += gap;
      }
      return before * scale + breaks;
    };
    return plot(width, height, { class: 'gantt', role: 'group', 'aria-label': title },
      labels(first, last, rests, x, width).map(([left, at]) => h('text.axis', { key: `t${at}`, x: left, y: 12 }, clock(at))),
      rests.map((rest) => {
        const left = x(rest.from);
        return h('g', { 'data-tip': `${took(rest.length)} without a call` },
          h('rect.rest', { x: left + 2, y: TOP - 4, width: Math.max(1, gap - 4), height }),
          h('path.rest-mark', { d: `M${left + gap / 2 - 3} ${TOP}v${height}m6 0v-${height}` }));
      }),
      placed.map(({ call, from, to, lane }) => {
        const left = x(from);
        const wide = Math.max(2, x(to) - left - 0.5);
        return h('g', { key: call.call },
          h('rect', {
            class: call.ok ? 'calls' : 'errors', x: left, y: TOP + lane * ROW, width: wide, height: ROW - 4, rx: 2, 'data-tip': `${plain(call.tool)} ${plain(call.subject)}\n${clock(call.at)}, ${took(call.took_ms)}${call.ok ? '' : ', failed'}`,
            onclick: () => (location.hash = link('activity', call.call)),
          }),
          wide > 56 && h('text.bar-text', { x: left + 5, y: TOP + lane * ROW + 12 }, plain(call.tool).slice(0, Math.floor(wide / 7.5))));
      }));
  }));
}

/** The times that the axis shows: the beginning, and where it goes on after each rest. @param {number} first @param {number} last @param {{from: number, length: number}[]} rests @param {(at: number) => number} x @param {number} width @returns {[number, number][]} */
function labels(first, last, rests, x, width) {
  /** @type {[number, number][]} */
  const out = [];
  for (const at of [first, ...rests.map((rest) => rest.from + rest.length + 1), first + (last - first) * 0.999]) {
    const left = Math.min(x(at), width - 54);
    if (!out.length || left - out[out.length - 1][0] > 64) out.push([left, at]);
  }
  return out;
}

/** The times in which nothing ran. @param {{from: number, to: number}[]} bars */
function resting(bars) {
  const rests = [];
  let end = bars[0]?.to ?? 0;
  for (const bar of bars) {
    if (bar.from - end > REST) rests.push({ from: end, length: bar.from - end });
    end = Math.max(end, bar.to);
  }
  return rests;
}
