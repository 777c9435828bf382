// The list of calls, newest first: read from the record a page at a time as far as somebody looks, and continued
// by events while the newest are in view. What lies far below is forgotten again.

import { get } from './net.js';
import { invalidate } from './store.js';

const FIRST = 200;
const PAGE = 1000;
/** Rows that stay while new ones come in on top. */
const MOST_LIVE = 2000;

/** One copy of each name, however many rows have it. @type {Map<string, string>} */
const once = new Map();
/** @param {any} text */
const shared = (text) => {
  if (typeof text !== 'string') return text;
  const known = once.get(text);
  if (known !== undefined) return known;
  if (once.size > 5000) once.clear();
  once.set(text, text);
  return text;
};

/** A row without anything that the list does not show. @param {any} told @returns {Call} */
function row(told) {
  const { call, at, tool, server, session, client, subject, ok, fault, message, verdict, took_ms, tokens_in, tokens_out } = told;
  return { call, at, tool: shared(tool), server: shared(server ?? null), session: shared(session), client: shared(client), subject, ok, fault: shared(fault ?? null), message: message ?? null, verdict: shared(verdict), took_ms, tokens_in, tokens_out };
}

export class CallList {
  constructor() {
    /** @type {Call[]} */
    this.rows = [];
    /** @type {any} the place of the next page */
    this.next = null;
    this.total = 0;
    /** @type {Record<string, string>} */
    this.filter = {};
    this.error = null;
    this.busy = false;
    this.ready = false;
    /** Calls that came while somebody read further down. */
    this.fresh = 0;
    this.turn = 0;
    this.waiting = false;
    /** Rows that came in on top since the list was read. */
    this.prepended = 0;
    /** Values that were seen, to choose from. */
    this.seen = { tool: new Set(), server: new Set(), client: new Set() };
  }

  /** Begins again with the newest. @param {Record<string, string>} [filter] */
  async load(filter = this.filter) {
    this.filter = filter;
    const turn = ++this.turn;
    this.busy = true;
    try {
      const { calls, next, total_known } = await get('/api/console/calls', { ...filter, limit: FIRST });
      if (turn !== this.turn) return;
      this.rows = calls.map(row);
      this.note(this.rows);
      this.next = next;
      this.total = Math.max(total_known ?? 0, this.rows.length);
      this.fresh = this.prepended = 0;
      this.error = null;
      this.busy = false;
      // A page of what a filter chose may be short, and others follow.
      if (next !== null && this.rows.length < FIRST) await this.need(FIRST);
    } catch (error) {
      if (turn !== this.turn) return;
      this.error = error;
    }
    if (turn !== this.turn) return;
    this.ready = true;
    this.busy = false;
    invalidate();
  }

  /** Reads on until this row is known. @param {number} wanted */
  async need(wanted) {
    if (this.busy || this.error || this.next === null || wanted <= this.rows.length - FIRST / 2) return;
    const turn = this.turn;
    this.busy = true;
    try {
      while (this.next !== null && this.rows.length < wanted + FIRST) {
        const { calls, next } = await get('/api/console/calls', { ...this.filter, limit: PAGE, before: this.next });
        if (turn !== this.turn) return;
        const known = new Set(this.rows.slice(-PAGE).map((each) => each.call));
        for (const call of calls) if (!known.has(call.call)) this.rows.push(row(call));
        this.next = next;
        this.total = Math.max(this.total, this.rows.length);
        invalidate();
      }
      if (this.next === null) this.total = this.rows.length;
    } catch (error) {
      if (turn === this.turn) this.error = /** @type {any} */ (error);
    }
    if (turn === this.turn) this.busy = false;
    invalidate();
  }

  /** @param {any} ended the data of `call.ended`, with its time @param {boolean} atTop whether the newest are in view */
  live(ended, atTop) {
    const call = row(ended);
    if (!this.ready || this.busy || !matches(call, this.filter)) return;
    // The event does not tell the verdict, so whoever asks for one must look into the record.
    if (this.filter.verdict && !call.verdict) return void (atTop && this.later());
    this.note([call]);
    this.total += 1;
    if (!atTop) {
      this.fresh += 1;
      return;
    }
    if (this.rows[0]?.call === call.call) return;
    this.rows.unshift(call);
    this.prepended += 1;
    if (this.rows.length > MOST_LIVE) void this.load();
  }

  /** Reads the newest again soon, however many calls want it. */
  later() {
    if (this.waiting) return;
    this.waiting = true;
    setTimeout(() => {
      this.waiting = false;
      void this.load();
    }, 1000);
  }

  /** @param {Call[]} rows */
  note(rows) {
    for (const each of rows) {
      if (this.seen.tool.size < 500) this.seen.tool.add(each.tool);
      if (each.server && this.seen.server.size < 200) this.seen.server.add(each.server);
      if (each.client && this.seen.client.size < 200) this.seen.client.add(each.client);
    }
  }
}

/** @param {Call} call @param {Record<string, string>} filter */
function matches(call, filter) {
  for (const name of /** @type {const} */ (['tool', 'server', 'client', 'session', 'verdict'])) if (filter[name] && call[name] !== filter[name] && !(name === 'verdict' && !call.verdict)) return false;
  if (filter.failed && call.ok) return false;
  const words = filter.q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  const text = `${call.tool} ${call.subject} ${call.message ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
