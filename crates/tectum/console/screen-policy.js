// Policy: the rules in effect and how often each decided, a box that answers "what if", and drafts of rules.

import { h } from './view.js';
import { action, copy, empty, facts, mark, page, panel, resource } from './parts.js';
import { table } from './table.js';
import { get, post } from './net.js';
import { hear, invalidate, onSnapshot } from './store.js';
import { number, quoted, when } from './format.js';
import { diff } from './diff.js';
import { line, plain, shown } from './text.js';
import { icon } from './icons.js';
import { ruleText } from './rule-text.js';

const rules = resource(() => get('/api/console/policy'));
const tools = resource(() => get('/api/console/tools'));
const test = action();
const asked = { tool: '', text: '{}' };
/** @type {any} */
let answer = null;
let open = false;

hear((event) => open && event.kind === 'policy.changed' && void rules.load());
onSnapshot(() => open && void rules.load());

/** @type {ConsoleScreen} */
export const policy = {
  id: 'policy',
  name: 'Policy',
  enter() {
    open = true;
    void rules.load();
    void tools.load();
  },
  leave: () => void (open = false),
  view: () => page({ title: 'Policy', sub: rules.value ? `Version ${rules.value.version} of the settings; where no rule fits: ${plain(rules.value.default)}` : ' ', cli: `tectum policy test ${quoted(asked.tool || 'edit_file')}` },
    rules.show((value) => [
      value.problems?.length ? h('div.failed', { role: 'alert' }, icon('warn'), h('div', null, h('p.failed-title', null, 'The settings files contain mistakes; the last valid settings are in effect.'), h('ul.plain', null, value.problems.map((/** @type {any} */ problem) => h('li', null, shown(typeof problem === 'string' ? problem : problem.message ?? JSON.stringify(problem))))))) : null,
      h('div.columns.wide-left', null, h('div.stack', null, list(value.rules)), whatIf()),
      drafts(value.drafts ?? []),
      h('div.columns', null,
        panel('Roots', { note: 'folders that tools may open' }, value.roots?.length ? h('ul.rows', null, value.roots.map((/** @type {any} */ root) => h('li', { key: root.path }, h('code', null, shown(root.path)), h('span.note', null, line(root.access))))) : h('p.quiet-line', null, 'None.')),
        panel('Protected names', { note: 'besides those that are built in' }, value.protected?.length ? h('ul.rows.short', null, value.protected.map((/** @type {any} */ each, /** @type {number} */ at) => h('li', { key: at }, h('code', null, shown(each.pattern)), h('span.note', null, each.how ? `${plain(each.how)} ` : '', each.file ? `${plain(each.file)}${each.line ? `:${each.line}` : ''}` : '')))) : h('p.quiet-line', null, 'None.'))),
    ], 10)),
};

const EFFECT = /** @type {const} */ ({ allow: 'ok', ask: 'info', deny: 'bad' });
/** @param {any[]} list */
function list(list) {
  if (!list.length) return panel('Rules', {}, empty('No rule', ['Write ', h('code', null, 'allow'), ', ', h('code', null, 'ask'), ' or ', h('code', null, 'deny'), ' under ', h('code', null, '[permissions]'), ' in tectum.toml.']));
  return panel('Rules', { note: rules.value?.counted !== undefined ? `deny counts before ask, ask before allow; counted over the last ${number(rules.value.counted)} calls` : 'deny counts before ask, ask before allow', flush: true }, table({
    id: 'rules', label: 'Rules', rows: list, key: (rule) => list.indexOf(rule),
    columns: [
      { head: 'Effect', cell: (rule) => mark(EFFECT[/** @type {'allow'} */ (rule.effect)] ?? 'off', rule.effect), by: (rule) => ['deny', 'ask', 'allow'].indexOf(rule.effect) },
      { head: 'Rule', cell: (rule) => h('code', null, shown(rule.text)) },
      { head: 'Written in', opt: true, cell: (rule) => (rule.file ? h('code.note', { title: plain(rule.file) }, `${plain(rule.file.split('/').slice(-2).join('/'))}${rule.line ? `:${rule.line}` : ''}`) : h('span.note', null, 'built in')) },
      { head: 'Decided', num: true, cell: (rule) => number(rule.hits), by: (rule) => rule.hits },
      { head: 'Last', opt: true, cell: (rule) => (rule.last_hit ? when(rule.last_hit) : h('span.note', null, 'never')), by: (rule) => rule.last_hit ?? '' },
    ],
  }));
}

