//! `code_rename` where a name is passed on, hidden or taken: nothing is broken silently.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

/// Does a rename and gives what the files hold afterwards, and the uncertain places.
pub(crate) async fn renamed(files: &[(&str, &str)], name: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let desk = Desk::new();
    files.iter().for_each(|(path, content)| desk.put(path, content));
    let args = json!({"path": files[0].0, "name": name, "new_name": new});
    let (_, plan) = desk.works("code_rename", args.clone()).await;
    let mut args = args;
    let changed = plan["files"].as_array().expect("files").iter();
    args["apply_to"] = changed.map(|file| file["path"].clone()).collect::<Vec<Value>>().into();
    desk.works("code_rename", args).await;
    let place = |place: &Value| format!("{}:{}", place["path"].as_str().expect("a path"), place["line"]);
    let uncertain = plan["uncertain"].as_array().expect("a list").iter().map(place).collect();
    let read = |path: &str| String::from_utf8(desk.get(path).expect("there")).expect("UTF-8");
    (files.iter().map(|(path, _)| read(path)).collect(), uncertain)
}

/// Every `old` of the files becomes `new` where it is marked `«old»`, and these places are
/// uncertain.
pub(crate) async fn check(files: &[(&str, &str)], old: &str, new: &str, uncertain: &[&str]) {
    let mark = format!("«{old}»");
    let plain: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (*path, text.replace(&mark, old))).collect();
    let given: Vec<(&str, &str)> = plain.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (after, found) = renamed(&given, old, new).await;
    for ((path, text), after) in files.iter().zip(after) {
        assert_eq!(after, text.replace(&mark, new), "{path}");
    }
    assert_eq!(found, uncertain, "{files:?}");
}

#[tokio::test]
async fn a_name_is_followed_through_packages_and_what_they_pass_on() {
    check(
        &[
            ("pkg/core.py", "def «helper»(): return 1\n"),
            ("pkg/__init__.py", ""),
            ("main.py", "import pkg.core\npkg.core.«helper»()\npkg.other.helper()\n"),
            ("json_user.py", "import json\njson.helper()\n"),
            ("param.py", "import pkg.core\ndef f(pkg): return pkg.core.helper()\n"),
        ],
        "helper",
        "aid",
        &["param.py:2"],
    )
    .await;
    check(
        &[
            ("pkg/core.py", "def «helper»(): return 1\n"),
            ("pkg/__init__.py", "from .core import «helper»\n"),
            ("main.py", "import pkg; pkg.«helper»()\n"),
            ("named.py", "from pkg import «helper»\n«helper»()\n"),
            ("again.py", "from named import «helper»\n«helper»()\n"),
            ("strange.py", "from json import helper\nhelper()\n"),
        ],
        "helper",
        "aid",
        &["strange.py:1", "strange.py:2"],
    )
    .await;
    // Which names a star takes is not followed.
    check(
        &[
            ("pkg/core.py", "def «helper»(): return 1\n"),
            ("pkg/__init__.py", "from .core import *\n"),
            ("main.py", "import pkg\npkg.helper()\n"),
        ],
        "helper",
        "aid",
        &["main.py:2"],
    )
    .await;
    // A folder's own module is meant, not any other of that name.
    check(
        &[
            ("a/util.py", "def «helper»(): return 1\n"),
            ("a/x.py", "from .util import «helper»\n«helper»()\n"),
            ("b/util.py", "def helper(): return 2\n"),
            ("b/x.py", "from .util import helper\nhelper()\n"),
        ],
        "helper",
        "aid",
        &["b/x.py:1", "b/x.py:2"],
    )
    .await;
}

#[tokio::test]
async fn a_name_is_followed_through_the_modules_of_other_languages() {
    check(
        &[
            ("src/core.ts", "export function «helper»() { return 1; }\n"),
            ("src/index.ts", "export { «helper» } from './core';\n"),
            ("src/star.ts", "import * as core from './core';\ncore.«helper»();\n"),
            ("src/main.ts", "import { «helper» } from './index';\n«helper»();\n"),
            ("src/old.js", "const core = require('./core');\ncore.«helper»();\n"),
        ],
        "helper",
        "aid",
        &[],
    )
    .await;
    check(
        &[
            ("pkg/core.go", "package pkg\n\nfunc «Helper»() int { return 1 }\n"),
            ("main.go", "package main\n\nimport \"host.org/app/pkg\"\n\nfunc main() { pkg.«Helper»() }\n"),
            ("other.go", "package main\n\nimport \"fmt\"\n\nfunc g() { fmt.Helper() }\n"),
        ],
        "Helper",
        "Aid",
        &[],
    )
    .await;
    check(
        &[
            ("src/core.rs", "pub fn «helper»() -> i32 { 1 }\n"),
            ("src/lib.rs", "mod core;\npub use crate::core::«helper»;\n"),
            ("src/user.rs", "pub fn f() -> i32 { crate::core::«helper»() + crate::helper() }\n"),
        ],
        "helper",
        "aid",
        &["src/user.rs:1"],
    )
    .await;
}

