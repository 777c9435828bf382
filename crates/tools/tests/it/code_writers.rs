//! Writers in languages of every kind, and the corners where an edit could go wrong.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

#[track_caller]
fn writes(tool: &str, file: &str, before: &str, args: Value, after: &str) -> String {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put(file, before);
        let mut args = args;
        if tool == "code_move" {
            args["src_path"] = json!(file);
            args["dest_path"] = json!(file);
        } else {
            args["path"] = json!(file);
        }
        let (text, _) = desk.works(tool, args).await;
        assert_eq!(String::from_utf8(desk.get(file).expect("there")).expect("UTF-8"), after, "{text}");
        text
    })
}

#[track_caller]
fn refuses(tool: &str, file: &str, before: &str, args: Value, part: &str) {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put(file, before);
        let mut args = args;
        args["path"] = json!(file);
        let fault = desk.call(tool, args).await.expect_err("refused");
        assert!(fault.text().contains(part), "{}", fault.text());
        assert_eq!(desk.get(file).expect("there"), before.as_bytes());
    });
}

#[test]
fn what_is_shifted_keeps_its_shape() {
    let java = "class U {\n    void a() {}\n\n    /**\n     * Doc.\n     */\n    int f(int x,\n          int y) {\n        return x;\n    }\n}\n";
    let moved = "class U {\n    /**\n     * Doc.\n     */\n    int f(int x,\n          int y) {\n        return x;\n    }\n\n    void a() {}\n}\n";
    let args = json!({"name": "U.f", "anchor_type": "before", "anchor_symbol": "U.a"});
    writes("code_move", "U.java", java, args, moved);
    // Quoted and written back, nothing changes.
    for source in [
        "class A:\n\tdef f(self):\n\t\tx = g(1,\n\t\t\t2)\n\t\treturn x  # why\n",
        "class A:\n    def f(self, a,\n          b):\n        return {\n    1: 2}\n",
    ] {
        let start = source.find("\tdef").or(source.find("    def")).expect("there");
        let text = source[start..].trim_end();
        refuses(
            "code_update_definition",
            "a.py",
            source,
            json!({"name": "f", "new_content": text}),
            "exactly this content",
        );
    }
    let head = "class A:\n    def f(self, a,\n          b):\n        return a\n";
    refuses(
        "py_set_signature",
        "a.py",
        head,
        json!({"name": "f", "new_signature": "def f(self, a,\n          b):"}),
        "exactly this content",
    );
}

#[test]
fn a_comment_behind_a_definition_belongs_to_it() {
    let before =
        "class A:\n    def f(self):\n        self.q()          # Exit\n\n    def g(self):\n        pass\n";
    writes(
        "code_remove",
        "a.py",
        before,
        json!({"name": "A.f"}),
        "class A:\n    def g(self):\n        pass\n",
    );
    writes(
        "code_remove",
        "a.go",
        "package a\n\nfunc f() {\n} // tail\n\nfunc g() {}\n",
        json!({"name": "f"}),
        "package a\n\nfunc g() {}\n",
    );
    writes(
        "py_set_var_declaration",
        "a.py",
        "x: int = 1  # c\n",
        json!({"name": "x", "new_declaration": "x = 2  # d"}),
        "x = 2  # d\n",
    );
}

