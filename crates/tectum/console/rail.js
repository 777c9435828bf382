// The list of screens with their counts, and what concerns the page as a whole.

import { h } from './view.js';
import { icon } from './icons.js';
import { invalidate, state } from './store.js';
import { showHelp } from './keys.js';
import { askToNotify, canAskToNotify } from './notices.js';
import { signOut } from './net.js';
import { disconnect } from './store.js';
import { plain, shown } from './text.js';
import { now } from './screen-now.js';
import { approvals } from './screen-approvals.js';
import { activity } from './screen-activity.js';
import { sessions } from './screen-sessions.js';
import { tools } from './screen-tools.js';
import { servers } from './screen-servers.js';
import { policy } from './screen-policy.js';
import { context } from './screen-context.js';
import { orchestration } from './screen-orchestration.js';
import { attention } from './screen-attention.js';

/** @type {ConsoleScreen[]} */
export const SCREENS = [now, approvals, activity, sessions, tools, servers, policy, context, orchestration, attention];

/** @type {Record<string, () => [number, string] | null>} the count beside a screen, and what it counts */
const COUNTS = {
  now: () => (state.calls.size ? [state.calls.size, 'in flight'] : null),
  approvals: () => (state.questions.size ? [state.questions.size, 'waiting'] : null),
  servers() {
    const broken = state.servers.filter((server) => server.error || server.trust === 'needed' || server.approvals?.length).length;
    return broken ? [broken, 'need a look'] : null;
  },
};

const density = () => document.documentElement.dataset.density ?? 'comfortable';
/** @param {string} to */
function setDensity(to) {
  document.documentElement.dataset.density = to;
  localStorage.setItem('tectum-density', to);
  invalidate();
}
setDensity(localStorage.getItem('tectum-density') ?? 'comfortable');

/** @param {string} current */
export function rail(current) {
  const project = String(state.now?.house?.project ?? '');
  const compact = density() === 'compact';
  return h('nav.rail', { 'aria-label': 'Screens' },
    h('div.brand', null, h('svg.logo', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, h('path', { d: 'M2 11 12 3l10 8M5 11v9M10 11v9M14 11v9M19 11v9M3 20.5h18' })),
      h('div', null, h('b', null, 'Tectum'), h('span.project', { title: plain(project) }, shown(project.split('/').pop())))),
    h('ul', null, SCREENS.map((screen) => {
      const count = COUNTS[screen.id]?.();
      return h('li', { key: screen.id },
        h('a', { href: `#/${screen.id}`, 'aria-current': screen.id === current ? 'page' : undefined, class: screen.id === 'approvals' && count ? 'waiting' : '' },
          icon(screen.id), h('span.name', null, screen.name), count && h('span.count', { title: `${count[0]} ${count[1]}` }, count[0], h('span.sr', null, ` ${count[1]}`))));
    })),
    h('div.rail-foot', null,
      linkMark(),
      canAskToNotify() && h('button.foot', { onclick: askToNotify, title: 'Notify me when something waits for me' }, icon('bell'), h('span', null, 'Notify me')),
      h('button.foot', { onclick: () => setDensity(compact ? 'comfortable' : 'compact'), 'aria-pressed': compact ? 'true' : 'false', title: 'Compact rows' }, icon('rows'), h('span', null, 'Compact')),
      h('button.foot', { onclick: showHelp, title: 'Keys (?)' }, icon('keys'), h('span', null, 'Keys and sign-ins')),
      h('button.foot', { onclick: () => void signOut().finally(disconnect), title: 'Sign out' }, icon('out'), h('span', null, 'Sign out'))));
}

function linkMark() {
  const [kind, word] = state.link === 'live' ? ['ok', 'Live'] : state.link === 'lost' ? ['bad', 'Not connected'] : ['busy', 'Connecting'];
  return h('div.live', { class: `is-${kind}` }, h('span.dot', null), h('span', null, word));
}
