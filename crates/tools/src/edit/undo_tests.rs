//! The store: what is kept, found again after a restart, and let go.

use std::{borrow::Cow, os::unix::fs::PermissionsExt};

use super::{
    super::undo_record::{Image, Left, UndoStep, Was},
    *,
};

fn record(bytes: &[u8]) -> Record<'_> {
    let step = |was, left| UndoStep { path: "/p/ä\n.txt".into(), was, left, made: 2 };
    let file = |bytes, mode| Was::File(Image { bytes: Cow::Borrowed(bytes), mode });
    Record {
        steps: vec![
            step(file(bytes, 0o640), Left::Revision("0123".into())),
            step(Was::Nothing, Left::Anything),
            step(Was::Elsewhere("/p/b".into()), Left::Object(7, u64::MAX)),
            step(file(b"\n\0\xff", 0o755), Left::Nothing),
        ],
    }
}

fn check(store: &UndoStore) {
    let first = CallId::fresh();
    store.keep(first, record(b"before")).expect("kept");
    assert_eq!(store.find(first).expect("kept"), record(b"before"));
    store.forget(first);
    assert!(store.find(first).is_err());
    let calls: Vec<_> = (0..MOST_RECORDS + 5).map(|_| CallId::fresh()).collect();
    for call in &calls {
        store.keep(*call, record(call.to_string().as_bytes())).expect("kept");
    }
    for call in &calls[5..] {
        assert_eq!(store.find(*call).expect("kept"), record(call.to_string().as_bytes()));
    }
}

#[test]
fn records_are_kept_in_memory_and_bounded() {
    let store = UndoStore::new(None, Durability::Full);
    check(&store);
    // The oldest go first, by number and by size.
    let calls: Vec<_> = (0..=MOST_RECORDS).map(|_| CallId::fresh()).collect();
    for call in &calls {
        store.keep(*call, record(b"x")).expect("kept");
    }
    assert!(store.find(calls[0]).is_err() && store.find(calls[1]).is_ok());
    store.keep(CallId::fresh(), record(&vec![0; MOST_MEMORY as usize - 3])).expect("kept");
    assert!(store.find(calls[MOST_RECORDS]).is_err());
    store.keep(CallId::fresh(), record(&vec![0; MOST_MEMORY as usize])).expect_err("too large");
}

#[test]
fn records_are_kept_on_disk_across_restarts() {
    let state = tempfile::tempdir().expect("tempdir");
    let store = || UndoStore::new(Some(state.path().to_owned()), Durability::Full);
    check(&store());
    let (call, forgotten) = (CallId::fresh(), CallId::fresh());
    let before = store();
    before.keep(call, record(b"later")).expect("kept");
    before.keep(forgotten, record(b"never made")).expect("kept");
    before.forget(forgotten);
    drop(before);
    assert_eq!(store().find(call).expect("kept"), record(b"later"));
    assert!(store().find(forgotten).is_err());
}

#[test]
fn records_are_for_the_owner_only() {
    let state = tempfile::tempdir().expect("tempdir");
    assert!(
        UndoStore::new(Some(state.path().to_owned()), Durability::Full)
            .keep(CallId::fresh(), record(b"secret"))
            .is_ok()
    );
    let undo = state.path().join("undo");
    let mode = |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&undo), 0o700);
    #[expect(clippy::disallowed_methods, reason = "the test looks at what the store made")]
    let names: Vec<_> =
        std::fs::read_dir(undo).expect("there").map(|entry| entry.expect("read").path()).collect();
    assert_eq!(names.iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o600]);
}
