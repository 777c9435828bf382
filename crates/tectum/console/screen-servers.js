// Servers: the state and the life of each; of one, its command, its last words, trust, and changed definitions.

import { h } from './view.js';
import { action, empty, facts, page, panel, resource } from './parts.js';
import { icon } from './icons.js';
import { get, post } from './net.js';
import { hear, invalidate, onSnapshot, state } from './store.js';
import { count, number, quoted, when } from './format.js';
import { strip } from './chart-strip.js';
import { serverMark } from './server-mark.js';
import { newServer, startNew } from './server-new.js';
import { diff } from './diff.js';
import { go, link } from './router.js';
import { longText } from './values.js';
import { line, plain, shown } from './text.js';

const list = resource(async () => {
  const { servers } = await get('/api/console/servers');
  state.servers = servers;
  return servers;
});
const act = action();
let open = false;

hear((event) => open && event.kind === 'server.changed' && void list.load());
onSnapshot(() => open && void list.load());

/** @type {ConsoleScreen} */
export const servers = {
  id: 'servers',
  name: 'Servers',
  enter(_, arrived) {
    open = true;
    if (arrived) act.error = act.done = null;
    void list.load();
  },
  leave: () => void (open = false),
  view: (place) => (place.item ? one(place.item) : all()),
};

/** The hours that the strips show: as long as the house is up, and no more than a day. */
const hours = () => [1, 6].find((hours) => (state.now?.house.uptime ?? 0) < hours * 3600) ?? 24;

/** @param {Server} server */
const life = (server) => strip({ name: server.name, since: server.since, up: /^(ready|up|running)/.test(server.state), deaths: server.deaths ?? [], now: Date.now(), hours: hours() });

function all() {
  return page({ title: 'Servers', sub: 'MCP servers behind this house; their tools appear among its own', cli: 'tectum list -v', actions: [h('button.btn', { onclick: () => startNew('import'), disabled: !state.mayAnswer }, 'Import'), h('button.btn.primary', { onclick: () => startNew('add'), disabled: !state.mayAnswer }, 'Add a server')] },
    newServer(() => void list.load()),
    list.show((servers) =>
      servers.length
        ? h('ul.server-list', null, servers.map((/** @type {Server} */ server) => h('li', { key: server.name },
          h('div.server-main', null, h('a.server-name', { href: link('servers', server.name) }, line(server.name)), serverMark(server), h('span.note', null, line([server.transport, server.era, server.version].filter(Boolean).join(' · ')))),
          h('div.server-life', null, life(server), h('span.note', null, `${hours()} h`)),
          h('div.server-count', null, h('b', null, number(server.tools ?? 0)), h('span.note', null, ' tools')),
          server.error && h('p.server-error', null, icon('warn'), line(server.error)))))
        : empty('No server', 'Tectum offers its native tools. Add a server by its command or address, or import the servers of another client.', h('button.btn.primary', { onclick: () => startNew('add') }, 'Add a server')), 6));
}

/** @param {string} name @param {string} what @param {any} [body] @param {string} [busy] */
const does = (name, what, body = {}, busy = what) =>
  void act.run(busy, async () => {
    const answer = await post(`/api/console/servers/${encodeURIComponent(name)}/${what}`, body);
    // Whoever went elsewhere meanwhile stays there.
    if (what === 'remove' && location.hash === link('servers', name)) go(link('servers'));
    await list.load();
    return [h('p', null, DONE[what] ?? 'Done.'), (answer.notes ?? []).map((/** @type {string} */ note) => h('p.note', null, shown(note))), answer.diff && diff(answer.diff, 'tectum.toml', `${name}-${what}`)];
  });
/** @type {Record<string, string>} */
const DONE = { restart: 'It was started again.', trust: 'It is trusted with this command.', enable: 'It is on.', disable: 'It is off.', remove: 'It was taken out of the settings.', approve: 'The definition is approved.' };

let removing = '';

