//! Outlines of small texts of every form.

use super::outline;
use crate::{Detail, Kind, Outline, Span, Symbol};

fn line(text: &str, offset: u32) -> usize {
    let before = &text[..offset as usize];
    1 + before.matches('\n').count() + before.matches('\r').count() - before.matches("\r\n").count()
}

/// `Class A 1-3`, `Method A.m 2-3`: the kind, the name with its parents, first and last line.
fn render(text: &str, outline: &Outline, symbol: &Symbol) -> String {
    let mut names = vec![symbol.name.slice(text)];
    let mut parent = symbol.parent;
    while let Some(index) = parent {
        names.push(outline.symbols[index as usize].name.slice(text));
        parent = outline.symbols[index as usize].parent;
    }
    names.reverse();
    let kind = if symbol.is_async { "Async " } else { "" }.to_owned() + symbol.kind.label();
    let (first, last) = (line(text, symbol.whole.start), line(text, symbol.whole.end));
    format!("{kind} {} {first}-{last}", names.join("."))
}

fn check_in(detail: Detail, text: &str, expected: &[&str]) {
    let outline = outline(text, detail);
    let found: Vec<String> = outline.symbols.iter().map(|symbol| render(text, &outline, symbol)).collect();
    assert_eq!(found, expected, "{text:?}");
}

fn check(text: &str, expected: &[&str]) {
    check_in(Detail::Outline, text, expected);
}

fn check_full(text: &str, expected: &[&str]) {
    check_in(Detail::Full, text, expected);
}

/// The first symbol's head, parameters, body and documentation.
fn check_parts(text: &str, head: &str, params: &str, body: &str, doc: &str) {
    let symbol = outline(text, Detail::Outline).symbols[0];
    let parts = [symbol.head, symbol.params, symbol.body, symbol.doc].map(|span| span.slice(text));
    assert_eq!(parts, [head, params, body, doc], "{text:?}");
    if !symbol.body.is_empty() {
        assert_eq!(symbol.body.end, symbol.whole.end, "{text:?}");
    }
}

#[test]
fn finds_definitions_and_their_lines() {
    check("", &[]);
    check("x = 1\n", &[]);
    check("def f():\n    pass\n", &["Func f 1-2"]);
    check("async def f():\n  await x", &["Async Func f 1-2"]);
    check("class A:\n    def m(self):\n        pass\n\n\nx = 1\n", &["Class A 1-3", "Method A.m 2-3"]);
    check(
        "def f():\n  class A:\n    def m(self): pass\n",
        &["Func f 1-3", "Class f.A 2-3", "Method f.A.m 3-3"],
    );
    check(
        "class A:\n  def m(self):\n    def g(): pass\n",
        &["Class A 1-3", "Method A.m 2-3", "Func A.m.g 3-3"],
    );
    check("if x:\n  def f(): pass\nelse:\n  def f(): pass\n", &["Func f 2-2", "Func f 4-4"]);
    check("class A:\n  try:\n    def m(): pass\n  finally: pass\n", &["Class A 1-4", "Method A.m 3-3"]);
    check(
        "match x:\n  case 1:\n    def f(): pass\n  case _:\n    class B: pass\n",
        &["Func f 3-3", "Class B 5-5"],
    );
    check("größe = 1\ndef größe(): pass", &["Func größe 2-2"]);
    check("define = 1\nclassy()\nasynchron\ndefault: int\nasync_def", &[]);
}

#[test]
fn ends_with_the_last_code_of_a_body() {
    check("def f():\n  x = [\n    1,\n  ]  # c\n  # after\n\n# top\n", &["Func f 1-4"]);
    check("def f():\n  x = '''\n  a\n'''\n\n\nclass B: pass", &["Func f 1-4", "Class B 7-7"]);
    check("def f():\n  pass # c\n\n  # c\nx", &["Func f 1-2"]);
    check("def f():\n  # c\n  return 1 + \\\n    2\n", &["Func f 1-4"]);
    check("def f():\n  return 1 \\\n\n\nx", &["Func f 1-2"]);
    check("def f():\n    pass", &["Func f 1-2"]);
    check("def f(): pass;\ndef g(): x; y", &["Func f 1-1", "Func g 2-2"]);
    check("def f():\n# c at the margin\n  pass\n", &["Func f 1-3"]);
}

#[test]
fn begins_with_the_first_decorator() {
    check("@a\n@b.c(\n  1,\n)\n# c\n\n@d\ndef f(): pass\n", &["Func f 1-8"]);
    check("@a\nclass A:\n  @b\n  def m(self): pass\n", &["Class A 1-4", "Method A.m 3-4"]);
    check("@a\\\n.b\ndef f(): pass", &["Func f 1-3"]);
    check("@a\nx = 1\ndef f(): pass", &["Func f 3-3"]);
    let properties = "class A:\n  @property\n  def x(self): ...\n  @x.setter\n  def x(self, v): ...\n";
    check(properties, &["Class A 1-5", "Method A.x 2-3", "Method A.x 4-5"]);
    let overloads = "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): pass\n";
    check(overloads, &["Func f 1-2", "Func f 3-4", "Func f 5-5"]);
}

