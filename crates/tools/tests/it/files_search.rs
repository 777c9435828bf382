//! `search_files` and `search_content`: exact text, order, paging, counts and refusals.

use serde_json::{Value, json};
use tectum_core::{Call, FaultKind, Progress, SessionId};
use tectum_tools::{Settings, Threads};

use crate::files_rig::Rig;

fn project() -> Rig {
    Rig::with(&[
        (".gitignore", "target/\n*.log\n"),
        ("src/main.rs", "fn main() {\n    needle();\n}\n"),
        ("src/lib.rs", "// Needle in a haystack\nfn needle() {}\n// end\n"),
        ("docs/guide.md", "no such thing\r\na needle.\r\n"),
        ("target/out.rs", "needle"),
        ("debug.log", "needle"),
        (".hidden/x.rs", "needle"),
        ("keys/server.pem", "needle"),
        ("data.bin", "needle\0needle"),
    ])
}

#[tokio::test]
async fn names_are_found_by_glob() {
    let rig = project();
    let files =
        async |pattern: &str| rig.text("search_files", json!({"path": ".", "pattern": pattern})).await;
    let hidden =
        "(1 more hidden by ignore rules, include_ignored=true shows them; 1 name hidden by deny rules)";
    assert_eq!(
        files("*.rs").await,
        format!("[file] .hidden/x.rs\n[file] src/lib.rs\n[file] src/main.rs\n3 matches {hidden}")
    );
    assert_eq!(
        files("src/*.{rs,md}").await,
        "[file] src/lib.rs\n[file] src/main.rs\n2 matches (1 name hidden by deny rules)"
    );
    assert_eq!(files("src").await, "[dir] src\n1 match (1 name hidden by deny rules)");
    assert_eq!(files("*.py").await, "No files matched '*.py' in . (1 name hidden by deny rules)");
    assert_eq!(files("*.log").await, format!("No files matched '*.log' in . {hidden}"));
    let all = json!({"path": ".", "pattern": "*.log", "include_ignored": true});
    assert!(rig.text("search_files", all).await.starts_with("[file] debug.log\n1 match"));
    // Paths can be used as they are; an ignored directory can be asked for by name.
    let inside = rig.text("search_files", json!({"path": "src", "pattern": "main.*"})).await;
    assert_eq!(inside, "[file] src/main.rs\n1 match");
    let ignored = rig.text("search_files", json!({"path": "target", "pattern": "*"})).await;
    assert_eq!(ignored, "[file] target/out.rs\n1 match");
    for bad in ["a[", "{a", ""] {
        let error = rig.error("search_files", json!({"path": ".", "pattern": bad})).await;
        assert!(error.starts_with(&format!("ERROR: '{bad}' is not a glob")), "{error}");
    }
    let error = rig.error("search_files", json!({"path": "src/main.rs", "pattern": "*"})).await;
    assert!(error.starts_with("ERROR: not a directory: src/main.rs"), "{error}");
}

#[tokio::test]
async fn hits_of_names_are_paged() {
    let rig = Rig::new();
    for n in 0..25 {
        rig.write(format!("d{}/f{n:02}.txt", n % 3), "");
    }
    let all = rig.data("search_files", json!({"path": ".", "pattern": "*.txt"})).await["matches"].clone();
    let mut paged = Vec::new();
    let mut from = Value::Null;
    loop {
        let args = json!({"path": ".", "pattern": "*.txt", "limit": 4, "from": from});
        let data = rig.data("search_files", args).await;
        assert_eq!(data["total"], 25);
        paged.extend(data["matches"].as_array().expect("hits").clone());
        from = data["next"].clone();
        if from.is_null() {
            break;
        }
    }
    assert_eq!(Value::Array(paged), all);
}

#[tokio::test]
async fn lines_are_found_and_what_was_left_out_is_counted() {
    let rig = project();
    let (text, data) =
        rig.call("search_content", json!({"path": ".", "pattern": "needle"})).await.expect("found");
    let rows = "docs/guide.md:2: a needle.\nsrc/lib.rs:2: fn needle() {}\nsrc/main.rs:2:     needle();\n";
    assert_eq!(text, format!("{rows}3 matches in 3 files; skipped: 2 ignored, 2 hidden, 1 binary, 1 denied"));
    assert_eq!(data["matches"][0], json!({"path": "docs/guide.md", "line": 2, "text": "a needle."}));
    assert_eq!(
        data["skipped"],
        json!({"ignored": 2, "hidden": 2, "binary": 1, "denied": 1, "unreadable": 0, "too_large": 0, "undecoded": 0})
    );
    assert_eq!(
        (&data["shown"], &data["total_matches"], &data["files_matched"]),
        (&json!(3), &json!(3), &json!(3))
    );
    assert_eq!(data["searched_files"], 3);
}

