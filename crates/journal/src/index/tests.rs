//! The index beside a record that grows, is rotated, and is written by several processes.

use std::time::Duration;

use serde_json::{json, value::to_raw_value};
use tectum_core::{Call, NativeReply, Outcome, Payload, Recorder as _, Seen, SessionId, Snapshot, Trail};
use tectum_redact::Redactor;
use tempfile::TempDir;

use super::{Index, Query, Term};
use crate::{Settings, SyncPolicy, Writer, segments};

/// A journal of small segments.
struct Shelf {
    home: TempDir,
}

impl Shelf {
    fn new() -> Self {
        Self { home: TempDir::new().expect("a directory") }
    }

    fn folder(&self) -> std::path::PathBuf {
        self.home.path().join("journal")
    }

    fn writer(&self) -> Writer {
        let settings = Settings {
            folder: self.folder(),
            sync: SyncPolicy::Off,
            segment: 16 << 10,
            most: 64 << 20,
            longest: Duration::from_secs(3600),
            seed: None,
            command: "test".into(),
            directory: "/project".into(),
        };
        Writer::new(settings, || Redactor::new(&[], &[]))
    }

    fn index(&self) -> Index {
        Index::open(&self.folder(), &mut |_| {}).expect("opened")
    }

    fn count(&self, words: &str) -> usize {
        let query = Query { terms: Term::all(words), ..Query::default() };
        self.index().search(&query, 10_000).expect("searched").hits.len()
    }
}

async fn record(writer: &Writer, session: &str, tool: &str, words: &str) {
    let args = to_raw_value(&json!({ "path": "src/a.rs", "text": words })).expect("JSON");
    let call = Call::new(SessionId::new(session), tool, args);
    let reply = NativeReply { text: format!("said {words}"), structured: "{}".into() };
    let outcome = Outcome {
        edited: None,
        call: call.id,
        result: Ok(Payload::Native(reply)),
        directives: Vec::new(),
        paths: Vec::new(),
        took: Duration::from_micros(7),
    };
    let (trail, tools) = (Trail::default(), Snapshot::default());
    assert!(writer.record(Seen { call: &call, outcome: &outcome, trail: &trail, tools: &tools }).is_none());
}

#[tokio::test]
async fn what_was_added_is_found_and_what_was_removed_is_not() {
    let shelf = Shelf::new();
    let writer = shelf.writer();
    for number in 0..200 {
        record(&writer, "one", "read_file", &format!("needle number{number}")).await;
    }
    assert_eq!((shelf.count("needle"), shelf.count("number199"), shelf.count("number200")), (200, 1, 0));
    let other = shelf.writer();
    record(&other, "two", "edit_file", "needle number200").await;
    assert_eq!((shelf.count("needle"), shelf.count("number200")), (201, 1));
    let rows = shelf.index().sessions(0, u64::MAX, 10).expect("listed");
    assert_eq!(rows.iter().map(|row| row.total.calls).collect::<Vec<_>>(), [1, 200]);

    let all = segments(&shelf.folder()).expect("listed");
    assert!(all.len() > 3, "{}", all.len());
    assert!(tectum_state::remove(&all[0].path).expect("removed"));
    let left = shelf.count("needle");
    assert!(left < 201 && left > 100, "{left}");
    let rows = shelf.index().sessions(0, u64::MAX, 10).expect("listed");
    assert_eq!(rows.iter().map(|row| row.total.calls).sum::<u64>(), left as u64);
    let tools = shelf.index().by_tool(0, u64::MAX, None).expect("summed up");
    assert_eq!(tools.iter().map(|tool| tool.calls).sum::<u64>(), left as u64);
    // Made anew it says the same.
    drop(Index::rebuild(&shelf.folder(), &mut |_| {}).expect("made"));
    assert_eq!(shelf.count("needle"), left);
}

#[tokio::test]
async fn processes_that_read_together_find_the_same() {
    let shelf = Shelf::new();
    let writer = shelf.writer();
    for number in 0..300 {
        record(&writer, "one", "read_file", &format!("needle number{number}")).await;
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(shelf.count("needle"), 300));
        }
    });
    let entries = shelf.index().calls_of(&writer.session(&SessionId::new("one"))).expect("found");
    let texts: Vec<String> = entries.map(|entry| entry.expect("read").args.get().to_owned()).collect();
    assert!(texts.len() == 300 && texts[0].contains("number0") && texts[299].contains("number299"));
}

#[tokio::test]
async fn a_page_goes_on_where_the_one_before_ended() {
    let shelf = Shelf::new();
    let writer = shelf.writer();
    for number in 0..25 {
        record(&writer, "one", "read_file", &format!("number{number}")).await;
    }
    let (mut index, mut query, mut seen) = (shelf.index(), Query::default(), Vec::new());
    loop {
        let page = index.page(&query, 10).expect("read");
        seen.extend(page.entries.into_iter().map(|entry| entry.id));
        match page.next {
            Some(next) => query.from = Some(next),
            None => break,
        }
    }
    let ids = seen.iter().collect::<std::collections::BTreeSet<_>>();
    assert_eq!((seen.len(), ids.len()), (25, 25));
    let hit = index.call(&seen[7]).expect("asked").expect("there");
    assert_eq!(hit.entry.id, seen[7]);
}

#[tokio::test]
async fn the_last_word_of_a_long_text_is_found() {
    let shelf = Shelf::new();
    let writer = shelf.writer();
    record(&writer, "one", "read_file", &format!("{}needle", "word ".repeat(100_000))).await;
    record(&writer, "one", "read_file", "word").await;
    assert_eq!((shelf.count("needle"), shelf.count("word")), (1, 2));
}
