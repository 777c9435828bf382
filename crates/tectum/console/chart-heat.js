// How long calls took, over time: one column for each time, one row for each duration, darker for more calls.

import { h } from './view.js';
import { figure, labelled, plot, sized, timeLabel } from './chart.js';
import { clock, millis, took } from './format.js';

const ROW = 17;
const LEFT = 62;
const BOTTOM = 20;

/** @param {{name: string, title: string, heat: {at: string[], upper_ms: (number | null)[], counts: number[][]}}} given `counts[time][duration]` */
export function heat({ name, title, heat: { at, upper_ms, counts } }) {
  const most = Math.max(0, ...counts.map((column) => Math.max(0, ...column)));
  const label = (/** @type {number} */ row) => (upper_ms[row] === null ? `> ${took(upper_ms[row - 1])}` : `≤ ${took(upper_ms[row])}`);
  const height = upper_ms.length * ROW + BOTTOM;
  return figure({
    name, title, unit: 'calls by duration, logarithmic', none: most === 0 ? 'No call in this time.' : undefined,
    columns: ['From', ...upper_ms.map((_, row) => label(row))], rows: () => at.map((time, column) => [clock(time), ...counts[column]]).filter((row) => row.slice(1).some((count) => count)),
  }, sized(name, height, (width) => {
    const step = (width - LEFT) / Math.max(1, at.length);
    const time = millis(at[at.length - 1]) - millis(at[0]);
    return plot(width, height, { role: 'img', 'aria-label': title },
      upper_ms.map((_, row) => {
        const y = (upper_ms.length - 1 - row) * ROW;
        return [
          h('text.axis.end', { x: LEFT - 6, y: y + 12 }, label(row)),
          h('rect.heat-row', { x: LEFT, y: y + 1, width: width - LEFT, height: ROW - 2, rx: 2 }),
          counts.map((column, x) => column[row] > 0 && h('rect.heat', {
            x: LEFT + x * step + 0.5, y: y + 1, width: Math.max(1, step - 1), height: ROW - 2, rx: 1,
            // By the logarithm, so that one slow call among thousands of quick ones is seen.
            'fill-opacity': (0.22 + (0.78 * Math.log1p(column[row])) / Math.log1p(most)).toFixed(2),
            'data-tip': `${clock(at[x])}, ${label(row)}\n${column[row]} calls`,
          })),
        ];
      }),
      labelled(at.length, width - LEFT).map((x) => h('text.axis', { x: LEFT + x * step, y: height - 4 }, timeLabel(at[x], time))));
  }));
}