#[tokio::test]
async fn what_is_left_out_of_a_file_is_counted() {
    let rig = Rig::with(&[("a.txt", &"x\n".repeat(1_000)), ("b.txt", "x\n"), ("c.txt", "x\nx\nx\n")]);
    let args = json!({"path": ".", "pattern": "x", "max_per_file": 2});
    let (text, data) = rig.call("search_content", args).await.expect("found");
    let rows = "a.txt:1: x\na.txt:2: x\nb.txt:1: x\nc.txt:1: x\nc.txt:2: x\n";
    assert_eq!(text, format!("{rows}1004 matches in 3 files; 999 of them left out by max_per_file=2"));
    assert_eq!(
        (&data["total_matches"], &data["left_out"], &data["shown"]),
        (&json!(1004), &json!(999), &json!(5))
    );
    assert_eq!((&data["truncated"], &data["next"]), (&json!(false), &Value::Null));
    // Pages go over what is shown.
    let page = json!({"path": ".", "pattern": "x", "max_per_file": 2, "limit": 2, "from": 2});
    let (text, data) = rig.call("search_content", page).await.expect("found");
    let page = "[2 shown, continue with from=4]\nb.txt:1: x\nc.txt:1: x\n1004 matches";
    assert!(text.starts_with(page), "{text}");
    assert_eq!((&data["truncated"], &data["next"]), (&json!(true), &json!(4)));
    // Counting counts all, in a small file and in one that is read as a stream.
    rig.write("d.txt", "x\n".repeat(200_000));
    let args = json!({"path": ".", "pattern": "x", "max_per_file": 1, "mode": "count"});
    let text = rig.text("search_content", args).await;
    assert_eq!(text, "a.txt:1000\nb.txt:1\nc.txt:3\nd.txt:200000\n201004 matches in 4 files");
}

#[tokio::test]
async fn a_pattern_that_grows_too_large_is_told_as_such() {
    let rig = project();
    let args = json!({"path": ".", "pattern": r"(\w{1000}){1000}"});
    let text = rig.error("search_content", args).await;
    assert!(text.contains("more than 32 MiB once compiled") && text.contains("repeat less"), "{text}");
}

#[tokio::test]
async fn a_page_behind_the_last_says_so() {
    let rig = Rig::with(&[("a.txt", ""), ("b.txt", "")]);
    let text = rig.text("search_files", json!({"path": ".", "pattern": "*", "from": "zzz"})).await;
    assert_eq!(text, "2 matches; nothing at from=\"zzz\"");
    let text = rig.text("list_directory", json!({"path": ".", "from": "zzz"})).await;
    assert_eq!(text, "Directory: .\n2 entries; nothing at from=\"zzz\"");
}

#[tokio::test]
async fn every_option_counts() {
    let rig = project();
    let check = async |options: Value, expect: &[&str]| {
        let mut args = json!({"path": "src", "pattern": "needle"});
        args.as_object_mut().expect("args").extend(options.as_object().expect("options").clone());
        let text = rig.text("search_content", args).await;
        let rows: Vec<_> = text.lines().collect();
        assert_eq!(rows[..rows.len() - 1], *expect, "{options}");
    };
    let upper = "src/lib.rs:1: // Needle in a haystack";
    let lower = "src/lib.rs:2: fn needle() {}";
    let main = "src/main.rs:2:     needle();";
    check(json!({"case": "insensitive"}), &[upper, lower, main]).await;
    check(json!({"pattern": "Needle", "case": "smart"}), &[upper]).await;
    check(json!({"pattern": "needle", "case": "smart"}), &[upper, lower, main]).await;
    check(json!({"pattern": "needl", "word": true}), &[]).await;
    check(json!({"pattern": "needle()", "literal": true}), &[lower, main]).await;
    check(json!({"pattern": "needle()"}), &[lower, main]).await;
    check(json!({"pattern": r"\{$"}), &["src/main.rs:1: fn main() {"]).await;
    check(json!({"path": "docs", "pattern": r"needle\.$"}), &["docs/guide.md:2: a needle."]).await;
    check(json!({"include": ["main.*"]}), &[main]).await;
    check(json!({"path": ".", "include": ["src/**"], "exclude": ["main.rs"]}), &[lower]).await;
    check(json!({"path": ".", "exclude": ["src", "docs"]}), &[]).await;
    check(json!({"mode": "files"}), &["src/lib.rs", "src/main.rs"]).await;
    check(json!({"mode": "count", "case": "insensitive"}), &["src/lib.rs:2", "src/main.rs:1"]).await;
    check(json!({"case": "insensitive", "max_per_file": 1}), &[upper, main]).await;
    check(json!({"pattern": r"needle\(\) \{\}\n// e", "multiline": true}), &[lower, "src/lib.rs:3: // end"])
        .await;
    check(json!({"path": "target"}), &["target/out.rs:1: needle"]).await;
    check(json!({"path": "debug.log"}), &["debug.log:1: needle"]).await;
    check(json!({"path": "target/out.rs"}), &["target/out.rs:1: needle"]).await;
    check(json!({"path": ".", "include_hidden": true, "include": ["x.rs"]}), &[".hidden/x.rs:1: needle"])
        .await;
    check(json!({"path": ".", "include_ignored": true, "include": ["*.log"]}), &["debug.log:1: needle"])
        .await;
}

