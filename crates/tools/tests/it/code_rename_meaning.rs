//! `code_rename` where one word means several things: a type and what is added to it, a type and
//! a value, a module that is reached by way of another, an import that only a function knows.

use serde_json::json;

use crate::{
    code_rename_scopes::{check, refused, renamed},
    edit_rig::Desk,
};

#[tokio::test]
async fn what_a_function_imports_for_itself_is_no_name_of_the_file() {
    check(
        &[(
            "a.py",
            "def «load»(): return 1\ndef f():\n    import json\n    return json.loads('1')\nprint(«load»())\n",
        )],
        "load",
        "json",
        &[],
    )
    .await;
    check(
        &[
            ("lib.py", "def «load»(): return 1\n"),
            (
                "a.py",
                "from lib import «load»\nclass A:\n    from x import json\n    a = json()\n    def f(self): return self.json\nprint(«load»())\n",
            ),
            ("b.py", "class A:\n    from lib import «load»\n    a = «load»()\n"),
        ],
        "load",
        "json",
        &[],
    )
    .await;
    check(
        &[("a.rs", "fn «load»() {}\nfn f() { use x::{json, y}; json(); y() }\nfn main() { «load»() }\n")],
        "load",
        "json",
        &[],
    )
    .await;
    check(
        &[("a.js", "function «load»() {}\nfunction f() { const json = require('x'); json(); }\n«load»();\n")],
        "load",
        "json",
        &[],
    )
    .await;
    // Where the function uses the name itself, its import would hide it.
    let used = "def load(): return 1\ndef f():\n    import json\n    return json.loads(load())\n";
    refused(&[("a.py", used)], "load", "json", "a.py:4").await;
    let used = "fn load() {}\nfn f() { use x::json; json(load()) }\n";
    refused(&[("a.rs", used)], "load", "json", "a.rs:2").await;
    for known in [
        "import json\n",
        "if x: import json\n",
        "def f():\n    global json\n    import json\n",
        "try: import json\nexcept E: pass\n",
    ] {
        let text = format!("{known}def load(): return 1\nload()\n");
        refused(&[("a.py", &text)], "load", "json", "imported in a.py already").await;
    }
}

#[tokio::test]
async fn an_import_of_a_function_that_may_be_the_target_is_uncertain() {
    check(
        &[
            ("pkg/core.py", "def «helper»(): return 1\n"),
            ("strange.py", "def f():\n    from elsewhere import helper\n    return helper()\n"),
        ],
        "helper",
        "aid",
        &["strange.py:2", "strange.py:3"],
    )
    .await;
}

#[tokio::test]
async fn a_type_is_meant_before_the_blocks_that_add_to_it() {
    let files = [(
        "a.rs",
        "struct «Foo» { a: i32 }\nimpl «Foo» { fn new() -> «Foo» { «Foo» { a: 1 } } }\nimpl Drop for «Foo» { fn drop(&mut self) {} }\n",
    )];
    check(&files, "Foo", "Bar", &[]).await;
    let late = [("a.rs", "impl «Foo» { fn new() -> «Foo» { «Foo»::A } }\nenum «Foo» { A }\n")];
    check(&late, "Foo", "Bar", &[]).await;
    let plain = files[0].1.replace("«Foo»", "Foo");
    for name in ["Foo#1", "Foo#2", "Foo#3", "impl Foo#2", "struct Foo"] {
        let (after, _) = renamed(&[("a.rs", &plain)], name, "Bar").await;
        assert_eq!(after, [files[0].1.replace("«Foo»", "Bar")], "{name}");
    }
    let desk = Desk::new();
    desk.put("a.rs", &plain);
    let defined = |name: &str| json!({"path": "a.rs", "name": name});
    let (text, _) = desk.works("code_definition", defined("Foo")).await;
    assert!(text.starts_with("// Foo#1 of 3: Foo (Lines 1-1)\nstruct Foo"), "{text}");
    let (text, _) = desk.works("code_definition", defined("Foo#3")).await;
    assert!(text.starts_with("impl Drop for Foo"), "{text}");
    let (text, found) = desk.works("code_definition", defined("impl Foo")).await;
    assert_eq!(found["found"].as_array().map(Vec::len), Some(2), "{text}");
    // What goes into a block may be a field or a function: that is asked.
    let add = json!({"path": "a.rs", "name": "b", "new_content": "fn b() {}", "anchor_type": "inside_end", "anchor_symbol": "Foo"});
    let text = desk.fails("code_add", add, tectum_core::FaultKind::Conflict).await;
    assert!(text.contains("Foo#2"), "{text}");
    let (text, _) = desk.works("code_remove", defined("Foo")).await;
    assert!(text.contains("2 blocks that add to Foo stayed"), "{text}");
}

