// Keeps what the page knows of the house: a snapshot, and every event since. After a lost connection, or when
// events were missed, a new snapshot replaces everything, so nothing can be out of step for longer than that.

import { Refused, get } from './net.js';
import { follow } from './stream.js';
import { millis } from './format.js';

const MOST_ERRORS = 20;
/** Seconds that the pulse remembers. */
export const PULSE = 300;

export const state = {
  /** @type {'starting' | 'live' | 'lost' | 'signed out'} */
  link: 'starting',
  /** @type {any} why the connection is lost */
  trouble: null,
  /** @type {any} the snapshot, its session counted on */
  now: null,
  mayAnswer: true,
  /** @type {Map<string, Flight>} */
  calls: new Map(),
  /** @type {Map<string, Question>} */
  questions: new Map(),
  /** @type {Map<string, {how: string, question: Question, at: number}>} what was settled while the page was open */
  settled: new Map(),
  /** @type {Server[]} */
  servers: [],
  /** @type {any[]} */
  errors: [],
  /** @type {Map<number, {calls: number, errors: number}>} by second */
  pulse: new Map(),
  /** Counts the snapshots: whoever shows lists of its own reads them again. */
  snapshots: 0,
};

/** @type {Set<(event: ConsoleEvent) => void>} */
const hearers = new Set();
/** @type {Set<() => void>} */
const refreshers = new Set();
let changed = () => {};
/** @type {{stop: () => void, again: () => void} | null} */
let connection = null;
/** Events that came while the snapshot was on its way. @type {ConsoleEvent[] | null} */
let early = null;

/** Says who draws when something changed. @param {() => void} draw */
export const whenChanged = (draw) => (changed = draw);
/** Draws again soon. */
export const invalidate = () => changed();

/** Hears each event after the store did. @param {(event: ConsoleEvent) => void} hear @returns {() => void} */
export function hear(hear) {
  hearers.add(hear);
  return () => hearers.delete(hear);
}

/** Called after each new snapshot but the first. @param {() => void} refresh @returns {() => void} */
export function onSnapshot(refresh) {
  refreshers.add(refresh);
  return () => refreshers.delete(refresh);
}

export function connect() {
  connection?.stop();
  state.link = 'starting';
  connection = follow({ opened: snapshot, event: take, missed: () => void snapshot().catch(lost), lost });
  changed();
}

export function disconnect() {
  connection?.stop();
  connection = null;
  state.link = 'signed out';
  state.now = null;
  for (const kept of [state.calls, state.questions, state.settled, state.pulse]) kept.clear();
  changed();
}

/** Tries to connect at once. */
export const connectNow = () => connection?.again();

/** @param {any} error */
function lost(error) {
  if (state.link === 'signed out') return;
  state.link = 'lost';
  // A connection that ended has nothing to say that a person could use.
  state.trouble = error instanceof Refused ? error : null;
  early = null;
  changed();
}

/** Reads everything anew. The stream is open already, so no event can fall between. */
async function snapshot() {
  early = [];
  /** @type {Now} */
  const now = await get('/api/console/now');
  const waiting = early ?? [];
  early = null;
  const first = state.snapshots === 0;
  for (const [id, question] of state.questions) {
    if (!now.questions.some((asked) => asked.id === id)) settle(id, 'elsewhere', question);
  }
  state.now = now;
  state.mayAnswer = now.may_answer !== false;
  state.calls = new Map(now.calls.map((call) => [call.call, call]));
  state.questions = new Map(now.questions.map((question) => [question.id, question]));
  state.servers = now.servers;
  state.errors = now.errors;
  state.link = 'live';
  state.trouble = null;
  state.snapshots += 1;
  const seen = Number(now.last_event ?? 0);
  for (const event of waiting) if (event.id > seen) take(event);
  if (!first) refreshers.forEach((refresh) => refresh());
  changed();
}

/** Reads only the words and sums of the snapshot again, which events do not tell. */
export async function refreshWords() {
  const { doing, session, client, house } = await get('/api/console/now');
  if (state.now) Object.assign(state.now, { doing, session, client, house });
  changed();
}

/** @param {ConsoleEvent} event */
function take(event) {
  if (early) {
    early.push(event);
    return;
  }
  apply[event.kind]?.(event.data, event);
  hearers.forEach((hear) => hear(event));
  changed();
}

/** @type {Record<string, (data: any, event: ConsoleEvent) => void>} */
const apply = {
  'call.started': (data, event) => state.calls.set(data.call, { ...data, began: event.at }),
  'call.ended'(data, event) {
    state.calls.delete(data.call);
    beat(millis(event.at), data.ok);
    const session = state.now?.session;
    if (session && (!session.name || session.name === data.session)) {
      session.calls += 1;
      session.failed += data.ok ? 0 : 1;
      session.tokens_in += data.tokens_in ?? 0;
      session.tokens_out += data.tokens_out ?? 0;
      session.took_ms += data.took_ms ?? 0;
    }
    if (!data.ok) state.errors = [{ ...data, at: event.at }, ...state.errors].slice(0, MOST_ERRORS);
  },
  'question.asked': (data) => state.questions.set(data.id, data),
  'question.shown'(data) {
    const question = state.questions.get(data.id);
    // Its own clock of 60 s runs from now; the exact end comes with the question itself.
    if (question && !question.shown_at) void renew(data.id);
  },
  'question.settled'(data) {
    const question = state.questions.get(data.id);
    if (question) settle(data.id, data.how, question);
  },
  'server.changed': () => void readServers(),
};

/** @param {string} id */
async function renew(id) {
  try {
    const question = await get(`/api/approvals/${encodeURIComponent(id)}`);
    if (state.questions.has(id)) state.questions.set(id, question);
    changed();
  } catch {
    // It was settled meanwhile, which another event says.
  }
}

/** @param {string} id @param {string} how @param {Question} question */
function settle(id, how, question) {
  state.questions.delete(id);
  state.settled.set(id, { how, question, at: Date.now() });
  for (const old of [...state.settled.keys()].slice(0, -50)) state.settled.delete(old);
}

let reading = false;
let again = false;
/** Many servers may change at once; they are read once after the last. */
async function readServers() {
  if (reading) return void (again = true);
  reading = true;
  try {
    do {
      again = false;
      state.servers = (await get('/api/console/servers')).servers;
    } while (again);
  } catch {
    // The next snapshot has them.
  }
  reading = false;
  changed();
}

/** @param {number} at @param {boolean} ok */
function beat(at, ok) {
  const second = Math.floor(at / 1000);
  const beats = state.pulse.get(second) ?? { calls: 0, errors: 0 };
  state.pulse.set(second, { calls: beats.calls + 1, errors: beats.errors + (ok ? 0 : 1) });
  for (const old of state.pulse.keys()) {
    if (old > second - PULSE) break;
    state.pulse.delete(old);
  }
}

/** The questions, the oldest first. */
export const questions = () => [...state.questions.values()].sort((a, b) => a.asked_at - b.asked_at);
