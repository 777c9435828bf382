//! Usages of a name: in several languages, page by page, in files of every sort.

use serde_json::{Value, json};
use tectum_core::FaultKind;
use tectum_tools::Settings;

use crate::code_project_rig::{By, Shop};

const PYTHON: &str = "\
import os
from lib import helper

class Server:
    def run(self):
        # helper in a comment
        return helper(1) + self.helper

    def helper(self):
        return 'helper in a string'
";

#[tokio::test]
async fn every_place_has_its_role() {
    let shop = Shop::with(&[("a.py", PYTHON), ("lib.py", "def helper(x):\n    return x\n")]);
    let expect = [
        "a.py:2 import",
        "a.py:7 call",
        "a.py:7 attribute",
        "a.py:9 definition",
        "lib.py:1 definition",
        "a.py:6 comment",
        "a.py:10 string",
    ];
    let mut found = shop.places("helper").await;
    found[1..3].sort_by_key(|place| !place.ends_with("call"));
    assert_eq!(found, expect, "code first, then text");
    let text = shop.text("usages", json!({"path": ".", "name": "helper"})).await;
    assert!(text.starts_with("a.py:2: [import] from lib import helper\n"), "{text}");
    assert!(text.contains("7 usages of `helper` in 2 files: 2 definitions, 1 call, 1 import, 1 attribute, 1 string, 1 comment"), "{text}");
}

