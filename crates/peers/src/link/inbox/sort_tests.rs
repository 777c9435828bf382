//! Messages that are dropped, that are kept and that end a connection, one by one.

use super::*;
use crate::link::{MOST_UNASKED, outgoing::MAX_MESSAGE};

fn inbox() -> (std::sync::Arc<Inbox>, crate::link::LooseMessages) {
    Inbox::new()
}

fn note(method: &str, text: usize) -> Vec<u8> {
    let text = "x".repeat(text);
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"progressToken":7,"x":"{text}"}}}}"#)
        .into_bytes()
}

#[tokio::test]
async fn what_waits_is_bounded_in_bytes() {
    let (inbox, mut loose) = inbox();
    let mut events = inbox.open(7, Some(1), MAX_MESSAGE).expect("open");
    let large = 1024 * 1024;
    for _ in 0..12 {
        inbox.deliver(&note("notifications/resources/updated", large), Origin::Shared);
    }
    let mut waiting = 0;
    while loose.try_recv().is_ok() {
        waiting += 1;
    }
    assert_eq!(waiting, 7, "eight mebibytes, a little more than one for each");
    for _ in 0..10 {
        inbox.deliver(&note("notifications/progress", large), Origin::Shared);
    }
    for _ in 0..7 {
        assert!(matches!(events.recv().await, Some(Event::Note { .. })));
    }
    assert!(matches!(events.recv().await, Some(Event::Lost(Loss::Flooded))));
    assert_eq!(inbox.table.lock().bytes, 0);
}

#[tokio::test]
async fn a_flood_is_dropped_and_then_ends_the_connection() {
    let (inbox, mut loose) = inbox();
    let _events = inbox.open(7, Some(1), MAX_MESSAGE).expect("open");
    for _ in 0..1_000_000 {
        // Changes of lists are heard, whatever else is dropped.
        inbox.deliver(br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#, Origin::Shared);
        if inbox.lost().is_some() {
            break;
        }
    }
    assert!(matches!(inbox.lost(), Some(Loss::Flooding(why)) if why.contains("cut off")));
    assert!(inbox.total_dropped() >= 250_000);
    assert_eq!(inbox.signals.taken().await.collect::<Vec<_>>(), [Signal::Tools, Signal::Flooding]);
    assert!(loose.try_recv().is_err());
}

#[test]
fn a_message_may_be_as_large_as_what_it_answers() {
    let (inbox, _loose) = inbox();
    let _call = inbox.open(7, Some(1), MAX_MESSAGE).expect("open");
    for (start, expect) in [
        (r#"{"jsonrpc":"2.0","id":7,"result":{"#, MAX_MESSAGE),
        (r#"{"result":{"#, MAX_MESSAGE),
        (r#"{"jsonrpc":"2.0","id":8,"result":{"#, MOST_UNASKED),
        (r#"{"jsonrpc":"2.0","method":"#, MOST_UNASKED),
        ("xxx", MOST_UNASKED),
    ] {
        assert_eq!(inbox.most(start.as_bytes()), expect, "{start}");
    }
    inbox.forget(7);
    assert_eq!(inbox.most(br#"{"result":{"#), MOST_UNASKED);
}

#[test]
fn an_answer_that_is_too_large_fails_its_request_also_where_its_id_comes_last() {
    let (inbox, _loose) = inbox();
    let _call = inbox.open(7, Some(1), MAX_MESSAGE).expect("open");
    inbox.deliver_too_long(br#"{"result":{"content":"#, MAX_MESSAGE + 1);
    assert!(!inbox.is_open(7));
}