#[test]
fn new_documentation_replaces_old_and_attributes_stay_unless_brought() {
    let rust = "/// Old.\n#[inline]\nfn f() -> i32 {\n    1\n}\n";
    let update = |content: &str, after: &str| {
        writes("code_update_definition", "a.rs", rust, json!({"name": "f", "new_content": content}), after)
    };
    update("fn f() -> i32 {\n    2\n}", "/// Old.\n#[inline]\nfn f() -> i32 {\n    2\n}\n");
    let text =
        update("/// New.\nfn f() -> i32 {\n    2\n}", "/// New.\n#[inline]\nfn f() -> i32 {\n    2\n}\n");
    assert!(text.contains("its decorators stay"), "{text}");
    let both = "/// New.\n#[inline(always)]\nfn f() -> i32 {\n    2\n}\n";
    let text = update(both, both);
    assert!(text.contains("were replaced"), "{text}");
    update("#[cold]\nfn f() -> i32 {\n    2\n}", "/// Old.\n#[cold]\nfn f() -> i32 {\n    2\n}\n");
    let python = "@a\nasync def f():\n    pass\n";
    let new = "# hello\n@b\nasync def f():\n    pass\n";
    writes("code_update_definition", "a.py", python, json!({"name": "f", "new_content": new}), new);
    let ts = "export class A {\n  /** Old. */\n  run(): void {}\n}\n";
    let content = "/** New. */\nrun(): void { go(); }";
    let after = "export class A {\n  /** New. */\n  run(): void { go(); }\n}\n";
    writes("code_update_definition", "a.ts", ts, json!({"name": "A.run", "new_content": content}), after);
}

#[test]
fn what_shares_a_statement_or_a_line_is_not_lost() {
    refuses("code_remove", "a.py", "a, b = 1, 2\n", json!({"name": "b"}), "also defines a");
    refuses("code_remove", "a.go", "package a\n\nvar p, q = 1, 2\n", json!({"name": "p"}), "also defines q");
    writes("code_remove", "a.py", "x = 1; y = 2\n", json!({"name": "x"}), "y = 2\n");
    writes("code_remove", "a.py", "x = 1; y = 2\n", json!({"name": "y"}), "x = 1\n");
    writes(
        "code_remove",
        "a.rs",
        "enum K {\n    A,\n    B { x: i32 },\n}\n",
        json!({"name": "K.A"}),
        "enum K {\n    B { x: i32 },\n}\n",
    );
}

#[test]
fn code_goes_into_empty_bodies() {
    let args = |name: &str, content: &str, into: &str| json!({"name": name, "new_content": content, "anchor_type": "inside_end", "anchor_symbol": into});
    writes(
        "code_add",
        "A.java",
        "class A {\n    interface I {}\n}\n",
        args("z", "void z();", "I"),
        "class A {\n    interface I {\n        void z();\n    }\n}\n",
    );
    writes(
        "code_add",
        "a.rs",
        "struct S;\n\nimpl S {\n}\n",
        args("new", "fn new() -> Self {\n    S\n}", "S"),
        "struct S;\n\nimpl S {\n    fn new() -> Self {\n        S\n    }\n}\n",
    );
    writes(
        "code_add",
        "a.py",
        "class A:\n    pass\n",
        args("f", "def f(self): pass", "A"),
        "class A:\n    pass\n\n    def f(self): pass\n",
    );
}

#[test]
fn regions_and_names_are_checked() {
    let cut = "def f(x):\n    return (1,\n            2)\n";
    refuses(
        "py_region_wrap",
        "a.py",
        cut,
        json!({"start_line": 2, "end_line": 2, "region_name": "R"}),
        "inside a statement",
    );
    refuses("py_get_var_declaration", "a.py", "def f(): pass\n", json!({"name": "f"}), "f in a.py is a Func");
    refuses("code_definition", "a.py", "def f(): pass\n", json!({"name": " "}), "name is empty");
    refuses(
        "py_set_signature",
        "a.py",
        "def f(x): pass\n",
        json!({"name": "f", "new_signature": "def f(x): # hi"}),
        "comment",
    );
    let text = writes(
        "py_set_var_declaration",
        "a.py",
        "x = 1\n",
        json!({"name": "x", "new_declaration": "y = 2"}),
        "y = 2\n",
    );
    assert!(text.contains("it is called y now"), "{text}");
    let page = "def g():\n    pass\n\x0cdef h(): pass\n";
    let after = "def g():\n    pass\n\x0cdef h():\n    return 1\n";
    writes(
        "code_update_definition",
        "a.py",
        page,
        json!({"name": "h", "new_content": "def h():\n    return 1"}),
        after,
    );
}

