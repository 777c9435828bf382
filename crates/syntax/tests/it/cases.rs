//! Small texts on the edges of what packs capture.

use tectum_syntax::{Detail, Packs, names};

/// Compares the symbols of a text, each as `Kind full.name | whole`.
#[track_caller]
fn check(id: &str, text: &str, expect: &[&str]) {
    let packs = Packs::all();
    let language = packs.named(id).unwrap();
    let outline = language.outline(text, Detail::Full, &|| false).unwrap();
    let told = (0u32..).zip(&outline.symbols).map(|(index, symbol)| {
        let name = names::full_name(language.pack(), text, &outline, index);
        format!("{} {name} | {}", symbol.kind.label(), symbol.whole.slice(text))
    });
    assert_eq!(told.collect::<Vec<_>>(), expect, "{text}");
}

/// Compares the documentation of the last symbol.
#[track_caller]
fn check_doc(id: &str, text: &str, expect: &str) {
    let packs = Packs::all();
    let outline = packs.named(id).unwrap().outline(text, Detail::Full, &|| false).unwrap();
    assert_eq!(outline.symbols.last().unwrap().doc.slice(text), expect, "{text}");
}

/// Compares what is imported, each as `module/name/local`.
#[track_caller]
fn check_imports(id: &str, text: &str, expect: &[&str]) {
    let packs = Packs::all();
    let imports = packs.named(id).unwrap().imports(text, &|| false).unwrap();
    let told = imports.into_iter().map(|import| {
        let part = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        format!("{} {} {}", import.module, part(import.name), part(import.local))
    });
    assert_eq!(told.collect::<Vec<_>>(), expect, "{text}");
}

#[test]
fn an_impl_has_the_name_of_its_type() {
    for (head, name) in [
        ("impl A", "A"),
        ("impl<'a> fmt::Display for &'a A", "A"),
        ("impl T for b::A<u8>", "A"),
        ("impl T for Vec<A>", "Vec"),
        ("impl T for [u8]", "[u8]"),
        ("unsafe impl Send for A", "A"),
        ("impl<T> From<T> for (T, u8)", "(T, u8)"),
    ] {
        let text = format!("{head} {{}}");
        check("rust", &text, &[&format!("Impl {name} | {text}")]);
    }
}

#[test]
fn decorators_and_signs_belong_to_the_whole() {
    check("rust", "#[a]\n\n#[b]\nfn f();", &["Func f | #[a]\n\n#[b]\nfn f();"]);
    check("rust", "#[a] use b; fn f() {}", &["Func f | fn f() {}"]);
    check(
        "typescript",
        "@a\n@b() export default class C { x = 1; }",
        &["Class C | @a\n@b() export default class C { x = 1; }", "Field C.x | x = 1;"],
    );
    check(
        "typescript",
        "export declare const a: number, b: string;",
        &["Const a | a: number", "Const b | b: string"],
    );
    check(
        "java",
        "class C { @A(@B) @C int x; }",
        &["Class C | class C { @A(@B) @C int x; }", "Field C.x | @A(@B) @C int x;"],
    );
    check("csharp", "[A]\n[B(\"]\")]\nenum E { }", &["Enum E | [A]\n[B(\"]\")]\nenum E { }"]);
}

#[test]
fn functions_without_a_name_of_their_own() {
    check("javascript", "export default async (x) => x;", &["Func default | export default async (x) => x;"]);
    check(
        "javascript",
        "export default class { m() {} }",
        &["Class default | export default class { m() {} }", "Method default.m | m() {}"],
    );
    check("javascript", "let a = () => 1, b;", &["Func a | a = () => 1", "Var b | b"]);
    check(
        "javascript",
        "(function () { var hidden = 1; function f() {} })();",
        &["Func f | function f() {}"],
    );
    check("javascript", "for (let i = 0; ;) { const c = 1; }", &[]);
    check("javascript", "use({ run() {} });", &["Method run | run() {}"]);
}

#[test]
fn what_belongs_to_what() {
    check("go", "package a\nfunc (*T[K]) m() {}\n", &["Method T.m | func (*T[K]) m() {}"]);
    check("go", "package a\ntype (\n\tA int\n\tB = A\n)\n", &["Typedef A | A int", "Typedef B | B = A"]);
    check("ruby", "class A::B::C < D; end", &["Class A.B.C | class A::B::C < D; end"]);
    check(
        "ruby",
        "module A\n  class << self\n    def f; end\n  end\nend",
        &["Namespace A | module A\n  class << self\n    def f; end\n  end\nend", "Method A.f | def f; end"],
    );
    check(
        "csharp",
        "namespace A.B;\nclass C { }\n",
        &["Namespace A.B | namespace A.B;\nclass C { }", "Class A.B.C | class C { }"],
    );
    check("bash", "f() { g() { :; }; }", &["Func f | f() { g() { :; }; }", "Func f.g | g() { :; }"]);
}

#[test]
fn documentation_stands_directly_before() {
    check_doc("rust", "/// A.\n/// B.\n#[c]\nfn f() {}", "/// A.\n/// B.");
    check_doc("rust", "#[c]\n/// A.\nfn f() {}", "/// A.");
    check_doc("rust", "/// A.\n\nfn f() {}", "");
    check_doc("rust", "//! A.\nfn f() {}", "");
    check_doc("rust", "let x; // A.\nfn f() {}", "");
    check_doc("typescript", "/** A. */\nexport const f = () => 1;", "/** A. */");
    check_doc("go", "package a\n\n// A.\nvar x = 1 // B.\nvar y = 2\n", "");
    check_doc("java", "/** A. */ class C {}", "/** A. */");
}

#[test]
fn imports_in_all_their_forms() {
    check_imports(
        "rust",
        "use a;\npub use b::c::*;\nuse {d, e::f};\nextern crate g as h;",
        &["a - a", "b::c * -", "d - d", "e f f", "g - h"],
    );
    check_imports(
        "rust",
        "use a::{b::{c::{d, e as f}, self as g}, *};",
        &["a::b::c d d", "a::b::c e f", "a::b - g", "a * -"],
    );
    check_imports(
        "typescript",
        "import type A, { type B } from 'm';\nexport { default as C } from \"n\";",
        &["m default A", "m B B", "n default C"],
    );
    check_imports("javascript", "const a = require('m'), b = 1;\nawait import('n');", &["m - a", "n - -"]);
    check_imports(
        "go",
        "package a\nimport x \"m/n\"\nimport (\n\t\"k\"\n\t_ \"l\"\n)",
        &["m/n - x", "k - k", "l - -"],
    );
    check_imports(
        "java",
        "import a.B;\nimport a.*;\nimport static a.B.c;\nimport static a.B.*;",
        &["a.B - B", "a * -", "a.B c c", "a.B * -"],
    );
    check_imports(
        "csharp",
        "global using A.B;\nusing C = D.E;\nusing static F;",
        &["A.B * -", "D.E - C", "F * -"],
    );
    check_imports("ruby", "require 'a'\nx.require 'b'", &["a - -"]);
    check_imports("bash", "source a.sh\n. ./b.sh\n./c.sh", &["a.sh - -", "./b.sh - -"]);
}
