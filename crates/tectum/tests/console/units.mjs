// Parts of the page that need no browser: nothing that is read is lost, however it is cut or what it contains.

import assert from 'node:assert/strict';
import { readPatch } from '../../console/patch.js';
import { rulesFor, tokens } from '../../console/syntax.js';
import { line, plain, shown } from '../../console/text.js';
import { Frames } from '../../console/stream.js';
import { ago, quoted, short, took } from '../../console/format.js';
import { link, place } from '../../console/router.js';

let seed = 7;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
const pick = (list) => list[random(list.length)];

// Diffs: lines that look like headers are lines, numbers go on, what is cut is said.
const [file] = readPatch('--- a/x.sql\n+++ b/x.sql\n@@ -1,4 +1,4 @@ here\n select 1;\n--- drop it\n+++ keep it\n same\n \n\\ No newline at end of file\n@@ -9 +9 @@\n-a\n+b\n\n... (5 of 9 bytes are not shown)');
assert.equal(file.path, 'x.sql');
assert.deepEqual(file.hunks[0].lines.map(({ kind, text, old, now }) => [kind, text, old, now]), [[' ', 'select 1;', 1, 1], ['-', '-- drop it', 2, null], ['+', '++ keep it', null, 2], [' ', 'same', 3, 3], [' ', '', 4, 4], ['note', 'No newline at end of file', null, null]]);
assert.deepEqual([file.added, file.removed, file.hunks[1].lines[1].now], [2, 2, 9]);
assert.ok(file.hunks.at(-1).lines.at(-1).text.startsWith('... (5 of 9'), 'what is left out is said');
assert.deepEqual(readPatch('--- /dev/null\n+++ new.txt\n@@ -0,0 +1 @@\n+x\n').map(({ path, from }) => [path, from]), [['new.txt', null]]);
assert.equal(readPatch('no diff at all')[0].hunks[0].lines[0].text, 'no diff at all');
assert.deepEqual(readPatch(''), []);

// Colours change no character of any line, and end where a comment ends.
const pieces = ['"', "'", '`', '\\', '/*', '*/', '//', '#', '"""', "'a", 'fn', 'let', '12.5e3', '0xff', ' ', 'é', '𝒳', '<!--', '-->', 'x', '\t', '\u202e'];
for (const name of ['a.rs', 'a.py', 'a.js', 'a.sh', 'a.toml', 'a.html', 'a.sql', 'a.lua', 'a.unknown']) {
  for (let round = 0; round < 400; round++) {
    const text = Array.from({ length: random(14) }, () => pick(pieces)).join('');
    const [found] = tokens(text, rulesFor(name), pick(['', '*/', '"""']));
    assert.equal(found.map((token) => token.text).join(''), text, name);
  }
}
assert.deepEqual(tokens('a /* b', rulesFor('x.rs'), ''), [[{ text: 'a ', kind: '' }, { text: '/* b', kind: 'com' }], '*/']);
assert.deepEqual(tokens("&'a str", rulesFor('x.rs'), '')[0].at(-1), { text: "&'a str", kind: '' });

// Hostile texts: everything hidden is named, everything else is there.
const parts = (child) => [child].flat(Infinity).filter((part) => part !== '');
const back = (child) => parts(child).map((part) => (typeof part === 'string' ? part : `[${part.children[0].text}]`)).join('');
for (let code = 0; code < 0x11000; code++) {
  if (code >= 0xd800 && code < 0xe000) continue;
  const char = String.fromCodePoint(code);
  const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/u.test(char) && !'\n\t'.includes(char);
  if (hidden && ![0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0xfff9].includes(code)) assert.notEqual(back(shown(`a${char}b`)), `a${char}b`, `U+${code.toString(16)} is shown by name`);
}
assert.equal(back(shown('\u001b[31mred\u202egnp\u2066')), '[ESC][31mred[U+202E]gnp[U+2066]');
assert.equal(back(shown('\u{e0041}\ud800x')), '[U+E0041][U+D800]x');
assert.equal(back(shown('👩‍💻 ❤️ 1\ufe0f')), '👩‍💻 ❤️ 1[U+FE0F]');
assert.equal(back(line('a\nb\tc')), 'a[⏎]b[⇥]c');
assert.equal(plain('a\u0007'), 'a⟨BEL⟩');

// Events: the same, wherever the stream is cut.
const stream = ': hello\n\nid: 1\nevent: call.ended\ndata: {"a":1}\n\nevent: x\r\ndata: one\r\ndata: two\r\n\r\n';
for (let cut = 0; cut <= stream.length; cut++) {
  const told = [];
  const frames = new Frames((kind, data) => told.push([kind, data]));
  frames.push(stream.slice(0, cut));
  frames.push(stream.slice(cut));
  assert.deepEqual(told, [['call.ended', '{"a":1}'], ['x', 'one\ntwo']]);
}

// Words for numbers, and addresses that come back as they went.
assert.deepEqual([took(0.4), took(999), took(61_000), short(999_999), short(1200), ago(1.7e12, 1.7e12 + 61_000)], ['0.40 ms', '999 ms', '1 min 1 s', '1M', '1.2k', '1 min ago']);
assert.deepEqual([quoted('a b'), quoted("it's"), quoted('a.b')], ["'a b'", `'it'\\''s'`, 'a.b']);
for (const item of ['a/b', 'ä?x=1#', '%', null]) assert.deepEqual(place(link('tools', item, { q: 'a&b=c', none: '' })), { screen: 'tools', item, query: { q: 'a&b=c' } });