#[tokio::test]
async fn a_move_takes_along_what_it_needs() {
    let desk = Desk::new();
    desk.put(
        "t/a.go",
        "package a\n\nimport (\n\t\"fmt\"\n)\n\nfunc F() {\n\tfmt.Println(1)\n}\n\nfunc G() { F() }\n",
    );
    desk.put("t/b.go", "package a\n\nimport \"os\"\n\nvar _ = os.Args\n");
    let move_to = |path: &str| json!({"src_path": "t/a.go", "dest_path": path, "name": "F"});
    let (text, _) = desk.works("code_move", move_to("t/b.go")).await;
    let read = |path: &str| String::from_utf8(desk.get(path).expect("there")).expect("UTF-8");
    assert_eq!(
        read("t/b.go"),
        "package a\n\nimport \"os\"\nimport \"fmt\"\n\nvar _ = os.Args\n\nfunc F() {\n\tfmt.Println(1)\n}\n"
    );
    assert!(!text.contains("Not fixed"), "{text}");
    desk.put("t/a.go", "package a\n\nimport (\n\t\"fmt\"\n)\n\nfunc F() {\n\tfmt.Println(1)\n}\n");
    desk.works("code_move", move_to("t/new.go")).await;
    assert_eq!(read("t/new.go"), "package a\n\nimport \"fmt\"\n\nfunc F() {\n\tfmt.Println(1)\n}\n");

    desk.put("s.py", "from __future__ import annotations\r\nimport os\r\ntry:\r\n    from _a import f\r\nexcept ImportError:\r\n    pass\r\n\r\n\r\ndef f(f: Later):\r\n    return os.name, f()\r\n");
    desk.works(
        "code_move",
        json!({"src_path": "s.py", "dest_path": "n.py", "name": "f#1", "dest_name": "h"}),
    )
    .await;
    assert_eq!(
        read("n.py"),
        "from __future__ import annotations\r\nimport os\r\n\r\n\r\ndef h(f: Later):\r\n    return os.name, f()\r\n"
    );
}

#[tokio::test]
async fn a_rename_tells_members_keys_and_names_apart() {
    let check = async |file: &str, before: &str, name: &str, after: &str| {
        let desk = Desk::new();
        desk.put(file, before);
        let args = json!({"path": file, "name": name, "new_name": "exec", "apply_to": [file]});
        let (text, _) = desk.works("code_rename", args).await;
        assert_eq!(String::from_utf8(desk.get(file).expect("there")).expect("UTF-8"), after, "{text}");
        text
    };
    let go = "package a\n\nfunc Run(x int) int { return Run(x) }\n\ntype T struct{ Run int }\n\nfunc (t T) Go() int { return t.Run }\n";
    check(
        "a.go",
        go,
        "Run#1",
        &go.replace("func Run(x int) int { return Run(x) }", "func exec(x int) int { return exec(x) }"),
    )
    .await;
    let rust = "fn run() {}\nstruct S { run: i32 }\nimpl S {\n    fn run(&self) -> i32 { run(); self.run }\n}\nfn t() { run(); let _ = S { run: 1 }; }\n";
    let text = check(
        "a.rs",
        rust,
        "run#1",
        &rust.replace("fn run() {}", "fn exec() {}").replace("{ run();", "{ exec();"),
    )
    .await;
    assert!(text.contains("Uncertain"), "{text}");
    let java =
        "class A {\n    int run;\n    void run() {}\n    void go() { run(); this.run(); run = 1; }\n}\n";
    let after =
        "class A {\n    int run;\n    void exec() {}\n    void go() { exec(); this.exec(); run = 1; }\n}\n";
    check("A.java", java, "A.run#2", after).await;
    let nested = "mod m { pub fn run() {} }\nuse m::run;\nfn t() { run(); m::run(); }\n";
    check("a.rs", nested, "run", &nested.replace("run", "exec")).await;
}

