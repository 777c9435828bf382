//! `read_file` and `get_file_slice`: exact text, paging that ends, facts, and what is no file.

use serde_json::{Value, json};

use crate::files_rig::{Rig, call, house, mkfifo};

/// Reads page after page and puts the pieces together again.
async fn reassemble(rig: &Rig, path: &str) -> (String, usize) {
    let mut whole = String::new();
    let mut from = Value::Null;
    for pages in 1..10_000 {
        let (text, data) =
            rig.call("read_file", json!({"path": path, "offset": from})).await.expect("a page");
        let content = data["content"].as_str().expect("content");
        assert!(text.len() <= 1024 * 1024 && text.contains(content));
        assert!(!content.is_empty(), "a page must make progress");
        whole.push_str(content);
        from = data["next"].clone();
        assert_eq!(data["truncated"], json!(!from.is_null()));
        let Some(next) = from.as_str() else { return (whole, pages) };
        let next =
            if next.contains(':') { format!("read_file offset={from}") } else { format!("offset={next}") };
        let note = text.lines().next().expect("a note");
        assert!(note.ends_with(&format!("continue with {next}]")) && text.ends_with(note), "{note}");
        assert!(text[note.len() + 1..].starts_with(content));
    }
    panic!("paging does not end");
}

#[tokio::test]
async fn a_small_file_is_given_raw() {
    let rig = Rig::with(&[("a/b.txt", "one\ntwo\n\tthree")]);
    let (text, data) = rig.call("read_file", json!({"path": "a/b.txt"})).await.expect("read");
    assert_eq!(text, "one\ntwo\n\tthree");
    let revision = data["revision"].as_str().expect("a revision").to_owned();
    assert_eq!(revision.len(), 16);
    assert_eq!(
        data,
        json!({
            "path": "a/b.txt", "content": "one\ntwo\n\tthree", "revision": revision, "encoding": "UTF-8",
            "newline": "LF", "bom": false, "damaged": false, "lines_total": 3, "first_line": 1,
            "last_line": 3, "size": 14, "truncated": false, "next": null,
        })
    );
}

#[tokio::test]
async fn an_empty_file_is_empty() {
    let rig = Rig::with(&[("empty", "")]);
    let (text, data) = rig.call("read_file", json!({"path": "empty"})).await.expect("read");
    assert_eq!(text, "");
    assert_eq!(data["lines_total"], 0);
    assert_eq!(data["newline"], "none");
    assert_eq!(rig.text("read_file", json!({"path": "empty", "offset": 1})).await, "");
    let error = rig.error("get_file_slice", json!({"path": "empty", "start_line": 1, "end_line": 2})).await;
    assert!(error.starts_with("ERROR: lines 1-2 do not exist: empty is empty"), "{error}");
}

#[tokio::test]
async fn encodings_are_decoded_and_told() {
    let rig = Rig::new();
    let check = async |name: &str, bytes: &[u8], text: &str, note: &str, facts: Value| {
        rig.write(name, bytes);
        let (got, data) = rig.call("read_file", json!({"path": name})).await.expect("read");
        let end = if text.ends_with('\n') { "" } else { "\n" };
        assert_eq!(got, format!("{text}{end}[{note}]"), "{name}");
        for (fact, value) in facts.as_object().expect("facts") {
            assert_eq!(&data[fact], value, "{fact} of {name}");
        }
    };
    let facts = json!({"bom": true, "encoding": "UTF-8", "size": 5});
    check("bom", b"\xef\xbb\xbfa\n", "\u{feff}a\n", "byte order mark", facts).await;
    check(
        "crlf",
        b"a\r\nb\r\n",
        "a\r\nb\r\n",
        "CRLF line ends",
        json!({"newline": "CRLF", "lines_total": 2}),
    )
    .await;
    check(
        "mixed",
        b"a\r\nb\nc\rd",
        "a\r\nb\nc\rd",
        "mixed line ends",
        json!({"newline": "mixed", "lines_total": 4}),
    )
    .await;
    let latin = "Die Straße läuft über die Brücke, größer als früher.\n".repeat(4);
    let bytes: Vec<u8> = latin.chars().map(|c| c as u8).collect();
    check(
        "latin",
        &bytes,
        &latin,
        "encoding windows-1252",
        json!({"encoding": "windows-1252", "damaged": false}),
    )
    .await;
    let utf16: Vec<u8> = "\u{feff}héllo\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(
        "utf16",
        &utf16,
        "\u{feff}héllo\r\n",
        "encoding UTF-16LE; CRLF line ends; byte order mark",
        json!({"encoding": "UTF-16LE", "bom": true, "newline": "CRLF"}),
    )
    .await;
}

