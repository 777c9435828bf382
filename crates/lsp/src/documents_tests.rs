//! The diagnostics of a server, and the text they are about.

use std::sync::Arc;

use super::*;

const SETTLE: Duration = Duration::from_secs(5);

fn asked(path: &str, text: &str) -> Asked {
    Asked { path: path.into(), language: "python", text: Arc::from(text) }
}

fn said(documents: &mut Documents, path: &str, version: Option<i64>, message: &str) {
    let findings: Vec<Value> = (!message.is_empty())
        .then(|| json!({ "range": { "start": { "line": 0, "character": 0 } }, "message": message }))
        .into_iter()
        .collect();
    let params = json!({ "uri": uri::of_path(Path::new(path)), "version": version, "diagnostics": findings });
    documents.published(&RawValue::from_string(params.to_string()).expect("JSON")).expect("readable");
}

/// The methods of messages, without their parameters.
fn methods(messages: &[Vec<u8>]) -> Vec<String> {
    let method = |message: &Vec<u8>| {
        let text = String::from_utf8_lossy(message);
        let body: Value = serde_json::from_str(text.split_once("\r\n\r\n").expect("framed").1).expect("JSON");
        body["method"].as_str().expect("a method").rsplit('/').next().expect("a name").to_owned()
    };
    messages.iter().map(method).collect()
}

fn bring(documents: &mut Documents, path: &str, text: &str) -> (i64, Vec<String>) {
    let (version, messages) = documents.bring(&asked(path, text), &[], false);
    (version, methods(&messages))
}

fn told(documents: &Documents, path: &str, version: i64) -> Option<Vec<String>> {
    match documents.known(Path::new(path), version, SETTLE) {
        Known::Final(report) => Some(report.found.into_iter().map(|one| one.message).collect()),
        Known::Unless(_) | Known::Nothing => None,
    }
}

#[tokio::test]
async fn only_the_version_of_the_text_counts() {
    let mut documents = Documents::default();
    let (first, sent) = bring(&mut documents, "/a.py", "1");
    assert_eq!(sent, ["didOpen"]);
    said(&mut documents, "/a.py", Some(first), "wrong");
    assert_eq!(told(&documents, "/a.py", first).expect("known"), ["wrong"]);
    documents.leave(Path::new("/a.py"));
    let (second, sent) = bring(&mut documents, "/a.py", "2");
    assert_eq!(sent, ["didChange"]);
    assert!(second > first);
    // Diagnostics for the previous text are late, and those without a version are not about this one.
    said(&mut documents, "/a.py", Some(first), "wrong");
    said(&mut documents, "/a.py", None, "");
    assert_eq!(told(&documents, "/a.py", second), None);
    said(&mut documents, "/a.py", Some(second), "");
    assert_eq!(told(&documents, "/a.py", second).expect("known"), [""; 0]);
}

#[tokio::test]
async fn a_text_that_stays_the_same_is_looked_at_again() {
    let mut documents = Documents::default();
    let (first, _) = bring(&mut documents, "/a.py", "1");
    // A second question waits for the same answer.
    assert_eq!(bring(&mut documents, "/a.py", "1"), (first, vec![]));
    said(&mut documents, "/a.py", Some(first), "");
    documents.leave(Path::new("/a.py"));
    documents.leave(Path::new("/a.py"));
    let (second, sent) = bring(&mut documents, "/a.py", "1");
    assert_eq!(sent, ["didClose", "didOpen"]);
    assert!(second > first && told(&documents, "/a.py", second).is_none());
    // A server that answers requests for diagnostics needs no new text.
    let (third, messages) = documents.bring(&asked("/a.py", "1"), &[], true);
    assert_eq!((third, messages.len()), (second, 0));
}

#[tokio::test]
async fn others_are_closed_unless_somebody_waits() {
    let mut documents = Documents::default();
    bring(&mut documents, "/a.py", "1");
    assert_eq!(bring(&mut documents, "/b.py", "1").1, ["didOpen"]);
    documents.leave(Path::new("/a.py"));
    let (_, messages) = documents.bring(&asked("/b.py", "2"), &["/a.py".into(), "/b.py".into()], false);
    assert_eq!(methods(&messages), ["didClose", "didChangeWatchedFiles", "didChange"]);
    assert_eq!(documents.waiting(), 2);
    // Diagnostics for a document that is not open are dropped.
    said(&mut documents, "/a.py", Some(1), "wrong");
    assert_eq!(told(&documents, "/a.py", 1), None);
}

#[tokio::test(start_paused = true)]
async fn words_without_a_version_count_when_they_have_settled() {
    let mut documents = Documents::default();
    let (version, _) = bring(&mut documents, "/a.ts", "1");
    assert_eq!(told(&documents, "/a.ts", version), None);
    said(&mut documents, "/a.ts", None, "");
    assert_eq!(told(&documents, "/a.ts", version), None);
    tokio::time::advance(SETTLE / 2).await;
    said(&mut documents, "/a.ts", None, "wrong");
    tokio::time::advance(SETTLE * 3 / 4).await;
    assert_eq!(told(&documents, "/a.ts", version), None);
    tokio::time::advance(SETTLE / 2).await;
    assert_eq!(told(&documents, "/a.ts", version).expect("settled"), ["wrong"]);
    // It is opened again for each question, once no other waits for it.
    assert!(documents.close_unversioned(Path::new("/a.ts")).is_none());
    documents.leave(Path::new("/a.ts"));
    assert!(documents.close_unversioned(Path::new("/a.ts")).is_some());
    assert_eq!(bring(&mut documents, "/a.ts", "1").1, ["didOpen"]);
    assert!(documents.close_unversioned(Path::new("/a.ts")).is_none());
}