#[tokio::test]
async fn a_module_is_followed_by_way_of_another() {
    check(
        &[
            ("mm/core.py", "def «helper»(): return 1\n"),
            ("mm/__init__.py", "from . import core\n"),
            ("main.py", "import mm\nmm.core.«helper»()\n"),
            ("named.py", "import mm as m\nm.core.«helper»()\n"),
            ("other.py", "def helper(): pass\n"),
        ],
        "helper",
        "aid",
        &[],
    )
    .await;
    check(
        &[
            ("mm/sub/core.py", "def «helper»(): return 1\n"),
            ("mm/sub/__init__.py", ""),
            ("mm/__init__.py", "from .sub import core\nfrom .sub import core as c\n"),
            ("main.py", "import mm\nmm.core.«helper»()\nmm.c.«helper»()\nmm.d.helper()\n"),
            ("taken.py", "from mm import core\ncore.«helper»()\nfrom mm import c as cc\ncc.«helper»()\n"),
            ("other.py", "def helper(): pass\n"),
        ],
        "helper",
        "aid",
        &[],
    )
    .await;
    check(
        &[
            ("src/deep/core.ts", "export function «helper»() {}\n"),
            ("src/index.ts", "export * as kit from './deep/core';\n"),
            ("src/main.ts", "import * as all from './index';\nall.kit.«helper»();\nimport { kit } from './index';\nkit.«helper»();\n"),
            ("src/other.ts", "export function helper() {}\n"),
        ],
        "helper",
        "aid",
        &[],
    )
    .await;
}

#[tokio::test]
async fn types_and_values_have_names_of_their_own() {
    for path in ["a.ts", "a.tsx"] {
        check(
            &[(
                path,
                "type «user» = { name: string };\nfunction f(user: «user», b: «user»): «user» { const c: «user» = user; return user; }\nconst g = (user: «user»): «user» => user;\nclass A { m(user: «user»): «user» { return user; } }\n",
            )],
            "user",
            "person",
            &[],
        )
        .await;
        check(
            &[(
                path,
                "function «user»() {}\nfunction f<user>(a: user): user { «user»(); return a; }\nfunction g(b: number) { type user = number; let c: user = 1; «user»(); return c; }\n",
            )],
            "user",
            "person",
            &[],
        )
        .await;
        // A class is both: what hides one of its meanings leaves the other.
        check(
            &[(
                path,
                "class «user» {}\nfunction f(user: «user»): «user» { return user; }\nfunction g<user>(a: user) { return new «user»(); }\nfunction h() { class user {} const a: user = new user(); return a; }\n",
            )],
            "user",
            "person",
            &[],
        )
        .await;
        // A parameter of the new name takes nothing from a type.
        check(
            &[(
                path,
                "interface «User» { name: string }\nfunction f(user: «User»): «User» { return user; }\n",
            )],
            "User",
            "user",
            &[],
        )
        .await;
        refused(
            &[(path, "interface User { a: string }\nfunction f<user>(a: User): user { return a as any; }\n")],
            "User",
            "user",
            ":2",
        )
        .await;
    }
}

#[tokio::test]
async fn types_and_values_have_names_of_their_own_in_rust() {
    check(
        &[(
            "a.rs",
            "struct «node» { a: i32 }\nimpl «node» { fn new() -> Self { «node» { a: 1 } } }\nfn f(node: «node») -> «node» { let node: «node» = node; let b = «node»::new(); node }\nfn g<node>(a: node) -> node { a }\nfn h() { struct node; let a: node = node; }\n",
        )],
        "node",
        "Node",
        &[],
    )
    .await;
    check(
        &[(
            "a.rs",
            "fn «size»() -> i32 { 1 }\nfn f<size>(a: size) -> i32 { «size»() }\nfn g<const size: usize>() -> usize { size }\n",
        )],
        "size",
        "extent",
        &[],
    )
    .await;
}

#[tokio::test]
async fn all_overloads_of_a_function_are_followed() {
    let desk = Desk::new();
    desk.put("a.cpp", "int one() { return 1; }\nint two() { return 2; }\nint f(int a) { return one(); }\nint f(double a) { return two(); }\n");
    desk.put(
        "A.java",
        "class A {\n  void g(int a) { h(); }\n  void g(String a) { g(1); }\n  void h() {}\n}\n",
    );
    desk.put("m.py", "def twice(): pass\ndef twice(): pass\n");
    let (text, tree) = desk.works("derive_code_path", json!({"target": "f", "path": "a.cpp"})).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..4], ["f (a.cpp:3)", "└─ one (a.cpp:1)", "f (a.cpp:4)", "└─ two (a.cpp:2)"], "{text}");
    assert!(text.contains("f has 2 overloads, and all are followed"), "{text}");
    assert_eq!(tree["targets"], 2);
    let (text, _) = desk.works("derive_code_path", json!({"target": "A.g"})).await;
    assert!(text.contains("A.g has 2 overloads") && text.contains("A.h"), "{text}");
    let (text, tree) = desk.works("derive_code_path", json!({"target": "a.cpp::f#2"})).await;
    assert!(text.starts_with("f (a.cpp:4)") && !text.contains("one"), "{text}");
    assert_eq!(tree["targets"], 1);
    // Where functions have no overloads, one of two is meant.
    desk.fails("derive_code_path", json!({"target": "twice"}), tectum_core::FaultKind::Conflict).await;
}

