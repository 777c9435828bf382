//! Undo: of every kind of change, after a restart, twice, and not over somebody's newer work.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::{edit_rig::Desk, files_rig::call};

fn undo(data: &Value) -> Value {
    json!({ "call_id": data["undo"] })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_can_be_undone() {
    let desk = Desk::new();
    desk.put("a.txt", "old\r\n");
    let edit = json!({ "path": "a.txt", "old_string": "old", "new_string": "new" });
    let (_, edited) = desk.works("edit_file", edit).await;
    let (text, undone) = desk.works("undo_edit", undo(&edited)).await;
    assert!(text.contains("restored a.txt\nUndo: c-"), "{text}");
    assert_eq!(desk.get("a.txt").unwrap(), b"old\r\n");
    desk.works("undo_edit", undo(&undone)).await;
    assert_eq!(desk.get("a.txt").unwrap(), b"new\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_goes_and_a_deleted_one_comes_back() {
    let desk = Desk::new();
    let (_, created) = desk.works("write_file", json!({ "path": "sub/a.txt", "content": "x" })).await;
    let (text, undone) = desk.works("undo_edit", undo(&created)).await;
    assert!(text.contains("deleted sub/a.txt"), "{text}");
    assert_eq!(desk.get("sub/a.txt"), None);
    desk.works("undo_edit", undo(&undone)).await;
    assert_eq!(desk.get("sub/a.txt").unwrap(), b"x");
    let (_, deleted) = desk.works("delete_file", json!({ "path": "sub/a.txt" })).await;
    assert_eq!(desk.get("sub/a.txt"), None);
    desk.works("undo_edit", undo(&deleted)).await;
    assert_eq!(desk.get("sub/a.txt").unwrap(), b"x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_comes_back_has_its_mode() {
    let desk = Desk::new();
    let mode = |name: &str| desk.path(name).metadata().unwrap().permissions().mode() & 0o7777;
    for bits in [0o751, 0o600, 0o777, 0o444] {
        desk.put("a.sh", "a");
        desk.put("b.sh", "b");
        set_mode(&desk, "a.sh", bits);
        let (_, deleted) = desk.works("delete_file", json!({ "path": "a.sh" })).await;
        call(&desk.restarted(), "undo_edit", undo(&deleted)).await.unwrap();
        assert_eq!((mode("a.sh"), desk.get("a.sh").unwrap()), (bits, b"a".to_vec()));
        // The same for what a move replaced.
        let replacing = json!({ "source": "b.sh", "destination": "a.sh", "overwrite": true });
        let (_, moved) = desk.works("move_file", replacing).await;
        desk.works("undo_edit", undo(&moved)).await;
        assert_eq!((mode("a.sh"), desk.get("a.sh").unwrap()), (bits, b"a".to_vec()));
        // A mode that was changed since stays as it was changed.
        set_mode(&desk, "a.sh", bits | 0o200);
        let (_, edited) = desk.works("write_file", json!({ "path": "a.sh", "content": "x" })).await;
        set_mode(&desk, "a.sh", 0o640);
        desk.works("undo_edit", undo(&edited)).await;
        assert_eq!(mode("a.sh"), 0o640);
        desk.works("delete_file", json!({ "path": "a.sh" })).await;
    }
}

fn set_mode(desk: &Desk, name: &str, bits: u32) {
    std::fs::set_permissions(desk.path(name), std::fs::Permissions::from_mode(bits)).expect("set");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_undo_each_others_changes() {
    let desk = Desk::new();
    let other = desk.restarted();
    desk.put("a.txt", "one\n");
    let (_, first) = desk.works("write_file", json!({ "path": "a.txt", "content": "two\n" })).await;
    let second = json!({ "path": "a.txt", "content": "three\n" });
    let (_, second) = call(&other, "write_file", second).await.unwrap();
    desk.works("undo_edit", undo(&second)).await;
    assert_eq!(desk.get("a.txt").unwrap(), b"two\n");
    call(&other, "undo_edit", undo(&first)).await.unwrap();
    assert_eq!(desk.get("a.txt").unwrap(), b"one\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_goes_back_with_what_it_replaced() {
    let desk = Desk::new();
    desk.put("a.txt", "a");
    desk.put("b.txt", "b");
    let (_, moved) = desk.works("move_file", json!({ "source": "a.txt", "destination": "new/c.txt" })).await;
    assert_eq!((desk.get("a.txt"), desk.get("new/c.txt")), (None, Some(b"a".to_vec())));
    let (_, undone) = desk.works("undo_edit", undo(&moved)).await;
    assert_eq!((desk.get("a.txt"), desk.get("new/c.txt")), (Some(b"a".to_vec()), None));
    desk.works("undo_edit", undo(&undone)).await;
    assert_eq!((desk.get("a.txt"), desk.get("new/c.txt")), (None, Some(b"a".to_vec())));

    let replacing = json!({ "source": "new/c.txt", "destination": "b.txt", "overwrite": true });
    let (_, moved) = desk.works("move_file", replacing).await;
    assert_eq!(desk.get("b.txt").unwrap(), b"a");
    desk.works("undo_edit", undo(&moved)).await;
    assert_eq!((desk.get("new/c.txt"), desk.get("b.txt")), (Some(b"a".to_vec()), Some(b"b".to_vec())));
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_work_is_not_undone_by_accident() {
    let desk = Desk::new();
    desk.put("a.txt", "one\n");
    let (_, edited) = desk.works("write_file", json!({ "path": "a.txt", "content": "two\n" })).await;
    desk.put("a.txt", "three\n");
    let text = desk.fails("undo_edit", undo(&edited), FaultKind::Conflict).await;
    assert!(text.contains("a.txt was changed after that call"), "{text}");
    assert_eq!(desk.get("a.txt").unwrap(), b"three\n");
    // With the content it left, the undo works again: content counts, not time.
    desk.put("a.txt", "two\n");
    desk.works("undo_edit", undo(&edited)).await;
    assert_eq!(desk.get("a.txt").unwrap(), b"one\n");

    let (_, moved) = desk.works("move_file", json!({ "source": "a.txt", "destination": "b.txt" })).await;
    desk.put("b.txt", "changed\n");
    desk.fails("undo_edit", undo(&moved), FaultKind::Conflict).await;
    assert_eq!(desk.get("b.txt").unwrap(), b"changed\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_of_a_directory_or_link_takes_back_that_one_only() {
    let desk = Desk::new();
    desk.put("old/a.txt", "a");
    std::os::unix::fs::symlink("nowhere", desk.path("link")).unwrap();
    let (_, moved) = desk.works("move_file", json!({ "source": "old", "destination": "new" })).await;
    let (_, linked) = desk.works("move_file", json!({ "source": "link", "destination": "other" })).await;
    // Others take the names; the moved ones still stand elsewhere.
    rename(&desk, "new", "aside");
    rename(&desk, "other", "aside.link");
    desk.put("new/b.txt", "b");
    std::os::unix::fs::symlink("elsewhere", desk.path("other")).unwrap();
    for (data, name) in [(&moved, "new"), (&linked, "other")] {
        let text = desk.fails("undo_edit", undo(data), FaultKind::Conflict).await;
        assert!(text.contains(&format!("{name} was changed after that call: something else")), "{text}");
    }
    assert_eq!((desk.get("new/b.txt"), desk.get("old/b.txt")), (Some(b"b".to_vec()), None));
    // With the moved ones back at their names, both can go back, even after changes inside.
    rename(&desk, "new", "rest");
    rename(&desk, "other", "rest.link");
    rename(&desk, "aside", "new");
    rename(&desk, "aside.link", "other");
    desk.put("new/c.txt", "c");
    let (_, back) = call(&desk.restarted(), "undo_edit", undo(&moved)).await.unwrap();
    desk.works("undo_edit", undo(&linked)).await;
    assert_eq!((desk.get("old/a.txt"), desk.get("old/c.txt")), (Some(b"a".to_vec()), Some(b"c".to_vec())));
    assert!(desk.path("link").is_symlink() && !desk.path("other").is_symlink());
    desk.works("undo_edit", undo(&back)).await;
    assert_eq!(desk.get("new/a.txt"), Some(b"a".to_vec()));
}

#[expect(clippy::disallowed_methods, reason = "the test changes names behind the tools' back")]
fn rename(desk: &Desk, from: &str, to: &str) {
    std::fs::rename(desk.path(from), desk.path(to)).expect("renamed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_undo_of_an_overwriting_move_says_that_it_is_final() {
    let desk = Desk::new();
    desk.put("a.txt", "a");
    desk.put("b.txt", "b");
    let replacing = json!({ "source": "a.txt", "destination": "b.txt", "overwrite": true });
    let (_, moved) = desk.works("move_file", replacing).await;
    let (text, undone) = desk.works("undo_edit", undo(&moved)).await;
    assert!(text.contains("This cannot be undone"), "{text}");
    assert_eq!(undone["undo"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_works_after_a_restart() {
    let desk = Desk::new();
    desk.put("a.txt", b"caf\xe9 na\xefve old text");
    let edit = json!({ "path": "a.txt", "old_string": "old", "new_string": "new" });
    let (_, edited) = desk.works("edit_file", edit).await;
    assert_eq!(desk.get("a.txt").unwrap(), b"caf\xe9 na\xefve new text");
    call(&desk.restarted(), "undo_edit", undo(&edited)).await.unwrap();
    assert_eq!(desk.get("a.txt").unwrap(), b"caf\xe9 na\xefve old text");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_undone_already_is_said_to_be() {
    let desk = Desk::new();
    desk.put("a.txt", "old");
    desk.put("b.txt", "other");
    let edit = json!({ "path": "a.txt", "old_string": "old", "new_string": "new" });
    let (_, edited) = desk.works("edit_file", edit).await;
    let (_, created) = desk.works("write_file", json!({ "path": "c.txt", "content": "x" })).await;
    let (_, moved) = desk.works("move_file", json!({ "source": "a.txt", "destination": "d.txt" })).await;
    let replacing = json!({ "source": "b.txt", "destination": "c.txt", "overwrite": true });
    let (_, replaced) = desk.works("move_file", replacing).await;
    for done in [&replaced, &moved, &created, &edited] {
        desk.works("undo_edit", undo(done)).await;
        let text = desk.fails("undo_edit", undo(done), FaultKind::Conflict).await;
        assert!(text.contains("undone already") && text.contains("undo the undoing"), "{text}");
    }
    assert_eq!(desk.get("a.txt").unwrap(), b"old");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_was_taken_meanwhile_is_told() {
    let desk = Desk::new();
    desk.put("a.txt", "moved");
    let (_, moved) = desk.works("move_file", json!({ "source": "a.txt", "destination": "b.txt" })).await;
    desk.put("a.txt", "newer");
    let text = desk.fails("undo_edit", undo(&moved), FaultKind::Conflict).await;
    assert!(text.contains("b.txt cannot get its old name back: a.txt is a file now"), "{text}");
    assert!(text.contains("move or delete a.txt first"), "{text}");
    assert_eq!(
        (desk.get("a.txt").unwrap(), desk.get("b.txt").unwrap()),
        (b"newer".to_vec(), b"moved".to_vec())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_call_says_where_ids_come_from() {
    let desk = Desk::new();
    let text = desk.fails("undo_edit", json!({ "call_id": "c-0123456789abcdef" }), FaultKind::NotFound).await;
    assert!(text.contains("nothing to undo for call c-0123456789abcdef\nHint: use the call id"), "{text}");
    desk.fails("undo_edit", json!({ "call_id": "../x" }), FaultKind::InvalidInput).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_leaves_nothing_to_undo() {
    let desk = Desk::new();
    desk.put("a.txt", "old\n");
    let args = json!({ "path": "a.txt", "old_string": "old", "new_string": "new", "dry_run": true });
    let (text, data) = desk.works("edit_file", args).await;
    assert!(text.starts_with("Would edit a.txt") && text.contains("+new\n"), "{text}");
    assert_eq!((desk.get("a.txt").unwrap(), &data["undo"]), (b"old\n".to_vec(), &Value::Null));
    // The revision is that of the file as it is.
    let args =
        json!({ "path": "a.txt", "old_string": "old", "new_string": "new", "revision": data["revision"] });
    desk.works("edit_file", args).await;
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "the test takes the place of the undo log")]
async fn a_before_image_that_could_not_be_kept_is_told_with_its_reason() {
    let (project, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(state.path().join("undo"), "in the way").unwrap();
    for file in ["a.txt", "b.txt", "c.txt"] {
        std::fs::write(project.path().join(file), "old text").unwrap();
    }
    let house = crate::edit_rig::house(project.path(), Some(state.path().to_owned()));
    for (tool, args) in [
        ("edit_file", json!({ "path": "a.txt", "old_string": "old", "new_string": "new" })),
        ("write_file", json!({ "path": "a.txt", "content": "whole" })),
        ("apply_edits", json!({ "edits": [{ "path": "a.txt", "old_string": "whole", "new_string": "x" }] })),
        ("move_file", json!({ "source": "b.txt", "destination": "d.txt" })),
        ("delete_file", json!({ "path": "c.txt" })),
    ] {
        let (text, data) = call(&house, tool, args).await.expect(tool);
        assert!(text.contains("This cannot be undone: no before-image could be kept ("), "{tool}: {text}");
        assert_eq!(data["undo"], Value::Null, "{tool}");
    }
}
