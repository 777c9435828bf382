// Shows a diff as people read one: unified, or old and new side by side, with colours for the language.

import { h, memo } from './view.js';
import { segments } from './parts.js';
import { invalidate } from './store.js';
import { number } from './format.js';
import { readPatch } from './patch.js';
import { rulesFor, tokens } from './syntax.js';
import { plain, shown } from './text.js';

/** Lines that are drawn at once; more on request. */
const MOST = 1500;
/** @type {'split' | 'unified'} */
let layout = localStorage.getItem('tectum-diff') === 'unified' ? 'unified' : 'split';
/** @type {Set<string>} */
const whole = new Set();

export function switchLayout() {
  layout = layout === 'split' ? 'unified' : 'split';
  localStorage.setItem('tectum-diff', layout);
  invalidate();
}

/** @param {string} text a unified diff @param {string} [path] @param {any} [key] @param {boolean} [narrow] whether there is no room for two sides */
export function diff(text, path = '', key = path, narrow = innerWidth < 900) {
  const now = narrow ? 'unified' : layout;
  return memo(`diff-${key}`, [text, now, whole.has(text)], () => {
    const files = readPatch(text, path);
    let left = whole.has(text) ? Infinity : MOST;
    const shownFiles = files.map((file) => {
      const hunks = [];
      for (const hunk of file.hunks) {
        if (left <= 0) break;
        hunks.push({ ...hunk, lines: hunk.lines.slice(0, left) });
        left -= hunk.lines.length;
      }
      return fileDiff({ ...file, hunks }, now, narrow);
    });
    const total = files.reduce((sum, file) => sum + file.hunks.reduce((lines, hunk) => lines + hunk.lines.length, 0), 0);
    if (!files.length) return h('pre.code', null, shown(text) || 'No change');
    return h('div.diffs', null, shownFiles, left < 0 && h('button.btn', {
      onclick() {
        whole.add(text);
        invalidate();
      },
    }, `Show all ${number(total)} lines`));
  });
}

/** @param {import('./patch.js').FilePatch} file @param {string} now @param {boolean} narrow */
function fileDiff(file, now, narrow) {
  const rules = rulesFor(file.path);
  const colour = colours(file, rules);
  return h('figure.diff', { class: now },
    h('figcaption', null, h('code.path', null, shown(file.path || file.from || 'change')), file.from === null && file.removed === 0 && h('span.note', null, 'new file'),
      h('span.plus', null, `+${number(file.added)}`), h('span.minus', null, `−${number(file.removed)}`),
      !narrow && segments('Layout', [['split', 'Side by side'], ['unified', 'Unified']], now, (to) => to !== layout && switchLayout())),
    h('div.diff-box', { tabindex: 0, role: 'group', 'aria-label': `Change of ${plain(file.path)}` },
      h('table', null, h('colgroup', null, ['no', now === 'split' ? '' : 'no', now === 'split' ? 'no' : 'sign', ''].map((kind) => h('col', { class: kind }))), h('tbody', null, file.hunks.map((hunk) => [
        h('tr.hunk', null, h('td', { colspan: 4 }, shown(hunk.head) || '⋯')),
        now === 'split' ? splitRows(hunk, colour) : hunk.lines.map((line) => unifiedRow(line, colour)),
      ])))));
}

/** @typedef {(line: import('./patch.js').PatchLine) => import('./view.js').Child} Colour */

/** Tokens depend on the lines before, on either side. @param {import('./patch.js').FilePatch} file @param {import('./syntax.js').Rules | null} rules @returns {Colour} */
function colours(file, rules) {
  /** @type {Map<any, import('./syntax.js').Token[]>} */
  const known = new Map();
  for (const hunk of file.hunks) {
    let [before, after] = ['', ''];
    for (const line of hunk.lines) {
      const [found, open] = tokens(line.text, rules, line.kind === '-' ? before : after);
      known.set(line, found);
      if (line.kind !== '+') before = open;
      if (line.kind !== '-') after = open;
    }
  }
  return (line) => drawn(known.get(line) ?? [{ text: line.text, kind: '' }], line.mark);
}

/** @param {import('./syntax.js').Token[]} list @param {[number, number] | undefined} mark */
function drawn(list, mark) {
  if (!mark || mark[0] >= mark[1]) return list.map(piece);
  let at = 0;
  const [before, inside, after] = [/** @type {any[]} */ ([]), /** @type {any[]} */ ([]), /** @type {any[]} */ ([])];
  for (const { text, kind } of list) {
    const [from, to] = [Math.max(0, Math.min(text.length, mark[0] - at)), Math.max(0, Math.min(text.length, mark[1] - at))];
    before.push(piece({ text: text.slice(0, from), kind }));
    inside.push(piece({ text: text.slice(from, to), kind }));
    after.push(piece({ text: text.slice(to), kind }));
    at += text.length;
  }
  return [before, h('mark', null, inside), after];
}

/** @param {import('./syntax.js').Token} token */
const piece = ({ text, kind }) => (text === '' ? null : kind ? h(`span.s-${kind}`, null, shown(text)) : shown(text));

const SIGN = { '+': '+', '-': '−', ' ': ' ', note: '' };
const WORD = { '+': 'add', '-': 'del', ' ': '', note: 'note' };

/** @param {import('./patch.js').PatchLine} line @param {Colour} colour */
const unifiedRow = (line, colour) => h(`tr`, { class: WORD[line.kind] }, h('td.no', null, line.old), h('td.no', null, line.now), h('td.sign', null, SIGN[line.kind]), h('td.src', null, colour(line)));

/** @param {import('./patch.js').Hunk} hunk @param {Colour} colour */
function splitRows(hunk, colour) {
  const side = (/** @type {import('./patch.js').PatchLine | null} */ line, /** @type {'old' | 'now'} */ which) =>
    line ? [h('td.no', { class: WORD[line.kind] }, line[which]), h('td.src', { class: WORD[line.kind], 'data-sign': SIGN[line.kind] }, colour(line))] : [h('td.no.void', null), h('td.src.void', null)];
  const done = new Set();
  return hunk.lines.map((line) => {
    if (done.has(line)) return null;
    if (line.kind === 'note') return h('tr.note', null, h('td', { colspan: 4 }, shown(line.text)));
    if (line.pair) done.add(line.pair);
    const [left, right] = line.kind === ' ' ? [line, line] : line.kind === '-' ? [line, line.pair ?? null] : [line.pair ?? null, line];
    return h('tr', null, side(left, 'old'), side(right, 'now'));
  });
}