#[tokio::test]
async fn context_is_shown_around_matches() {
    let rig = Rig::with(&[("f", "1\n2 x\n3\n4\n5\n6 x\n7 x\n8\n"), ("g", "x\n")]);
    let (text, data) =
        rig.call("search_content", json!({"path": ".", "pattern": "x", "context": 1})).await.expect("found");
    let rows = "f-1- 1\nf:2: 2 x\nf-3- 3\n--\nf-5- 5\nf:6: 6 x\nf:7: 7 x\nf-8- 8\n--\ng:1: x\n";
    assert_eq!(text, format!("{rows}4 matches in 2 files"));
    assert_eq!(
        data["matches"][0],
        json!({"path": "f", "line": 2, "text": "2 x", "before": ["1"], "after": ["3"]})
    );
    assert_eq!(data["matches"][2], json!({"path": "f", "line": 7, "text": "7 x", "after": ["8"]}));
}

#[tokio::test]
async fn pages_of_matches_are_stable_and_end() {
    let rig = Rig::new();
    for file in 0..7 {
        rig.write(format!("d{}/f{file}", file % 2), "hit\nno\n".repeat(100));
    }
    let whole = rig.data("search_content", json!({"path": ".", "pattern": "hit", "limit": 10_000})).await;
    assert_eq!(whole["total_matches"], 700);
    let text = rig.text("search_content", json!({"path": ".", "pattern": "hit"})).await;
    assert!(text.starts_with("[500 shown, continue with from=500]\n"), "{text}");
    assert!(text.ends_with("700 matches in 7 files; 500 shown, continue with from=500"), "{text}");
    for mode in ["lines", "files", "count"] {
        let whole = rig
            .data("search_content", json!({"path": ".", "pattern": "hit", "limit": 10_000, "mode": mode}))
            .await;
        let mut paged = Vec::new();
        let mut from = json!(0);
        while !from.is_null() {
            let limit = if mode == "lines" { 73 } else { 2 };
            let data = rig
                .data(
                    "search_content",
                    json!({"path": ".", "pattern": "hit", "mode": mode, "limit": limit, "from": from}),
                )
                .await;
            paged.extend(data["matches"].as_array().expect("matches").clone());
            from = data["next"].clone();
        }
        assert_eq!(Value::Array(paged), whole["matches"], "{mode}");
    }
    let beyond = rig.text("search_content", json!({"path": ".", "pattern": "hit", "from": 9_999})).await;
    assert_eq!(beyond, "700 matches in 7 files; nothing at from=9999");
    let error = rig.error("search_content", json!({"path": ".", "pattern": "hit", "from": 900_000})).await;
    assert!(error.contains("narrow the search"), "{error}");
}

