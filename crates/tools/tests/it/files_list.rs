//! `list_directory` and `get_tree`: their exact text, their order and what they leave out.

use serde_json::{Value, json};

use tectum_tools::Settings;

use crate::files_rig::{Rig, mkfifo};

#[tokio::test]
async fn a_directory_is_listed_row_by_row() {
    let rig = Rig::with(&[
        ("b.txt", "12345"),
        ("A.txt", ""),
        ("zoo/x", ""),
        ("Bar/x", ""),
        (".env", "secret"),
        ("history.toml", "secret"),
        (".hidden", "x"),
    ]);
    std::os::unix::fs::symlink("b.txt", rig.root().join("link")).expect("made");
    mkfifo(&rig.root().join("pipe"));
    let text = rig.text("list_directory", json!({})).await;
    let rows = "Directory: .\n[dir] Bar  -\n[dir] zoo  -\n[file] .hidden  1\n[file] A.txt  0\n[file] b.txt  5\n[link] link -> b.txt  -\n[fifo] pipe  -\n";
    assert_eq!(text, format!("{rows}7 entries (2 hidden by deny rules)"));
    let text = rig.text("list_directory", json!({"path": ".", "all": false})).await;
    assert!(
        text.ends_with(
            "\n6 entries (1 hidden because they start with a dot, all=true shows them; 2 hidden by deny rules)"
        ),
        "{text}"
    );
    assert_eq!(
        rig.text("list_directory", json!({"path": "zoo"})).await,
        "Directory: zoo\n[file] x  0\n1 entry"
    );
    let data = rig.data("list_directory", json!({})).await;
    assert_eq!(data["denied"], 2);
    assert_eq!(data["entries"][4], json!({"name": "b.txt", "kind": "file", "size": 5}));
    assert_eq!(data["entries"][0], json!({"name": "Bar", "kind": "dir", "size": null}));
}

#[tokio::test]
async fn a_name_with_a_line_end_stays_one_row() {
    let rig = Rig::with(&[("a\n[file] b/x.txt", "needle")]);
    assert_eq!(rig.text("list_directory", json!({})).await, "Directory: .\n[dir] a\\n[file] b  -\n1 entry");
    let tree = rig.text("get_tree", json!({})).await;
    assert_eq!(tree, "./\n└── a\\n[file] b/\n    └── x.txt\n\n1 directory, 1 file");
    let found = rig.text("search_content", json!({"path": ".", "pattern": "needle"})).await;
    assert_eq!(found, "a\\n[file] b/x.txt:1: needle\n1 match in 1 file");
}

#[tokio::test]
async fn an_empty_directory_has_no_entries() {
    let rig = Rig::new();
    assert_eq!(rig.text("list_directory", json!({})).await, "Directory: .\n0 entries");
}

#[tokio::test]
async fn a_large_directory_is_paged_by_name() {
    let rig = Rig::new();
    for n in 0..10_100 {
        rig.write(format!("d/file-{n:05}"), "");
    }
    rig.write("d/sub/x", "");
    let mut names = Vec::new();
    let mut from = Value::Null;
    loop {
        let data = rig.data("list_directory", json!({"path": "d", "from": from})).await;
        assert_eq!(data["total"], 10_101);
        let page = data["entries"].as_array().expect("entries");
        assert!(!page.is_empty() && page.len() <= 10_000);
        names.extend(page.iter().map(|row| row["name"].as_str().expect("a name").to_owned()));
        from = data["next"].clone();
        if from.is_null() {
            break;
        }
        // What goes away between two pages does not disturb the next.
        rig.remove("d/file-09999");
        rig.write("d/file-09999", "");
    }
    let mut expect = vec!["sub".to_owned()];
    expect.extend((0..10_100).map(|n| format!("file-{n:05}")));
    assert_eq!(names, expect);
}

#[tokio::test]
async fn a_tree_is_drawn() {
    let rig = Rig::with(&[
        (".gitignore", "target/\n"),
        ("target/debug/x", ""),
        ("src/main.rs", ""),
        ("src/deep/er/x.rs", ""),
        ("Cargo.toml", ""),
        ("docs/a.md", ""),
        ("docs/B.md", ""),
        ("docs/.env", ""),
    ]);
    let expect = "\
./
├── docs/
│   ├── a.md
│   └── B.md
├── src/
│   ├── deep/
│   └── main.rs
└── Cargo.toml

3 directories, 4 files (left out: 1 hidden, 1 ignored, 1 denied)
[depth 2 reached; raise max_depth or name a subdirectory]";
    assert_eq!(rig.text("get_tree", json!({})).await, expect);
    let text = rig.text("get_tree", json!({"path": "src", "max_depth": 5})).await;
    let expect = "src/\n├── deep/\n│   └── er/\n│       └── x.rs\n└── main.rs\n\n2 directories, 2 files";
    assert_eq!(text, expect);
    let data = rig.data("get_tree", json!({"path": "src", "max_depth": 5})).await;
    assert_eq!(data["entries"][2], json!({"path": "src/deep/er/x.rs", "kind": "file"}));
    assert!(rig.error("get_tree", json!({"max_depth": 0})).await.contains("at least 1"));
    // What is ignored can still be asked for by name.
    assert_eq!(
        rig.text("get_tree", json!({"path": "target", "max_depth": 9})).await,
        "target/\n└── debug/\n    └── x\n\n1 directory, 1 file"
    );
}

