// Draws the page: a description of it (`h`) is compared with the last one, and only what differs is changed.
// Text is always set as text, so nothing that a tool or a file says can become markup.

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'g', 'path', 'rect', 'circle', 'line', 'text', 'polyline', 'defs', 'marker', 'title', 'tspan']);
/** Set as properties, because the attribute is only their first value. */
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'open', 'indeterminate', 'selected']);

/**
 * @typedef {{tag: string, key: any, props: Record<string, any>, children: VNode[], el?: any, text?: undefined, make?: undefined}} Tag
 * @typedef {{text: string, el?: any, key?: any, tag?: undefined, make?: undefined}} Text
 * @typedef {{make: () => Child, deps: any[], key: any, tree?: VNode, el?: any, tag?: undefined, text?: undefined}} Memo
 * @typedef {Tag | Text | Memo} VNode
 * @typedef {VNode | string | number | null | undefined | boolean | Child[]} Child
 */

/**
 * One element.
 * @param {string} name tag and classes: `div.row.wide`
 * @param {Record<string, any> | null} [props]
 * @param {Child[]} children
 * @returns {Tag}
 */
export function h(name, props, ...children) {
  const [tag, ...classes] = name.split('.');
  const all = props ? { ...props } : {};
  if (classes.length) all.class = all.class ? `${classes.join(' ')} ${all.class}` : classes.join(' ');
  const key = all.key;
  delete all.key;
  /** @type {VNode[]} */
  const list = [];
  flatten(children, list);
  return { tag, key, props: all, children: list };
}

/**
 * A part that is made again only when one of `deps` changed.
 * @param {any} key @param {any[]} deps @param {() => Child} make @returns {Memo}
 */
export const memo = (key, deps, make) => ({ key, deps, make });

/** @param {Child} child @param {VNode[]} into */
function flatten(child, into) {
  if (Array.isArray(child)) for (const each of child) flatten(each, into);
  else if (child === null || child === undefined || typeof child === 'boolean' || child === '') return;
  else if (typeof child === 'object') into.push(child);
  else into.push({ text: String(child) });
}

/** @type {WeakMap<Element, VNode[]>} */
const drawn = new WeakMap();

/** Makes an element contain exactly this. @param {Element} root @param {Child} content */
export function render(root, content) {
  /** @type {VNode[]} */
  const now = [];
  flatten([content], now);
  patchList(root, drawn.get(root) ?? [], now, false);
  drawn.set(root, now);
}

/** @param {VNode} node @param {boolean} svg @returns {Node} */
function build(node, svg) {
  if (node.text !== undefined) return (node.el = document.createTextNode(node.text));
  if (node.make) {
    node.tree = one(node.make());
    return (node.el = build(node.tree, svg));
  }
  svg = inside(node, svg);
  const el = svg ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  node.el = el;
  for (const child of node.children) el.append(build(child, svg && node.tag !== 'foreignObject'));
  // After the children: the value of a select is one of them.
  for (const name in node.props) set(el, name, node.props[name], undefined);
  node.props.ref?.(el);
  return el;
}

/** @param {Tag} node @param {boolean} svg */
const inside = (node, svg) => (svg || node.tag === 'svg') && SVG_TAGS.has(node.tag);

/** @param {Child} child @returns {VNode} */
function one(child) {
  /** @type {VNode[]} */
  const list = [];
  flatten(child, list);
  return list.length === 1 ? list[0] : h('div', { class: 'contents' }, list);
}

/** @param {VNode} a @param {VNode} b */
const alike = (a, b) => a.tag === b.tag && a.key === b.key && !a.make === !b.make && (a.text === undefined) === (b.text === undefined);

/** @param {VNode} old @param {VNode} node @param {boolean} svg @returns {Node} */
function patch(old, node, svg) {
  if (!alike(old, node)) return replace(old, node, svg);
  node.el = old.el;
  if (node.text !== undefined) {
    if (node.text !== old.text) node.el.data = node.text;
  } else if (node.make) {
    const before = /** @type {Memo} */ (old);
    const tree = /** @type {VNode} */ (before.tree);
    if (before.deps.length === node.deps.length && before.deps.every((dep, at) => Object.is(dep, node.deps[at]))) node.tree = tree;
    else {
      node.tree = one(node.make());
      node.el = patch(tree, node.tree, svg);
    }
  } else {
    const before = /** @type {Tag} */ (old);
    svg = inside(node, svg);
    patchList(node.el, before.children, node.children, svg);
    for (const name in before.props) if (!(name in node.props)) set(node.el, name, undefined, before.props[name]);
    for (const name in node.props) set(node.el, name, node.props[name], before.props[name]);
  }
  return node.el;
}

/** @param {VNode} old @param {VNode} node @param {boolean} svg */
function replace(old, node, svg) {
  const el = build(node, svg);
  old.el.replaceWith(el);
  gone(old);
  return el;
}

/** @param {Node} parent @param {VNode[]} old @param {VNode[]} now @param {boolean} svg */
function patchList(parent, old, now, svg) {
  /** @type {Map<any, VNode>} */
  const kept = new Map();
  names(old).forEach((name, at) => kept.set(name, old[at]));
  /** @type {VNode[]} */
  const before = [];
  names(now).forEach((name, at) => {
    const match = kept.get(name);
    if (match && alike(match, now[at])) {
      kept.delete(name);
      before[at] = match;
    }
  });
  for (const node of kept.values()) {
    node.el.remove();
    gone(node);
  }
  /** @type {Node | null} */
  let next = parent.firstChild;
  now.forEach((node, at) => {
    const el = before[at] ? patch(before[at], node, svg) : build(node, svg);
    if (el === next) next = next.nextSibling;
    else parent.insertBefore(el, next);
  });
}

/** What each is found again by: its key, or its place. @param {VNode[]} list */
function names(list) {
  const taken = new Set();
  return list.map((node, at) => {
    let name = node.key ?? `#${at}`;
    // Two of one name would be one element.
    while (taken.has(name)) name = `${name}'`;
    taken.add(name);
    return name;
  });
}

/** @param {VNode} node @returns {void} */
function gone(node) {
  if (node.make) {
    if (node.tree) gone(node.tree);
    return;
  }
  if (!node.tag) return;
  node.props.ref?.(null);
  node.children.forEach(gone);
}

/** @param {any} el @param {string} name @param {any} value @param {any} old */
function set(el, name, value, old) {
  if (name === 'ref') return;
  if (name.startsWith('on')) {
    // One listener stays; what it calls is looked up, so a new closure costs nothing.
    el.$on ??= {};
    const type = name.slice(2);
    if (!(type in el.$on)) el.addEventListener(type, (/** @type {Event} */ event) => el.$on[type]?.(event));
    el.$on[type] = value;
  } else if (PROPERTIES.has(name)) {
    const to = value ?? (name === 'value' ? '' : false);
    if (name === 'open' ? to !== old : el[name] !== to) el[name] = to;
  } else if (name === 'style') {
    for (const key in old) if (!value || !(key in value)) el.style.removeProperty(key);
    for (const key in value) if (!old || old[key] !== value[key]) el.style.setProperty(key, value[key]);
  } else if (value === old) return;
  else if (value === undefined || value === null || value === false) el.removeAttribute(name);
  else el.setAttribute(name, value === true ? '' : value);
}
