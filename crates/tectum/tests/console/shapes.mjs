// The page over shapes that a real house is not brought into quickly, told by the stand-in: a hundred thousand calls,
// questions of every kind, servers in every state. Counts are asserted, never times.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { axe, browser, equal, expect, person, play, until } from './stage.mjs';

const CALLS = 100_000;
const house = spawn(process.execPath, [join(import.meta.dirname, 'stand-in.mjs'), '0', String(CALLS)], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => house.kill());
const [base] = await once(createInterface({ input: house.stdout }), 'line');
const chrome = await browser();
const me = await person(chrome);
const page = await me.newPage();
const go = (to) => page.evaluate((hash) => (location.hash = hash), to);
const tell = (kind, data) => fetch(new URL('/dev/tell', base), { method: 'POST', body: JSON.stringify({ kind, data }) });
const rows = () => page.locator('.v-row').count();

await play([
  ['a hundred thousand calls are a list of which only the rows in view exist', async () => {
    await page.goto(`${base}#/activity`);
    await page.locator('.v-row a').first().waitFor();
    expect((await page.locator('.sub').textContent()).startsWith('100,000 calls'), 'their number');
    const scroll = (part) => page.evaluate((part) => {
      const list = document.querySelector('.v-scroll');
      list.scrollTop = list.scrollHeight * part;
    }, part);
    for (const [part, row] of [[0.01, 1010], [0.3, 30_010], [1, CALLS + 1]]) {
      await scroll(part);
      await page.locator(`.v-row[aria-rowindex="${row}"] a`).waitFor();
      expect((await rows()) < 100, `${await rows()} rows exist`);
    }
    // Whoever reads further down is not moved by what happens; newer calls are offered.
    await scroll(0.5);
    const read = page.locator('.v-row[aria-rowindex="50010"] a');
    await read.waitFor();
    const reading = await read.textContent();
    for (let at = 0; at < 50; at++) await tell('call.ended', { call: `c-new${at}`, tool: 'read_file', subject: 'a.rs', client: 'codex', session: 's-0', ok: true, took_ms: 1, tokens_in: 1, tokens_out: 1 });
    await page.locator('.fresh', { hasText: '50 new calls' }).waitFor();
    equal(await read.textContent(), reading, 'the row that is read');
    await page.locator('.fresh').click();
    await until(async () => page.evaluate(() => document.querySelector('.v-scroll').scrollTop === 0), 'the top');
  }],
  ['filters choose among all of them, and stand in the address', async () => {
    await page.locator('.filters input[type=checkbox]').check();
    await until(async () => page.url().includes('failed=true'), 'the address');
    await until(async () => (await page.locator('.v-row .mark.is-ok, .v-row .mark.is-info').count()) === 0, 'failed calls only');
    await page.locator('.filters select').first().selectOption('run_shell');
    await page.locator('input[type=search]').fill('git');
    await until(async () => page.url().includes('q=git'), 'the words');
    await page.reload();
    await page.locator('.v-row a').first().waitFor();
    equal(await page.locator('.filters select').first().inputValue(), 'run_shell', 'the filter after a reload');
  }],
  ['twenty thousand live calls leave nothing behind', async () => {
    await go('#/activity');
    await page.locator('.v-row a').first().waitFor();
    const bytes = async () => {
      const session = await me.newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      await session.detach();
      return usedSize;
    };
    const before = await bytes();
    for (let round = 0; round < 10; round++) await fetch(new URL('/dev/burst', base), { method: 'POST', body: JSON.stringify({ calls: 2000 }) });
    await until(async () => page.evaluate(async () => (await import('/console/store.js')).state.now.session.calls > 20_000), 'all events');
    const after = await bytes();
    expect(after - before < 8_000_000, `20,000 calls left ${after - before} bytes`);
    expect((await rows()) < 100, 'rows');
  }],
  ['questions of scripts, tickets and workers are answered', async () => {
    await go('#/approvals');
    await page.locator('.queue-list li a', { hasText: 'Which branch' }).click();
    await page.keyboard.press('e');
    await page.locator('.answers textarea, .answers input').first().fill('main');
    await page.locator('.answers .btn.primary').click();
    await page.locator('.settled .mark', { hasText: 'approved' }).waitFor();
  }],
  ['a remembered yes shows the rule that was written', async () => {
    await page.locator('.queue-list li a', { hasText: 'edit_file' }).click();
    await page.locator('.answers .btn', { hasText: 'For this project' }).click();
    await page.locator('.remembered .diff').waitFor();
  }],
  ['servers in every state, changed definitions, and trust are shown', async () => {
    await go('#/servers');
    for (const word of ['changed', 'ready', 'broken', 'needs trust']) await page.locator('.server-list .mark', { hasText: word }).waitFor();
    await go('#/servers/github');
    await page.locator('.panel.ask .diff mark').first().waitFor();
    await go('#/servers/deploy');
    await page.locator('.panel.ask pre', { hasText: './tools/deploy-mcp --stage prod' }).waitFor();
  }],
  ['every picture has a table that says the same', async () => {
    for (const screen of ['now', 'sessions/s-1', 'tools', 'attention']) {
      await go(`#/${screen}`);
      await page.locator('.chart .flip').first().waitFor();
      for (const flip of await page.locator('.chart .flip').all()) {
        await flip.click();
        await until(async () => (await flip.getAttribute('aria-pressed')) === 'true', 'the table');
      }
      await until(async () => (await page.locator('.chart .table-box tbody tr').count()) > 0, 'rows');
    }
  }],
  ['details fit and axe finds nothing, light, dark and narrow', async () => {
    for (const [width, scheme] of [[1280, 'light'], [1280, 'dark'], [360, 'light']]) {
      const tab = await me.newPage();
      await tab.setViewportSize({ width, height: 800 });
      await tab.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      for (const screen of ['now', 'approvals', 'activity/c-000000000011', 'sessions/s-1', 'tools/edit_file', 'servers/github', 'policy', 'context', 'orchestration', 'attention']) {
        await tab.goto(`${base}#/${screen}`);
        await tab.locator('main h1').waitFor();
        await tab.locator('[aria-busy]').waitFor({ state: 'detached' });
        equal(await axe(tab), [], `axe, ${screen}, ${width}, ${scheme}`);
        equal(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${screen} fits into ${width}`);
      }
      await tab.close();
    }
  }],
]);
await chrome.close();
process.exit(0);