#[tokio::test]
async fn the_full_stop_of_a_comment_takes_nothing_from_anything() {
    check(
        &[(
            "a.py",
            "import os\ndef «load»(): return 1\ndef f():\n    # Not that of os.\n    «load»()\n    # Do it.\n    return «load»()\n",
        )],
        "load",
        "fetch",
        &[],
    )
    .await;
    let files = [(
        "a.py",
        "from lib import shut\nclass A:\n    def shut(self):\n        # Not with self.\n        shut(1)\ndef f(a):\n    # Shut it.\n    shut(2)\n    a.shut()\n",
    )];
    let (after, uncertain) = renamed(&files, "A.shut", "end").await;
    assert_eq!(after, [files[0].1.replace("def shut", "def end").replace("a.shut", "a.end")]);
    assert_eq!(uncertain, [""; 0]);
    check(
        &[("a.go", "package a\n\nfunc «load»() int {\n\treturn 1\n}\n\nfunc f() int {\n\t// See fmt.\n\treturn «load»() +\n\t\t// And it.\n\t\t«load»()\n}\n")],
        "load",
        "fetch",
        &[],
    )
    .await;
}

#[tokio::test]
async fn a_module_keeps_its_name_when_what_it_defines_gets_another() {
    check(
        &[
            ("show.py", "def «show»(): pass\n"),
            ("a.py", "from show import «show»\n«show»()\n"),
            ("b.py", "from show import «show» as s\ns()\n"),
            ("c.py", "import show\nshow.«show»()\n"),
            ("d.py", "import show as q\nq.«show»()\n"),
        ],
        "show",
        "print_it",
        &[],
    )
    .await;
    check(
        &[
            ("pkg/state.py", "«core» = None\ndef set(): global «core»; «core» = 1\n"),
            ("pkg/core.py", "x = 1\n"),
            ("pkg/__init__.py", "from . import core\ncore.x\n"),
            ("pkg/user.py", "from . import core, state\nprint(core.x, state.«core»)\n"),
            ("main.py", "import pkg.core\nfrom pkg import core as c\npkg.core.x\n"),
        ],
        "core",
        "heart",
        &[],
    )
    .await;
    check(
        &[
            ("src/show.ts", "export function «show»() {}\n"),
            ("src/a.ts", "import { «show» } from './show';\n«show»();\n"),
            (
                "src/b.js",
                "const { «show» } = require('./show');\nconst s = require('./show').«show»;\n«show»(s);\n",
            ),
            ("src/c.ts", "import * as show from './show';\nshow.«show»();\n"),
            ("src/index.ts", "export { «show» } from './show';\n"),
        ],
        "show",
        "print",
        &[],
    )
    .await;
    check(
        &[
            ("src/show.rs", "pub fn «show»() {}\n"),
            (
                "src/lib.rs",
                "mod show;\nuse crate::show::«show»;\nuse show::«show» as s;\npub fn f() { «show»(); crate::show::«show»(); show::«show»(); }\n",
            ),
        ],
        "show",
        "print",
        &[],
    )
    .await;
    check(
        &[
            ("show.c", "#include \"show.h\"\n#include <sys/show.h>\nint «show»(void) { return 1; }\n"),
            ("show.h", "int «show»(void);\n"),
        ],
        "show",
        "print_it",
        &[],
    )
    .await;
    check(&[("show.rb", "require 'show'\ndef «show»; end\n«show»\n")], "show", "print_it", &[]).await;
    // The name of a module is no name that would mean the target.
    check(&[("a.py", "from fetch import x\ndef «load»(): return x\n«load»()\n")], "load", "fetch", &[]).await;
}

#[tokio::test]
async fn an_import_that_takes_the_place_of_a_definition_is_uncertain() {
    check(
        &[("a.py", "def «less»(): return 1\ntry:\n    from fast import less\nexcept ImportError:\n    pass\n«less»()\n")],
        "less",
        "fewer",
        &["a.py:3"],
    )
    .await;
}
