//! `create_slice` and `resolve_slice` through the real house.

use serde_json::{Value, json};
use tectum_tools::Settings;

use crate::files_rig::Rig;

const TEXT: &str =
    "// head\nfn one() {\n    a();\n    b();\n    c();\n    d();\n    e();\n}\n\nfn two() {}\n";

async fn slice(rig: &Rig) -> Value {
    let (text, data) = rig
        .call("create_slice", json!({"path": "a.rs", "start_line": 2, "end_line": 8}))
        .await
        .expect("made");
    let json = text.lines().nth(1).expect("the slice stands in the text too");
    assert_eq!(serde_json::from_str::<Value>(json).expect("JSON"), data["slice"]);
    assert!(text.starts_with("Slice of a.rs, lines 2-8:\n"), "{text}");
    data["slice"].clone()
}

async fn resolve(rig: &Rig, slice: &Value) -> (String, Value) {
    rig.call("resolve_slice", json!({"path": "a.rs", "slice": slice})).await.expect("works")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slice_is_found_again_after_edits() {
    let rig = Rig::with(&[("a.rs", TEXT)]);
    let slice = slice(&rig).await;
    let check = async |text: &str, status: &str, lines: (Value, Value)| {
        rig.write("a.rs", text);
        let (said, data) = resolve(&rig, &slice).await;
        assert_eq!(
            (&data["status"], &data["start"], &data["end"]),
            (&json!(status), &lines.0, &lines.1),
            "{said}"
        );
        (said, data)
    };
    let (said, data) = check(TEXT, "exact", (json!(2), json!(8))).await;
    assert!(said.starts_with("exact: lines 2-8 of a.rs; confidence 1.00\nfn one() {\n"), "{said}");
    assert_eq!(data["content"], TEXT[8..TEXT.len() - 13]);
    check(&TEXT.replace('\n', "\r\n"), "exact", (json!(2), json!(8))).await;
    let (said, _) = check(&format!("// new\n\n{TEXT}"), "moved", (json!(4), json!(10))).await;
    assert!(said.starts_with("moved: lines 4-10 of a.rs, before 2-8; confidence 1.00\n"), "{said}");
    let (said, _) = check(&TEXT.replace("c();", "changed(c);"), "fuzzy", (json!(2), json!(8))).await;
    assert!(said.contains("changed(c);"), "{said}");
    let (said, data) = check("nothing of it\n", "lost", (json!(null), json!(null))).await;
    assert!(said.starts_with("lost: ") && said.contains("old lines 2-8"), "{said}");
    assert_eq!(data["content"], json!(null));
    let (said, _) = check("", "lost", (json!(null), json!(null))).await;
    assert!(said.contains("old lines 2-8 are gone: the file is empty"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remark_stays_with_its_slice() {
    let rig = Rig::with(&[("a.rs", TEXT)]);
    let args = json!({"path": "a.rs", "start_line": 10, "end_line": 99, "annotation": "look here"});
    let made = rig.data("create_slice", args).await;
    assert_eq!((&made["slice"]["end_line"], &made["slice"]["annotation"]), (&json!(10), &json!("look here")));
    let (said, data) = resolve(&rig, &made["slice"]).await;
    assert!(said.contains("Annotation: look here\nfn two() {}"), "{said}");
    assert_eq!(data["annotation"], "look here");
    let long = json!({"path": "a.rs", "start_line": 1, "end_line": 1, "annotation": "x".repeat(2000)});
    assert!(rig.error("create_slice", long).await.contains("at most 1000 characters"));
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_not_there_are_refused() {
    let rig = Rig::with(&[("a.rs", TEXT), ("empty", "")]);
    let check = async |path: &str, start: i64, end: i64, expect: &str| {
        let said =
            rig.error("create_slice", json!({"path": path, "start_line": start, "end_line": end})).await;
        assert!(said.contains(expect) && said.contains("Hint: "), "{said}");
    };
    check("a.rs", 0, 3, "lines count from 1").await;
    check("a.rs", -4, 3, "lines count from 1").await;
    check("a.rs", 5, 3, "start_line comes after end_line").await;
    check("a.rs", 11, 12, "ends at line 10").await;
    check("empty", 1, 1, "is empty").await;
    let broken = json!({"path": "a.rs", "slice": {"start_line": 1}});
    assert!(rig.error("resolve_slice", broken).await.contains("slice"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_slice_is_cut_and_says_so() {
    let rig = Rig::set(&Settings { max_output: Some(1000), ..Settings::default() });
    rig.write("a.rs", "ä line of text\n".repeat(500));
    let made = rig.data("create_slice", json!({"path": "a.rs", "start_line": 1, "end_line": 500})).await;
    let (said, data) = resolve(&rig, &made["slice"]).await;
    let shown = data["content"].as_str().expect("text").lines().count();
    let note = format!("[cut; continue with read_file offset={} end_line=500]", shown + 1);
    assert!(said.starts_with(&note) && said.ends_with(&note) && said.len() <= 1000, "{said}");
    assert_eq!((&data["truncated"], data["end"].as_u64()), (&json!(true), Some(500)));
}

#[tokio::test]
async fn alike_functions_are_not_taken_for_each_other() {
    let two = "def f1(a):\n    x = a + 1\n    return x\n\ndef f2(a):\n    x = a + 2\n    return x\n";
    let rig = Rig::with(&[("a.py", two)]);
    let slice = |first: usize, last: usize| json!({"path": "a.py", "start_line": first, "end_line": last});
    let whole = rig.data("create_slice", slice(1, 3)).await["slice"].clone();
    let last = rig.data("create_slice", slice(7, 7)).await["slice"].clone();
    rig.write("a.py", two.replace("x = a + 1", "y = compute(a)"));
    let found = rig.data("resolve_slice", json!({"path": "a.py", "slice": whole})).await;
    assert_eq!((&found["start"], &found["end"]), (&json!(1), &json!(3)), "{found}");
    rig.write("a.py", format!("def f0(a):\n    x = a + 0\n    return 0\n\n{two}"));
    let found = rig.data("resolve_slice", json!({"path": "a.py", "slice": last})).await;
    assert_eq!((&found["start"], &found["status"]), (&json!(11), &json!("moved")), "{found}");
}
