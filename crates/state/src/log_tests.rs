//! Torn tails, several writers, full segments, limits, and records that are found again.

use std::fs;

use super::*;

type Keyed = Log<4>;

const BOUNDS: LogBounds = LogBounds { segment: 1 << 20, bytes: 16 << 20, segments: 8, remembered: 4 };

fn log(directory: &Path, bounds: LogBounds) -> Keyed {
    Keyed::new(directory.join("log"), bounds, Lasts::PowerCut)
}

fn append(log: &Keyed, key: u32, payload: &[u8]) {
    log.append(key.to_be_bytes(), |frame| {
        frame.extend_from_slice(payload);
        Ok(())
    })
    .expect("appended");
}

#[track_caller]
fn check(log: &Keyed, key: u32, expect: Option<&[u8]>) {
    assert_eq!(log.find(key.to_be_bytes()).expect("read").as_deref(), expect, "{key}");
}

/// The paths of the segments, the oldest first.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(directory.join("log"))
        .expect("there")
        .map(|entry| entry.expect("read").path())
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_torn_tail_is_ignored_wherever_it_was_torn() {
    let scratch = tempfile::tempdir().expect("a directory");
    let writer = log(scratch.path(), BOUNDS);
    append(&writer, 1, b"whole");
    let path = files(scratch.path())[0].clone();
    let before = fs::metadata(&path).expect("there").len() as usize;
    append(&writer, 2, b"torn");
    let bytes = fs::read(&path).expect("read");
    for end in before..bytes.len() {
        let zeros = vec![0; bytes.len() - end];
        for damaged in [bytes[..end].to_vec(), [&bytes[..end], &zeros].concat()] {
            fs::write(&path, damaged).expect("written");
            let restarted = log(scratch.path(), BOUNDS);
            check(&restarted, 1, Some(b"whole"));
            check(&restarted, 2, None);
        }
    }
    fs::write(&path, &bytes).expect("written");
    check(&log(scratch.path(), BOUNDS), 2, Some(b"torn"));
}

#[test]
fn a_record_with_a_changed_byte_is_none() {
    let scratch = tempfile::tempdir().expect("a directory");
    let writer = log(scratch.path(), BOUNDS);
    append(&writer, 1, b"payload");
    let path = files(scratch.path())[0].clone();
    let mut bytes = fs::read(&path).expect("read");
    *bytes.last_mut().expect("some") ^= 1;
    fs::write(&path, &bytes).expect("written");
    check(&log(scratch.path(), BOUNDS), 1, None);
    check(&log(scratch.path(), BOUNDS), 9, None);
}

#[test]
fn the_newest_record_of_a_key_counts_also_when_it_is_not_remembered() {
    let scratch = tempfile::tempdir().expect("a directory");
    let writer = log(scratch.path(), BOUNDS);
    append(&writer, 1, b"old");
    append(&writer, 1, b"new");
    (10..20).for_each(|key| append(&writer, key, b"other"));
    for log in [&writer, &log(scratch.path(), BOUNDS)] {
        check(log, 1, Some(b"new"));
        check(log, 19, Some(b"other"));
        check(log, 20, None);
    }
}

#[test]
fn writers_have_segments_of_their_own_and_the_oldest_go() {
    let scratch = tempfile::tempdir().expect("a directory");
    let bounds = LogBounds { segment: 256, bytes: 4096, segments: 3, remembered: 100 };
    let (one, other) = (log(scratch.path(), bounds), log(scratch.path(), bounds));
    append(&one, 1, &[1; 100]);
    append(&other, 2, &[2; 100]);
    assert_eq!(files(scratch.path()).len(), 2);
    check(&one, 2, Some(&[2; 100]));
    (3..20).for_each(|key| append(&one, key, &[key as u8; 100]));
    assert_eq!(files(scratch.path()).len(), 3);
    check(&one, 2, None);
    check(&other, 19, Some(&[19; 100]));
    let too_large = one.append([0; 4], |frame| {
        frame.extend_from_slice(&[0; 5000]);
        Ok(())
    });
    assert!(too_large.is_err());
    // The removed segment is not written to: the next record goes to another.
    append(&other, 21, b"after");
    check(&one, 21, Some(b"after"));
}
