// The files of a project that were touched, as a map: folders contain their files, a larger area means more
// changes, and files that were only read are pale.

import { h } from './view.js';
import { figure, plot, sized } from './chart.js';
import { plain } from './text.js';

const HEIGHT = 260;

/** @typedef {{name: string, path: string, changes: number, reads: number, weight: number, children: Map<string, Node>}} Node */

/** @param {{name: string, title: string, files: {path: string, changes: number, reads: number}[], open?: (path: string) => void}} given */
export function map({ name, title, files, open }) {
  const most = Math.max(1, ...files.map((file) => file.changes));
  return figure({
    name, title, unit: 'area by changes and reads', legend: [['map', 'changed'], ['pale', 'read only']], none: files.length ? undefined : 'No file was touched.',
    columns: ['File', 'Changes', 'Reads'], rows: () => files.map((file) => [plain(file.path), file.changes, file.reads]),
  }, sized(name, HEIGHT, (width) => {
    /** @type {any[]} */
    const out = [];
    lay(tree(files), 0, 0, width, HEIGHT, (node, x, y, w, high, depth) => {
      const folder = node.children.size > 0;
      const tip = folder ? `${plain(node.path)}/` : `${plain(node.path)}\n${node.changes} changes, ${node.reads} reads`;
      out.push(h('g', { key: node.path },
        h('rect', {
          class: folder ? 'map-folder' : node.changes ? 'map-file' : 'map-read', x: x + 1, y: y + 1, width: Math.max(0, w - 2), height: Math.max(0, high - 2), rx: 3, 'data-tip': tip,
          'fill-opacity': folder || !node.changes ? undefined : (0.45 + (0.55 * node.changes) / most).toFixed(2),
          onclick: folder || !open ? undefined : () => open(node.path),
        }),
        w > 46 && high > 15 && h('text', { class: folder ? 'axis' : 'map-text', x: x + 6, y: y + (folder ? 13 : 16) }, fit(plain(node.name) + (folder ? '/' : ''), w - 10))));
      void depth;
    });
    return plot(width, HEIGHT, { role: 'img', 'aria-label': title }, out);
  }));
}

/** @param {string} text @param {number} width */
const fit = (text, width) => (text.length * 6.6 <= width ? text : `${text.slice(0, Math.max(1, Math.floor(width / 6.6) - 1))}…`);

/** @param {{path: string, changes: number, reads: number}[]} files @returns {Node} */
function tree(files) {
  /** @type {Node} */
  const root = { name: '', path: '', changes: 0, reads: 0, weight: 0, children: new Map() };
  for (const file of files) {
    const weight = 1 + file.changes * 3 + Math.min(file.reads, 10);
    let at = root;
    root.weight += weight;
    const parts = file.path.split('/').filter(Boolean);
    parts.forEach((part, depth) => {
      let next = at.children.get(part);
      if (!next) at.children.set(part, (next = { name: part, path: `${file.path.startsWith('/') ? '/' : ''}${parts.slice(0, depth + 1).join('/')}`, changes: 0, reads: 0, weight: 0, children: new Map() }));
      next.weight += weight;
      at = next;
    });
    at.changes += file.changes;
    at.reads += file.reads;
  }
  let top = root;
  // Folders that contain one folder only say nothing.
  while (top.children.size === 1 && [...top.children.values()][0].children.size) top = [...top.children.values()][0];
  return top;
}

/**
 * Divides an area among the children, heaviest first, always along its longer side.
 * @param {Node} node @param {number} x @param {number} y @param {number} width @param {number} height @param {(node: Node, x: number, y: number, width: number, height: number, depth: number) => void} put @param {number} [depth]
 */
function lay(node, x, y, width, height, put, depth = 0) {
  split([...node.children.values()].sort((a, b) => b.weight - a.weight), x, y, width, height, (child, left, top, w, high) => {
    put(child, left, top, w, high, depth);
    if (child.children.size && w > 14 && high > 30) lay(child, left + 4, top + 18, w - 8, high - 22, put, depth + 1);
  });
}

/** @param {Node[]} nodes @param {number} x @param {number} y @param {number} width @param {number} height @param {(node: Node, x: number, y: number, width: number, height: number) => void} put */
function split(nodes, x, y, width, height, put) {
  if (!nodes.length || width < 3 || height < 3) return;
  if (nodes.length === 1) return put(nodes[0], x, y, width, height);
  const total = nodes.reduce((sum, node) => sum + node.weight, 0);
  let half = 0;
  let at = 0;
  while (at < nodes.length - 1 && (at === 0 || half + nodes[at].weight / 2 < total / 2)) half += nodes[at++].weight;
  const share = half / total;
  const [a, b] = [nodes.slice(0, at), nodes.slice(at)];
  if (width >= height) {
    split(a, x, y, width * share, height, put);
    split(b, x + width * share, y, width * (1 - share), height, put);
  } else {
    split(a, x, y, width, height * share, put);
    split(b, x, y + height * share, width, height * (1 - share), put);
  }
}