#[tokio::test]
async fn a_name_is_hidden_only_from_where_it_is_bound() {
    check(
        &[(
            "a.rs",
            "fn «add»() -> i32 { 1 }\nfn f() -> i32 { let add = «add»(); add }\nfn g(add: i32) -> i32 { add }\n",
        )],
        "add",
        "plus",
        &[],
    )
    .await;
    check(
        &[("a.rs", "fn «add»() -> i32 { 1 }\nfn f() -> i32 { if let Some(add) = Some(«add»()) { add } else { «add»() } }\nfn g() -> i32 { for add in 0..«add»() { drop(add); } fn h() -> i32 { «add»() } h() }\nfn k() -> i32 { fn add() -> i32 { 3 } add() }\n")],
        "add",
        "plus",
        &[],
    )
    .await;
    check(
        &[(
            "a.c",
            "int «add»(int a){return a;}\nint f(void){ int r = «add»(1); int add = 3; return r+add; }\nint g(int add){ return add; }\n",
        )],
        "add",
        "plus",
        &[],
    )
    .await;
    check(
        &[(
            "a.go",
            "package a\n\nfunc «add»() int { return 1 }\n\nfunc f() int {\n\tadd := «add»()\n\treturn add\n}\n\nfunc g(add int) int { return add }\n",
        )],
        "add",
        "plus",
        &[],
    )
    .await;
    check(
        &[(
            "a.ts",
            "export function «add»() { return 1; }\nfunction f() { const x = add; const add = 3; return add; }\nfunction g() { if (true) { var add = 1; } return add; }\nfunction h() { function add() { return 2; } return add(); }\n«add»();\n",
        )],
        "add",
        "plus",
        &[],
    )
    .await;
    check(
        &[(
            "a.py",
            "def «add»(): return 1\nclass A:\n    add = «add»()\n    b = add\n    def m(self): return «add»()\nclass B:\n    if x: add = 2\n    c = add\n",
        )],
        "add",
        "plus",
        &["a.py:8"],
    )
    .await;
}

#[tokio::test]
async fn a_type_after_an_arrow_is_a_plain_name() {
    check(&[("a.rs", "struct «Foo»;\nfn f() -> «Foo» { return «Foo»; }\n")], "Foo", "Bar", &[]).await;
    check(&[("a.py", "class «Foo»: pass\ndef f() -> «Foo»: return «Foo»()\n")], "Foo", "Bar", &[]).await;
    check(
        &[("a.c", "int «sum»;\nint f(struct s *p) { return p -> sum + «sum»; }\n")],
        "sum",
        "all",
        &["a.c:2"],
    )
    .await;
}

#[tokio::test]
async fn what_is_called_is_not_hidden_by_a_variable_where_both_have_names_of_their_own() {
    let files = [(
        "A.java",
        "class A {\n  int «add»() { return 1; }\n  int f() { int add = «add»(); return add; }\n}\n",
    )];
    let plain = files[0].1.replace("«add»", "add");
    let (after, _) = renamed(&[("A.java", &plain)], "A.add", "plus").await;
    assert_eq!(after, [files[0].1.replace("«add»", "plus")]);
}

#[tokio::test]
async fn a_local_function_is_told_from_another_local_of_its_name() {
    let before =
        "def outer():\n    def inner(): pass\n    def other(inner): return inner()\n    return inner\n";
    let (after, _) = renamed(&[("a.py", before)], "outer.inner", "deep").await;
    assert_eq!(
        after,
        ["def outer():\n    def deep(): pass\n    def other(inner): return inner()\n    return deep\n"]
    );
}

#[tokio::test]
async fn a_member_of_a_module_or_of_a_text_is_no_method() {
    let files = [
        ("a.py", "class A:\n    def join(self): return self.join()\n"),
        (
            "b.py",
            "import os.path\nimport a as m\nos.path.join('x')\n', '.join([])\ndef f(x): return x.join()\nm.A.join(1)\n",
        ),
    ];
    let (after, uncertain) = renamed(&files, "A.join", "glue").await;
    assert_eq!(after[0], files[0].1.replace("join", "glue"));
    // What a parameter is nobody knows, and strings can join too.
    assert_eq!(after[1], files[1].1.replace("A.join", "A.glue"));
    assert_eq!(uncertain, ["b.py:5"]);
}

/// The rename is refused, and the refusal names this.
pub(crate) async fn refused(files: &[(&str, &str)], name: &str, new: &str, part: &str) {
    let desk = Desk::new();
    files.iter().for_each(|(path, content)| desk.put(path, content));
    let args = json!({"path": files[0].0, "name": name, "new_name": new});
    let text = desk.fails("code_rename", args, FaultKind::Conflict).await;
    assert!(text.contains(part), "{text}");
}

