// The console of a real house in a real browser: a person signs in, sees what an MCP client wants, and decides.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Wire } from './wire.mjs';
import { axe, browser, equal, expect, need, person, play, seen, until } from './stage.mjs';

const chrome = await browser();
const me = await person(chrome);
/** @type {any} */
let page;
/** @type {any} */
let second;
let base = '';
const SCREENS = ['now', 'approvals', 'activity', 'sessions', 'tools', 'servers', 'policy', 'context', 'orchestration', 'attention'];

const go = (tab, to) => tab.evaluate((hash) => (location.hash = hash), to);
const settled = (tab, word) => tab.locator('.settled .mark', { hasText: word });
/** Calls `edit_file` by an MCP client that waits for the answer. */
const edit = (name, from, to) => need('call', { name, tool: 'edit_file', arguments: { path: 'a.txt', old_string: from, new_string: to } });
/** The one question that waits, as this tab shows it. */
async function question(tab) {
  await go(tab, '#/approvals');
  await tab.locator('.queue-list li').waitFor();
  await tab.locator('.answers .btn.primary').waitFor();
  // Keys do nothing at a question that came into view by itself a moment ago; whoever moved there means it.
  await tab.keyboard.press('j');
}
const none = (tab) => tab.locator('.queue .empty').waitFor();