/** @param {string} name */
function one(name) {
  const server = list.value?.find((/** @type {Server} */ each) => each.name === name);
  const off = act.busy !== null || !state.mayAnswer;
  const disabled = /^(off|disabled)/.test(server?.state ?? '');
  return page({
    title: line(name), back: [link('servers'), 'Servers'], sub: server ? [serverMark(server), ' ', server.since && ['since ', when(server.since)]] : ' ', cli: `tectum get ${quoted(name)}`,
    actions: server && [
      h('button.btn', { disabled: off, onclick: () => does(name, 'restart') }, icon('restart'), act.busy === 'restart' ? 'Starting …' : 'Restart'),
      h('button.btn', { disabled: off, onclick: () => does(name, disabled ? 'enable' : 'disable') }, disabled ? 'Enable' : 'Disable'),
      removing === name
        ? [h('button.btn.danger', { disabled: off, onclick: () => ((removing = ''), does(name, 'remove')) }, 'Really remove'), h('button.btn.quiet', { onclick: () => ((removing = ''), invalidate()) }, 'Keep')]
        : h('button.btn', { disabled: off, onclick: () => ((removing = name), invalidate()) }, 'Remove'),
    ],
  },
  act.show(),
  list.show(() => (server ? detail(server, off) : empty('There is no such server', 'It may have been removed from the settings.', h('a.btn', { href: link('servers') }, 'All servers'))), 8));
}

/** @param {any[]} list */
const names = (list) => list.map((each) => (typeof each === 'string' ? each : each.name ?? '')).join(', ');

/** @param {Server} server @param {boolean} off */
function detail(server, off) {
  return [
    server.trust === 'needed' && panel('This server is not trusted yet', { class: 'ask', actions: h('button.btn.primary', { disabled: off, onclick: () => does(server.name, 'trust') }, 'Trust this command') },
      h('p', null, 'The project wants to start this program on your machine. It is started only after you agree to exactly this command:'), h('pre.code', null, shown(server.command ?? server.url ?? ''))),
    (server.approvals ?? []).map((/** @type {any} */ change) => panel([h('code', null, line(change.tool)), change.was === null ? ' is new' : ' was changed by the server'], {
      key: `approve-${change.tool}`, class: 'ask', note: 'withheld from models until you approve it', actions: h('button.btn.primary', { disabled: off, onclick: () => does(server.name, 'approve', { tool: change.tool }, `approve ${change.tool}`) }, act.busy === `approve ${change.tool}` ? 'Approving …' : 'Approve the new definition'),
    }, change.diff ? diff(change.diff, `${change.tool}.json`, `definition-${server.name}-${change.tool}`) : h('pre.code', null, shown(change.is)))),
    (server.error || server.hint) && panel('Last error', {}, server.error && h('p', null, shown(server.error)), server.hint && h('p.note', null, shown(server.hint))),
    h('div.columns', null,
      panel('Facts', {}, facts([
        ['Transport', line(server.transport)], ['Era', line(server.era)], ['Version', line(server.version)],
        ['Command', server.command && h('code', null, shown(server.command))], ['Address', server.url && h('code', null, shown(server.url))],
        ['Folder', server.cwd && h('code', null, shown(server.cwd))], ['Variables', server.env?.length ? line(names(server.env)) : null], ['Headers', server.headers?.length ? line(names(server.headers)) : null], ['Starts', server.starts ? number(server.starts) : null],
        ['Written in', server.from && h('code', null, shown(server.from.file), server.from.line ? `:${server.from.line}` : '')],
        ['Trust', line(server.trust)], ['Tools', h('a', { href: link('tools') }, number(server.tools ?? 0))],
      ])),
      panel(hours() === 1 ? 'Last hour' : `Last ${hours()} hours`, { note: count((server.deaths ?? []).length, 'death') }, life(server),
        (server.deaths ?? []).length ? h('ul.rows.deaths', null, [...server.deaths].reverse().slice(0, 12).map((/** @type {any} */ death, /** @type {number} */ at) => h('li', { key: at }, when(death.at), h('span', null, line(death.why))))) : h('p.quiet-line', null, 'It did not die.'))),
    panel('Standard error', { note: 'the last lines' }, server.stderr?.length ? longText(server.stderr.join('\n'), `stderr-${server.name}`, 'Standard error') : h('p.quiet-line', null, `${plain(server.name)} wrote nothing.`)),
  ];
}