#[tokio::test]
async fn a_bad_pattern_says_what_to_do() {
    let rig = project();
    let error = rig.error("search_content", json!({"path": ".", "pattern": "needle("})).await;
    assert!(error.starts_with("ERROR: the pattern is not a regular expression:"), "{error}");
    assert!(error.contains("unclosed group") && error.contains("literal=true"), "{error}");
    let error = rig.error("search_content", json!({"path": ".", "pattern": r"a\nb"})).await;
    assert!(error.contains("multiline=true"), "{error}");
    let error = rig.error("search_content", json!({"path": ".", "pattern": "x", "include": ["{a"]})).await;
    assert!(error.starts_with("ERROR: '{a' is not a glob"), "{error}");
    let error = rig.error("search_content", json!({"path": ".", "pattern": ""})).await;
    assert!(error.contains("`pattern` is empty"), "{error}");
    let error = rig.error("search_content", json!({"path": "nowhere", "pattern": "x"})).await;
    assert!(error.starts_with("ERROR: file not found: nowhere"), "{error}");
    let ignored = rig.text("search_content", json!({"path": ".", "pattern": "nothing at all"})).await;
    assert!(ignored.starts_with("0 matches in 0 files; skipped: 2 ignored"), "{ignored}");
    assert!(ignored.ends_with("(include_ignored=true searches the ignored)"), "{ignored}");
}

#[tokio::test]
async fn odd_content_is_searched_too() {
    let rig = Rig::new();
    let utf16: Vec<u8> = "\u{feff}eins\nzwei needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    rig.write("utf16", utf16);
    rig.write("latin", b"caf\xe9 needle\n");
    rig.write("mac", "one\rtwo needle\rthree\n");
    rig.write("minified", format!("{}needle{}", "a".repeat(100_000), "b".repeat(100_000)));
    rig.write("large", format!("{}\nneedle\n", "line\r\n".repeat(100_000)));
    rig.write("large_binary", format!("needle\n{}\0", "line\n".repeat(100_000)));
    let text = rig.text("search_content", json!({"path": ".", "pattern": "needle"})).await;
    let long = format!("minified:1: …{}needle{}…", "a".repeat(100), "b".repeat(294));
    let expect = [
        "large:100002: needle",
        "latin:1: café needle",
        "mac:2: two needle",
        &long,
        "utf16:2: zwei needle",
        "5 matches in 5 files; skipped: 1 binary",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expect);
    // The same line number as reading gives.
    assert_eq!(
        rig.data("read_file", json!({"path": "mac", "offset": 2, "limit": 1})).await["content"],
        "two needle\r"
    );
}

