// Tables that a person can sort, with numbers that line up.

import { h } from './view.js';
import { invalidate } from './store.js';

/** @type {Map<string, {by: number, down: boolean}>} */
const sorted = new Map();

/**
 * @template Row
 * @typedef {{head: string, cell: (row: Row) => import('./view.js').Child, num?: boolean, opt?: boolean, by?: (row: Row) => any, class?: string, hide?: boolean}} Column
 */

/**
 * @template Row
 * @param {{id: string, label: string, columns: Column<Row>[], rows: Row[], key: (row: Row) => any, sort?: [number, boolean], row?: (row: Row) => Record<string, any>, caption?: boolean}} given
 */
export function table(given) {
  const order = sorted.get(given.id) ?? (given.sort ? { by: given.sort[0], down: given.sort[1] } : null);
  let rows = given.rows;
  const by = order && given.columns[order.by]?.by;
  if (order && by) {
    const sign = order.down ? -1 : 1;
    rows = [...rows].sort((a, b) => sign * compare(by(a), by(b)));
  }
  const head = given.columns.map((column, at) => {
    const active = order?.by === at && column.by;
    const style = { class: `${column.num ? 'num ' : ''}${column.opt ? 'opt ' : ''}${column.class ?? ''}`, scope: 'col' };
    if (!column.by) return h('th', style, column.head || h('span.sr', null, 'Actions'));
    return h('th', { ...style, 'aria-sort': active ? (order.down ? 'descending' : 'ascending') : 'none' },
      h('button.sort', {
        onclick() {
          sorted.set(given.id, { by: at, down: active ? !order.down : !!column.num });
          invalidate();
        },
      }, column.head, h('span.arrow', { 'aria-hidden': 'true' }, active ? (order.down ? '↓' : '↑') : '')));
  });
  return h('div.table-box', { role: 'group', 'aria-label': given.label, tabindex: 0 },
    h('table', null, h('thead', null, h('tr', null, head)),
      h('tbody', null, rows.map((row) =>
        h('tr', { key: given.key(row), ...given.row?.(row) }, given.columns.map((column) => h('td', { class: `${column.num ? 'num ' : ''}${column.opt ? 'opt ' : ''}${column.class ?? ''}` }, column.cell(row))))))));
}

/** What is not known comes last. @param {any} a @param {any} b */
function compare(a, b) {
  const none = (/** @type {any} */ value) => value === null || value === undefined || Number.isNaN(value);
  if (none(a) || none(b)) return none(a) === none(b) ? 0 : none(a) ? -1 : 1;
  return typeof a === 'string' ? a.localeCompare(b) : a - b;
}