#[tokio::test]
async fn roles_text_and_qualifiers_choose() {
    let shop = Shop::with(&[("a.py", PYTHON), ("lib.py", "def helper(x):\n    return x\n")]);
    let ask = async |more: Value| {
        let mut args = json!({"path": ".", "name": "helper"});
        args.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let data = shop.data("usages", args).await;
        let lines = data["matches"].as_array().expect("a list").iter();
        lines
            .map(|usage| format!("{}:{}", usage["path"].as_str().expect("a path"), usage["line"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(ask(json!({"roles": ["definition"]})).await, ["a.py:9", "lib.py:1"]);
    assert_eq!(ask(json!({"roles": ["definition"], "name": "Server.helper"})).await, ["a.py:9"]);
    assert_eq!(ask(json!({"roles": ["definition"], "name": "lib.helper"})).await, ["lib.py:1"]);
    assert_eq!(ask(json!({"roles": ["definition"], "name": "other.helper"})).await, ["a.py:9", "lib.py:1"]);
    assert_eq!(ask(json!({"include_text": false})).await.len(), 5);
    assert_eq!(ask(json!({"path": "lib.py"})).await, ["lib.py:1"]);
    let data = shop.data("usages", json!({"path": ".", "name": "Server.helper"})).await;
    assert_eq!(data["other_definitions"], 1);
    assert_eq!(data["matches"][1]["symbol"], "Server.run");
}

#[tokio::test]
async fn many_languages_at_once_and_one_alone() {
    let shop = Shop::with(&[
        ("a.py", "handle()\n"),
        ("b.rs", "fn handle() {}\nfn main() { handle(); }\n"),
        ("c.go", "package c\nfunc Run() { handle() }\n"),
        ("d.ts", "export function handle(): void {}\n"),
        ("script", "#!/usr/bin/env python3\nhandle()\n"),
        ("LICENSE", "handle with care\n"),
        ("notes.txt", "handle\n"),
    ]);
    let expect = [
        "a.py:1 call",
        "b.rs:1 definition",
        "b.rs:2 call",
        "c.go:2 call",
        "d.ts:1 definition",
        "script:2 call",
    ];
    assert_eq!(shop.places("handle").await, expect);
    let data = shop.data("py_usages", json!({"path": ".", "name": "handle"})).await;
    assert_eq!(data["matches"].as_array().expect("a list").len(), 2);
    let fault =
        shop.call("usages", json!({"path": "notes.txt", "name": "handle"})).await.expect_err("no source");
    assert_eq!(fault.kind, FaultKind::InvalidInput);
}

#[tokio::test]
async fn pages_go_on_to_the_end() {
    let lines: String = (0..25).map(|n| format!("w({n})\n")).collect();
    let shop = Shop::with(&[("a.py", &lines), ("b.py", &format!("{lines}# w\n"))]);
    let (mut from, mut seen) = (0, Vec::new());
    loop {
        let data = shop.data("usages", json!({"path": ".", "name": "w", "limit": 7, "from": from})).await;
        seen.extend(data["matches"].as_array().expect("a list").iter().map(|usage| {
            (usage["path"].as_str().expect("a path").to_owned(), usage["line"].as_u64().expect("a line"))
        }));
        assert_eq!(data["total"], 51);
        let Some(next) = data["next"].as_u64() else { break };
        assert!(next > from, "every page goes further");
        from = next;
    }
    assert_eq!(seen.len(), 51);
    seen.dedup();
    assert_eq!(seen.len(), 51, "no line twice");
    let text = shop.text("usages", json!({"path": ".", "name": "w", "from": 99})).await;
    assert!(text.contains("nothing at from=99"), "{text}");
}

#[tokio::test]
async fn what_cannot_be_searched_is_counted() {
    let settings = Settings { max_file: 2_000, ..Settings::default() };
    let shop = Shop::set(By::Watch, &settings, &[("a.py", "word = 1\n"), (".hidden.py", "word\n")]);
    shop.write("big.py", "word\n".repeat(1_000));
    shop.write("binary.py", b"\x7fELF\0\0\0word\0\x01\x02");
    shop.write("latin.py", b"# caf\xe9\nword = 2\n");
    shop.write("wide.py", "w\0o\0r\0d\0 \0=\0 \x001\0\n\0".as_bytes());
    shop.write(".gitignore", "ignored.py\n");
    shop.write("ignored.py", "word\n");
    assert_eq!(
        shop.places("word").await,
        ["a.py:1 definition", "latin.py:2 definition", "wide.py:1 definition"]
    );
    let data = shop.data("usages", json!({"path": ".", "name": "word"})).await;
    let skipped = &data["skipped"];
    assert_eq!(
        (&skipped["too_large"], &skipped["binary"], &skipped["ignored"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(skipped["hidden"], 1, "{skipped}");
}

#[tokio::test]
async fn what_is_no_name_is_refused() {
    let shop = Shop::with(&[("a.py", "x = 1\n")]);
    for name in ["", "a b", "1a", "a-b", "(", "a."] {
        let asked = shop.call("usages", json!({"path": ".", "name": name})).await;
        match asked {
            Err(fault) => assert_eq!(fault.kind, FaultKind::InvalidInput, "{name}"),
            Ok(_) => assert_eq!(name, "a.", "a dot at the end says nothing"),
        }
    }
    let fault =
        shop.call("usages", json!({"path": ".", "name": "x", "limit": 0})).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::InvalidInput);
    let fault = shop.call("usages", json!({"path": "none", "name": "x"})).await.expect_err("not there");
    assert_eq!(fault.kind, FaultKind::NotFound);
}

#[tokio::test]
async fn odd_texts_end_in_an_answer() {
    let shop = Shop::with(&[
        ("unclosed.py", "def word(:\n  '''word\n"),
        ("returns.py", "a = 1\rword = 2\r"),
        ("unicode.py", "größe = 1\nprint(größe)\n"),
        ("empty.py", ""),
    ]);
    shop.write("long.py", format!("x = [{}]\n", "word, ".repeat(50_000)));
    shop.write("deep.py", format!("{}word{}\n", "(".repeat(20_000), ")".repeat(20_000)));
    assert_eq!(shop.places("größe").await, ["unicode.py:1 definition", "unicode.py:2 reference"]);
    let data = shop.data("usages", json!({"path": ".", "name": "word"})).await;
    assert!(data["total"].as_u64().expect("a number") >= 50_003, "{}", data["total"]);
    assert_eq!(
        data["matches"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|usage| usage["path"] == "returns.py")
            .expect("found")["line"],
        2
    );
}