#[tokio::test]
async fn one_large_folder_is_searched_whole() {
    let rig = Rig::new();
    rig.write(".gitignore", "*7\n");
    for n in 0..3_000 {
        rig.write(format!("f{n:04}"), "needle");
    }
    let data = rig.data("search_content", json!({"path": ".", "pattern": "needle", "mode": "count"})).await;
    assert_eq!((&data["files_matched"], &data["skipped"]["ignored"]), (&json!(2_700), &json!(300)));
    assert_eq!(data["skipped"]["hidden"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_search_returns_at_once() {
    let rig = Rig::new();
    for n in 0..4_500 {
        rig.write(format!("d{}/f{n}", n % 100), "some words\n");
    }
    let args = json!({"path": ".", "pattern": "words"}).to_string();
    let raw = serde_json::value::RawValue::from_string(args).expect("JSON");
    let mut call = Call::new(SessionId::new("test"), "search_content", raw);
    let cancel = call.cancel.clone();
    let (notes, first) = std::sync::mpsc::channel();
    call.progress = Progress::to(move |note| {
        let _ = notes.send((std::time::Instant::now(), note));
        cancel.cancel();
    });
    let outcome = rig.house.call(call).await;
    let (cancelled, note) = first.recv().expect("a note of progress");
    assert!(note.done >= 2_000 && note.message.starts_with("searched "), "{note:?}");
    assert_eq!(outcome.result.expect_err("cancelled").kind, FaultKind::Cancelled);
    assert!(cancelled.elapsed() < std::time::Duration::from_secs(2));
}

#[tokio::test]
async fn text_is_found_in_every_encoding_that_reading_knows() {
    let rig = Rig::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let utf16be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    rig.write("cp1252", b"Le caf\xe9 est ferm\xe9 le dimanche.\r\n");
    rig.write(
        "sjis",
        b"\x82\xb1\x82\xea\x82\xcd\n\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x65\x83\x4c\x83\x58\x83\x67\n",
    );
    rig.write("utf16le", utf16("first line\r\nthe caf\u{e9} is here\r\n"));
    rig.write("utf16be", utf16be("first line\rthe caf\u{e9} is here\r"));
    rig.write("utf8", "un café\n");
    let search =
        async |pattern: &str| rig.text("search_content", json!({"path": ".", "pattern": pattern})).await;
    let hits = [
        "cp1252:1: Le café est fermé le dimanche.",
        "utf16be:2: the café is here",
        "utf16le:2: the café is here",
        "utf8:1: un café",
        "4 matches in 4 files",
    ];
    assert_eq!(search("café").await.lines().collect::<Vec<_>>(), hits);
    assert_eq!(search("ferm").await, format!("{}\n1 match in 1 file", hits[0]));
    assert_eq!(search("日本").await, "sjis:2: 日本語のテキスト\n1 match in 1 file");
    for path in ["sjis", "utf16le"] {
        let reading = rig.text("read_file", json!({"path": path})).await;
        let line = reading.lines().nth(1).expect("a second line");
        let found = rig.text("search_content", json!({"path": path, "pattern": line, "literal": true})).await;
        assert_eq!(found, format!("{path}:2: {line}\n1 match in 1 file"));
    }
}

#[tokio::test]
async fn what_is_too_large_to_decode_is_counted() {
    let rig = Rig::new();
    let large = |line: &[u8]| line.repeat(400 * 1024 / line.len());
    rig.write("cp1252", [large(b"caf\xe9 noir\n"), b"needle\n".to_vec()].concat());
    rig.write("utf8", large("café noir, 日本\n".as_bytes()));
    let (text, data) =
        rig.call("search_content", json!({"path": ".", "pattern": "needle"})).await.expect("found");
    let summary = "1 match in 1 file; skipped: 1 undecoded (not UTF-8, searched as bytes)";
    assert!(text.ends_with(summary) && text.starts_with("cp1252:"), "{text}");
    assert_eq!((&data["skipped"]["undecoded"], &data["searched_files"]), (&json!(1), &json!(2)));
    let one = rig.data("search_content", json!({"path": "cp1252", "pattern": "nothing"})).await;
    assert_eq!(one["skipped"]["undecoded"], 1);
}

#[tokio::test]
async fn paging_ends_where_nothing_more_is_held() {
    let rig = Rig::new();
    rig.write("many", "x\n".repeat(250_000));
    let check = async |from: usize, limit: usize, context: usize, next: Value| {
        let args = json!({"path": ".", "pattern": "x", "from": from, "limit": limit, "context": context});
        let (text, data) = rig.call("search_content", args).await.expect("a page");
        assert_eq!((&data["truncated"], &data["next"]), (&json!(true), &next));
        let end = "shown, paging ends here; narrow the search (path, include, or a longer pattern)";
        assert_eq!(text.ends_with(end), next.is_null(), "{}", text.lines().next_back().expect("a summary"));
    };
    check(195_000, 10_000, 0, Value::Null).await;
    check(195_000, 4_999, 0, json!(199_999)).await;
    check(1_970, 100, 50, Value::Null).await;
    // Context takes no room where none is shown.
    for mode in ["files", "count"] {
        let args = json!({"path": ".", "pattern": "x", "from": 5_000, "context": 50, "mode": mode});
        let text = rig.text("search_content", args).await;
        assert!(text.ends_with("nothing at from=5000"), "{text}");
    }
}

#[tokio::test]
async fn plain_text_crosses_line_ends_of_every_kind() {
    let rig = Rig::with(&[("crlf", "one.\r\ntwo\r\n"), ("lf", "one.\ntwo\n"), ("no", "one!\ntwo\n")]);
    for pattern in ["one.\ntwo", "ONE.\nTWO"] {
        let args = json!({
            "path": ".", "pattern": pattern, "literal": true, "multiline": true, "case": "insensitive",
        });
        assert_eq!(
            rig.text("search_content", args).await,
            "crlf:1: one.\ncrlf:2: two\nlf:1: one.\nlf:2: two\n4 matches in 2 files"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_search_leaves_a_large_folder() {
    let rig = Rig::set(&Settings { threads: Threads(Some(1)), ..Settings::default() });
    for n in 0..4_500 {
        rig.write(format!("f{n}"), "some words\n");
    }
    let args = json!({"path": ".", "pattern": "words"}).to_string();
    let raw = serde_json::value::RawValue::from_string(args).expect("JSON");
    let mut call = Call::new(SessionId::new("test"), "search_content", raw);
    let cancel = call.cancel.clone();
    let (notes, told) = std::sync::mpsc::channel();
    call.progress = Progress::to(move |note| {
        cancel.cancel();
        let _ = notes.send(note.done);
    });
    let outcome = rig.house.call(call).await;
    assert_eq!(outcome.result.expect_err("cancelled").kind, FaultKind::Cancelled);
    // The channel closes when the search has let go of the call.
    assert_eq!(told.iter().collect::<Vec<_>>(), [2_000]);
}
