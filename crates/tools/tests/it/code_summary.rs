//! `get_file_summary` over code and data, and what other tools make of data.

use serde_json::json;

use crate::files_rig::Rig;

async fn check(name: &str, content: &str, expect: &str) {
    let rig = Rig::with(&[(name, content)]);
    assert_eq!(rig.text("get_file_summary", json!({"path": name})).await, expect);
}

#[tokio::test]
async fn python_by_what_it_defines() {
    check(
        "a.py",
        "import os.path\nfrom . import near\nLIMIT = 1\nlow = 2\nclass A(B, C):\n    def f(self): pass\n    def g(self): pass\ndef h(): pass\nasync def i(): pass\n",
        "**Python** — 9 lines\nimports: ., os\nconstants: LIMIT\nclass A(B, C): f, g\nfunctions: h, i",
    )
    .await;
    let rig = Rig::with(&[("b.py", "def f(:\n")]);
    let broken = rig.text("get_file_summary", json!({"path": "b.py"})).await;
    assert!(broken.contains("syntax error at line 1") && broken.contains("def f(:"), "{broken}");
}

#[tokio::test]
async fn c_and_rust_by_what_they_define() {
    check(
        "a.c",
        "#include <stdio.h>\n#include \"b.h\"\n#define MAX 1\nstruct s { int a; };\nstatic int f(void) { return 0; }\n",
        "**C** — 5 lines\nimports: <stdio.h>, b.h\nconstants: MAX\nstruct s\nfunctions: f",
    )
    .await;
    check(
        "a.rs",
        "use std::fmt;\nconst N: usize = 1;\nstruct S;\nimpl S { fn new() -> Self { S } }\nfn main() {}\n",
        "**Rust** — 5 lines\nimports: std\nconstants: N\nstruct S\nimpl S: new\nfunctions: main",
    )
    .await;
}

#[tokio::test]
async fn data_by_what_it_holds() {
    let rig = Rig::with(&[
        ("a.toml", "[package]\nname = \"x\"\n[[bin]]\nname = \"y\"\n"),
        ("a.md", "# One\n```\n# no\n```\n## Two\n"),
        ("a.json", "{\"a\": [1, 2], \"b\": \"x\"}"),
        ("a.yaml", "a: 1\nb:\n  c: 2\n"),
        ("noname", "plain\ntext\n"),
        ("notes.txt", "plain\ntext\n"),
        ("deep/LICENSE", "plain\ntext\n"),
        ("deep/Cargo.lock", "version = 4\nb = 1\n"),
        ("x.JSON", "\u{feff}{\"a\": 1, \"b\\n\": 2}"),
    ]);
    for (file, parts) in [
        ("a.toml", ["**TOML** — 4 lines", "package", "bin"]),
        ("a.md", ["**Markdown** — 5 lines", "One", "Two"]),
        ("a.json", ["**JSON** — 1 line", "a", "b"]),
        ("a.yaml", ["**YAML** — 3 lines", "a", "b"]),
        ("noname", ["**Text** — 2 lines", "plain", "text"]),
        ("notes.txt", ["**Text** — 2 lines", "plain", "text"]),
        ("deep/LICENSE", ["**Text** — 2 lines", "plain", "text"]),
        ("deep/Cargo.lock", ["**TOML** — 2 lines", "version: integer\n", "b: integer"]),
        ("x.JSON", ["**JSON** — 1 line", "a: number\n", "b : number"]),
    ] {
        let summary = rig.text("get_file_summary", json!({"path": file})).await;
        assert!(parts.iter().all(|part| summary.contains(part)), "{summary}");
    }
    assert!(!rig.text("get_file_summary", json!({"path": "a.md"})).await.contains("no"));
}

#[tokio::test]
async fn data_has_an_outline_and_no_code() {
    let rig = Rig::with(&[
        ("a.md", "# One\ntext\n## Two\n"),
        ("a.json", "{\n  \"a\": [1,\n 2],\n \"b\": \"x\"}"),
        ("b.json", "{\n  \"a\": ]\n}"),
        ("a.py", "def package(): pass\n"),
        ("a.toml", "[package]\nname = 'x'\n"),
    ]);
    for (file, outline) in [
        ("a.md", "[Heading] One (Lines 1-3)\n  [Heading] Two (Lines 3-3)"),
        ("a.json", "[Key] a (Lines 2-3)\n[Key] b (Lines 4-4)"),
        (
            "b.json",
            "No definitions in b.json (JSON, 3 lines)\nNote: Lines 1-3: it is not valid, so symbols may be missing there",
        ),
        ("a.toml", "[Key] package (Lines 1-2)"),
    ] {
        assert_eq!(rig.text("code_outline", json!({"path": file})).await, outline);
        let readers = [
            ("code_skeleton", json!({"path": file})),
            ("code_imports", json!({"path": file})),
            ("code_check", json!({"path": file})),
            ("code_definition", json!({"path": file, "name": "package"})),
            ("code_usages", json!({"path": file, "name": "package"})),
        ];
        for (tool, args) in readers {
            let refused = rig.error(tool, args).await;
            assert!(refused.contains(&format!("no language pack for {file}")), "{tool}: {refused}");
        }
    }
    let usages = rig.text("code_usages", json!({"path": ".", "name": "package"})).await;
    assert!(
        usages.contains("a.py") && !usages.contains("a.toml") && usages.contains("searched 1 file "),
        "{usages}"
    );
}
