//! Files that configure Tectum: closed to every change under every alias, and open to readers.

use std::{fs, os::unix::fs::symlink, sync::Arc};

use tectum_security::{Access, Allowlist, Batch, ControlFiles, Denied, PathError, Reason};

use crate::scene::{LIMIT, Scene, open, read, remove, rename, write};

fn allowlist(scene: &Scene, files: &[&str]) -> Allowlist {
    let control = ControlFiles::default();
    control.close_files(files.iter().map(|file| scene.top().join(file)));
    control.close_folders([scene.top().join("root/state")]);
    scene.builder().break_hard_links(true).control_files(Arc::new(control)).build().expect("a snapshot")
}

fn configures<T: std::fmt::Debug>(done: Result<T, PathError>, what: &str) {
    match done {
        Err(PathError::Denied(Denied { reason: Reason::Configures, .. })) => {}
        other => panic!("{what}: {other:?}"),
    }
}

/// No change goes through: to it, away from it, onto it.
fn closed(list: &Allowlist, path: &str) {
    configures(write(list, path, "evil"), &format!("write {path}"));
    configures(remove(list, path), &format!("remove {path}"));
    configures(rename(list, path, "elsewhere"), &format!("move {path} away"));
    onto(list, path);
}

fn onto(list: &Allowlist, path: &str) {
    configures(rename(list, "plain.txt", path), &format!("move onto {path}"));
}

#[test]
fn what_configures_us_is_closed_by_every_name() {
    let scene = Scene::new();
    scene.file("conf/ops.toml", "# ours").file("plain.txt", "plain").file("conf/other.txt", "other");
    scene.link("ops.toml", "conf/alias").link("conf", "way").hard_link("conf/ops.toml", "hard");
    let list = allowlist(&scene, &["root/conf/ops.toml"]);
    for path in ["conf/ops.toml", "conf/../conf/ops.toml", "way/ops.toml", "hard"] {
        closed(&list, path);
    }
    configures(write(&list, "conf/alias", "evil"), "through a link");
    configures(rename(&list, "conf", "gone"), "its folder is moved");
    configures(remove(&list, "conf"), "its folder is removed");
    assert_eq!(read(&list, "conf/ops.toml").expect("readable"), "# ours");
    write(&list, "conf/other.txt", "changed").expect("what lies beside it is free");
    write(&list, "conf/new.txt", "made").expect("what lies beside it is free");
    remove(&list, "way").expect("a link that no configured name goes through is free");
    assert_eq!(scene.text("conf/ops.toml"), "# ours");
}

#[test]
fn every_link_from_the_configured_name_is_closed() {
    let scene = Scene::new();
    // The user's file, outside, is a link to a link in the root, by way of a linked folder.
    scene.file("real/deep/ours.toml", "# ours").file("plain.txt", "plain");
    scene.link("real", "step").link("step/deep/ours.toml", "first");
    symlink(scene.root.join("first"), scene.top().join("user.toml")).expect("made");
    let list = allowlist(&scene, &["user.toml"]);
    for path in ["first", "step", "real", "real/deep"] {
        configures(remove(&list, path), &format!("remove {path}"));
        configures(rename(&list, path, "elsewhere"), &format!("move {path}"));
        onto(&list, path);
    }
    for path in ["first", "step/deep/ours.toml", "real/deep/ours.toml"] {
        configures(write(&list, path, "evil"), path);
    }
    // The link is led elsewhere: what it leads to now is closed, and what it led to is free.
    scene.file("other.toml", "# new");
    write(&list, "other.toml", "# written").expect("it configures nothing yet");
    fs::remove_file(scene.top().join("user.toml")).expect("removed");
    symlink(scene.root.join("other.toml"), scene.top().join("user.toml")).expect("made");
    closed(&list, "other.toml");
    write(&list, "real/deep/ours.toml", "free").expect("it configures nothing any more");
    // Swapped in between the judgement and the change.
    let judged = open(&list, "plain.txt", Access::Write).expect("opens");
    fs::remove_file(scene.root.join("plain.txt")).expect("removed");
    fs::rename(scene.root.join("other.toml"), scene.root.join("plain.txt")).expect("renamed");
    fs::remove_file(scene.top().join("user.toml")).expect("removed");
    symlink(scene.root.join("plain.txt"), scene.top().join("user.toml")).expect("made");
    configures(Batch::open(&[&judged], LIMIT).map(drop), "judged before");
}

#[test]
fn what_is_not_there_yet_cannot_be_made() {
    let scene = Scene::new();
    scene.file("plain.txt", "plain").file("made/mcp.json", "{}").file("editor/settings", "{}");
    scene.link("made", "linked");
    let list = allowlist(&scene, &["root/.mcp.json", "root/.cursor/mcp.json", "root/editor/mcp.json"]);
    for path in [".mcp.json", ".MCP.json", ".m\u{200c}cp.json", ".cursor/mcp.json", "editor/mcp.json"] {
        configures(write(&list, path, "evil"), path);
        onto(&list, path);
    }
    configures(rename(&list, "made", ".cursor"), "a folder that brings it along");
    configures(rename(&list, "linked", ".cursor"), "a link that leads to one");
    configures(rename(&list, "made", ".Cursor"), "in another case");
    write(&list, ".cursor/rules.md", "rules").expect("other files of that folder are free");
    configures(write(&list, ".cursor/mcp.json", "evil"), "now that the folder is there");
    rename(&list, "editor", "moved").expect("a folder without it moves");
    configures(rename(&list, "moved", "editor"), "and nothing moves there");
    remove(&list, ".cursor").expect("a folder without it goes");
}

#[test]
fn a_link_to_nothing_is_no_free_name() {
    let scene = Scene::new();
    scene.file("plain.txt", "plain").link("absent.toml", "ops.toml");
    let list = allowlist(&scene, &["root/ops.toml"]);
    configures(remove(&list, "ops.toml"), "the link");
    for path in ["absent.toml", "ops.toml"] {
        onto(&list, path);
    }
    configures(write(&list, "absent.toml", "evil"), "what it would lead to");
}

#[test]
fn our_state_is_closed_with_all_it_holds() {
    let scene = Scene::new();
    scene.file("plain.txt", "plain");
    let list = allowlist(&scene, &[]);
    configures(write(&list, "state/projects/x/undo/1", "evil"), "before it is there");
    scene.file("state/trust.json", "{}").link("state", "way");
    for path in ["state/trust.json", "state/new", "way/deep/new"] {
        configures(write(&list, path, "evil"), path);
    }
    configures(remove(&list, "state"), "the folder");
    write(&list, "statement.txt", "free").expect("a name that only begins alike");
}

#[test]
fn more_files_may_become_known_while_running() {
    let scene = Scene::new();
    scene.file("vars.txt", "A=1").file("plain.txt", "plain");
    let list = allowlist(&scene, &[]);
    write(&list, "vars.txt", "A=2").expect("free");
    list.control_files().close_files([scene.root.join("vars.txt")]);
    closed(&list, "vars.txt");
}
