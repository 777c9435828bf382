// Figures of the page, over the stand-in: run by hand on a quiet machine, `TECTUM_TOOLBOX_MODULES=… node figures.mjs`.
// They are no test: a busy machine gives other ones.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { browser, person, until } from './stage.mjs';

const folder = join(import.meta.dirname, '../../console');
const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
const sum = (list) => list.reduce((all, each) => all + each, 0);
console.log('files', files.length, 'bytes', sum(files.map((file) => file.length)), 'as gzip', sum(files.map((file) => gzipSync(file).length)));

const house = spawn(process.execPath, [join(import.meta.dirname, 'stand-in.mjs'), '0', '100000'], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => house.kill());
const [base] = await once(createInterface({ input: house.stdout }), 'line');
const post = (path, body) => fetch(new URL(path, base), { method: 'POST', body: JSON.stringify(body) });
const chrome = await browser();
const page = await (await person(chrome)).newPage();
const part = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const cdp = await page.context().newCDPSession(page);
const heap = async () => {
  await cdp.send('HeapProfiler.collectGarbage');
  return `${((await cdp.send('Runtime.getHeapUsage')).usedSize / 1e6).toFixed(1)} MB`;
};

const paints = [];
for (let round = 0; round < 7; round++) {
  await page.goto(`${base}#/now`);
  await page.reload();
  await page.locator('main h1').waitFor();
  await page.waitForTimeout(400);
  paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
}
console.log('first contentful paint, ms: p50', part(paints, 0.5).toFixed(0), 'of', paints.map(Math.round).join(' '));
console.log('layout shift', await page.evaluate(() => new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (shift += /** @type {any} */ (entry).value))).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(shift.toFixed(4)), 500);
})));

await page.evaluate(() => (location.hash = '#/activity'));
await page.locator('.v-row a').first().waitFor();
await page.evaluate(() => {
  globalThis.pixel = {};
  new MutationObserver(() => {
    const text = document.querySelector('.v-row .subject')?.textContent;
    if (!text?.startsWith('probe-') || text in globalThis.pixel) return;
    globalThis.pixel[text] = null;
    // A message that is sent in a frame arrives after it was painted.
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (globalThis.pixel[text] = Date.now());
      port2.postMessage(0);
    });
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
});
const sent = {};
for (let at = 0; at < 200; at++) {
  const subject = `probe-${at}`;
  sent[subject] = Date.now();
  await post('/dev/tell', { kind: 'call.ended', data: { call: `c-p${at}`, tool: 'read_file', subject, client: 'x', session: 's-0', ok: true, took_ms: 1, tokens_in: 1, tokens_out: 1 } });
  await page.waitForTimeout(40 + Math.random() * 40);
}
const pixel = await page.evaluate(() => globalThis.pixel);
const delays = Object.keys(sent).filter((name) => pixel[name]).map((name) => pixel[name] - sent[name]);
console.log('event to pixel, ms:', delays.length, 'events, p50', part(delays, 0.5), 'p95', part(delays, 0.95));

console.log('heap before', await heap());
for (let round = 0; round < 360; round++) await post('/dev/burst', { calls: 1000 });
await until(() => page.evaluate(async () => (await import('/console/store.js')).state.now.session.calls > 360_000), 'an hour of calls');
console.log('heap after 360,000 calls', await heap());

await page.reload();
await page.locator('.v-row a').first().waitFor();
const last = await page.evaluate(() => {
  const list = document.querySelector('.v-scroll');
  list.scrollTop = list.scrollHeight;
  return list.getAttribute('aria-rowcount');
});
await page.locator(`.v-row[aria-rowindex="${last}"] a`).waitFor();
console.log('heap with 100,000 rows read', await heap());
const events = [];
cdp.on('Tracing.dataCollected', ({ value }) => events.push(...value));
await cdp.send('Tracing.start', { transferMode: 'ReportEvents', categories: 'disabled-by-default-devtools.timeline.frame,devtools.timeline.frame,devtools.timeline' });
const frames = await page.evaluate(() => new Promise((resolve) => {
  const list = document.querySelector('.v-scroll');
  const times = [];
  const most = list.scrollHeight - list.clientHeight;
  const step = (now) => {
    times.push(now);
    const share = (now - times[0]) / 10_000;
    if (share >= 1) return resolve(times);
    list.scrollTop = most * share;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}));
const over = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
await cdp.send('Tracing.end');
await over;
const gaps = frames.slice(1).map((at, index) => at - frames[index]);
const drawn = events.filter((event) => event.name === 'DrawFrame').length;
const seconds = (frames.at(-1) - frames[0]) / 1000;
console.log('scrolling 100,000 rows in 10 s: frames a second', (gaps.length / seconds).toFixed(1), 'drawn by the trace', (drawn / seconds).toFixed(1), 'gap p50', part(gaps, 0.5).toFixed(1), 'p99', part(gaps, 0.99).toFixed(1));
await chrome.close();
process.exit(0);
