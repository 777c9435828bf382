//! Mentions, calls, bases and shadows of small texts of every form.

use super::{bases, calls, mentions, shadows};
use crate::{Detail, Role, Span};

/// Each mention of `w` as one letter: Definition, Call, Import, Attribute, Reference, String,
/// `#` for comments; members in lower case.
fn check(text: &str, expected: &str) {
    let letters: String = mentions(text, "w")
        .iter()
        .map(|mention| {
            assert_eq!(mention.span.slice(text), "w");
            let letter = match mention.role {
                Role::Definition => 'D',
                Role::Call | Role::MemberCall => 'C',
                Role::Import => 'I',
                Role::Attribute => 'A',
                Role::Reference => 'R',
                Role::String => 'S',
                Role::Comment => '#',
            };
            if mention.member { letter.to_ascii_lowercase() } else { letter }
        })
        .collect();
    assert_eq!(letters, expected, "{text:?}");
}

#[test]
fn tells_definitions() {
    check("def w(): pass", "D");
    check("class w(w): pass", "DR");
    check("async def w(): pass", "D");
    check("def f(w, *w, **w): w", "DDDR");
    check("def f(a=w, b: w = 1, *, w: w = w) -> w: pass", "RRDRRR");
    check("def f[w: int](a: w): pass", "DR");
    check("def f(a) -> int | dict[w, (w, w)]: pass", "RRR");
    check("class A[*w]: pass", "D");
    check("type w = int", "D");
    check("type X[w] = list[w]", "DR");
    check("f = lambda w, *a: w", "DR");
    check("f(lambda a, w=w: w)", "DRR");
    check("w = 1", "D");
    check("w = w = w", "DDR");
    check("w: int = w", "DR");
    check("a: w", "R");
    check("a, (w, *w) = 1", "DD");
    check("a[w] = w.x = f(w).y = 1", "RRR");
    check("w += 1", "R");
    check("if (w := 1): pass", "D");
    check("with a as w, b as (c, w): w", "DDR");
    check("try: pass\nexcept E as w: pass", "D");
    check("for w in w: w", "DRR");
    check("for a, (w, b) in w: pass", "DR");
    check("for a[w] in b: pass", "R");
    check("[w for w in w if w]", "RDRR");
    check("async for w in x: pass", "D");
    check("match w:\n  case w: pass", "RD");
    check("match x:\n  case A(w=w) | {'k': w, **w} | [w, *w] if w: pass", "ADDDDDR");
    check("match x:\n  case w.a | w(): pass", "RR");
    check("match x:\n  case 1 as w: pass", "D");
    check("a = 1; w = 2; w", "DR");
    check("if x: w = 1", "D");
    check("class A: w = 1", "D");
}

#[test]
fn tells_uses() {
    check("w()", "C");
    check("w (1)", "C");
    check("x.w()", "c");
    check("x.w", "a");
    check("x.w = 1", "a");
    check("w.x()", "R");
    check("f(w=1)", "A");
    check("f(a, w = w)", "AR");
    check("f(w == 1)", "R");
    check("class A(w=1): pass", "A");
    check("@w\ndef f(): pass", "R");
    check("@w(1)\ndef f(): pass", "C");
    check("import w", "I");
    check("from w import w as w", "III");
    check("from a import (b,\n  w)", "I");
    check("global w", "R");
    check("del w", "R");
    check("return w", "R");
    check("x = w if w else w()", "RRC");
    check("x[w:w]", "RR");
    check("{w: w}", "RR");
    check("print(*w, **w)", "RR");
    check("await w()", "C");
    check("w\\\n()", "C");
    check("f(\n  w, # w\n  w=1)", "R#A");
}

#[test]
fn tells_text() {
    check("'w' # w", "S#");
    check("# w\n\n'''\nw w\n'''\n# w", "#SS#");
    check("f'w {w} {w()} {x.w!r:w{w}} w'", "SRCaSRS");
    check("f'{d[\"w\"]}'", "S");
    check("f\"{d[\"w\"]} {w}\"", "SR");
    check("'ww' w_ _w éw wé", "");
    check("def f():\n  'w'\n  w\n", "SR");
    check("'open w\nw", "SR");
    check("f'{w\ndef w(): pass", "RD");
    check("", "");
}

