// Tickets and what each waits for, as a graph from left to right.

import { h } from './view.js';
import { plot } from './chart.js';
import { plain } from './text.js';

const WIDE = 190;
const HIGH = 54;
const [GAP_X, GAP_Y] = [56, 16];

/** @typedef {{id: string, title: string, after: string[], state: string, word: string, note: string}} GraphNode */

/** @param {{label: string, nodes: GraphNode[], chosen: string | null, choose: (id: string) => void}} given */
export function graph({ label, nodes, chosen, choose }) {
  const places = laid(nodes);
  const width = Math.max(...[...places.values()].map((at) => at.x + WIDE)) + 2;
  const height = Math.max(...[...places.values()].map((at) => at.y + HIGH)) + 2;
  return h('div.graph-box', { tabindex: 0, role: 'group', 'aria-label': label },
    plot(width, height, { class: 'graph' },
      nodes.map((node) => node.after.map((id) => {
        const [from, to] = [places.get(id), places.get(node.id)];
        if (!from || !to) return null;
        const [x1, y1, x2, y2] = [from.x + WIDE, from.y + HIGH / 2, to.x, to.y + HIGH / 2];
        const bend = Math.max(20, (x2 - x1) / 2);
        return h('path', { key: `${id}>${node.id}`, class: `edge ${node.id === chosen || id === chosen ? 'on' : ''}`, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 5} ${y2}m-5-4 5 4-5 4` });
      })),
      nodes.map((node) => {
        const at = /** @type {{x: number, y: number}} */ (places.get(node.id));
        return h('g', {
          key: node.id, class: `node is-${node.state}${node.id === chosen ? ' on' : ''}`, transform: `translate(${at.x + 1} ${at.y + 1})`, tabindex: 0, role: 'button',
          'aria-pressed': node.id === chosen ? 'true' : 'false', onclick: () => choose(node.id),
          onkeydown(/** @type {KeyboardEvent} */ event) {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            choose(node.id);
          },
        },
        h('rect', { width: WIDE, height: HIGH, rx: 6 }), h('rect.stripe', { width: 4, height: HIGH - 16, x: 6, y: 8, rx: 2 }),
        h('text.node-title', { x: 18, y: 22 }, `${cut(plain(node.title), 23)} `), h('text.node-note', { x: 18, y: 41 }, cut(note(node), 28)));
      })));
}

/** @param {GraphNode} node */
const note = (node) => `${node.word}${node.note ? ` · ${plain(node.note)}` : ''}`;

/** @param {string} text @param {number} most */
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Columns by the longest way to a ticket; a circle, which should not be, ends the way. @param {GraphNode[]} nodes */
function laid(nodes) {
  const known = new Map(nodes.map((node) => [node.id, node]));
  /** @type {Map<string, number>} */
  const depths = new Map();
  const depth = (/** @type {string} */ id, /** @type {Set<string>} */ way) => {
    const found = depths.get(id);
    if (found !== undefined) return found;
    const node = known.get(id);
    if (!node || way.has(id)) return 0;
    way.add(id);
    const at = Math.max(0, ...node.after.filter((each) => known.has(each)).map((each) => depth(each, way) + 1));
    way.delete(id);
    depths.set(id, at);
    return at;
  };
  /** @type {GraphNode[][]} */
  const layers = [];
  for (const node of nodes) (layers[depth(node.id, new Set())] ??= []).push(node);
  const tallest = Math.max(1, ...layers.map((layer) => layer?.length ?? 0));
  /** @type {Map<string, {x: number, y: number}>} */
  const places = new Map();
  layers.forEach((layer, column) => {
    const row = (/** @type {GraphNode} */ node) => {
      const ys = node.after.map((id) => places.get(id)?.y).filter((y) => y !== undefined);
      return ys.length ? ys.reduce((sum, y) => sum + /** @type {number} */ (y), 0) / ys.length : 0;
    };
    const offset = ((tallest - layer.length) * (HIGH + GAP_Y)) / 2;
    [...layer].sort((a, b) => row(a) - row(b)).forEach((node, at) => places.set(node.id, { x: column * (WIDE + GAP_X), y: offset + at * (HIGH + GAP_Y) }));
  });
  return places;
}