#[tokio::test]
async fn a_rename_follows_imports_by_their_path() {
    let desk = Desk::new();
    let run = "def run(): pass\n";
    let inner = "def q():\n    from x.utils import run\n    return run(1)\n";
    let tried = "try:\n    from x.utils import run\nexcept ImportError:\n    run = None\nrun()\n";
    let twice = "from x.utils import run as r, run\nr(1)\nrun(3)\n";
    let stranger = "from y.utils import run\nimport y.utils as yu\nrun()\nyu.run()\n";
    let files = [
        ("x/utils.py", run),
        ("y/utils.py", run),
        ("inner.py", inner),
        ("tried.py", tried),
        ("twice.py", twice),
        ("stranger.py", stranger),
    ];
    files.iter().for_each(|(path, content)| desk.put(path, content));
    let args = json!({"path": "x/utils.py", "name": "run", "new_name": "exec"});
    let (text, plan) = desk.works("code_rename", args).await;
    let planned: Vec<&str> =
        plan["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(planned, ["x/utils.py", "inner.py", "tried.py", "twice.py"], "{text}");
    let args = json!({"path": "x/utils.py", "name": "run", "new_name": "exec", "apply_to": planned});
    desk.works("code_rename", args).await;
    for (path, content) in &files[2..5] {
        assert_eq!(
            String::from_utf8(desk.get(path).unwrap()).unwrap(),
            content.replace("run", "exec"),
            "{path}"
        );
    }
    let keyword = json!({"path": "x/utils.py", "name": "exec", "new_name": "class"});
    desk.fails("code_rename", keyword, FaultKind::Conflict).await;
}

#[test]
fn a_number_means_the_one_that_was_listed() {
    let c = "static int f(void);\n#ifdef A\nstatic int f(void) { return 1; }\n#else\nstatic int f(void) { return 2; }\n#endif\n";
    refuses("code_update_definition", "n.c", c, json!({"name": "f", "new_content": "x"}), "f#1: line 3");
    let update = json!({"name": "f#2", "new_content": "static int f(void) { return 3; }"});
    writes("code_update_definition", "n.c", c, update, &c.replace("return 2", "return 3"));
    writes("code_remove", "n.c", "int g(void);\nint f(void);\n", json!({"name": "f"}), "int g(void);\n");
}

#[test]
fn an_open_bracket_is_refused_wherever_it_is() {
    let c = "#if A\nint a(void) { return 1; }\n#elif B\nint b(void) { return 2; }\nint c(void) { return 3; }\n#endif\n";
    refuses(
        "code_update_definition",
        "a.c",
        c,
        json!({"name": "b", "new_content": "int b(void) { return 2;"}),
        "brackets",
    );
    // A character and a string are no brackets.
    let update = json!({"name": "b", "new_content": "int b(void) { return '{' + \"(\"[0]; /* { */ }"});
    writes(
        "code_update_definition",
        "a.c",
        c,
        update,
        &c.replace("return 2;", "return '{' + \"(\"[0]; /* { */"),
    );
}

#[test]
fn the_first_line_of_a_script_documents_nothing() {
    writes(
        "code_remove",
        "a.sh",
        "#!/bin/sh\nf() { :; }\ng() { :; }\n",
        json!({"name": "f"}),
        "#!/bin/sh\ng() { :; }\n",
    );
    let add =
        json!({"name": "g", "new_content": "g() { :; }", "anchor_type": "before", "anchor_symbol": "f"});
    writes("code_add", "a.sh", "#!/bin/sh\nf() { :; }\n", add, "#!/bin/sh\ng() { :; }\n\nf() { :; }\n");
}

#[test]
fn an_update_keeps_the_other_names_of_its_statement() {
    refuses(
        "code_update_definition",
        "a.c",
        "int a1 = 1, b1 = 2;\n",
        json!({"name": "a1", "new_content": "int a1 = 5;"}),
        "also defines b1",
    );
    let both = json!({"name": "a1", "new_content": "int a1 = 5, b1 = 2;"});
    writes("code_update_definition", "a.c", "int a1 = 1, b1 = 2;\n", both, "int a1 = 5, b1 = 2;\n");
}

#[tokio::test]
async fn classes_bound_to_names_have_their_bases() {
    let desk = Desk::new();
    desk.put("k.ts", "const K2 = class extends K implements I {};\nexport default class extends K {}\n");
    let (text, _) = desk.works("code_outline", json!({"path": "k.ts"})).await;
    assert!(
        text.contains("K2 (Lines 1-1) extends K, I") && text.contains("default (Lines 2-2) extends K"),
        "{text}"
    );
}

#[tokio::test]
async fn languages_keep_to_themselves() {
    let desk = Desk::new();
    desk.put("a.rs", "pub fn run() { v.last(); }\n");
    desk.put("b.py", "class Q:\n    def last(self): pass\n");
    let (text, _) = desk.works("derive_code_path", json!({"target": "run"})).await;
    assert!(text.contains("[external]") && !text.contains("b.py"), "{text}");
    desk.put("k.js", "module.exports = class Z extends K {\n  m() {}\n};\nconst K2 = class extends K {};\n");
    let (text, _) = desk.works("code_outline", json!({"path": "k.js"})).await;
    assert!(
        text.contains("[Class] Z (Lines 1-3) extends K\n  [Method] m")
            && text.contains("K2 (Lines 4-4) extends K"),
        "{text}"
    );
}

#[test]
fn the_comment_behind_a_variable_stays_unless_another_comes() {
    let before = "X = 1  # keep me\nY = 2\n";
    let set = |new: &str| json!({"name": "X", "new_declaration": new});
    writes("py_set_var_declaration", "a.py", before, set("X = 2"), "X = 2  # keep me\nY = 2\n");
    writes("py_set_var_declaration", "a.py", before, set("X = '#'"), "X = '#'  # keep me\nY = 2\n");
    writes("py_set_var_declaration", "a.py", before, set("X = 2  # new"), "X = 2  # new\nY = 2\n");
    let update = json!({"name": "X", "new_content": "X = 2"});
    writes("code_update_definition", "a.py", before, update, "X = 2  # keep me\nY = 2\n");
    let c = json!({"name": "x", "new_content": "int x = 2;"});
    writes(
        "code_update_definition",
        "a.c",
        "int x = 1; // keep\nint y;\n",
        c,
        "int x = 2; // keep\nint y;\n",
    );
}

#[test]
fn a_type_holds_what_its_constructors_do_not() {
    let before = "namespace n {\nclass Box {\npublic:\n    Box() { a(); }\n    Box(int x) { b(x); }\n};\n}\n";
    let args =
        json!({"anchor_type": "inside_end", "anchor_symbol": "Box", "name": "c", "new_content": "void c();"});
    let after = "namespace n {\nclass Box {\npublic:\n    Box() { a(); }\n    Box(int x) { b(x); }\n\n    void c();\n};\n}\n";
    writes("code_add", "a.cpp", before, args, after);
}

#[test]
fn a_class_of_one_line_is_left_with_pass() {
    writes("code_remove", "a.py", "class C: q = 1\n", json!({"name": "C.q"}), "class C: pass\n");
    writes("code_remove", "a.py", "class C: q = 1; r = 2\n", json!({"name": "C.q"}), "class C: r = 2\n");
}

#[test]
fn a_number_that_is_too_high_is_told_how_many_there_are() {
    let twice = "def f(): pass\ndef f(): pass\n";
    refuses(
        "code_remove",
        "a.py",
        twice,
        json!({"name": "f#9"}),
        "there is no number 9 of f in a.py: it defines 2 of that name",
    );
    refuses("code_remove", "a.py", "def f(): pass\n", json!({"name": "f#9"}), "it defines one of that name");
}