#[tokio::test]
async fn a_large_tree_is_cut_from_below() {
    let rig = Rig::new();
    for n in 0..1_500 {
        rig.write(format!("many/{n:04}"), "");
        rig.write(format!("more/{n:04}"), "");
    }
    rig.write("zz", "");
    let (text, data) = rig.call("get_tree", json!({})).await.expect("a tree");
    assert_eq!(data["entries"].as_array().map(Vec::len), Some(2_000));
    assert_eq!((&data["total"], &data["truncated"]), (&json!(3_003), &json!(true)));
    assert!(text.contains("├── more/\n│   ├── 0000\n"));
    assert!(text.contains("│   └── … 1003 more\n└── zz\n"), "the upper level is whole");
    let note = "[2000 of 3003 entries; name a subdirectory to see the rest]";
    assert!(text.starts_with(note) && text.ends_with(note));
}

#[tokio::test]
async fn loops_of_links_are_not_followed() {
    let rig = Rig::with(&[("a/x.txt", "needle")]);
    std::os::unix::fs::symlink("..", rig.root().join("a/up")).expect("made");
    std::os::unix::fs::symlink("self", rig.root().join("self")).expect("made");
    let tree = rig.text("get_tree", json!({"max_depth": 20})).await;
    assert!(tree.starts_with("./\n├── a/\n│   ├── up [link]\n│   └── x.txt\n└── self [link]\n"), "{tree}");
    assert!(tree.ends_with("\n1 directory, 1 file, 2 links"), "{tree}");
    let found = rig.text("search_content", json!({"path": ".", "pattern": "needle"})).await;
    assert_eq!(found, "a/x.txt:1: needle\n1 match in 1 file");
    let found = rig.text("search_files", json!({"path": ".", "pattern": "**"})).await;
    assert_eq!(found, "[dir] a\n[link] a/up\n[file] a/x.txt\n[link] self\n4 matches");
    let error = rig.error("read_file", json!({"path": "self"})).await;
    assert!(error.contains("loop"), "{error}");
}

#[tokio::test]
async fn a_link_is_listed_with_where_it_leads_inside() {
    let rig = Rig::with(&[("sub/x.txt", ""), (".env", "secret"), ("sub/deep/y", "")]);
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, rig.root().join(at)).expect("made");
    for (to, at) in [
        ("x.txt", "sub/a"),
        ("a", "sub/b"),
        ("..", "sub/c"),
        ("deep", "sub/d"),
        // None of these is told: protected, gone, outside.
        ("../.env", "sub/e"),
        ("nowhere", "sub/f"),
        ("../../..", "sub/g"),
        ("/etc/passwd", "sub/h"),
    ] {
        link(to, at);
    }
    let (text, data) = rig.call("list_directory", json!({"path": "sub"})).await.expect("listed");
    let rows = "Directory: sub\n[dir] deep  -\n[link] a -> sub/x.txt  -\n[link] b -> sub/x.txt  -\n\
        [link] c -> .  -\n[link] d -> sub/deep  -\n[link] e  -\n[link] f  -\n[link] g  -\n[link] h  -\n\
        [file] x.txt  0\n10 entries";
    assert_eq!(text, rows);
    assert_eq!(data["entries"][1]["target"], "sub/x.txt");
    assert_eq!(data["entries"][5].get("target"), None);
}

#[tokio::test]
async fn a_tree_marks_what_is_no_file() {
    let rig = Rig::with(&[("a/x.txt", "")]);
    std::os::unix::fs::symlink("a", rig.root().join("way")).expect("made");
    crate::files_rig::mkfifo(&rig.root().join("pipe"));
    let text = rig.text("get_tree", json!({"max_depth": null})).await;
    assert!(text.starts_with("./\n├── a/\n│   └── x.txt\n├── pipe [fifo]\n└── way [link]\n"), "{text}");
}

#[tokio::test]
async fn directories_too_deep_to_be_entered_are_named() {
    let rig = Rig::new();
    let way = |levels: usize| vec!["n"; levels].join("/");
    rig.write(format!("{}/deep.txt", way(300)), "needle\n");
    let first = way(257);
    let reason = format!("1 directory lies more than 256 levels down and was not entered: {first} (name it");
    let calls = [
        ("search_files", json!({"path": ".", "pattern": "deep.txt"})),
        ("search_content", json!({"path": ".", "pattern": "needle"})),
        ("get_tree", json!({"path": ".", "max_depth": 1_000})),
    ];
    for (tool, args) in calls {
        let text = rig.text(tool, args).await;
        assert!(text.contains(&reason) && !text.contains("unreadable"), "{tool}: {text}");
    }
    let data = rig.data("search_content", json!({"path": ".", "pattern": "needle"})).await;
    assert_eq!((&data["too_deep"], &data["skipped"]["unreadable"]), (&json!(1), &json!(0)));
    // The place that was named leads on.
    let found = rig.text("search_files", json!({"path": first, "pattern": "deep.txt"})).await;
    assert_eq!(found, format!("[file] {}/deep.txt\n1 match", way(300)));
}