function whatIf() {
  const schema = tools.value?.tools.find((/** @type {any} */ tool) => tool.name === asked.tool)?.schema;
  const names = Object.keys(schema?.properties ?? {});
  return panel('What if', { note: 'nothing is run' },
    h('form', {
      onsubmit(/** @type {Event} */ event) {
        event.preventDefault();
        void test.run('test', async () => {
          /** @type {any} */
          let args;
          try {
            args = JSON.parse(asked.text || '{}');
          } catch (error) {
            throw Object.assign(new Error(`The arguments are not JSON: ${/** @type {Error} */ (error).message}`), { hint: 'Write an object, such as {"path": "src/main.rs"}.' });
          }
          answer = await post('/api/console/policy/test', { tool: asked.tool, arguments: args });
        });
      },
    },
    h('div.fields', null,
      h('div.field', null, h('label', { for: 'if-tool' }, 'Tool'), h('input', { id: 'if-tool', list: 'if-tools', required: true, autocomplete: 'off', spellcheck: 'false', value: asked.tool, placeholder: 'edit_file', oninput: (/** @type {any} */ event) => ((asked.tool = event.target.value), fill()) }), h('datalist', { id: 'if-tools' }, tools.value?.tools.map((/** @type {any} */ tool) => h('option', { key: tool.name, value: tool.name })))),
      h('div.field', null, h('label', { for: 'if-args' }, 'Arguments'), h('textarea', { id: 'if-args', rows: 4, spellcheck: 'false', value: asked.text, oninput: (/** @type {any} */ event) => ((asked.text = event.target.value), invalidate()) }), names.length ? h('p.note', null, 'It takes: ', names.map((name) => plain(name)).join(', ')) : null)),
    h('div.field-row.end', null, h('button.btn.primary', { type: 'submit', disabled: test.busy !== null }, 'Ask the rules'))),
    test.show(), answer && verdict(answer));
}

/** Begins the arguments with the first one that is needed. */
function fill() {
  const schema = tools.value?.tools.find((/** @type {any} */ tool) => tool.name === asked.tool)?.schema;
  const first = schema?.required?.[0];
  if (first && /^\s*(\{\s*\}|\{"[^"]*": ""\})\s*$/.test(asked.text)) asked.text = `{${JSON.stringify(first)}: ""}`;
  answer = null;
  invalidate();
}

/** @param {any} told */
function verdict(told) {
  const kind = /allow/.test(told.verdict) ? 'ok' : /ask/.test(told.verdict) ? 'info' : 'bad';
  return h('div.verdict', { role: 'status' }, h('p.verdict-word', null, mark(kind, line(told.verdict))),
    h('p', null, shown(told.explanation)),
    facts([
      ['Rule', told.rule && ruleText(told.rule)],
      ...(told.layers ?? []).map((/** @type {any} */ layer) => [plain(layer.layer), layer.passed === undefined ? line(layer.says) : mark(layer.passed ? 'ok' : 'bad', line(layer.says))]),
    ]));
}

/** @param {any[]} list */
const drafts = (list) =>
  panel('Drafts', { note: 'rules that would have answered what you approved' },
    list.length
      ? h('ul.drafts', null, list.map((draft, at) => h('li', { key: at }, h('div', null, h('code', null, shown(draft.text)), h('span.note', null, ' ', line(draft.from))), draft.diff && diff(draft.diff, 'tectum.toml', `draft-${at}-${draft.text}`), copy(draft.text, 'Copy the rule'))))
      : h('p.quiet-line', null, 'Calls that you approve again and again appear here as rules that you could write.'));
