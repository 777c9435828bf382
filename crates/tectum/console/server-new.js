// Adds servers: one by its command or address, or those of another client after a look at what would be written.

import { h } from './view.js';
import { action, panel } from './parts.js';
import { post } from './net.js';
import { invalidate } from './store.js';
import { diff } from './diff.js';
import { line } from './text.js';

const CLIENTS = ['claude', 'claude-desktop', 'cursor', 'vscode', 'windsurf', 'codex', 'zed', 'gemini'];
/** @type {'add' | 'import' | null} */
let mode = null;
const act = action();
const given = { name: '', target: '', from: CLIENTS[0] };
/** @type {any} */
let found = null;

/** @param {'add' | 'import' | null} to */
export function startNew(to) {
  mode = to;
  found = act.error = null;
  invalidate();
}

/** The words of a command line, as a shell would divide them: quotes keep spaces. @param {string} text */
const words = (text) => [...text.matchAll(/(?:[^\s"']+|"((?:\\.|[^"\\])*)"|'([^']*)')+/g)].map((match) => match[0].replace(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double, single) => (single ?? double).replace(/\\(["\\])/g, '$1')));

/** @param {() => void} done */
export function newServer(done) {
  if (!mode) return act.show();
  const close = h('button.btn.quiet', { type: 'button', onclick: () => startNew(null) }, 'Cancel');
  const set = (/** @type {'name' | 'target' | 'from'} */ name) => (/** @type {any} */ event) => ((given[name] = event.target.value), (found = null), invalidate());
  if (mode === 'add') {
    return panel('Add a server', { actions: close }, act.show(), h('form', {
      onsubmit(/** @type {Event} */ event) {
        event.preventDefault();
        const target = given.target.trim();
        void act.run('add', async () => {
          const { diff: change } = await post('/api/console/servers', { name: given.name.trim(), ...(/^https?:\/\//.test(target) ? { url: target } : { command: words(target) }) });
          mode = null;
          done();
          return ['It was written into the settings.', change && diff(change, 'tectum.toml', `add-${given.name}`)];
        });
      },
    },
    h('div.fields', null,
      h('div.field', null, h('label', { for: 'new-name' }, 'Name'), h('input', { id: 'new-name', required: true, pattern: '[A-Za-z0-9_\\-]+', value: given.name, oninput: set('name'), autocomplete: 'off', placeholder: 'github' }), h('p.note', null, 'Letters, digits, - and _. Tools are offered as name__tool.')),
      h('div.field', null, h('label', { for: 'new-target' }, 'Command or address'), h('input', { id: 'new-target', required: true, value: given.target, oninput: set('target'), autocomplete: 'off', spellcheck: 'false', placeholder: 'npx -y @modelcontextprotocol/server-memory' }), h('p.note', null, 'Secrets belong into environment variables: ${TOKEN}.'))),
    h('div.field-row.end', null, h('button.btn.primary', { type: 'submit', disabled: act.busy !== null }, act.busy ? 'Adding …' : 'Add'))));
  }
  const run = (/** @type {boolean} */ dry_run) => void act.run('import', async () => {
    const answer = await post('/api/console/servers/import', { from: given.from, dry_run });
    if (dry_run) return void (found = answer);
    mode = found = null;
    done();
    return 'The servers were written into the settings. Each is started once you trust it.';
  });
  return panel('Import servers of another client', { actions: close }, act.show(),
    h('div.field-row', null, h('select', { 'aria-label': 'Client', value: given.from, onchange: set('from') }, CLIENTS.map((client) => h('option', { value: client }, client))), h('button.btn', { disabled: act.busy !== null, onclick: () => run(true) }, 'Look')),
    found && [
      found.found?.length ? h('ul.rows', null, found.found.map((/** @type {any} */ each) => h('li', null, h('b', null, line(each.name ?? each)), each.command && h('code', null, line([each.command].flat().join(' '))), each.why && h('span.note', null, line(each.why))))) : h('p.quiet-line', null, 'This client has no servers that are not here already.'),
      found.diff && diff(found.diff, 'tectum.toml', `import-${given.from}`),
      found.found?.length ? h('div.field-row.end', null, h('button.btn.primary', { disabled: act.busy !== null, onclick: () => run(false) }, 'Write this')) : null,
    ]);
}
