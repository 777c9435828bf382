// Counts over time as columns: calls, and below them in a second colour the errors among them.

import { h } from './view.js';
import { figure, labelled, plot, sized, span, ticks, timeLabel } from './chart.js';
import { clock, short } from './format.js';

const HEIGHT = 148;
const LEFT = 34;
const BOTTOM = 20;

/** @param {{name: string, title: string, unit: string, series: {at: string, calls: number, errors: number}[], per: number}} given `per` seconds make one column */
export function columns({ name, title, unit, series, per }) {
  const rate = (/** @type {number} */ count) => count / per;
  const most = Math.max(0, ...series.map((each) => rate(each.calls)));
  return figure({
    name, title, unit, legend: [['calls', 'calls'], ['errors', 'errors']], none: most === 0 ? 'No call in this time.' : undefined,
    columns: ['From', 'Calls', 'Errors'], rows: () => series.filter((each) => each.calls).map((each) => [clock(each.at), each.calls, each.errors]),
  }, sized(name, HEIGHT, (width) => {
    const scale = ticks(most);
    const top = scale[scale.length - 1];
    const [wide, high] = [width - LEFT, HEIGHT - BOTTOM - 6];
    const step = wide / Math.max(1, series.length);
    const y = (/** @type {number} */ value) => 6 + high - (value / top) * high;
    const time = span(series, (each) => each.at);
    return plot(width, HEIGHT, { role: 'img', 'aria-label': `${title}, at most ${short(most)} ${unit}` },
      scale.map((value) => [h('line.grid', { x1: LEFT, x2: width, y1: y(value), y2: y(value) }), h('text.axis.end', { x: LEFT - 6, y: y(value) + 4 }, short(value))]),
      labelled(series.length, wide).map((at) => h('text.axis', { x: LEFT + at * step, y: HEIGHT - 4 }, timeLabel(series[at].at, time))),
      series.map((each, at) => [
        each.calls > 0 && h('rect.calls', { x: LEFT + at * step + 0.5, width: Math.max(1, step - 1.5), y: y(rate(each.calls)), height: y(0) - y(rate(each.calls)), rx: 1 }),
        each.errors > 0 && h('rect.errors', { x: LEFT + at * step + 0.5, width: Math.max(1, step - 1.5), y: y(rate(each.errors)), height: y(0) - y(rate(each.errors)) }),
        h('rect.hit', { x: LEFT + at * step, width: step, y: 0, height: HEIGHT - BOTTOM, 'data-tip': `${clock(each.at)}\n${each.calls} calls, ${each.errors} errors` }),
      ]));
  }));
}
