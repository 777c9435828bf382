// Asks the house: requests with the console's key, answers as JSON, errors that say what to do.

const KEY = 'tectum-console-key';

/** What the house refused, in its words. */
export class Refused extends Error {
  /** @param {number} status @param {string} kind @param {string} message @param {string} [hint] */
  constructor(status, kind, message, hint) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.hint = hint;
  }
}

let onSignedOut = () => {};
/** Says who is told that the sign-in does not count any more. @param {() => void} listener */
export const whenSignedOut = (listener) => (onSignedOut = listener);

const key = () => localStorage.getItem(KEY) ?? '1';

/** @param {string} method @param {string} path @param {any} [body] @param {RequestInit} [more] */
export async function request(method, path, body, more = {}) {
  /** @type {Record<string, string>} */
  const headers = { 'Tectum-Console': key(), Accept: 'application/json', .../** @type {any} */ (more.headers) };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(path, { ...more, method, headers, credentials: 'same-origin', body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (/** @type {Error} */ (error).name === 'AbortError') throw error;
    throw new Refused(0, 'unreachable', 'Tectum does not answer.', 'Start it again with `tectum up`; this page connects by itself.');
  }
  if (answer.ok) return answer;
  if (answer.status === 401) {
    localStorage.removeItem(KEY);
    onSignedOut();
  }
  const text = await answer.text();
  /** @type {any} */
  let told = null;
  try {
    told = JSON.parse(text).error;
  } catch {
    // The listener's own refusals are plain text.
  }
  throw new Refused(answer.status, told?.kind ?? 'refused', told?.message ?? (text.trim() || `HTTP ${answer.status}`), told?.hint);
}

/** @param {string} path @param {Record<string, any>} [query] @param {RequestInit} [more] @returns {Promise<any>} */
export const get = async (path, query = {}, more = {}) => (await request('GET', path + search(query), undefined, more)).json();

/** @param {string} path @param {any} [body] @returns {Promise<any>} */
export const post = async (path, body = {}) => (await request('POST', path, body)).json();

/** `?a=b`, without what is empty. @param {Record<string, any>} query */
export function search(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : '';
}

/** Exchanges a one-time code for a session of this browser. @param {string} code */
export async function signIn(code) {
  localStorage.removeItem(KEY);
  const { key } = await post('/console/sign-in', { code: code.trim() });
  if (key) localStorage.setItem(KEY, key);
}

/** Ends the session of this browser. */
export async function signOut() {
  try {
    await request('POST', '/console/sign-out', {});
  } finally {
    localStorage.removeItem(KEY);
  }
}

/** Lets the browser keep an answer as a file. @param {string} path @param {string} name */
export async function download(path, name) {
  const blob = await (await request('GET', path, undefined, { headers: { Accept: '*/*' } })).blob();
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The words of an error, for people. @param {any} error @returns {{message: string, hint?: string}} */
export const words = (error) => ({ message: error?.message ?? String(error), hint: error?.hint });