#[tokio::test]
async fn a_name_that_is_not_there_gets_the_one_that_was_meant() {
    let rig = Rig::with(&[("empty.txt", ""), ("src/main.rs", ""), (".env", "secret"), ("a.txt", "")]);
    std::os::unix::fs::symlink("nowhere", rig.root().join("dangling")).expect("made");
    for (tool, path, expect) in [
        ("read_file", "emty.txt", "Hint: did you mean `empty.txt`?"),
        ("read_file", "EMPTY.txt", "Hint: did you mean `empty.txt`?"),
        ("read_file", "file:///etc/passwd", "it is a URL, not a path"),
        ("read_file", "src/mian.rs", "did you mean `src/main.rs`?"),
        ("read_file", "scr/main.rs", "did you mean `src`?"),
        ("list_directory", "sr", "did you mean `src`?"),
        ("delete_file", "emty.txt", "did you mean `empty.txt`?"),
        ("read_file", "quite/another", "list the directory to see what is there"),
        ("read_file", "dangling", "dangling is a symbolic link to something that does not exist"),
        // Protected names are not told.
        ("read_file", "env", "list the directory"),
    ] {
        let text = rig.error(tool, json!({"path": path})).await;
        assert!(text.contains(expect), "{tool} {path}: {text}");
        assert!(!text.contains("write_file"), "{text}");
    }
    let edit = json!({"path": "emty.txt", "old_string": "a", "new_string": "b"});
    let text = rig.error("edit_file", edit).await;
    assert!(text.ends_with("Hint: did you mean `empty.txt`? write_file makes a new file"), "{text}");
}

#[tokio::test]
async fn what_is_no_text_is_named_with_its_size() {
    let rig = Rig::new();
    rig.write("nul", b"a\0b");
    rig.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let error = rig.error("read_file", json!({"path": "nul"})).await;
    assert!(error.starts_with("ERROR: nul is not text: binary data, 3 bytes"), "{error}");
    let error = rig.error("read_file", json!({"path": "image.png"})).await;
    assert!(error.starts_with("ERROR: image.png is not text: PNG image, 16 bytes"), "{error}");
}

