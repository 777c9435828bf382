// The browser of the tests, and the line to the test that started this script: `need` asks it for something outside
// of the browser (a call by an MCP client, a file, the end of the house) and waits for its answer.

import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const require = createRequire(`${process.env.TECTUM_TOOLBOX_MODULES}/x.js`);
const { chromium } = require('playwright-core');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let turn = Promise.resolve();

/** @param {string} what @param {any} [given] @returns {Promise<any>} */
export function need(what, given = {}) {
  const answer = turn.then(async () => {
    console.log(JSON.stringify({ need: what, ...given }));
    const { value, done } = await lines.next();
    if (done) throw new Error('the test is gone');
    return JSON.parse(value);
  });
  turn = answer.catch(() => {});
  return answer;
}

/** Everything that went wrong in any page, and every address that was asked for. */
export const seen = { errors: [], addresses: new Set() };

/** @param {boolean} [quiet] */
export async function browser() {
  const path = execFileSync('sh', ['-c', 'command -v chromium']).toString().trim();
  return chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE 127.0.0.2'],
  });
}

/** A browser of its own, with pages that are watched. @param {any} browser @param {any} [options] */
export async function person(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(120_000);
  context.on('request', (request) => seen.addresses.add(new URL(request.url()).host || request.url().slice(0, 20)));
  context.on('page', (page) => {
    page.on('pageerror', (error) => seen.errors.push(`${page.url()}: ${error.stack}`));
    page.on('dialog', (dialog) => (seen.errors.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
    page.on('console', (message) => {
      // A refused request is told there, too; what the page makes of it is looked at where it is provoked.
      if (message.type() === 'error' && !/Failed to load resource|net::ERR_/.test(message.text())) seen.errors.push(`${page.url()}: ${message.text()}`);
    });
  });
  return context;
}

/** @param {boolean} holds @param {string} what */
export function expect(holds, what) {
  if (!holds) throw new Error(`not so: ${what}`);
}

/** @param {any} is @param {any} wanted @param {string} what */
export const equal = (is, wanted, what) => expect(JSON.stringify(is) === JSON.stringify(wanted), `${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(wanted)}`);

/** Waits until this holds, however long that takes; the runner's limit ends it. @param {() => Promise<any>} holds @param {string} what */
export async function until(holds, what) {
  for (let turn = 1; ; turn++) {
    const found = await holds();
    if (found) return found;
    if (turn % 200 === 0) console.error(`still waiting: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What axe finds wrong in a page. @param {any} page */
export async function axe(page) {
  // The policy of the page forbids evaluated scripts, and the one that checks it comes in beside it.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')}`);
}

/** Runs scenes in their order, and names the one that failed. @param {[string, () => Promise<void>][]} scenes */
export async function play(scenes) {
  for (const [name, scene] of scenes) {
    try {
      await scene();
      console.error(`ok   ${name}`);
    } catch (error) {
      console.error(`FAIL ${name}\n${error.stack}`);
      for (const each of seen.errors) console.error(`     ${each}`);
      process.exit(1);
    }
  }
  equal(seen.errors, [], 'errors in the pages');
  const foreign = [...seen.addresses].filter((host) => !/^127\.0\.0\.[12]:\d+$/.test(host) && !host.startsWith('data:') && !host.startsWith('blob:'));
  equal(foreign, [], 'addresses beyond the loopback');
}
