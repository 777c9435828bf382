// Reads unified diffs: files, hunks, and lines with their numbers on both sides.

/**
 * @typedef {{kind: ' ' | '+' | '-' | 'note', text: string, old: number | null, now: number | null, pair?: PatchLine, mark?: [number, number]}} PatchLine
 * @typedef {{head: string, lines: PatchLine[]}} Hunk
 * @typedef {{path: string, from: string | null, hunks: Hunk[], added: number, removed: number}} FilePatch
 */

/** @param {string} text @param {string} [path] the name of a diff that tells none @returns {FilePatch[]} */
export function readPatch(text, path = '') {
  /** @type {FilePatch[]} */
  const files = [];
  /** @type {FilePatch | null} */
  let file = null;
  /** @type {Hunk | null} */
  let hunk = null;
  let [old, now, oldLeft, nowLeft] = [0, 0, 0, 0];
  const begin = (/** @type {string} */ name) => {
    hunk = null;
    file = { path: name, from: null, hunks: [], added: 0, removed: 0 };
    files.push(file);
    return file;
  };
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  for (const line of lines) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line);
    const inside = hunk && (oldLeft > 0 || nowLeft > 0);
    if (!inside && line.startsWith('--- ')) begin(path).from = name(line.slice(4));
    else if (!inside && line.startsWith('+++ ') && file) {
      const to = name(line.slice(4));
      /** @type {FilePatch} */ (file).path = to ?? /** @type {FilePatch} */ (file).from ?? path;
    } else if (head) {
      [old, oldLeft, now, nowLeft] = [+head[1], +(head[2] ?? 1), +head[3], +(head[4] ?? 1)];
      hunk = { head: head[5], lines: [] };
      (file ?? begin(path)).hunks.push(hunk);
    } else if (hunk && (inside || line.startsWith('\\') || line.startsWith('... '))) {
      const kind = line[0];
      /** @type {PatchLine} */
      let row;
      if (kind === '+') row = { kind, text: line.slice(1), old: null, now: (nowLeft--, now++) };
      else if (kind === '-') row = { kind, text: line.slice(1), old: (oldLeft--, old++), now: null };
      else if (kind === '\\' || line.startsWith('... ')) row = { kind: 'note', text: line.replace(/^\\ /, ''), old: null, now: null };
      else row = { kind: ' ', text: kind === ' ' ? line.slice(1) : line, old: (oldLeft--, old++), now: (nowLeft--, now++) };
      /** @type {Hunk} */ (hunk).lines.push(row);
      const counted = /** @type {FilePatch} */ (/** @type {unknown} */ (file));
      if (kind === '+') counted.added++;
      if (kind === '-') counted.removed++;
    } else if (line.startsWith('... ') || (!file && line.trim())) {
      const all = (file ?? begin(path)).hunks;
      hunk = null;
      all.push({ head: '', lines: [{ kind: 'note', text: line, old: null, now: null }] });
    }
  }
  for (const each of files) each.hunks.forEach(pairLines);
  return files;
}

/** @param {string} told */
function name(told) {
  const path = told.split('\t')[0];
  return path === '/dev/null' ? null : path.replace(/^[ab]\//, '');
}

/** Puts removed and added lines of a block beside each other, and marks what differs in a pair. @param {Hunk} hunk */
function pairLines({ lines }) {
  for (let at = 0; at < lines.length; ) {
    const removed = run(lines, at, '-');
    const added = run(lines, at + removed, '+');
    for (let pair = 0; pair < Math.min(removed, added); pair++) {
      const [a, b] = [lines[at + pair], lines[at + removed + pair]];
      [a.pair, b.pair] = [b, a];
      const [head, tail] = same(a.text, b.text);
      // Lines that share little are different lines, and marks would only disturb.
      if ((head + tail) * 3 < Math.max(a.text.trim().length, b.text.trim().length)) continue;
      a.mark = [head, a.text.length - tail];
      b.mark = [head, b.text.length - tail];
    }
    at += Math.max(1, removed + added);
  }
}

/** @param {PatchLine[]} lines @param {number} at @param {string} kind */
function run(lines, at, kind) {
  let count = 0;
  while (lines[at + count]?.kind === kind) count++;
  return count;
}

/** What two lines have in common at their beginnings and ends. @param {string} a @param {string} b */
function same(a, b) {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [head, tail];
}