#[tokio::test]
async fn what_is_no_file_is_named_and_never_waited_for() {
    let rig = Rig::with(&[("dir/x", "")]);
    mkfifo(&rig.root().join("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(rig.root().join("socket")).expect("bound");
    for (path, kind) in [("pipe", "named pipe"), ("socket", "socket"), ("dir", "directory")] {
        for tool in ["read_file", "get_file_slice", "search_content"] {
            if (tool, path) == ("search_content", "dir") {
                continue;
            }
            let args = match tool {
                "read_file" => json!({"path": path}),
                "get_file_slice" => json!({"path": path, "start_line": 1, "end_line": 1}),
                _ => json!({"path": path, "pattern": "x"}),
            };
            let error = rig.error(tool, args).await;
            assert!(error.starts_with(&format!("ERROR: not a file: {path} is a {kind}")), "{tool}: {error}");
        }
    }
    for tool in ["list_directory", "get_tree"] {
        let error = rig.error(tool, json!({"path": "pipe"})).await;
        assert!(error.starts_with("ERROR: not a directory: pipe"), "{error}");
    }
    // The walks pass them over.
    assert_eq!(rig.data("search_content", json!({"path": ".", "pattern": "x"})).await["searched_files"], 1);
    let devices = house(std::path::Path::new("/dev"));
    let error = call(&devices, "read_file", json!({"path": "zero"})).await.expect_err("refused").text();
    assert!(error.starts_with("ERROR: not a file: zero is a device"), "{error}");
    let error = rig.error("read_file", json!({"path": "missing"})).await;
    assert!(error.starts_with("ERROR: file not found: missing"), "{error}");
}

#[tokio::test]
async fn many_lines_are_paged_and_come_together_again() {
    let rig = Rig::new();
    let text: String = (1..=200_000).map(|n| format!("line number {n}\n")).collect();
    rig.write("long", &text);
    let (whole, pages) = reassemble(&rig, "long").await;
    assert!(whole == text);
    assert_eq!(pages, text.len().div_ceil(1024 * 1024 - 512));
    let first = rig.text("read_file", json!({"path": "long"})).await;
    let lines = first.lines().count() - 2;
    let note = format!("[lines 1-{lines} of 200000; continue with offset={}]", lines + 1);
    assert!(first.starts_with(&format!("{note}\nline number 1\n")));
    assert!(first.ends_with(&format!("line number {lines}\n{note}")));
}

#[tokio::test]
async fn a_giant_line_is_paged_inside_the_line() {
    let rig = Rig::new();
    let ascii = "x".repeat(2 * 1024 * 1024 + 5);
    rig.write("ascii", &ascii);
    let (whole, pages) = reassemble(&rig, "ascii").await;
    assert!(whole == ascii);
    assert_eq!(pages, 3);
    let data = rig.data("read_file", json!({"path": "ascii"})).await;
    assert_eq!(data["next"], "1:1048065");
    let wide = format!("short\n{}\nend\n", "äö😀".repeat(200_000));
    rig.write("wide", &wide);
    assert!(reassemble(&rig, "wide").await.0 == wide);
    let error = rig.error("read_file", json!({"path": "wide", "offset": "1:100"})).await;
    assert!(error.contains("line 1 has 6 characters"), "{error}");
}

#[tokio::test]
async fn ranges_and_slices_are_exact() {
    let rig = Rig::with(&[("f", "a\nb\r\nc\nd")]);
    let slice = async |start: i64, end: i64| {
        rig.call("get_file_slice", json!({"path": "f", "start_line": start, "end_line": end})).await
    };
    let (text, data) = slice(2, 3).await.expect("lines");
    assert_eq!(text, "b\r\nc\n[mixed line ends]");
    assert_eq!(
        (&data["first_line"], &data["last_line"], &data["clamped"]),
        (&json!(2), &json!(3), &json!(false))
    );
    let (text, data) = slice(4, 99).await.expect("lines");
    assert_eq!(text, "d\n[mixed line ends; line 99 is past the end: the file has 4 lines]");
    assert_eq!((&data["last_line"], &data["clamped"]), (&json!(4), &json!(true)));
    let error = slice(5, 9).await.expect_err("refused").text();
    assert!(error.contains("f has 4 lines"), "{error}");
    for (start, end) in [(0, 2), (-3, 2), (1, 0), (0, 0), (-9, -1)] {
        let error = slice(start, end).await.expect_err("refused").text();
        let expect = format!("ERROR: lines count from 1, got start_line={start} and end_line={end}");
        assert!(error.starts_with(&expect), "{error}");
    }
    rig.write("g", "a\nb\nc\nd");
    let read = async |args: Value| rig.text("read_file", args).await;
    assert_eq!(read(json!({"path": "g", "offset": 3})).await, "c\nd");
    assert_eq!(read(json!({"path": "g", "offset": "3"})).await, "c\nd");
    assert_eq!(read(json!({"path": "g", "limit": 1})).await, "a\n[lines 1-1 of 4]");
    assert_eq!(read(json!({"path": "g", "offset": 2, "limit": 2})).await, "b\nc\n[lines 2-3 of 4]");
    assert_eq!(read(json!({"path": "g", "offset": 4, "limit": 9})).await, "d");
    assert_eq!(read(json!({"path": "g", "offset": "2:2", "end_line": 3})).await, "\nc\n[lines 2-3 of 4]");
    let named = read(json!({"file_path": "g", "start_line": 4})).await;
    assert_eq!(named, "d\n[arguments read: file_path as path, start_line as offset]");
    let error = rig.error("read_file", json!({"path": "g", "offset": 5})).await;
    assert!(error.starts_with("ERROR: line 5 does not exist: g has 4 lines"), "{error}");
    let error = rig.error("read_file", json!({"path": "g", "offset": "x"})).await;
    assert!(error.contains("`offset`: must be a line from 1 on"), "{error}");
}

#[tokio::test]
async fn a_reversed_range_is_told_as_such() {
    let rig = Rig::with(&[("a.txt", "1\n2\n3\n")]);
    for tool in ["read_file", "get_file_slice"] {
        let text = rig.error(tool, json!({"path": "a.txt", "start_line": 2, "end_line": 1})).await;
        assert!(
            text.starts_with("ERROR: the range is reversed: it starts at line 2 and ends at line 1"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_slice_over_the_cap_says_how_to_go_on() {
    let rig = Rig::new();
    rig.write("long", "0123456789\n".repeat(200_000));
    let args = json!({"path": "long", "start_line": 10, "end_line": 150_000});
    let (text, data) = rig.call("get_file_slice", args).await.expect("lines");
    let next: usize = data["next"].as_str().expect("more").parse().expect("a line");
    assert!(text.ends_with(&format!("[lines 10-{} of 200000; continue with start_line={next}]", next - 1)));
    let again = json!({"path": "long", "start_line": next, "end_line": 150_000});
    let rest = rig.data("get_file_slice", again).await;
    assert_eq!(rest["last_line"], 150_000);
    assert_eq!(rest["next"], Value::Null);
}

#[tokio::test]
async fn a_file_too_large_to_hold_is_read_by_window() {
    let rig = Rig::new();
    let line = |n: usize| {
        format!("this is line {n:08} of a very large file{}\r\n", ", with some more words".repeat(100))
    };
    let lines = 32_000;
    let text: String = (1..=lines).map(line).collect();
    assert!(text.len() > 64 * 1024 * 1024);
    rig.write("huge", &text);
    let data = rig.data("read_file", json!({"path": "huge", "offset": 20_000})).await;
    assert_eq!(data["lines_total"], lines);
    assert_eq!((&data["newline"], &data["revision"]), (&json!("CRLF"), &Value::Null));
    let next: usize = data["next"].as_str().expect("more").parse().expect("a line");
    assert_eq!(data["content"].as_str(), Some((20_000..next).map(line).collect::<String>().as_str()));
    let error = rig.error("read_file", json!({"path": "huge", "offset": lines + 1})).await;
    assert!(error.contains("huge has 32000 lines"), "{error}");
}