#[test]
fn reads_indentation_as_python_does() {
    check(
        "class A:\n\tdef m(self):\n\t\tpass\n\tdef n(self):\n\t\tpass\n",
        &["Class A 1-5", "Method A.m 2-3", "Method A.n 4-5"],
    );
    check(
        "class A:\n        def m(self): pass\n\tdef n(self): pass\n",
        &["Class A 1-3", "Method A.m 2-2", "Method A.n 3-3"],
    );
    check("class A:\n  x = 1\n\x0c\ndef f():\n  pass\n", &["Class A 1-2", "Func f 4-5"]);
    check("class A:\n  \x0cdef f(): pass\n", &["Class A 1-1", "Func f 2-2"]);
    check("class A:\n  x = (\n1)\n  def m(self): pass", &["Class A 1-4", "Method A.m 4-4"]);
    check("class A:\n  x = 1 + \\\n1\n  def m(self): pass", &["Class A 1-4", "Method A.m 4-4"]);
    check("# -*- coding: utf-8 -*-\ndef f(): pass", &["Func f 2-2"]);
}

#[test]
fn reads_every_line_end() {
    check("class A:\r\n  def m(self):\r\n    pass\r\nx", &["Class A 1-3", "Method A.m 2-3"]);
    check("class A:\r  def m(self):\r    pass\rx", &["Class A 1-3", "Method A.m 2-3"]);
    check("# c\rdef f():\r  '''a\rb'''\r", &["Func f 2-4"]);
}

#[test]
fn is_not_misled_by_strings_and_comments() {
    check("x = '''\ndef f(): pass\n'''\n\"\"\"\nclass A:\n\"\"\"\n# def g(): pass\n", &[]);
    check("x = 'a\\\ndef f(): pass'\n", &[]);
    check("x = r'\\'\ndef f(): pass", &["Func f 2-2"]);
    check("x = f'''{\ny}\ndef f(): pass'''", &[]);
    check("x = f\"{d[\"'''\"]}\"\ndef f(): pass", &["Func f 2-2"]);
    check("x = f'{f'{f'{1}'}'}' f'{{'\ndef f(): pass", &["Func f 2-2"]);
    check("x = t'{a:{b}\"}' rf'\\{a}'\ndef f(): pass", &["Func f 2-2"]);
    check("x = ')' # (\ndef f(): pass", &["Func f 2-2"]);
}

#[test]
fn sees_what_is_whole_beside_what_is_broken() {
    check("x = (1,\n\ndef f(): pass\n", &["Func f 3-3"]);
    check("def f(a, b\n    pass\ndef g(): pass\n", &["Func f 1-2", "Func g 3-3"]);
    check("def f(:\n  pass\nclass A:\n  def m(self): pass", &["Func f 1-2", "Class A 3-4", "Method A.m 4-4"]);
    check("x = 'open\ndef f(): pass\n", &["Func f 2-2"]);
    check("x = '''open\ndef f(): pass\n", &["Func f 2-2"]);
    check("x = f'{a\ndef f(): pass\n", &["Func f 2-2"]);
    check("def\nclass\ndef 1(): pass\nclass A\ndef f()\n", &["Class A 4-4", "Func f 5-5"]);
    check("] ) }\ndef f(): pass", &["Func f 2-2"]);
    check("  def f():\n pass\ndef g(): pass", &["Func f 1-1", "Func g 3-3"]);
    let gaps = outline("x = (1,\n\ndef f(): pass\n", Detail::Outline).gaps;
    assert_eq!(gaps.len(), 1);
    assert_eq!(gaps[0].span, Span::new(0, 8));
    assert!(outline("def f(): pass", Detail::Outline).gaps.is_empty());
}

