// Colours source text a line at a time: strings, comments, numbers and keywords, by the ending of the file's name.

/** @typedef {{text: string, kind: '' | 'str' | 'com' | 'num' | 'key'}} Token */
/** @typedef {{line: string[], block: [string, string][], quotes: string[], keys: Set<string>, lifetimes?: boolean}} Rules */

const set = (/** @type {string} */ words) => new Set(words.split(' '));
const C_LIKE = 'if else for while do switch case break continue return struct enum const static void int char float double bool true false null new this class public private protected import export default try catch throw finally async await let var function typeof instanceof in of extends super interface type package func go defer range chan map namespace using template virtual override';
/** @type {[string, Rules][]} */
const LANGUAGES = [
  ['rs', { line: ['//'], block: [['/*', '*/']], quotes: ['"'], lifetimes: true, keys: set('as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while') }],
  ['js mjs cjs jsx ts tsx java c h cc cpp hpp cs go kt swift php scala dart', { line: ['//'], block: [['/*', '*/']], quotes: ['"', "'", '`'], keys: set(C_LIKE) }],
  ['py pyi', { line: ['#'], block: [['"""', '"""'], ["'''", "'''"]], quotes: ['"', "'"], keys: set('and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self') }],
  ['sh bash zsh fish ps1', { line: ['#'], block: [], quotes: ['"', "'"], keys: set('if then else elif fi for in do done while until case esac function return export local readonly set unset exit cd echo sudo') }],
  ['rb', { line: ['#'], block: [], quotes: ['"', "'"], keys: set('def end if else elsif unless while until do class module return yield begin rescue ensure nil true false self require attr_accessor') }],
  ['toml yaml yml ini conf env dockerfile makefile', { line: ['#'], block: [], quotes: ['"', "'"], keys: set('true false null yes no on off FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR') }],
  ['json jsonc', { line: ['//'], block: [['/*', '*/']], quotes: ['"'], keys: set('true false null') }],
  ['css scss less', { line: [], block: [['/*', '*/']], quotes: ['"', "'"], keys: set('important media supports import keyframes') }],
  ['html xml svg vue', { line: [], block: [['<!--', '-->']], quotes: ['"', "'"], keys: new Set() }],
  ['sql', { line: ['--'], block: [['/*', '*/']], quotes: ["'", '"'], keys: set('select from where insert into values update set delete create table index drop alter join left inner on group by order limit and or not null primary key SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX DROP ALTER JOIN LEFT INNER ON GROUP BY ORDER LIMIT AND OR NOT NULL PRIMARY KEY') }],
  ['lua', { line: ['--'], block: [['--[[', ']]']], quotes: ['"', "'"], keys: set('and break do else elseif end false for function if in local nil not or repeat return then true until while') }],
];
const BY_ENDING = new Map(LANGUAGES.flatMap(([endings, rules]) => endings.split(' ').map((ending) => /** @type {[string, Rules]} */ ([ending, rules]))));
/** A longer line is one word; no person reads its colours. */
const LONGEST = 2000;

/** @param {string} path @returns {Rules | null} */
export const rulesFor = (path) => BY_ENDING.get((path.split('/').pop() ?? '').split('.').pop()?.toLowerCase() ?? '') ?? null;

/**
 * The tokens of a line, and what is still open at its end.
 * @param {string} line @param {Rules | null} rules @param {string} open what ends the comment or string that the line begins in
 * @returns {[Token[], string]}
 */
export function tokens(line, rules, open) {
  if (!rules || line.length > LONGEST) return [[{ text: line, kind: '' }], ''];
  /** @type {Token[]} */
  const out = [];
  let plain = '';
  let at = 0;
  const push = (/** @type {string} */ text, /** @type {Token['kind']} */ kind) => {
    if (plain) out.push({ text: plain, kind: '' });
    plain = '';
    if (text) out.push({ text, kind });
    at += text.length;
  };
  const until = (/** @type {string} */ end, /** @type {number} */ from) => {
    const found = line.indexOf(end, from);
    return found < 0 ? -1 : found + end.length;
  };
  if (open) {
    const end = until(open, 0);
    push(end < 0 ? line : line.slice(0, end), 'com');
    if (end < 0) return [out, open];
  }
  while (at < line.length) {
    const rest = line.slice(at);
    const block = rules.block.find(([begin]) => rest.startsWith(begin));
    if (block) {
      const end = until(block[1], at + block[0].length);
      push(end < 0 ? rest : line.slice(at, end), 'com');
      if (end < 0) return [out, block[1]];
    } else if (rules.line.some((begin) => rest.startsWith(begin) && (begin !== '#' || at === 0 || /\s/.test(line[at - 1])))) push(rest, 'com');
    else if (rules.quotes.includes(rest[0])) push(quoted(rest), 'str');
    else {
      const char = rules.lifetimes && rest[0] === "'" ? /^'(\\.[^']*|[^'\\])'/.exec(rest) : null;
      const number = /^(0x[\da-f_]+|0b[01_]+|\d[\d_]*(\.\d[\d_]*)?(e[+-]?\d+)?)/i.exec(rest);
      const word = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(rest);
      if (char) push(char[0], 'str');
      else if (word) rules.keys.has(word[0]) ? push(word[0], 'key') : ((plain += word[0]), (at += word[0].length));
      else if (number) push(number[0], 'num');
      else {
        plain += rest[0];
        at += 1;
      }
    }
  }
  push('', '');
  return [out, ''];
}

/** A string with its quotes, or the rest of the line. @param {string} rest */
function quoted(rest) {
  for (let at = 1; at < rest.length; at++) {
    if (rest[at] === '\\') at++;
    else if (rest[at] === rest[0]) return rest.slice(0, at + 1);
  }
  return rest;
}
