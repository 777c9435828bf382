// Tools: all that are offered, with their use and cost; of one, its definition, a form to try it, and its switch.

import { h } from './view.js';
import { action, empty, facts, figures, mark, page, panel, resource, toggle } from './parts.js';
import { table } from './table.js';
import { icon } from './icons.js';
import { get, post } from './net.js';
import { hear, invalidate, onSnapshot, state } from './store.js';
import { number, quoted, took } from './format.js';
import { callDetail } from './call-pane.js';
import { bars } from './chart-bars.js';
import { diff } from './diff.js';
import { Form } from './form.js';
import { go, link } from './router.js';
import { json } from './values.js';
import { line, plain, shown } from './text.js';

const list = resource(() => get('/api/console/tools'));
const act = action();
let open = false;
let words = '';
/** @type {Form | null} */
let form = null;
let formOf = '';
/** @type {any} */
let result = null;

hear((event) => open && (event.kind === 'tools.changed' || event.kind === 'policy.changed') && void list.load());
onSnapshot(() => open && void list.load());

/** @type {ConsoleScreen} */
export const tools = {
  id: 'tools',
  name: 'Tools',
  enter(place, arrived) {
    open = true;
    if (arrived || !list.value) void list.load();
    if (place.item !== formOf) {
      formOf = place.item ?? '';
      form = result = act.error = act.done = null;
    }
  },
  leave: () => void (open = false),
  view: (place) => (place.item ? one(place.item) : all()),
};

/** @param {number} calls @param {number} errors */
const errorRate = (calls, errors) => (calls ? `${((errors / calls) * 100).toFixed(errors && errors / calls < 0.1 ? 1 : 0)} %` : '–');

/** @param {any} tool */
const permission = (tool) => mark(tool.permission === 'allow' ? 'ok' : tool.permission === 'ask' ? 'info' : 'bad', tool.permission, tool.rule ? plain(tool.rule) : undefined);

