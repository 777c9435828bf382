//! The log: torn tails, several writers, rotation and bounds.

#![expect(clippy::disallowed_methods, reason = "the test looks at what the log made, and damages it")]

use std::{fs, path::Path};

use super::*;
use crate::edit::undo_record::{Image, Left, UndoStep, Was};

fn record(bytes: &[u8]) -> Record<'_> {
    let was = Was::File(Image { bytes: bytes.into(), mode: 0o644 });
    Record { steps: vec![UndoStep { path: "/p/a".into(), was, left: Left::Nothing, made: 0 }] }
}

/// Keeps a record under a new call.
fn keep(log: &UndoLog, bytes: &[u8]) -> CallId {
    let call = CallId::fresh();
    log.keep(call, &record(bytes)).expect("kept");
    call
}

/// The paths of the segments, the oldest first.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).expect("there").map(|entry| entry.expect("read").path()).collect();
    paths.sort();
    paths
}

#[track_caller]
fn check(log: &UndoLog, call: CallId, expect: Option<&[u8]>) {
    assert_eq!(log.find(call).expect("read"), expect.map(record));
}

#[test]
fn a_torn_tail_is_ignored_wherever_it_was_torn() {
    let scratch = tempfile::tempdir().expect("tempdir");
    let log = UndoLog::new(scratch.path().to_owned(), Durability::Full);
    let whole = keep(&log, b"whole");
    let path = files(scratch.path())[0].clone();
    let before = fs::metadata(&path).expect("there").len() as usize;
    let torn = keep(&log, b"torn");
    let bytes = fs::read(&path).expect("read");
    for end in before..bytes.len() {
        fs::write(&path, &bytes[..end]).expect("written");
        let restarted = UndoLog::new(scratch.path().to_owned(), Durability::Full);
        check(&restarted, whole, Some(b"whole"));
        check(&restarted, torn, None);
        // A machine that lost power may leave the length without the bytes.
        let zeros = vec![0; bytes.len() - end];
        fs::write(&path, [&bytes[..end], &zeros].concat()).expect("written");
        check(&restarted, whole, Some(b"whole"));
        check(&restarted, torn, None);
    }
    fs::write(&path, &bytes).expect("written");
    check(&UndoLog::new(scratch.path().to_owned(), Durability::Full), torn, Some(b"torn"));
}

#[test]
fn two_processes_write_apart_and_read_each_other() {
    let scratch = tempfile::tempdir().expect("tempdir");
    let (one, other) = (
        UndoLog::new(scratch.path().to_owned(), Durability::Full),
        UndoLog::new(scratch.path().to_owned(), Durability::Full),
    );
    let (first, second, third) = (keep(&one, b"1"), keep(&other, b"2"), keep(&one, b"3"));
    assert_eq!(files(scratch.path()).len(), 2);
    for log in [&one, &other, &UndoLog::new(scratch.path().to_owned(), Durability::Full)] {
        check(log, first, Some(b"1"));
        check(log, second, Some(b"2"));
        check(log, third, Some(b"3"));
    }
}

#[test]
fn a_full_segment_is_followed_by_another_and_the_oldest_go() {
    let scratch = tempfile::tempdir().expect("tempdir");
    let bounds = LogBounds { segment: 1024, bytes: 100 * 1024, segments: 3, remembered: MOST_RECORDS };
    let log = UndoLog::bounded(scratch.path().to_owned(), bounds, Durability::Rename);
    // Three of these fit one segment.
    let calls: Vec<_> = (0..12_u8).map(|number| keep(&log, &[number; 200])).collect();
    assert_eq!(files(scratch.path()).len(), 3);
    let restarted = UndoLog::bounded(scratch.path().to_owned(), bounds, Durability::Rename);
    for log in [&log, &restarted] {
        for (number, call) in calls.iter().enumerate() {
            let image = [number as u8; 200];
            check(log, *call, (number >= 3).then_some(&image[..]));
        }
    }
    // A large record has a segment for itself; one that would leave no room is refused.
    let large = keep(&log, &[7; 4096]);
    check(&restarted, large, Some(&[7; 4096]));
    assert!(log.keep(CallId::fresh(), &record(&vec![0; 200 * 1024])).is_err());
}

#[test]
fn the_bytes_of_all_segments_are_bounded() {
    let scratch = tempfile::tempdir().expect("tempdir");
    let bounds = LogBounds { segment: 1024, bytes: 8 * 1024, segments: 64, remembered: MOST_RECORDS };
    let log = UndoLog::bounded(scratch.path().to_owned(), bounds, Durability::Rename);
    let calls: Vec<_> = (0..30_u8).map(|number| keep(&log, &[number; 900])).collect();
    let bytes: u64 = files(scratch.path()).iter().map(|path| fs::metadata(path).expect("there").len()).sum();
    assert!(bytes <= bounds.bytes, "{bytes}");
    check(&log, calls[0], None);
    check(&log, calls[29], Some(&[29; 900]));
}

#[test]
fn a_process_whose_segment_was_let_go_begins_another() {
    let scratch = tempfile::tempdir().expect("tempdir");
    let log = UndoLog::new(scratch.path().to_owned(), Durability::Full);
    let gone = keep(&log, b"gone");
    fs::remove_file(&files(scratch.path())[0]).expect("removed");
    let kept = keep(&log, b"kept");
    check(&log, gone, None);
    check(&UndoLog::new(scratch.path().to_owned(), Durability::Full), kept, Some(b"kept"));
}