#[tokio::test]
async fn a_new_name_that_means_something_else_is_refused_with_its_place() {
    let py = "LIMIT = 10\ndef f(x):\n    return x + LIMIT\n";
    refused(&[("cap.py", py)], "LIMIT", "x", "cap.py:3: return x + LIMIT").await;
    let ts = "const LIMIT = 10;\nfunction f(x: number) { return x + LIMIT; }\n";
    refused(&[("cap.ts", ts)], "LIMIT", "x", "cap.ts:2").await;
    let rs = "fn limit() -> i32 { 1 }\nfn f() -> i32 {\n    let x = limit();\n    x + limit()\n}\n";
    refused(&[("cap.rs", rs)], "limit", "x", "cap.rs:4").await;
    let used = "def helper(): return 1\nprint(helper())\n";
    refused(&[("a.py", used)], "helper", "print", "a.py:2: print(helper())").await;
    let other =
        [("lib.py", "def helper(): return 1\n"), ("b.py", "from lib import helper\nprint(helper())\n")];
    refused(&other, "helper", "print", "b.py:2").await;
    let java = "class A {\n  int add() { return 1; }\n  int f() { return plus() + add(); }\n}\n";
    refused(&[("A.java", java)], "A.add", "plus", "A.java:3").await;
    let class = "class A:\n    def kind(self): pass\n    def go(self) -> list: pass\n";
    refused(&[("a.py", class)], "A.kind", "list", "a.py:3").await;
    let inner = "def outer(x):\n    def inner(): pass\n    return inner(), x\n";
    refused(&[("a.py", inner)], "outer.inner", "x", "a.py:").await;
}

#[tokio::test]
async fn a_new_name_that_only_looks_taken_is_given() {
    for (path, text, name, new) in [
        ("a.py", "def helper(): return 1\ndef f(x): return x\nhelper()\n", "helper", "x"),
        ("a.py", "def helper(): return 1\nhelper().print(print=1)  # print\n", "helper", "print"),
        (
            "a.py",
            "def helper(): return 1\nclass A:\n    print = 1\n    def f(self): return self.print\n",
            "helper",
            "print",
        ),
        ("a.rs", "fn helper() {}\nfn f() { println!(\"x\"); helper() }\n", "helper", "println"),
        ("a.ts", "function helper() {}\nconst o = { aid: 1 };\no.aid; helper();\n", "helper", "aid"),
        ("a.sh", "helper() { :; }\nhelper\nmake build\n", "helper", "build"),
        (
            "A.java",
            "class A {\n  int add() { return 1; }\n  int f(int plus) { return add() + plus; }\n}\n",
            "A.add",
            "plus",
        ),
        (
            "a.py",
            "class A:\n    def kind(self) -> list: pass\n    def f(self): return list(self.kind())\n",
            "A.kind",
            "list",
        ),
    ] {
        let desk = Desk::new();
        desk.put(path, text);
        desk.works("code_rename", json!({"path": path, "name": name, "new_name": new})).await;
    }
    // The name of an argument is a parameter's.
    check(&[("a.py", "def «load»(): pass\n«load»(load=«load»)\n")], "load", "fetch", &[]).await;
}

#[tokio::test]
async fn annotations_blocks_and_arguments_of_macros_are_told_apart() {
    check(
        &[("a.py", "class «Node»: pass\n"), ("m.py", "import a\ndef f() -> a.«Node»: pass\n")],
        "Node",
        "Vertex",
        &[],
    )
    .await;
    check(
        &[(
            "a.rs",
            "const «K»: i32 = 1;\nfn k() -> i32 {\n    «K»\n}\nfn l(x: bool) -> i32 { if x { «K» } else { 0 } }\n",
        )],
        "K",
        "KK",
        &[],
    )
    .await;
    check(
        &[("a.rs", "fn «width»() -> i32 { 1 }\nfn main() { println!(\"{width}\", width = «width»()); }\n")],
        "width",
        "breadth",
        &[],
    )
    .await;
}

#[tokio::test]
async fn modules_and_types_inside_one_another_have_names_of_their_own() {
    for (path, text, name) in [
        (
            "a.rs",
            "mod a { pub fn «foo»() {} fn x() { «foo»(); } }\nmod b { pub fn foo() {} fn x() { foo(); } }\nfn main() { a::«foo»(); }\n",
            "a::foo",
        ),
        (
            "a.rs",
            "pub fn «foo»() {}\nmod tests { use super::*; fn foo() {} fn x() { foo(); } }\nmod more { use super::*; fn x() { «foo»(); } }\n",
            "foo",
        ),
        (
            "a.ts",
            "namespace A { export function «foo»() {} «foo»(); }\nnamespace B { export function foo() {} foo(); }\nA.«foo»();\n",
            "A.foo",
        ),
        (
            "a.cpp",
            "namespace a { void «foo»(); }\nnamespace a { void «foo»() {} void x() { «foo»(); } }\nnamespace b { void foo() {} void x() { foo(); } }\n",
            "a::foo",
        ),
        (
            "a.py",
            "class A:\n    class B:\n        def foo(self): pass\n    def «foo»(self): return self.«foo»()\n",
            "A.foo",
        ),
    ] {
        let (after, _) = renamed(&[(path, &text.replace("«foo»", "foo"))], name, "bar").await;
        assert_eq!(after, [text.replace("«foo»", "bar")]);
    }
}
