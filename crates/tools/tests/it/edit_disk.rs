//! The effects of edits on the disk: mode, owner, links, refusals, and many editors at once.
#![expect(clippy::disallowed_methods, reason = "the test makes the tree its tools change")]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
};

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "old_string": old, "new_string": new })
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_editors_of_one_file_lose_nothing() {
    let desk = Desk::new();
    let before: String = (0..64).map(|number| format!("line {number:02} old\n")).collect();
    desk.put("a.txt", before);
    let mut editors = tokio::task::JoinSet::new();
    for number in 0..64 {
        let house = desk.house.clone();
        let (tool, args) = match number % 4 {
            0 => (
                "set_file_slice",
                json!({ "path": "a.txt", "start_line": number + 1, "end_line": number + 1, "new_content": format!("line {number:02} new") }),
            ),
            1 => (
                "apply_edits",
                json!({ "edits": [edit("./a.txt", &format!("{number:02} old"), &format!("{number:02} new"))] }),
            ),
            _ => ("edit_file", edit("a.txt", &format!("{number:02} old"), &format!("{number:02} new"))),
        };
        editors.spawn(async move { crate::files_rig::call(&house, tool, args).await.map(|_| ()) });
    }
    while let Some(done) = editors.join_next().await {
        done.expect("no panic").unwrap_or_else(|fault| panic!("{}", fault.text()));
    }
    let after: String = (0..64).map(|number| format!("line {number:02} new\n")).collect();
    assert_eq!(String::from_utf8(desk.get("a.txt").unwrap()).unwrap(), after);
    // Nothing of ours is left behind.
    let names: Vec<_> = fs::read_dir(desk.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_lets_one_of_many_editors_win() {
    let desk = Desk::new();
    desk.put("a.txt", "one\n");
    let (_, data) = desk.works("edit_file", edit("a.txt", "one", "two")).await;
    let mut editors = tokio::task::JoinSet::new();
    for number in 0..16 {
        let house = desk.house.clone();
        let args = json!({ "path": "a.txt", "content": format!("{number}\n"), "revision": data["revision"] });
        editors.spawn(async move { crate::files_rig::call(&house, "write_file", args).await });
    }
    let outcomes = editors.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let fault = outcomes.into_iter().find_map(Result::err).unwrap();
    assert!(fault.message.contains("changed since revision"), "{}", fault.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn mode_and_owner_are_kept() {
    let desk = Desk::new();
    desk.put("run.sh", "#!/bin/sh\necho old\n");
    let path = desk.path("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    // Only root can give a file away; others keep their own.
    let _ = std::os::unix::fs::chown(&path, Some(1234), Some(1234));
    let owner = |about: fs::Metadata| (about.uid(), about.gid());
    let before = owner(path.metadata().unwrap());
    desk.works("edit_file", edit("run.sh", "old", "new")).await;
    desk.works("write_file", json!({ "path": "run.sh", "content": "#!/bin/sh\n" })).await;
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o751);
    assert_eq!(owner(path.metadata().unwrap()), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_written_through_and_stays_a_link() {
    let desk = Desk::new();
    desk.put("real/a.txt", "old\n");
    symlink("real/a.txt", desk.path("link.txt")).unwrap();
    let (text, data) = desk.works("edit_file", edit("link.txt", "old", "new")).await;
    assert!(text.starts_with("Edited real/a.txt: 1 replacement at line 1\n"), "{text}");
    assert_eq!(desk.get("real/a.txt").unwrap(), b"new\n");
    assert!(desk.path("link.txt").symlink_metadata().unwrap().is_symlink());
    desk.works("undo_edit", json!({ "call_id": data["undo"] })).await;
    assert_eq!(desk.get("real/a.txt").unwrap(), b"old\n");
    // Deleting a link takes the link.
    desk.works("delete_file", json!({ "path": "link.txt" })).await;
    assert!(desk.path("link.txt").symlink_metadata().is_err());
    assert_eq!(desk.get("real/a.txt").unwrap(), b"old\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_hard_links_can_be_moved_and_deleted() {
    let desk = Desk::new();
    desk.put("a.txt", "one");
    for name in ["b.txt", "c.txt"] {
        fs::hard_link(desk.path("a.txt"), desk.path(name)).unwrap();
    }
    let (text, _) = desk.works("delete_file", json!({ "path": "b.txt" })).await;
    assert!(
        text.contains("Deleted file b.txt (its content has other names") && text.contains("cannot be undone")
    );
    let (_, moved) = desk.works("move_file", json!({ "source": "c.txt", "destination": "d.txt" })).await;
    assert_eq!(
        fs::metadata(desk.path("d.txt")).unwrap().ino(),
        fs::metadata(desk.path("a.txt")).unwrap().ino()
    );
    desk.works("undo_edit", json!({ "call_id": moved["undo"] })).await;
    assert_eq!((desk.get("a.txt").unwrap(), desk.get("c.txt").unwrap()), (b"one".to_vec(), b"one".to_vec()));
    assert_eq!((desk.get("b.txt"), desk.get("d.txt")), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_other_hard_links_is_refused() {
    let desk = Desk::new();
    desk.put("a.txt", "old\n");
    fs::hard_link(desk.path("a.txt"), desk.path("b.txt")).unwrap();
    let text = desk.fails("edit_file", edit("a.txt", "old", "new"), FaultKind::Permission).await;
    assert!(text.contains("hard links") && !text.contains("allowlist"), "{text}");
    assert_eq!(desk.get("a.txt").unwrap(), b"old\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_written_leaves_the_old_bytes() {
    let desk = Desk::new();
    desk.put("sub/a.txt", "old\n");
    fs::set_permissions(desk.path("sub"), fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write anywhere; then there is nothing to see here.
    if fs::write(desk.path("sub/probe"), "").is_ok() {
        return;
    }
    let text = desk.fails("edit_file", edit("sub/a.txt", "old", "new"), FaultKind::Permission).await;
    fs::set_permissions(desk.path("sub"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(text.contains("sub/a.txt"), "{text}");
    assert_eq!(desk.get("sub/a.txt").unwrap(), b"old\n");
    // The edit was not made, so there is nothing to undo either.
    assert_eq!(fs::read_dir(desk.path("sub")).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_made_whole_or_not_at_all() {
    let desk = Desk::new();
    desk.put("a.txt", "one\n");
    desk.put("b.txt", "two\n");
    let edits = json!([
        edit("a.txt", "one", "1"),
        edit("b.txt", "three", "3"),
        edit("new/c.txt", "", "fresh\n"),
        edit("missing.txt", "x", "y"),
    ]);
    let text = desk.fails("apply_edits", json!({ "edits": edits }), FaultKind::NotFound).await;
    for part in
        ["2 problems", "edits[1]: old_string was not found in b.txt", "edits[3]: file not found: missing.txt"]
    {
        assert!(text.contains(part), "`{part}` not in {text}");
    }
    assert_eq!((desk.get("a.txt"), desk.get("new/c.txt")), (Some(b"one\n".to_vec()), None));
    assert!(!desk.path("new").exists());

    let edits =
        json!([edit("a.txt", "one", "1"), edit("new/c.txt", "", "fresh\n"), edit("./a.txt", "1", "2")]);
    let (text, data) = desk.works("apply_edits", json!({ "edits": edits })).await;
    assert!(text.starts_with("Applied 3 edits to 2 files\n"), "{text}");
    assert_eq!(
        (desk.get("a.txt"), desk.get("new/c.txt")),
        (Some(b"2\n".to_vec()), Some(b"fresh\n".to_vec()))
    );
    desk.works("undo_edit", json!({ "call_id": data["undo"] })).await;
    assert_eq!((desk.get("a.txt"), desk.get("new/c.txt")), (Some(b"one\n".to_vec()), None));
}
