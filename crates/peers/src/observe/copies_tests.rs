//! The ring of copies: what is told, what is not, and what it costs those who do not listen.

use std::sync::atomic::AtomicBool;

use serde_json::value::RawValue;
use tectum_core::{Fault, FaultKind, NativeReply, Payload, PeerReply, SessionId};

use super::*;
use crate::wire::tool_result::is_error;

fn call(tool: &str, args: &str) -> Call {
    Call::new(SessionId::new("s"), tool, RawValue::from_string(args.into()).expect("JSON"))
}

fn outcome(call: &Call, result: Result<Payload, Fault>) -> Outcome {
    let (directives, paths, took) = (Vec::new(), Vec::new(), Duration::ZERO);
    Outcome { call: call.id, result, directives, paths, edited: None, took }
}

fn native(structured: &str) -> Result<Payload, Fault> {
    Ok(Payload::Native(NativeReply { text: "said".into(), structured: structured.into() }))
}

fn raw(json: &str) -> Result<Payload, Fault> {
    let failed = is_error(json);
    Ok(Payload::Peer(PeerReply { json: RawValue::from_string(json.into()).expect("JSON"), failed }))
}

fn open() -> Arc<Copies> {
    Arc::new(Copies::new(Redactor::new(&[], &[]).expect("built in")))
}

/// The text that an observer gets after a call with this result.
fn told(result: Result<Payload, Fault>) -> String {
    let copies = open();
    let call = call("x", "{}");
    copies.push(&call, Some(&outcome(&call, result)));
    let copy = copies.from_the_start().take().0.expect("copied");
    copy.result().expect("after").to_owned()
}

