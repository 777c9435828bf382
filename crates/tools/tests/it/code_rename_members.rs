//! `code_rename` of members of types, and of names that stand in literals and patterns.

use serde_json::json;
use tectum_core::FaultKind;

use crate::{code_rename_scopes::check, edit_rig::Desk};

/// Every `old` of the files becomes `new` where it is marked `«old»`, `old` becomes `new: old` where
/// that is written `«new»: old`, and these places are uncertain. It is a member of `A`.
async fn check_member(files: &[(&str, &str)], old: &str, new: &str, uncertain: &[&str]) {
    let desk = Desk::new();
    let mark = format!("«{old}»");
    files.iter().for_each(|(path, text)| desk.put(path, text.replace("«new»: ", "").replace(&mark, old)));
    let mut args = json!({"path": files[0].0, "name": format!("A.{old}"), "new_name": new});
    let (_, plan) = desk.works("code_rename", args.clone()).await;
    let place =
        |place: &serde_json::Value| format!("{}:{}", place["path"].as_str().expect("a path"), place["line"]);
    let found: Vec<String> = plan["uncertain"].as_array().expect("a list").iter().map(place).collect();
    let changed = plan["files"].as_array().expect("files").iter();
    args["apply_to"] = changed.map(|file| file["path"].clone()).collect::<Vec<_>>().into();
    desk.works("code_rename", args).await;
    for (path, text) in files {
        let after = String::from_utf8(desk.get(path).expect("there")).expect("UTF-8");
        let expect = text.replace(&mark, new).replace("«new»", new);
        assert_eq!(after, expect, "{path}");
    }
    assert_eq!(found, uncertain, "{files:?}");
}

#[tokio::test]
async fn a_parameter_of_a_fields_name_is_no_field() {
    let java = "class A {\n  int «seat»;\n  A(int seat) { this.«seat» = seat; }\n  void f(int seat) { g(seat); }\n  int h() { return «seat»; }\n}\n";
    check_member(&[("A.java", java)], "seat", "place", &[]).await;
    check_member(&[("A.cs", java)], "seat", "place", &[]).await;
    let cpp = "struct A {\n  int «seat»;\n  A(int seat) : «seat»(seat) { this->«seat» = seat; }\n  void f(int seat) { g(seat); }\n  void p(int seat);\n  int h() { return «seat»; }\n};\n";
    check_member(&[("a.cpp", cpp)], "seat", "place", &[]).await;
    let out = [
        ("a.hpp", "class A {\n  int «seat»;\n  A(int seat);\n};\n"),
        ("a.cpp", "#include \"a.hpp\"\nA::A(int seat) : «seat»(seat) {}\n"),
    ];
    check_member(&out, "seat", "place", &[]).await;
    let ts = "class A {\n  «seat»: number = 1;\n  constructor(seat: number) { this.«seat» = seat; const x = { seat }; }\n  m({ seat }: any) { return seat; }\n}\n";
    check_member(&[("a.ts", ts)], "seat", "place", &[]).await;
    let py = "class A:\n    «seat»: int = 1\n    other = «seat»\n    def __init__(self, seat, y=«seat»): self.«seat» = seat\n    def f(self, seat: int): return seat\n";
    check_member(&[("a.py", py)], "seat", "place", &[]).await;
}

#[tokio::test]
async fn words_of_one_language_mean_nothing_in_another() {
    // `const` before a name begins a definition in Rust, and belongs to the type here.
    let cpp = "struct A {\n  int «seat»;\n};\nvoid p(int *const seat);\nint g(int *const seat) { return *seat; }\n#define LATER(x) int *const seat = x\n";
    check_member(&[("a.cpp", cpp)], "seat", "place", &[]).await;
    let rust =
        "struct A;\nimpl A {\n    fn «seat»() {}\n}\nmacro_rules! later {\n    () => { fn seat() {} };\n}\n";
    check_member(&[("a.rs", rust)], "seat", "place", &["a.rs:6"]).await;
}

#[tokio::test]
async fn the_fields_of_a_literal_belong_to_its_type() {
    check_member(
        &[(
            "a.rs",
            "struct A { «seat»: i32 }\nstruct B { seat: i32 }\nimpl A {\n    fn new(seat: i32) -> Self { Self { «seat»: 1 + seat } }\n    fn copy(seat: i32) -> A { A { «new»: seat } }\n    fn read(&self) -> i32 { let A { «new»: seat } = self; self.«seat» + seat }\n}\nfn f(seat: i32) -> B { B { seat } }\nfn g() -> A { let seat: i32 = 1; A { // It.\n  «seat»: seat } }\n",
        )]
        .map(|(path, text)| (path, text)),
        "seat",
        "place",
        &[],
    )
    .await;
    check_member(
        &[("a.go", "package a\n\ntype A struct {\n\t«seat» int\n}\n\nfunc f(seat int) A { return A{«seat»: seat} }\n")],
        "seat",
        "place",
        &[],
    )
    .await;
    check_member(
        &[("a.ts", "interface A { «seat»: number }\nconst a: A = { seat: 1 };\n")],
        "seat",
        "place",
        &["a.ts:2"],
    )
    .await;
}

