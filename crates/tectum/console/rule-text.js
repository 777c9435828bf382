// A rule with the place it is written in.

import { h } from './view.js';
import { plain, shown } from './text.js';

/** @param {{text: string, file: string | null, line: number | null}} rule */
export function ruleText({ text, file, line }) {
  const at = file && `${file}${line ? `:${line}` : ''}`;
  // Some rules say themselves where they stand.
  return [h('code', null, shown(text)), at && !text.includes(at) && h('span.note', null, ' ', plain(at))];
}