#[test]
fn before_has_no_result_and_after_has_one_of_the_same_call() {
    let copies = open();
    let call = call("read_file", r#"{"path":"a","n":1.0}"#);
    copies.push(&call, None);
    copies.push(&call, Some(&outcome(&call, native(r#"{"lines":1.50}"#))));
    let mut reader = copies.from_the_start();
    let (before, after) = (reader.take().0.expect("before"), reader.take().0.expect("after"));
    assert_eq!((before.sequence, after.sequence), (0, 1));
    assert_eq!((before.call, after.call), (call.id, call.id));
    assert_eq!((before.args(), before.result()), (r#"{"path":"a","n":1.0}"#, None));
    assert_eq!((after.args(), after.result()), (before.args(), Some(r#"{"lines":1.50}"#)));
    assert!(reader.take().0.is_none());
}

#[test]
fn results_are_objects_whatever_the_tool_gave() {
    assert_eq!(told(native("[1,2]")), r#"{"value":[1,2]}"#);
    assert_eq!(told(native("null")), r#"{"value":null}"#);
    assert_eq!(told(native("")), r#"{"value":null}"#);
    assert_eq!(told(native("\"text\"")), r#"{"value":"text"}"#);
    let passed = r#"{"content":[],"structuredContent":{"n":1e2},"future":true}"#;
    assert_eq!(told(raw(passed)), passed);
    let large = format!("\"{}\"", "x".repeat(5 << 20));
    assert_eq!(told(native(&large)), r#"{"omitted":"a result of 5242886 bytes is not copied"}"#);
}

#[test]
fn failures_say_what_and_of_which_kind() {
    assert_eq!(told(Err(Fault::not_found("no x"))), r#"{"error":"no x","error_type":"NotFound"}"#);
    let refused = Fault::new(FaultKind::Permission, "\"no\"");
    assert_eq!(told(Err(refused)), r#"{"error":"\"no\"","error_type":"Permission"}"#);
    let cancelled = Fault::new(FaultKind::Cancelled, "the call was cancelled");
    assert_eq!(told(Err(cancelled)), r#"{"error":"cancelled","error_type":"Cancelled"}"#);
    let failed = r#"{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}],"isError":true}"#;
    let said = format!(r#"{{"error":"a\nb","error_type":"ToolError","result":{failed}}}"#);
    assert_eq!(told(raw(failed)), said);
    for silent in [
        r#"{"isError":true}"#,
        r#"{"isError":true,"content":null}"#,
        r#"{"isError":true,"content":"x"}"#,
        r#"{"isError":true,"content":[{"type":"image"},7]}"#,
        r#"{"isError":true,"content":[{"type":"text","text":" "}]}"#,
    ] {
        let why = "the tool failed and gave no reason";
        assert_eq!(
            told(raw(silent)),
            format!(r#"{{"error":"{why}","error_type":"ToolError","result":{silent}}}"#)
        );
    }
    let fine = r#"{"content":[{"type":"text","text":"\"isError\""}],"isError":false}"#;
    assert_eq!(told(raw(fine)), fine);
}

#[test]
fn secrets_are_hidden_in_copies_alone() {
    let copies = open();
    let call = call("x", r#"{"password":"hunter2","n":1}"#);
    copies.push(&call, Some(&outcome(&call, native(r#"{"token":"t"}"#))));
    let copy = copies.from_the_start().take().0.expect("copied");
    assert_eq!(copy.args(), r#"{"password":"[redacted]","n":1}"#);
    assert_eq!(copy.result(), Some(r#"{"token":"[redacted]"}"#));
    assert!(call.args.get().contains("hunter2"));
}

#[tokio::test]
async fn a_large_copy_is_made_while_others_go_on() {
    let copies = open();
    for (size, goes_on) in [(10, false), (1 << 20, true)] {
        let args = format!(r#"{{"password":"x","text":"{}"}}"#, "y".repeat(size));
        let call = call("x", &args);
        let mut reader = copies.from_now();
        copies.push(&call, Some(&outcome(&call, native("{}"))));
        let copy = reader.take().0.expect("copied");
        // On the one thread there is, another runs only while we wait.
        let ran = Arc::new(AtomicBool::new(false));
        let other = tokio::spawn({
            let ran = ran.clone();
            async move { ran.store(true, Ordering::Relaxed) }
        });
        copy.made(true).await;
        assert_eq!(ran.load(Ordering::Relaxed), goes_on, "{size}");
        assert!(copy.args().starts_with(r#"{"password":"[redacted]""#) && copy.answer().is_some());
        other.await.expect("ran");
    }
}

#[test]
fn who_is_slow_loses_the_oldest_and_learns_how_many() {
    let copies = open();
    let mut slow = copies.from_now();
    for _ in 0..MOST_COPIES + 10 {
        copies.push(&call("x", "{}"), None);
    }
    let (copy, missed) = slow.take();
    assert_eq!((copy.expect("one").sequence, missed), (10, 10));
    assert_eq!(std::iter::from_fn(|| slow.take().0).count(), MOST_COPIES - 1);
    assert!(copies.from_now().take().0.is_none());
}

#[test]
fn large_copies_push_older_ones_out() {
    let copies = open();
    let large = format!(r#"{{"x":"{}"}}"#, "y".repeat(3 << 20));
    for _ in 0..20 {
        copies.push(&call("x", &large), None);
    }
    let mut reader = copies.from_the_start();
    let kept = std::iter::from_fn(|| reader.take().0).count();
    assert!((1..=6).contains(&kept), "{kept}");
}

/// The memory that this process holds, in bytes.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the test asks the system about its own process")]
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("readable");
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_observers_that_hang_hold_little() {
    let copies = open();
    let before = resident();
    let readers: Vec<Reader> = (0..10_000).map(|_| copies.from_now()).collect();
    let args = format!(r#"{{"content":"{}"}}"#, "x".repeat(50_000));
    for _ in 0..1_000 {
        let call = call("write_file", &args);
        copies.push(&call, None);
        copies.push(&call, Some(&outcome(&call, native(&args))));
    }
    // Each holds one on its way, as a hung one does.
    let mut readers = readers;
    let held: Vec<_> = readers.iter_mut().filter_map(|reader| reader.take().0).collect();
    assert_eq!(held.len(), 10_000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 256 << 20, "{} MiB", grown >> 20);
}

#[tokio::test(start_paused = true)]
async fn copies_leave_in_a_pause_or_when_there_are_many() {
    let copies = open();
    copies.push(&call("x", "{}"), None);
    assert_eq!(copies.settled(0).await, 1);
    let busy = copies.clone();
    let calling = tokio::spawn(async move {
        loop {
            busy.push(&call("x", "{}"), None);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    let first = copies.settled(1).await;
    assert!((2..40).contains(&first), "{first}");
    calling.abort();
}
