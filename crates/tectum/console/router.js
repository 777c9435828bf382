// Says which screen the address names, and what in it: `#/activity/c-1?tool=edit_file`.

/** @typedef {{screen: string, item: string | null, query: Record<string, string>}} Place */

/** @returns {Place} */
export function place(hash = location.hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen, ...item] = path.split('/');
  return { screen: screen || 'now', item: item.length ? decode(item.join('/')) : null, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a place. @param {string} screen @param {string | null} [item] @param {Record<string, any>} [query] */
export function link(screen, item, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false);
  const words = given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : '';
  return `#/${screen}${item ? `/${encodeURIComponent(item)}` : ''}${words}`;
}

/** Goes there; with `quietly` without a new entry in the browser's history. @param {string} to @param {boolean} [quietly] */
export function go(to, quietly = false) {
  if (to === location.hash) return;
  if (quietly) {
    history.replaceState(null, '', to);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = to;
}