/// Root can read everything, so this proves itself only for other users.
#[tokio::test]
async fn what_cannot_be_read_is_counted() {
    use std::os::unix::fs::PermissionsExt;
    let rig = Rig::with(&[("open/x.txt", "needle"), ("shut/x.txt", "needle"), ("open/y.txt", "needle")]);
    let mode = |path: &str, mode| {
        std::fs::set_permissions(rig.root().join(path), std::fs::Permissions::from_mode(mode)).expect("set")
    };
    mode("shut", 0o000);
    mode("open/y.txt", 0o000);
    let as_root = rig.call("read_file", json!({"path": "shut/x.txt"})).await.is_ok();
    let found = rig.text("search_content", json!({"path": ".", "pattern": "needle"})).await;
    let names = rig.data("search_files", json!({"path": ".", "pattern": "*.txt"})).await;
    let tree = rig.data("get_tree", json!({})).await;
    mode("shut", 0o700);
    if as_root {
        return;
    }
    assert_eq!(found, "open/x.txt:1: needle\n1 match in 1 file; skipped: 2 unreadable");
    assert_eq!((&names["unreadable"], &names["total"]), (&json!(1), &json!(2)));
    assert_eq!(tree["unreadable"], 1);
}

#[tokio::test]
async fn a_tree_keeps_to_its_budget_and_names_what_is_no_file() {
    let rig = Rig::set(&Settings { max_output: Some(4_096), ..Settings::default() });
    for n in 0..300 {
        rig.write(format!("{}/{n:03}-{}", n % 5, "x".repeat(80)), "");
    }
    mkfifo(&rig.root().join("pipe"));
    let (text, data) = rig.call("get_tree", json!({})).await.expect("a tree");
    assert!(text.len() <= 4_096, "{} bytes", text.len());
    let shown = data["entries"].as_array().expect("entries").len();
    assert!(shown > 20, "{shown} entries");
    assert_eq!((&data["total"], &data["truncated"]), (&json!(306), &json!(true)));
    assert!(text.contains("└── pipe [fifo]\n"), "the upper level is whole: {text}");
    assert!(text.contains(&format!("\n5 directories, {} files, 1 other entry\n", shown - 6)), "{text}");
    assert!(text.contains(&format!("[{shown} of 306 entries;")), "{text}");
}

/// Follows a tool's notes from page to page, as they are written, and counts the rows.
async fn follow(rig: &Rig, tool: &str, mut args: Value, pages: usize) -> usize {
    let mut rows = 0;
    for _ in 0..pages {
        let (text, data) = rig.call(tool, args.clone()).await.expect("a page");
        let page = data["entries"].as_array().or(data["matches"].as_array()).expect("rows");
        assert!(!page.is_empty(), "a page must make progress");
        rows += page.len();
        if data["next"].is_null() {
            return rows;
        }
        let note = text.lines().next_back().expect("a note");
        let from = note.split_once("continue with from=").expect("how to go on").1;
        let from: Value = serde_json::from_str(from.strip_suffix(']').expect("its end")).expect("a string");
        assert_eq!(from, data["next"]);
        args["from"] = from;
    }
    panic!("{tool} does not end after {pages} pages");
}

#[tokio::test]
async fn names_of_any_bytes_are_paged() {
    use std::os::unix::ffi::OsStringExt;
    let rig = Rig::set(&Settings { max_output: Some(2_048), ..Settings::default() });
    for high in 0x80..0x90 {
        for low in 0x80..0x90 {
            rig.write(std::ffi::OsString::from_vec(vec![b'n', 0xff, high, 0xff, low]), "");
        }
    }
    for name in ["say \"hi\"", "two\nlines", "back\\slash", "back\\\\slash", r"\x41", "A"] {
        rig.write(name, "");
        rig.write(format!("dir {name}/x"), "");
    }
    let names = 256 + 12;
    assert_eq!(follow(&rig, "list_directory", json!({}), 50).await, names);
    let all = json!({"path": ".", "pattern": "**", "limit": 7});
    assert_eq!(follow(&rig, "search_files", all, 50).await, names + 6);
    // Each page may also hold a single name.
    let one = json!({"path": ".", "pattern": "*", "limit": 1});
    assert_eq!(follow(&rig, "search_files", one, 300).await, names + 6);
}

#[tokio::test]
async fn a_listing_goes_on_at_every_name() {
    let rig = Rig::set(&Settings { max_output: Some(1), ..Settings::default() });
    for name in ["say \"hi\"", "two\nlines", "back\\slash", "back\\\\slash", r"\x41", "A"] {
        rig.write(name, "");
        rig.write(format!("dir {name}/x"), "");
    }
    assert_eq!(follow(&rig, "list_directory", json!({}), 20).await, 12);
}