#[tokio::test]
async fn a_member_that_the_languages_own_objects_have_is_uncertain_elsewhere() {
    check_member(
        &[("a.py", "class A:\n    def «get»(self): return self.«get»()\ndef f(d, a):\n    {}.get(1)\n    A.«get»(a)\n    return d.get(2)\n")],
        "get",
        "fetch",
        &["a.py:4", "a.py:6"],
    )
    .await;
    check_member(
        &[("a.js", "class A { «push»(x) { return this.«push»(x); } }\n[].push(1);\n")],
        "push",
        "lay",
        &["a.js:2"],
    )
    .await;
}

#[tokio::test]
async fn names_that_are_key_and_value_in_one_keep_the_other() {
    check(
        &[(
            "a.ts",
            "function «help»() {}\nconst o = { help: «help», other: «help» };\nconst p = { a, help: «help» };\nexport { «help» };\nexport const q = x ? «help» : 1;\n",
        )]
        .map(|(path, text)| (path, text)),
        "help",
        "aid",
        &["a.ts:2", "a.ts:3"],
    )
    .await;
    let desk = Desk::new();
    desk.put("a.ts", "function help() {}\nconst o = { help };\nexport default { a, help };\nconst { one, two } = load();\none();\n");
    let rename =
        |name: &str, new: &str| json!({"path": "a.ts", "name": name, "new_name": new, "apply_to": ["a.ts"]});
    desk.works("code_rename", rename("help", "aid")).await;
    desk.works("code_rename", rename("one", "uno")).await;
    let after = String::from_utf8(desk.get("a.ts").expect("there")).expect("UTF-8");
    assert_eq!(
        after,
        "function aid() {}\nconst o = { help: aid };\nexport default { a, help: aid };\nconst { one: uno, two } = load();\nuno();\n"
    );
    check(
        &[
            ("m.js", "function «one»() {}\nfunction two() {}\nmodule.exports = { «one», two };\n"),
            ("n.js", "const { «one», two } = require('./m');\n«one»(); two();\n"),
        ],
        "one",
        "uno",
        &[],
    )
    .await;
    check(
        &[
            ("m.js", "const «one» = 1;\nmodule.exports = { «one»: «one» };\nexports.«one» = «one»;\n"),
            ("n.js", "const { «one» } = require('./m');\nconst o = require('./m').«one»;\nf(«one», o);\n"),
        ],
        "one",
        "uno",
        &[],
    )
    .await;
    check(
        &[("a.c", "static int «run»(void) { return 1; }\nint (*all[])(void) = { «run», other };\n")],
        "run",
        "go",
        &[],
    )
    .await;
}

