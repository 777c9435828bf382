// A house that is not one: it serves the page and answers with made-up shapes, for work on the page and for what a
// real house cannot be brought into quickly, such as a hundred thousand calls. `node stand-in.mjs [PORT] [CALLS]`.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { made } from './stand-in-data.mjs';

const FILES = join(import.meta.dirname, '../../console');
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const HEAD = {
  'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer', 'Cross-Origin-Opener-Policy': 'same-origin', 'Cache-Control': 'no-cache',
};
const house = made(Number(process.argv[3] ?? 100_000));
let id = Date.now() * 1000;
const streams = new Set();

/** @param {string} kind @param {any} data */
export function tell(kind, data) {
  id += 1;
  const frame = `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify({ id, at: new Date().toISOString(), kind, data })}\n\n`;
  for (const stream of streams) stream.write(frame);
}

const server = createServer(async (request, answer) => {
  const url = new URL(request.url, 'http://x');
  const json = (body, status = 200) => {
    answer.writeHead(status, { 'Content-Type': 'application/json' });
    answer.end(JSON.stringify(body));
  };
  const refuse = (status, message, hint) => json({ error: { kind: 'not_found', message, hint } }, status);
  try {
    if (url.pathname === '/') return void answer.writeHead(303, { Location: '/console/' }).end();
    if (url.pathname === '/api/events/stream') {
      answer.writeHead(200, { 'Content-Type': 'text/event-stream' });
      answer.write(': connected\n\n');
      streams.add(answer);
      return void request.on('close', () => streams.delete(answer));
    }
    if (url.pathname.startsWith('/api/') || request.method !== 'GET' || url.pathname === '/console/sessions') {
      let text = '';
      for await (const chunk of request) text += chunk;
      const body = text ? JSON.parse(text) : {};
      if (url.pathname === '/dev/tell') return tell(body.kind, body.data), json({});
      if (url.pathname === '/dev/burst') {
        for (let at = 0; at < body.calls; at++) house.beat(tell);
        return json({});
      }
      const told = house.answer(request.method, decodeURIComponent(url.pathname), Object.fromEntries(url.searchParams), body, tell);
      if (told === undefined) return refuse(404, 'there is no such path', 'this is only a stand-in');
      if (told.refused) return refuse(told.refused, told.message, told.hint);
      return json({ ...told, ...(url.pathname === '/api/console/now' && { last_event: String(id) }) });
    }
    const name = url.pathname === '/console/' ? 'index.html' : url.pathname.replace('/console/', '');
    if (name.includes('/')) return refuse(404, 'there is no such file');
    answer.writeHead(200, { 'Content-Type': TYPES[extname(name)] ?? 'text/plain', ...HEAD });
    answer.end(await readFile(join(FILES, name)));
  } catch (error) {
    if (!answer.headersSent) refuse(404, String(error.message));
    else answer.end();
  }
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/console/`));
if (process.argv.includes('--live')) setInterval(() => house.beat(tell), Number(process.argv[process.argv.indexOf('--live') + 1]) || 400);
