// Reads the house's event stream: one connection that is made again whenever it ends, sooner at first and then
// less often. Read with `fetch`, because an `EventSource` cannot send the console's key.

import { request } from './net.js';

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
/** The house sends a comment every 15 s; a connection that is silent for longer is dead. */
const SILENCE = 40_000;

/**
 * @param {{opened: () => Promise<void>, event: (event: ConsoleEvent) => void, missed: () => void, lost: (error: any) => void}} listener
 * @returns {{stop: () => void, again: () => void}} `again` connects at once instead of waiting
 */
export function follow(listener) {
  let stopped = false;
  let hurry = () => {};
  /** @type {AbortController | null} */
  let open = null;

  async function run() {
    let wait = FIRST_WAIT;
    while (!stopped) {
      open = new AbortController();
      let timer;
      try {
        const answer = await request('GET', '/api/events/stream', undefined, { signal: open.signal, headers: { Accept: 'text/event-stream' } });
        const opened = listener.opened();
        opened.catch(() => open?.abort());
        const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
        const decode = new TextDecoder();
        const frames = new Frames((kind, data) => (kind === 'missed' ? listener.missed() : listener.event(JSON.parse(data))));
        for (;;) {
          clearTimeout(timer);
          timer = setTimeout(() => open?.abort(), SILENCE);
          const { done, value } = await reader.read();
          if (done) break;
          wait = FIRST_WAIT;
          frames.push(decode.decode(value, { stream: true }));
        }
        await opened;
        listener.lost(null);
      } catch (error) {
        if (/** @type {any} */ (error).status === 401) return;
        if (!stopped) listener.lost(error);
      } finally {
        clearTimeout(timer);
        open.abort();
      }
      if (stopped) return;
      await new Promise((resolve) => {
        hurry = () => resolve(undefined);
        setTimeout(hurry, wait * (0.75 + Math.random() / 2));
      });
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }
  run();
  return {
    stop() {
      stopped = true;
      open?.abort();
      hurry();
    },
    again: () => hurry(),
  };
}

/** Cuts the text of an event stream into events. */
export class Frames {
  /** @param {(kind: string, data: string) => void} tell */
  constructor(tell) {
    this.tell = tell;
    this.rest = '';
    this.kind = '';
    /** @type {string[]} */
    this.data = [];
  }

  /** @param {string} text */
  push(text) {
    const lines = (this.rest + text).split('\n');
    this.rest = /** @type {string} */ (lines.pop());
    for (const line of lines) this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  /** @param {string} line */
  line(line) {
    if (line === '') {
      if (this.data.length) this.tell(this.kind, this.data.join('\n'));
      this.kind = '';
      this.data = [];
    } else if (line.startsWith('event:')) this.kind = line.slice(6).trim();
    else if (line.startsWith('data:')) this.data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
}