#[tokio::test]
async fn a_name_that_the_language_gives_a_meaning_stays() {
    let desk = Desk::new();
    desk.put("a.py", "class A:\n    def __init__(self): pass\n");
    desk.put("a.js", "class A { constructor() {} }\nmodule.exports = { A };\n");
    desk.put("A.java", "class A { A() {} }\n");
    for (path, name, part) in [
        ("a.py", "A.__init__", "Python gives a meaning"),
        ("a.js", "A.constructor", "JavaScript gives a meaning"),
        ("a.js", "exports", "JavaScript gives a meaning"),
        ("A.java", "A.A", "called as its type is"),
    ] {
        let args = json!({"path": path, "name": name, "new_name": "other"});
        let text = desk.fails("code_rename", args, FaultKind::InvalidInput).await;
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn constructors_go_with_their_type() {
    check(
        &[("A.java", "class «Seat» {\n  «Seat»() {}\n  «Seat»(int a) { this(); }\n  «Seat» copy() { return new «Seat»(1); }\n}\n")],
        "Seat",
        "Place",
        &[],
    )
    .await;
    check(
        &[("a.cs", "class «Seat» {\n  «Seat»() {}\n  static «Seat» Make() { return new «Seat»(); }\n}\n")],
        "Seat",
        "Place",
        &[],
    )
    .await;
    check(
        &[
            ("a.hpp", "class «Seat» {\npublic:\n  «Seat»();\n  ~«Seat»();\n  explicit «Seat»(int a) {}\n};\n"),
            ("a.cpp", "#include \"a.hpp\"\n«Seat»::«Seat»() {}\n«Seat»::~«Seat»() {}\n«Seat» *make() { return new «Seat»(1); }\n"),
        ],
        "Seat",
        "Place",
        &[],
    )
    .await;
}

#[tokio::test]
async fn fields_of_other_types_make_a_name_common() {
    check_member(
        &[(
            "a.rs",
            "struct A { «seat»: i32 }\nstruct B { seat: i32 }\nimpl A { fn f(&self) -> i32 { self.«seat» } }\nimpl B { fn f(&self) -> i32 { self.seat } }\nfn g(b: &B) -> i32 { b.seat }\n",
        )],
        "seat",
        "place",
        &["a.rs:4", "a.rs:5"],
    )
    .await;
    check_member(
        &[(
            "a.py",
            "class A:\n    seat_of = 1\n    def «seat»(self): return self.«seat»()\nclass B:\n    def __init__(self, f): self.seat = f\n    def go(self): return self.seat()\n",
        )],
        "seat",
        "place",
        &["a.py:5", "a.py:6"],
    )
    .await;
    check_member(
        &[
            ("a.ts", "class A { «seat» = 1; f() { return this.«seat»; } }\n"),
            ("b.ts", "const names = { seat: 2 };\nf(names.seat);\n"),
        ],
        "seat",
        "place",
        &["b.ts:1", "b.ts:2"],
    )
    .await;
    // Another type of the same name has members of its own.
    check_member(
        &[
            ("src/a.rs", "pub enum A { «Left», Right }\nfn f() -> A { A::«Left» }\n"),
            ("src/b.rs", "pub enum A { Left, Right }\nfn f() -> A { A::Left }\n"),
        ],
        "Left",
        "First",
        &["src/b.rs:1", "src/b.rs:2"],
    )
    .await;
}

#[tokio::test]
async fn what_overrides_a_method_goes_along() {
    check_member(
        &[
            (
                "a.py",
                "class A:\n    def «seat»(self): pass\nclass B(A):\n    def «seat»(self): return super().seat()\nclass C(B):\n    def «seat»(self): return self.«seat»()\nclass D(list[A]):\n    def seat(self): pass\n",
            ),
            ("b.py", "from a import A\nclass E(A):\n    def «seat»(self): return self.«seat»()\n"),
        ],
        "seat",
        "place",
        &["a.py:4"],
    )
    .await;
    check_member(
        &[(
            "a.rs",
            "trait A { fn «seat»(&self); }\nstruct S;\nimpl A for S { fn «seat»(&self) {} }\nimpl<T: A> Other for Vec<T> { fn seat(&self) {} }\nmacro_rules! m { ($t:ty) => { impl A for $t { fn seat(&self) {} } } }\n",
        )],
        "seat",
        "place",
        &["a.rs:5"],
    )
    .await;
    let desk = Desk::new();
    desk.put("a.rs", "struct S;\nimpl Clone for S { fn clone(&self) -> S { S } }\n");
    let args = json!({"path": "a.rs", "name": "S.clone", "new_name": "copy"});
    let text = desk.fails("code_rename", args, FaultKind::InvalidInput).await;
    assert!(text.contains("the trait Clone asks for"), "{text}");
}

#[tokio::test]
async fn overloads_are_renamed_by_their_bare_name() {
    check(
        &[(
            "a.ts",
            "export declare function «seat»(a: string): void;\nexport declare function «seat»(a: number): void;\n",
        )],
        "seat",
        "place",
        &[],
    )
    .await;
    check_member(
        &[("A.java", "class A {\n  void «seat»(int a) {}\n  void «seat»(String a) { «seat»(1); }\n}\n")],
        "seat",
        "place",
        &[],
    )
    .await;
    // Two functions that are told apart by nothing are two.
    let desk = Desk::new();
    desk.put("a.py", "def seat(): pass\ndef seat(): pass\n");
    let args = json!({"path": "a.py", "name": "seat", "new_name": "place"});
    desk.fails("code_rename", args, FaultKind::Conflict).await;
}

#[tokio::test]
async fn macros_are_known_without_imports_and_paths_lead_to_their_types() {
    check(
        &[
            ("src/lib.rs", "macro_rules! «seat» { () => {} }\nmod a;\n"),
            ("src/a.rs", "fn f() { «seat»!(); }\n"),
        ],
        "seat",
        "place",
        &[],
    )
    .await;
    check_member(
        &[(
            "a.rs",
            "struct A;\nimpl A { fn «unchecked»() {} }\nfn f<T>() { A::«unchecked»(); NonNull::unchecked(); }\n",
        )],
        "unchecked",
        "raw",
        &["a.rs:3"],
    )
    .await;
}