await play([
  ['a code signs in once and leaves the address at once', async () => {
    const { link } = await need('link');
    base = link.split('#')[0];
    page = await me.newPage();
    await page.goto(link);
    await page.locator('main h1').waitFor();
    expect(!page.url().includes('code'), page.url());
    const stranger = await person(chrome);
    const other = await stranger.newPage();
    await other.goto(link);
    await other.locator('.failed-title').waitFor();
    expect((await other.locator('.failed').textContent()).includes('tectum console'), 'it says how to get another code');
    equal(await axe(other), [], 'axe, sign-in');
    await stranger.close();
  }],
  ['approving lets a real edit of a waiting client happen, and a second tab sees it', async () => {
    second = await me.newPage();
    await second.goto(`${base}#/approvals`);
    await none(second);
    await edit('first', 'one', 'two');
    await second.locator('.queue-list li').waitFor();
    await question(page);
    equal((await need('file', { path: 'a.txt' })).text, 'one\n', 'nothing is changed before the answer');
    expect((await page.locator('.diff').textContent()).includes('two'), 'the change is shown');
    expect((await page.title()).startsWith('(1)'), await page.title());
    equal(await axe(page), [], 'axe, a question');
    await page.locator('.answers .btn.primary').click();
    const { result } = await need('result', { name: 'first' });
    equal(result.isError ?? false, false, JSON.stringify(result));
    equal((await need('file', { path: 'a.txt' })).text, 'two\n', 'the edit');
    await settled(second, 'approved').waitFor();
    await none(second);
  }],
  ['by keys alone, from signing in to the approval', async () => {
    const { link } = await need('link');
    const keys = await person(chrome);
    const tab = await keys.newPage();
    await tab.goto(base);
    await tab.locator('#code').waitFor();
    await tab.keyboard.type(link.split('code=')[1]);
    await tab.keyboard.press('Enter');
    await tab.locator('.rail').waitFor();
    await edit('keys', 'two', 'three');
    await tab.locator('.rail a.waiting').waitFor();
    expect((await tab.locator('#announcer').textContent()).includes('edit_file'), 'the question is announced');
    await tab.keyboard.press('g');
    await tab.keyboard.press('a');
    await tab.locator('.answers .btn.primary').waitFor();
    await tab.keyboard.press('a');
    await need('result', { name: 'keys' });
    equal((await need('file', { path: 'a.txt' })).text, 'three\n', 'the edit');
    await keys.close();
  }],
  ['a denial tells the model why', async () => {
    await edit('denied', 'three', 'four');
    await question(page);
    await page.keyboard.press('d');
    await page.locator('#reason').waitFor();
    await page.locator('#reason').fill('count on your fingers');
    await page.keyboard.press('Enter');
    const { result } = await need('result', { name: 'denied' });
    equal(result.isError, true, JSON.stringify(result));
    expect(JSON.stringify(result).includes('count on your fingers'), JSON.stringify(result));
    equal((await need('file', { path: 'a.txt' })).text, 'three\n', 'nothing changed');
    await settled(second, 'denied').waitFor();
  }],
  ['what a person edits is what runs', async () => {
    await edit('edited', 'three', 'eleven');
    await question(page);
    await page.keyboard.press('e');
    const field = page.locator('.answers [name=new_string]');
    await field.fill('four');
    await page.locator('.answers .btn.primary').click();
    await need('result', { name: 'edited' });
    equal((await need('file', { path: 'a.txt' })).text, 'four\n', 'the edited edit');
  }],
  ['of two people at once one wins, and the file agrees with the page', async () => {
    await edit('raced', 'four', 'five');
    await Promise.all([question(page), question(second)]);
    await second.keyboard.press('d');
    await second.locator('#reason').waitFor();
    await Promise.all([page.evaluate(() => document.querySelector('.answers .btn.primary')?.click()), second.evaluate(() => document.querySelector('.answers .btn.danger')?.click())]);
    const { result } = await need('result', { name: 'raced' });
    const won = !result.isError;
    equal((await need('file', { path: 'a.txt' })).text, won ? 'five\n' : 'four\n', 'the file');
    const first = (tab) => tab.locator('.settled .rows > li').first().locator('.mark').textContent();
    for (const tab of [page, second]) {
      await none(tab);
      equal(await first(tab), won ? 'approved' : 'denied', 'the page');
    }
    if (!won) await need('write', { path: 'a.txt', text: 'five\n' });
  }],
  ['neither a reload nor a lost connection loses anything', async () => {
    const { port } = new URL(base);
    const wire = await Wire.to(Number(port));
    const far = await (await person(chrome)).newPage();
    await far.goto((await need('link')).link.replace('127.0.0.1', '127.0.0.2'));
    await far.locator('main h1').waitFor();
    await edit('kept', 'five', 'six');
    await question(page);
    await page.reload();
    await page.locator('.answers .btn.primary').waitFor();
    wire.cut();
    await far.locator('.link-lost').waitFor();
    await page.locator('.answers .btn.primary').click();
    await need('result', { name: 'kept' });
    await edit('meanwhile', 'six', 'seven');
    await need('call', { name: 'read', tool: 'read_file', arguments: { path: 'a.txt' } });
    await need('result', { name: 'read' });
    wire.mend();
    await far.locator('.link-lost').waitFor({ state: 'detached' });
    await question(far);
    await far.keyboard.press('a');
    await need('result', { name: 'meanwhile' });
    equal((await need('file', { path: 'a.txt' })).text, 'seven\n', 'the edit');
    await go(far, '#/activity');
    await until(async () => (await far.locator('.v-row').count()) >= 8, 'every call is listed');
    await far.context().close();
    wire.cut();
  }],
  ['several are answered at once', async () => {
    for (const name of ['b', 'c', 'd']) await need('call', { name, tool: 'write_file', arguments: { path: `${name}.txt`, content: name } });
    await go(page, '#/approvals');
    await until(async () => (await page.locator('.queue-list input').count()) === 3, 'three questions');
    for (const box of await page.locator('.queue-list input').all()) await box.check();
    await page.locator('.together .primary').click();
    for (const name of ['b', 'c', 'd']) await need('result', { name });
    equal((await need('file', { path: 'd.txt' })).text, 'd', 'the third');
  }],
  ['a tool is tried, and switched off and on', async () => {
    await go(page, '#/tools/read_file');
    await page.locator('[name=path]').fill('a.txt');
    await page.locator('form .btn.primary').click();
    await page.locator('.panel.result pre', { hasText: 'seven' }).waitFor();
    const flip = page.locator('.page-actions [role=switch]');
    for (const on of ['false', 'true']) {
      await flip.click();
      await page.locator(`.page-actions [role=switch][aria-checked=${on}]`).waitFor();
    }
    await page.locator('.done .diff').waitFor();
  }],
  ['the rules answer what would be', async () => {
    await go(page, '#/policy');
    await page.locator('#if-tool').fill('edit_file');
    await page.locator('#if-args').fill('{"path": "a.txt", "old_string": "a", "new_string": "b"}');
    await page.locator('form .btn.primary').click();
    await page.locator('.verdict-word', { hasText: 'ask' }).waitFor();
    await page.locator('#if-args').fill('{"path": ');
    await page.locator('form .btn.primary').click();
    await page.locator('.failed', { hasText: 'not JSON' }).waitFor();
  }],
  ['a server is added, restarted and removed', async () => {
    await go(page, '#/servers');
    await page.locator('.page-actions .primary').click();
    await page.locator('#new-name').fill('fixture');
    await page.locator('#new-target').fill(process.env.TECTUM_FIXTURE);
    await page.locator('.panel .btn.primary').click();
    await page.locator('.server-name', { hasText: 'fixture' }).click();
    await page.locator('.page-actions .btn', { hasText: 'Restart' }).click();
    await page.locator('.sub .mark', { hasText: 'ready' }).waitFor();
    await page.locator('.page-actions .btn', { hasText: 'Remove' }).click();
    await page.locator('.page-actions .btn', { hasText: 'Really remove' }).click();
    await page.locator('h1', { hasText: 'Servers' }).waitFor();
    await page.locator('.server-name').waitFor({ state: 'detached' });
  }],
  ['a session is exported, replayed and undone', async () => {
    await go(page, '#/sessions');
    await page.locator('tr.link').first().waitFor();
    const calls = await page.locator('tr.link td:nth-child(5)').allTextContents();
    // The client made most of the calls; signing in at a terminal makes sessions, too.
    await page.locator('tr.link a').nth(calls.indexOf(String(Math.max(...calls.map(Number))))).click();
    await page.locator('.gantt rect.calls').first().waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator('.btn', { hasText: 'Export JSONL' }).click()]);
    const records = readFileSync(await file.path(), 'utf8').trim().split('\n').map((record) => JSON.parse(record));
    expect(records.length >= 8, `${records.length} records`);
    await page.locator('.btn', { hasText: 'Replay' }).click();
    await page.locator('.panel', { hasText: 'The same' }).locator('.mark').waitFor();
    await page.locator('.btn', { hasText: 'Undo …' }).click();
    await page.locator('.undo-file .diff').first().waitFor();
    await page.locator('.btn.danger', { hasText: 'Undo in' }).click();
    await page.getByRole('heading', { name: 'Undone', exact: true }).waitFor();
    equal((await need('file', { path: 'd.txt' })).text, null, 'what the session made is gone');
    await need('write', { path: 'a.txt', text: 'seven\n' });
  }],
  ['hostile texts are shown whole and do nothing', async () => {
    const hostile = ['<img src=x onerror="globalThis.pwned=1">', '"><script>globalThis.pwned=1</script>', 'javascript:globalThis.pwned=1', '\u202Egnp.exe', '\u001b]0;title\u0007\u001b[31mred', 'a\u200bb\ufeffc', '${globalThis.pwned=1}', '{{7*7}}', '</title><svg onload=globalThis.pwned=1>', '%0d%0aSet-Cookie:x=1'];
    for (const path of hostile) {
      await need('call', { name: path, tool: 'read_file', arguments: { path } });
      await need('result', { name: path });
    }
    await go(page, '#/activity');
    const subject = (text) => page.locator('.v-row .subject', { hasText: text }).first();
    await subject('<img src=x onerror="globalThis.pwned=1">').waitFor();
    await subject('{{7*7}}').waitFor();
    equal(await page.locator('.v-row .subject .ctl', { hasText: 'U+202E' }).count() > 0, true, 'the override is shown');
    for (const row of await page.locator('.v-row .tool a').all()) {
      await row.click();
      await page.locator('.pane .facts').waitFor();
    }
    equal(await page.evaluate(() => globalThis.pwned), undefined, 'nothing was run');
    equal(await page.locator('main img, main script, main svg[onload]').count(), 0, 'nothing became markup');
  }],
  ['every screen opens, fits, and axe finds nothing', async () => {
    for (const [width, scheme] of [[1280, 'light'], [1280, 'dark'], [360, 'light']]) {
      const tab = await me.newPage();
      await tab.setViewportSize({ width, height: 800 });
      await tab.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      for (const screen of SCREENS) {
        await tab.goto(`${base}#/${screen}`);
        await tab.locator('main h1').waitFor();
        await tab.locator('[aria-busy]').waitFor({ state: 'detached' });
        equal(await axe(tab), [], `axe, ${screen}, ${width}, ${scheme}`);
        equal(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${screen} fits into ${width}`);
        equal(await tab.locator('main .failed').allTextContents(), [], `${screen} reads what it shows`);
      }
      await tab.close();
    }
  }],
  ['another origin can neither read, answer nor frame it', async () => {
    const foreign = createServer((_, answer) => answer.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html><iframe src="${base}"></iframe>`));
    await new Promise((resolve) => foreign.listen(0, '127.0.0.1', () => resolve(undefined)));
    const tab = await me.newPage();
    await tab.goto(`http://127.0.0.1:${/** @type {any} */ (foreign.address()).port}/`);
    const tried = await tab.evaluate(async (to) => {
      const outcomes = [];
      for (const [method, path, headers] of [['GET', '/api/console/now', {}], ['GET', '/api/events/stream', {}], ['POST', '/api/approvals/q-0/answer', { 'Tectum-Console': '1' }], ['POST', '/console/sign-out', { 'Tectum-Console': '1' }]]) {
        outcomes.push(await fetch(to + path, { method, headers, credentials: 'include', body: method === 'POST' ? '{}' : undefined }).then((answer) => answer.status, () => 'refused'));
      }
      return outcomes;
    }, base.replace('/console/', ''));
    equal(tried, ['refused', 'refused', 'refused', 'refused'], 'requests of another origin');
    const frame = tab.frames()[1];
    expect(!frame || frame.url() !== base || (await frame.evaluate(() => document.querySelector('#app') === null).catch(() => true)), 'it is not framed');
    await tab.close();
    foreign.close();
    // What that page provoked is told in its console.
    seen.errors = seen.errors.filter((error) => !/CORS policy|frame-ancestors|Framing|Access-Control/.test(error));
    const wrong = await page.evaluate(async () => (await fetch('/api/console/now', { headers: { 'Tectum-Console': 'wrong' } })).status);
    equal([401, 403].includes(wrong), true, `a wrong key: ${wrong}`);
  }],
  ['the house is killed and started under the open page', async () => {
    await go(page, '#/activity');
    await page.locator('.v-row').first().waitFor();
    const before = await page.locator('.page-title .sub').textContent();
    await need('restart', { patience: '5s' });
    await page.locator('#code').waitFor();
    const { link } = await need('link');
    await page.locator('#code').fill(link);
    await page.locator('form .primary').click();
    await page.locator('.v-row').first().waitFor();
    expect(page.url().endsWith('#/activity'), `it goes on where it was: ${page.url()}`);
    equal((await page.locator('.page-title .sub').textContent()).split(',')[0], before.split(',')[0], 'the calls on record');
  }],
  ['silence is a no', async () => {
    await edit('silent', 'seven', 'eight');
    await question(page);
    const { result } = await need('result', { name: 'silent' });
    equal(result.isError, true, JSON.stringify(result));
    await settled(page, 'expired').waitFor();
    equal((await need('file', { path: 'a.txt' })).text, 'seven\n', 'nothing changed');
  }],
  ['signing out ends it in every tab', async () => {
    await page.locator('.rail .foot', { hasText: 'Sign out' }).click();
    await page.locator('#code').waitFor();
    equal(await page.evaluate(() => localStorage.getItem('tectum-console-key')), null, 'the key');
    await second.reload();
    await second.locator('#code').waitFor();
  }],
]);
await chrome.close();
process.exit(0);