#[test]
fn letters_before_quotes_are_no_mentions() {
    assert!(mentions("f'a' f\"\"", "f").is_empty());
    assert!(mentions("r'a' x = 1", "r").is_empty());
    assert_eq!(mentions("f('f')", "f").len(), 2);
    assert!(mentions("abc", "").is_empty());
}

fn check_calls(text: &str, expected: &[&str]) {
    let found: Vec<String> = calls(text, Span::new(0, text.len()))
        .iter()
        .map(|call| format!("{}|{}", call.receiver.slice(text), call.name.slice(text)))
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn finds_calls() {
    check_calls("f()", &["|f"]);
    check_calls("self.f(g(1), os.path.join(x))", &["self|f", "|g", "os.path|join"]);
    check_calls("get().x()", &["|get", "get()|x"]);
    check_calls("a[0].b(1).c (2)", &["a[0]|b", "a[0].b(1)|c"]);
    check_calls("'a' 'b'.join(x)", &["'a' 'b'|join"]);
    check_calls("f'{a(1)}'.b()", &["|a", "f'{a(1)}'|b"]);
    check_calls("(a or b).c()", &["(a or b)|c"]);
    check_calls("f()()\na[0]()\n(x)()", &["|f"]);
    check_calls("if (a): return (b)\nnot (c)\nprint (d)", &["|print"]);
    check_calls("x = lambda: f()\n[g(y) for y in h()]", &["|f", "|g", "|h"]);
    check_calls("match (x):\n  case A(b) if f(c): g()", &["|f", "|g"]);
    check_calls("await a.b()\n-c.d()", &["a|b", "c|d"]);
}

#[test]
fn passes_over_nested_definitions() {
    let text = "a()\n@b()\ndef f(x=c()) -> d():\n  e()\n  if x:\n    f()\ng()\nclass A(h()):\n  i()\nj()\n";
    check_calls(text, &["|a", "|b", "|c", "|d", "|g", "|h", "|j"]);
    check_calls("def f(): a()\nb()", &["|b"]);
    check_calls("if x:\n  def f():\n    a()\n  b()\n", &["|b"]);
}

#[test]
fn finds_calls_in_a_stretch() {
    let text = "def f():\n  def g():\n    a()\n  b()\nc()\ndef h(): d(); e()\n";
    let symbols = crate::python::outline(text, Detail::Outline).symbols;
    let names = |index: usize| -> Vec<&str> {
        calls(text, symbols[index].body).iter().map(|call| call.name.slice(text)).collect()
    };
    assert_eq!(names(0), ["b"]);
    assert_eq!(names(1), ["a"]);
    assert_eq!(names(2), ["d", "e"]);
    assert!(calls(text, Span::new(900, 1000)).is_empty());
}

fn check_bases(text: &str, expected: &[&str]) {
    let found = bases(text, Span::new(0, text.len()));
    let found: Vec<&str> = found.iter().map(|span| span.slice(text)).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn finds_bases() {
    check_bases("class A:", &[]);
    check_bases("class A():", &[]);
    check_bases("class A(B, c.D):", &["B", "c.D"]);
    check_bases("class A(Generic[T], b.C[int, str], metaclass=M, *args, **kw):", &["Generic", "b.C"]);
    check_bases("class A[T: (int, str)](B[T]):", &["B"]);
    check_bases("class A(\n  B, # c\n):", &["B"]);
    check_bases("class A(f(x), B if c else D):", &["f(x)", "B if c else D"]);
    check_bases("class A(B", &["B"]);
}

fn check_shadows(text: &str, expected: &[&str]) {
    let found = shadows(text, "w");
    let found: Vec<&str> = found.iter().map(|shadow| shadow.span.slice(text)).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn finds_what_functions_bind() {
    check_shadows("w = 1\nw", &[]);
    check_shadows("def f(): return w", &[]);
    check_shadows("def f(w): return w", &["w", "return w"]);
    check_shadows("def f(a=w): w = a", &["w = a"]);
    check_shadows("def f():\n  global w\n  w = 1", &[]);
    check_shadows("def f():\n  for w in x: pass", &["for w in x: pass"]);
    for body in [
        "with x as w: pass",
        "import w",
        "import w.a",
        "from x import w",
        "from x import a as w",
        "(w := 1)",
        "def w(): pass",
        "class w: pass",
        "[0 for a in x if (w := a)]",
        "del w",
        "w += 1",
        "w: int",
        "a, (b, *w) = x",
    ] {
        check_shadows(&format!("def f():\n  {body}\n"), &[body]);
    }
    check_shadows("def f():\n  try: pass\n  except E as w: pass", &["try: pass\n  except E as w: pass"]);
    check_shadows("def f():\n  match x:\n    case [w]: pass", &["match x:\n    case [w]: pass"]);
    check_shadows("def f():\n  import a.w\n  x.w = 1", &[]);
}

#[test]
fn finds_what_inner_scopes_bind() {
    check_shadows("def f(w):\n  def g(): return w", &["w", "def g(): return w"]);
    check_shadows(
        "def f():\n  w = 1\n  def g():\n    global w; w\n  w",
        &["w = 1\n  def g():\n    ", "\n  w"],
    );
    check_shadows(
        "def f():\n  w = 1\n  def g():\n    nonlocal w; w = 2",
        &["w = 1\n  def g():\n    nonlocal w; w = 2"],
    );
    check_shadows("x = lambda w, a=w: w", &["w", "w"]);
    check_shadows("[w for w in w]", &["[w for w in ", "]"]);
    check_shadows("{w: 1 for a in w if w for w in a}", &["{w: 1 for a in ", " if w for w in a}"]);
    check_shadows("def f[w](a: w): pass", &["[w](a: w): pass"]);
    check_shadows(
        "class A:\n  w = 1\n  def m(self, a=w): return w\n  b = w",
        &["w", "\n  def m(self, a=w): ", "\n  b = w"],
    );
    check_shadows("class A:\n  def w(self): return w\n", &["w"]);
    check_shadows("class A:\n  def m(self): w = 1", &["w = 1"]);
    check_shadows(
        "def f(w):\n  class A:\n    x = w\n    def m(self): w",
        &["w", "class A:\n    x = w\n    def m(self): w"],
    );
}

#[test]
fn a_class_binds_from_a_statement_on() {
    check_shadows("class A:\n  w = w()\n  w", &["w", "\n  w"]);
    check_shadows("class A:\n  a = w\n  b, w = w, a\n  c = w", &["w", "\n  c = w"]);
    check_shadows("class A:\n  import w\n  w", &["w\n  w"]);
    let sure = |text: &str| -> Vec<(String, bool)> {
        let found = shadows(text, "w");
        found.iter().map(|shadow| (shadow.span.slice(text).to_owned(), shadow.sure)).collect()
    };
    assert_eq!(sure("class A:\n  if x: w = 1\n  w"), [("if x: w = 1\n  w".to_owned(), false)]);
    assert_eq!(sure("class A:\n  w += 1"), [("w += 1".to_owned(), false)]);
    assert_eq!(sure("class A:\n  w: int\n  w"), [("w: int\n  w".to_owned(), false)]);
    // One scope for all of its stretches.
    let found = shadows("def f(w):\n  def g(w): w\n  w", "w");
    let scopes: Vec<u32> = found.iter().map(|shadow| shadow.scope.start).collect();
    assert_eq!(scopes, [12, 12, 22, 12, 22, 12]);
}

#[test]
fn gives_no_shadows_where_it_cannot_tell() {
    check_shadows("", &[]);
    check_shadows(&format!("def f(w): {}w", "-".repeat(50_000)), &[]);
    check_shadows("x = = 1\ndef f(w):\n  w\n", &["w", "w"]);
}