#[test]
fn tells_heads_from_bodies() {
    check_parts("def f(): pass", "def f():", "", "pass", "");
    check_parts(
        "def f(a, b=lambda: 0, *c): pass",
        "def f(a, b=lambda: 0, *c):",
        "a, b=lambda: 0, *c",
        "pass",
        "",
    );
    check_parts(
        "def f(a: {1: 2} = x[1:2]) -> 'a:b': pass",
        "def f(a: {1: 2} = x[1:2]) -> 'a:b':",
        "a: {1: 2} = x[1:2]",
        "pass",
        "",
    );
    check_parts("def f() -> lambda: 1: pass", "def f() -> lambda: 1:", "", "pass", "");
    check_parts("def f[T: int](x: T) -> T: return x", "def f[T: int](x: T) -> T:", "x: T", "return x", "");
    check_parts(
        "class A[T: (int, str)](B[T], k=1): x = 1; y = 2",
        "class A[T: (int, str)](B[T], k=1):",
        "B[T], k=1",
        "x = 1; y = 2",
        "",
    );
    check_parts("class A: x = 1; y = 2", "class A:", "", "x = 1; y = 2", "");
    check_parts(
        "async  def \\\n f(\n a, # :\n):\n  return 1\n",
        "async  def \\\n f(\n a, # :\n):",
        "\n a, # :\n",
        "return 1",
        "",
    );
    check_parts("def f(): # c\n\n  # d\n  x\n  y # e\n", "def f():", "", "x\n  y", "");
    check_parts("def f(): \\\n  x\n", "def f():", "", "x", "");
    check_parts("def f(a=')'): pass", "def f(a=')'):", "a=')'", "pass", "");
    check_parts("def f(a=f'{b:)}'): pass", "def f(a=f'{b:)}'):", "a=f'{b:)}'", "pass", "");
    check_parts("def f():\n", "def f():", "", "", "");
    check_parts("def f()", "def f()", "", "", "");
}

#[test]
fn finds_docstrings() {
    check_parts("def f():\n  '''a\n  b'''\n  x", "def f():", "", "'''a\n  b'''\n  x", "'''a\n  b'''");
    check_parts("def f(): 'a'; x", "def f():", "", "'a'; x", "'a'");
    check_parts(
        "class A:\n  R'a' \\\n  u\"b\" # c\n",
        "class A:",
        "",
        "R'a' \\\n  u\"b\"",
        "R'a' \\\n  u\"b\"",
    );
    check_parts("def f():\n  ('a'\n   'b')\n", "def f():", "", "('a'\n   'b')", "'a'\n   'b'");
    for body in [
        "f'a'",
        "b'a'",
        "'a' f'b'",
        "'a'.b()",
        "'a' + 'b'",
        "'a', 'b'",
        "x",
        "('a', 'b')",
        "('a') + b",
        "('a' f'b')",
    ] {
        check_parts(&format!("def f():\n  {body}\n"), "def f():", "", body, "");
    }
    check_parts("def f():\n  @a\n  def g(): 'x'\n", "def f():", "", "@a\n  def g(): 'x'", "");
}

#[test]
fn finds_variables_on_demand() {
    check("X = 1\n", &[]);
    check_full(
        "x = 1\nY_2 = 2\nz: int\nw: int = 3\n",
        &["Var x 1-1", "Const Y_2 2-2", "Var z 3-3", "Var w 4-4"],
    );
    check_full(
        "a, (b, *c) = d\n[e] = f = 1\n",
        &["Var a 1-1", "Var b 1-1", "Var c 1-1", "Var e 2-2", "Var f 2-2"],
    );
    check_full("x += 1\nx.y = 1\nx[1] = 2\nf(a=1)\nx == 1\nprint(x := 1)\nx.y: int\n", &[]);
    check_full("x = [\n  1,\n]\n", &["Var x 1-3"]);
    check_full(
        "if a:\n  x = 1\nelse: y = 2\ntry: z = 3\nfinally: pass\n",
        &["Var x 2-2", "Var y 3-3", "Var z 4-4"],
    );
    check_full("class A: x = 1; Y = 2\n", &["Class A 1-1", "Var A.x 1-1", "Const A.Y 1-1"]);
    check_full(
        "class A:\n  'd'\n  x: int = 1\n  def m(self):\n    y = 1\n",
        &["Class A 1-5", "Var A.x 3-3", "Method A.m 4-5"],
    );
    check_full(
        "def f():\n  x = 1\n  class B:\n    y = 2\n",
        &["Func f 1-4", "Class f.B 3-4", "Var f.B.y 4-4"],
    );
    check_full(
        "type X = int\ntype Y[T] = list[T]\ntype = 1\n",
        &["Typedef X 1-1", "Typedef Y 2-2", "Var type 3-3"],
    );
    check_full("f = lambda a, b=1: a\ng = lambda c=d, e=1: 0\n", &["Var f 1-1", "Var g 2-2"]);
    check_full("(x): int = 1\nmatch = 1\ncase: int\n", &["Var x 1-1", "Var match 2-2", "Var case 3-3"]);
    check_full("for i in x: y = i\nwith a as b: c = 1\n", &["Var y 1-1", "Var c 2-2"]);
    check_full("x, y.z, w[0] = 1, 2, 3\n", &["Var x 1-1"]);
}

#[test]
fn a_variable_spans_its_statement() {
    let text = "a = 1; b = {\n 1: 2,\n} # c\n";
    let symbols = outline(text, Detail::Full).symbols;
    let spans: Vec<&str> = symbols.iter().map(|symbol| symbol.whole.slice(text)).collect();
    assert_eq!(spans, ["a = 1", "b = {\n 1: 2,\n}"]);
    assert_eq!(symbols[0].kind, Kind::Variable);
}
