// The state of a server as a mark.

import { mark } from './parts.js';
import { plain } from './text.js';

/** @param {Server} server */
export function serverMark(server) {
  if (server.trust === 'needed' || server.state === 'untrusted') return mark('warn', 'needs trust');
  if (server.approvals?.length) return mark('warn', 'changed');
  const state = plain(server.state);
  if (/^(up|ready|running|connected|works)/.test(state)) return mark('ok', state);
  if (/^(off|disabled|stopped|idle|not started)/.test(state)) return mark('off', state);
  if (/start|retry|connect|wait/.test(state)) return mark('busy', state, server.error ? plain(server.error) : undefined);
  return mark('bad', state, server.error ? plain(server.error) : undefined);
}