function all() {
  const value = list.value;
  const on = value?.tools.filter((/** @type {any} */ tool) => tool.on).length;
  return page({ title: 'Tools', sub: value ? `${number(on)} of ${number(value.tools.length)} tools are on; their definitions take ${number(value.tokens_total)} tokens of each conversation` : ' ', cli: 'tectum tools' },
    h('form.filters', { role: 'search', onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, h('div.search', null, icon('search'), h('input', { type: 'search', placeholder: 'Name or description', 'aria-label': 'Search', value: words, oninput: (/** @type {any} */ event) => ((words = event.target.value), invalidate()) }))),
    act.show(),
    list.show(({ tools }) => {
      const wanted = words.toLowerCase();
      const rows = tools.filter((/** @type {any} */ tool) => `${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase().includes(wanted));
      if (!tools.length) return empty('No tool is offered', 'Native tools are switched on in the settings, others come with servers.', h('a.btn', { href: link('servers') }, 'Servers'));
      if (!rows.length) return empty('No tool has these words');
      return [
        table({
          id: 'tools', label: 'Tools', rows, key: (tool) => tool.name, row: (tool) => ({ class: `link ${tool.on ? '' : 'off'}`, onclick: () => go(link('tools', tool.name)) }),
          columns: [
            { head: 'Tool', cell: (tool) => [h('a', { href: link('tools', tool.name) }, line(tool.name)), h('span.second', null, line((tool.description || tool.title || '').split('\n')[0].slice(0, 140)))], by: (tool) => tool.name },
            { head: 'From', opt: true, cell: (tool) => line(tool.source), by: (tool) => tool.source },
            { head: 'Permission', cell: permission, by: (tool) => tool.permission },
            { head: 'Tokens', num: true, cell: (tool) => number(tool.tokens), by: (tool) => tool.tokens },
            { head: 'Calls', num: true, cell: (tool) => number(tool.calls), by: (tool) => tool.calls },
            { head: 'Errors', num: true, cell: (tool) => h('span', { class: tool.errors ? 'is-bad' : '' }, errorRate(tool.calls, tool.errors)), by: (tool) => (tool.calls ? tool.errors / tool.calls : null) },
            { head: 'p50', num: true, opt: true, cell: (tool) => took(tool.p50_ms), by: (tool) => tool.p50_ms },
            { head: 'p99', num: true, opt: true, cell: (tool) => took(tool.p99_ms), by: (tool) => tool.p99_ms },
            { head: 'On', cell: (tool) => h('span', { onclick: (/** @type {Event} */ event) => event.stopPropagation() }, toggle(`${plain(tool.name)} is on`, tool.on, (to) => flip(tool, to), act.busy !== null || !state.mayAnswer)) },
          ],
        }),
        bars({ name: 'tool-tokens', title: 'Tokens of the definitions', unit: 'estimated, in each conversation', words: ['definition', ''], items: tools.filter((/** @type {any} */ tool) => tool.on).map((/** @type {any} */ tool) => ({ label: tool.name, href: link('tools', tool.name), first: tool.tokens, second: 0 })) }),
      ];
    }, 10));
}

/** @param {any} tool @param {boolean} on */
const flip = (tool, on) =>
  void act.run(tool.name, async () => {
    const { diff: change } = await post(`/api/console/tools/${encodeURIComponent(tool.name)}/switch`, { on });
    await list.load();
    return [h('p', null, h('b', null, line(tool.name)), on ? ' is on.' : ' is off.'), change && diff(change, 'tectum.toml', `switch-${tool.name}-${on}`)];
  });

/** @param {string} name */
function one(name) {
  const tool = list.value?.tools.find((/** @type {any} */ each) => each.name === name);
  return page({ title: line(name), back: [link('tools'), 'Tools'], sub: tool ? line(tool.title || '') : ' ', cli: `tectum call ${quoted(name)}`, actions: tool && h('label.switch-label', null, tool.on ? 'On' : 'Off', toggle(`${plain(name)} is on`, tool.on, (to) => flip(tool, to), act.busy !== null || !state.mayAnswer)) },
    act.show(),
    list.show(() => (tool ? detail(tool) : empty('There is no such tool', 'It may have gone with its server.', h('a.btn', { href: link('tools') }, 'All tools'))), 8));
}

/** @param {any} tool */
function detail(tool) {
  if (!form) form = new Form(tool.schema, {}, 'try');
  return [
    figures([
      { label: 'Tokens', value: number(tool.tokens), note: 'in each conversation' },
      { label: 'Calls', value: number(tool.calls), note: h('a', { href: link('activity', null, { tool: tool.name }) }, 'in Activity') },
      { label: 'Errors', value: errorRate(tool.calls, tool.errors), note: tool.errors ? `${number(tool.errors)} calls` : ' ', kind: tool.errors ? 'is-bad' : '' },
      { label: 'p50', value: took(tool.p50_ms), note: 'half are quicker' },
      { label: 'p99', value: took(tool.p99_ms), note: '99 of 100 are quicker' },
    ]),
    h('div.columns', null,
      h('div.stack', null,
        panel('Try it', { note: state.mayAnswer ? 'walks the same rules and is recorded' : 'sign in to call tools' },
          h('form', {
            onsubmit(/** @type {Event} */ event) {
              event.preventDefault();
              const given = form?.read();
              if (given) void act.run('call', async () => void (result = await post(`/api/console/tools/${encodeURIComponent(tool.name)}/call`, { arguments: given })));
            },
          }, form.view(), h('div.field-row.end', null, h('button.btn.primary', { type: 'submit', disabled: act.busy !== null || !state.mayAnswer || !tool.on }, act.busy === 'call' ? 'Running …' : `Call ${plain(tool.name)}`), act.busy === 'call' && tool.permission === 'ask' && h('p.note', null, 'A rule asks about this call: ', h('a', { href: link('approvals') }, 'answer it'), '.')))),
        result && panel('Result', { class: 'result', actions: h('button.btn.quiet', { onclick: () => ((result = null), invalidate()) }, 'Close') }, callDetail(result))),
      h('div.stack', null,
        panel('Definition', {},
          facts([
            ['From', tool.source === 'native' ? 'Tectum itself' : h('a', { href: link('servers', tool.source) }, line(tool.source))],
            ['Permission', [permission(tool), tool.rule && [' ', h('code', null, shown(tool.rule))]]],
            ['Off because', tool.why_off && line(tool.why_off)],
            ['Hints', tool.annotations && Object.entries(tool.annotations).filter(([, value]) => typeof value === 'boolean').map(([hint, value]) => h('span.tagged', { key: hint }, `${plain(hint).replace(/Hint$/, '')}: ${value ? 'yes' : 'no'}`))],
          ]),
          h('div.description', null, shown(tool.description))),
        h('details.panel.raw', null, h('summary', null, 'Schema'), json(tool.schema, `schema-${tool.name}`)))),
  ];
}

