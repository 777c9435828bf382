//! An outline that was drawn before is sent again only while the file holds the same bytes,
//! whatever its size and its times say.

use serde_json::{Value, json};

use crate::files_rig::{Rig, run};

const ROWS: [&str; 2] = ["code_outline", "py_get_code_outline"];

/// Takes the times of another file, as one who hides a change does.
fn restore_times(rig: &Rig, path: &str, like: &str) {
    run("touch", &["-r", like, path], rig.root());
}

async fn outline(rig: &Rig, tool: &str) -> (String, Value) {
    rig.call(tool, json!({"path": "a.py"})).await.expect("an outline")
}

#[tokio::test]
async fn an_outline_asked_for_again_is_the_same() {
    for source in ["def one(): pass\n", "\u{feff}class A:\n    def b(self): pass\n", "", "x = (\n"] {
        let rig = Rig::with(&[("a.py", source)]);
        for tool in ROWS {
            let first = outline(&rig, tool).await;
            assert_eq!(outline(&rig, tool).await, first, "{source:?}");
        }
    }
}

#[tokio::test]
async fn a_change_of_the_same_size_with_the_old_times_shows() {
    let rig = Rig::with(&[("a.py", "def aaaa(): pass\n"), ("like.py", "")]);
    // Settled long ago, so that the times alone would say that nothing happened.
    run("touch", &["-d", "2001-01-01 00:00:00", "like.py"], rig.root());
    for n in 0..10 {
        let (now, before) = if n % 2 == 0 { ("aaaa", "bbbb") } else { ("bbbb", "aaaa") };
        rig.write("a.py", format!("def {now}(): pass\n"));
        restore_times(&rig, "a.py", "like.py");
        for tool in ROWS {
            for again in 0..2 {
                let (text, data) = outline(&rig, tool).await;
                assert!(text.contains(now) && !text.contains(before), "{tool}, {again}: {text}");
                assert_eq!(data["symbols"][0]["name"], now, "{tool}, {again}");
            }
        }
    }
}

#[tokio::test]
async fn another_file_put_in_its_place_shows() {
    let rig = Rig::with(&[("a.py", "def aaaa(): pass\n"), ("b.py", "def bbbb(): pass\n")]);
    assert!(outline(&rig, "code_outline").await.0.contains("aaaa"));
    restore_times(&rig, "b.py", "a.py");
    run("mv", &["b.py", "a.py"], rig.root());
    assert!(outline(&rig, "code_outline").await.0.contains("bbbb"));
    rig.remove("a.py");
    assert!(rig.error("code_outline", json!({"path": "a.py"})).await.contains("a.py"));
}

#[tokio::test]
async fn a_change_in_any_part_of_a_long_file_shows() {
    let body = |name: &str| -> String {
        (0..12_000)
            .map(|n| if n == 11_999 { format!("def {name}(): 0\n") } else { "x = 1\n".into() })
            .collect()
    };
    let rig = Rig::with(&[("a.py", &body("last"))]);
    assert!(outline(&rig, "py_get_code_outline").await.0.contains("last"));
    rig.write("a.py", body("tail"));
    assert!(outline(&rig, "py_get_code_outline").await.0.contains("tail"));
    rig.write("a.py", body("tail") + "def more(): 0\n");
    assert!(outline(&rig, "py_get_code_outline").await.0.contains("more"));
    rig.write("a.py", body("tail"));
    assert!(!outline(&rig, "py_get_code_outline").await.0.contains("more"));
}

#[tokio::test]
async fn bytes_that_are_no_unicode_are_compared_as_bytes() {
    let rig = Rig::new();
    let names = [(&b"def caf\xe9(): pass\n"[..], "café"), (&b"def caf\xe8(): pass\n"[..], "cafè")];
    for (line, name) in names.repeat(2) {
        rig.write("a.py", [b"# -*- coding: latin-1 -*-\n", line].concat());
        for _ in 0..2 {
            let (text, _) = outline(&rig, "py_get_code_outline").await;
            assert!(text.contains(name), "{text}");
        }
    }
}

#[tokio::test]
async fn one_file_has_an_outline_for_each_way_of_asking() {
    let rig = Rig::with(&[("a.h", "class A { void f() {} };\n")]);
    let path = json!({"path": "a.h"});
    for _ in 0..2 {
        let (_, c) = rig.call("ts_c_get_code_outline", path.clone()).await.expect("an outline");
        let (_, cpp) = rig.call("ts_cpp_get_code_outline", path.clone()).await.expect("an outline");
        assert_eq!((&c["language"], &cpp["language"]), (&json!("C"), &json!("C++")));
        let (_, any) = rig.call("code_outline", path.clone()).await.expect("an outline");
        assert_eq!(any, cpp);
    }
}
