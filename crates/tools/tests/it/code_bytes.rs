//! Python files whose bytes are not the text they should be: what a check says of them, as
//! CPython does, and that a change elsewhere in them is still made.

use serde_json::json;
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

const UNDECLARED: &str = "Non-UTF-8 code starting with '\\xe9', but no encoding declared; see https://peps.python.org/pep-0263/ for details";

/// Checks the message of both checks about a file.
async fn says(bytes: &[u8], line: usize, column: usize, message: &str) {
    let desk = Desk::new();
    desk.put("a.py", bytes);
    for tool in ["py_check_syntax", "code_check"] {
        let (text, data) = desk.works(tool, json!({"path": "a.py"})).await;
        let start = format!("SyntaxError in a.py line {line}, col {column}: {message}");
        assert!(text.starts_with(&start), "{tool}: {text}");
        assert_eq!(data["ok"], false);
        assert_eq!(data["problems"].as_array().map(Vec::len), Some(1), "{data}");
        assert_eq!(
            (&data["problems"][0]["line"], &data["problems"][0]["column"]),
            (&json!(line), &json!(column))
        );
        assert_eq!(data.get("not_checked"), None);
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_of_their_encoding_are_told_with_their_place() {
    says(b"x = 'a\xe9'\n", 1, 7, UNDECLARED).await;
    says(
        "é = 1\r\ny = 'é".as_bytes().iter().chain(b"\xe9'\r\n").copied().collect::<Vec<_>>().as_slice(),
        2,
        7,
        UNDECLARED,
    )
    .await;
    says(b"x = 1\n\xe9\n", 2, 1, UNDECLARED).await;
    says(b"# caf\xe9\nx = 1\n", 1, 6, UNDECLARED).await;
    let damaged = "(unicode error) 'utf-8' codec can't decode byte 0xe9: invalid continuation byte";
    says(b"# coding: utf-8\nx = '\xe9'\n", 2, 6, damaged).await;
    says(b"\xef\xbb\xbfx = '\xe9'\n", 1, 6, damaged).await;
    says(b"# coding: ascii\nx = '\xe9'\n", 2, 6, "'ascii' codec can't decode byte 0xe9").await;
}

#[tokio::test]
async fn declarations_that_cannot_be_followed_are_told() {
    says(b"# coding: foo\nx = 1\n", 1, 11, "unknown encoding: foo").await;
    says(b"#!/usr/bin/python\n# -*- coding: foo -*-\nx = 1\n", 2, 15, "unknown encoding: foo").await;
    says(b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", 1, 11, "encoding problem: iso-8859-1 with BOM").await;
}

#[tokio::test]
async fn what_is_declared_and_right_is_ok() {
    for bytes in [
        &b"# coding: latin-1\nx = '\xe9'\n"[..],
        b"# coding: cp1251\nx = '\xe9'\n",
        b"\xef\xbb\xbf# coding: utf-8\nx = 1\n",
        "x = 'é'\n".as_bytes(),
    ] {
        let desk = Desk::new();
        desk.put("a.py", bytes);
        let (text, data) = desk.works("py_check_syntax", json!({"path": "a.py"})).await;
        assert_eq!(
            (text.as_str(), &data["ok"]),
            ("Syntax OK: a.py", &json!(true)),
            "{}",
            bytes.escape_ascii()
        );
    }
}

#[tokio::test]
async fn old_damage_does_not_block_a_change() {
    let desk = Desk::new();
    desk.put("a.py", b"# caf\xe9\ndef f():\n    return 1\n");
    let update = json!({"path": "a.py", "name": "f", "new_content": "def f():\n    return 2\n"});
    desk.works("py_update_definition", update).await;
    assert_eq!(desk.get("a.py").expect("there"), b"# caf\xe9\ndef f():\n    return 2\n");
    desk.put("a.py", b"# coding: foo\ndef f():\n    return 1\n");
    let update = json!({"path": "a.py", "name": "f", "new_content": "def f():\n    return 2\n"});
    desk.works("py_update_definition", update).await;
    assert_eq!(desk.get("a.py").expect("there"), b"# coding: foo\ndef f():\n    return 2\n");
    let broken = json!({"path": "a.py", "name": "f", "new_content": "def f(:\n    return 3\n"});
    desk.fails("py_update_definition", broken, FaultKind::Conflict).await;
}

#[tokio::test]
async fn a_file_over_the_limit_is_neither_right_nor_wrong() {
    const LIMIT: usize = 16 * 1024 * 1024;
    let long = |start: &str| format!("{start}/* {} */\n", "x".repeat(LIMIT));
    let desk = Desk::new();
    for (name, start) in
        [("a.c", "int f(void) { return 1; }\n"), ("a.cpp", "int f( {\n"), ("a.rs", "fn f() {}\n")]
    {
        let text = long(start);
        desk.put(name, &text);
        let (said, data) = desk.works("code_check", json!({"path": name})).await;
        let why = format!("the file has {} bytes, and files over {LIMIT} are not parsed", text.len());
        assert_eq!(said, format!("Not checked: {name}: {why}"));
        assert_eq!(
            (&data["ok"], &data["problems"], &data["not_checked"]),
            (&json!(false), &json!([]), &json!(why))
        );
    }
    // What cannot be checked can be changed as before.
    let update = json!({"path": "a.c", "name": "f", "new_content": "int f(void) { return 2; }"});
    desk.works("code_update_definition", update).await;
    assert!(desk.get("a.c").expect("there").starts_with(b"int f(void) { return 2; }\n/* xxx"));
}
