//! `tectum undo`: the changes of a session are taken back, and nobody else's.

use serde_json::{Value, json};

use crate::{cli_said::Said, rig::Rig};

fn undo(rig: &Rig, args: &[&str]) -> Said {
    Said::from(rig.run(&[&["undo", "last"], args].concat()))
}

/// What becomes of each file, by its name.
fn fates(said: &Said) -> Vec<(String, String)> {
    let files = said.json()["report"]["files"].as_array().expect("files").clone();
    let word = |file: &Value, key: &str| file[key].as_str().expect("a word").to_owned();
    files.iter().map(|file| (word(file, "path"), word(file, "fate"))).collect()
}

fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
    expect.iter().map(|(path, fate)| ((*path).to_owned(), (*fate).to_owned())).collect()
}

/// A project after a session that edited a file twice, made one, deleted one and moved one.
fn worked() -> Rig {
    let rig = Rig::with(&[("a.txt", "one\n"), ("gone.txt", "gone\n"), ("old.txt", "moved\n")]);
    let mut client = rig.stdio();
    client.call("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    client.call("edit_file", json!({"path": "a.txt", "old_string": "two", "new_string": "three"}));
    client.call("write_file", json!({"path": "new/made.txt", "content": "made\n"}));
    client.call("delete_file", json!({"path": "gone.txt"}));
    client.call("move_file", json!({"source": "old.txt", "destination": "moved.txt"}));
    client.call("edit_file", json!({"path": "moved.txt", "old_string": "moved", "new_string": "changed"}));
    client.close();
    rig
}

#[test]
fn a_session_is_taken_back_after_a_look() {
    let rig = worked();
    let all = pairs(&[
        ("a.txt", "restored"),
        ("gone.txt", "restored"),
        ("moved.txt", "deleted"),
        ("new/made.txt", "deleted"),
        ("old.txt", "restored"),
    ]);
    let look = undo(&rig, &["--json"]);
    assert_eq!((look.code, fates(&look)), (0, all.clone()), "{} {}", look.out, look.err);
    assert_eq!(rig.read("a.txt"), "three\n", "a look changes nothing");
    let shown = undo(&rig, &[]);
    assert!(shown.out.contains("restore") && shown.out.ends_with("add --yes to do it\n"), "{}", shown.out);

    let done = undo(&rig, &["--yes", "--json"]);
    assert_eq!((done.code, fates(&done)), (0, all), "{} {}", done.out, done.err);
    assert_eq!(
        (rig.read("a.txt"), rig.read("gone.txt"), rig.read("old.txt")),
        ("one\n".into(), "gone\n".into(), "moved\n".into())
    );
    assert!(!rig.project().join("moved.txt").exists());
    assert!(!rig.project().join("new").exists(), "the folder was made for the file");
    assert_eq!(done.json()["folders"], json!(["new/"]));

    // It was one change, which can be taken back as any other.
    let call = done.json()["report"]["undo"].as_str().expect("an id").to_owned();
    let said = Said::from(rig.run(&["call", "undo_edit", &format!("call_id={call}")]));
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!((rig.read("a.txt"), rig.read("moved.txt")), ("three\n".into(), "changed\n".into()));
}

#[test]
fn a_file_that_somebody_else_changed_stays() {
    let rig = worked();
    rig.write("a.txt", "mine\n");
    rig.write("moved.txt", "mine, too\n");
    let done = undo_session(&rig, &["--yes", "--json"]);
    assert_eq!(done.code, 5, "{} {}", done.out, done.err);
    assert_eq!(
        fates(&done),
        pairs(&[
            ("a.txt", "refused"),
            ("gone.txt", "restored"),
            ("moved.txt", "refused"),
            ("new/made.txt", "deleted"),
            ("old.txt", "refused"),
        ])
    );
    assert_eq!((rig.read("a.txt"), rig.read("moved.txt")), ("mine\n".into(), "mine, too\n".into()));
    let said = undo_session(&rig, &[]);
    assert!(
        said.out.contains("a.txt (2 changes): it was changed by somebody else after call c-"),
        "{}",
        said.out
    );
    assert!(said.out.contains("as it was   gone.txt"), "{}", said.out);
}

/// The first session of the project, whatever came after it.
fn undo_session(rig: &Rig, args: &[&str]) -> Said {
    let listed = Said::from(rig.run(&["log", "list", "--json"])).json();
    let sessions = listed["sessions"].as_array().expect("sessions").clone();
    let first = sessions.last().expect("one")["session"].as_str().expect("a name").to_owned();
    Said::from(rig.run(&[&["undo", &first], args].concat()))
}

#[test]
fn only_what_came_after_a_call_is_taken_back() {
    let rig = worked();
    let shown = Said::from(rig.run(&["log", "show", "last", "--json"])).json();
    let second = shown["entries"][1]["id"].as_str().expect("an id").to_owned();
    let done = undo(&rig, &["--since", &second, "--yes"]);
    assert_eq!(done.code, 0, "{} {}", done.out, done.err);
    assert_eq!(rig.read("a.txt"), "two\n");
    let said = undo(&rig, &["--since", "c-0000000000000000"]);
    assert_eq!(said.code, 4, "{}", said.err);
}

#[test]
fn folders_that_the_session_made_go_where_nothing_else_is_in_them() {
    let rig = Rig::with(&[("old.txt", "old\n"), ("own/keep.txt", "keep\n")]);
    std::fs::create_dir(rig.project().join("empty")).expect("made");
    let mut client = rig.stdio();
    client.call("write_file", json!({"path": "one/two/a.txt", "content": "a\n"}));
    client.call("write_file", json!({"path": "one/three/b.txt", "content": "b\n"}));
    // Of these nothing is left, and somebody puts a file of their own into the others.
    client.call("write_file", json!({"path": "gone/c.txt", "content": "c\n"}));
    client.call("delete_file", json!({"path": "gone/c.txt"}));
    client.call("write_file", json!({"path": "shared/deep/d.txt", "content": "d\n"}));
    client.call("move_file", json!({"source": "old.txt", "destination": "far/away/old.txt"}));
    client.call("write_file", json!({"path": "moved/e.txt", "content": "e\n"}));
    client.call("move_file", json!({"source": "moved", "destination": "place/other"}));
    client.call("write_file", json!({"path": "empty/f.txt", "content": "f\n"}));
    client.call("write_file", json!({"path": "own/g.txt", "content": "g\n"}));
    client.close();
    rig.write("shared/mine.txt", "mine\n");
    let look = undo(&rig, &[]);
    assert!(look.out.contains("remove      one/two/ (if it is empty then)"), "{}", look.out);
    assert!(rig.project().join("one/two/a.txt").exists(), "a look changes nothing");
    let done = undo(&rig, &["--yes"]);
    assert_eq!(done.code, 0, "{} {}", done.out, done.err);
    let mut left: Vec<String> = std::fs::read_dir(rig.project())
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    left.sort();
    assert_eq!(left, ["empty", "old.txt", "own", "shared"], "{}", done.out);
    assert_eq!((rig.read("shared/mine.txt"), rig.read("own/keep.txt")), ("mine\n".into(), "keep\n".into()));
    assert!(!rig.project().join("shared/deep").exists(), "{}", done.out);
    for words in ["removed     one/\n", "removed     far/away/\n", "removed     moved/\n"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    // What it says brings the files back, with their folders.
    let calls: Vec<&str> = done.out.split("call_id=").skip(1).map(|rest| &rest[..18]).collect();
    for call in calls {
        let said = Said::from(rig.run(&["call", "undo_edit", &format!("call_id={call}")]));
        assert_eq!(said.code, 0, "{}", said.err);
    }
    assert_eq!((rig.read("one/two/a.txt"), rig.read("place/other/e.txt")), ("a\n".into(), "e\n".into()));
}

#[test]
fn moved_folders_get_their_names_back_with_what_was_in_them() {
    let rig = Rig::with(&[("folder/a.txt", "a\n"), ("folder/sub/c.txt", "c\n"), ("b.txt", "b\n")]);
    let mut client = rig.stdio();
    client.call("edit_file", json!({"path": "folder/a.txt", "old_string": "a", "new_string": "before"}));
    client.call("write_file", json!({"path": "folder/made.txt", "content": "made\n"}));
    client.call("move_file", json!({"source": "folder/sub", "destination": "folder/inner"}));
    client.call("move_file", json!({"source": "folder", "destination": "other"}));
    client.call("edit_file", json!({"path": "other/a.txt", "old_string": "before", "new_string": "after"}));
    client.call("move_file", json!({"source": "other", "destination": "third"}));
    client.call("edit_file", json!({"path": "third/inner/c.txt", "old_string": "c", "new_string": "d"}));
    client.call("edit_file", json!({"path": "b.txt", "old_string": "b", "new_string": "c"}));
    client.close();
    let look = undo(&rig, &[]);
    assert!(look.code == 0 && look.out.contains("move back"), "{} {}", look.out, look.err);
    assert_eq!(rig.read("third/a.txt"), "after\n", "a look changes nothing");
    let done = undo(&rig, &["--yes"]);
    assert_eq!(done.code, 0, "{} {}", done.out, done.err);
    assert_eq!(
        (rig.read("folder/a.txt"), rig.read("folder/sub/c.txt"), rig.read("b.txt")),
        ("a\n".into(), "c\n".into(), "b\n".into())
    );
    for gone in ["third", "other", "folder/made.txt", "folder/inner"] {
        assert!(!rig.project().join(gone).exists(), "{gone}: {}", done.out);
    }
    // What it says takes all of it back, in that order.
    let line = done.out.lines().last().expect("a line");
    let calls: Vec<&str> = line.split("call_id=").skip(1).map(|rest| &rest[..18]).collect();
    assert_eq!(calls.len(), 4, "{line}");
    for call in calls {
        let said = Said::from(rig.run(&["call", "undo_edit", &format!("call_id={call}")]));
        assert_eq!(said.code, 0, "{}", said.err);
    }
    assert_eq!((rig.read("third/a.txt"), rig.read("third/inner/c.txt")), ("after\n".into(), "d\n".into()));
}

#[test]
fn a_folder_stays_where_somebody_took_its_old_name() {
    let rig = Rig::with(&[("folder/a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = rig.stdio();
    client.call("move_file", json!({"source": "folder", "destination": "other"}));
    client.call("edit_file", json!({"path": "b.txt", "old_string": "b", "new_string": "c"}));
    client.close();
    rig.write("folder/mine.txt", "mine\n");
    for args in [&["--yes"][..], &[]] {
        let done = undo(&rig, args);
        assert_eq!(done.code, if args.is_empty() { 0 } else { 5 }, "{} {}", done.out, done.err);
        assert!(
            done.out.contains("refused     other to folder: other cannot get its old name back"),
            "{}",
            done.out
        );
        assert_eq!(rig.read("b.txt"), "b\n");
    }
    assert_eq!((rig.read("other/a.txt"), rig.read("folder/mine.txt")), ("a\n".into(), "mine\n".into()));
}

#[test]
fn what_cannot_be_undone_is_named_call_by_call() {
    let rig = Rig::with(&[("a.txt", "a\n"), ("folder/b.txt", "b\n")]);
    rig.configure("[permissions]\nallow = [\"run_shell\"]\n");
    let mut client = rig.stdio();
    client.call("run_shell", json!({"command": "echo more >> a.txt"}));
    client.call("delete_file", json!({"path": "folder", "recursive": true}));
    client.call("edit_file", json!({"path": "a.txt", "old_string": "more", "new_string": "less"}));
    client.call("edit_file", json!({"path": "missing.txt", "old_string": "x", "new_string": "y"}));
    client.close();
    let done = undo(&rig, &["--yes"]);
    assert_eq!(done.code, 0, "{} {}", done.out, done.err);
    assert!(
        done.out.contains("not undone  ran `echo more >> a.txt`: commands keep nothing of what was there"),
        "{}",
        done.out
    );
    assert!(done.out.contains("not undone  delete_file {\"path\":\"folder\""), "{}", done.out);
    assert!(!done.out.contains("missing.txt"), "{}", done.out);
    assert_eq!(rig.read("a.txt"), "a\nmore\n");
    let data = undo(&rig, &["--json"]).json();
    let tools: Vec<&str> = data["not_undone"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["tool"].as_str().expect("a name"))
        .collect();
    assert_eq!(tools, ["run_shell", "delete_file"], "{data}");
}

#[test]
fn a_session_without_changes_has_nothing_to_take_back() {
    let rig = Rig::with(&[("a.txt", "a\n")]);
    rig.stdio().call("read_file", json!({"path": "a.txt"}));
    let said = undo(&rig, &["--yes"]);
    assert!(
        said.code == 0 && said.out.contains("changed no file that can be taken back"),
        "{} {}",
        said.out,
        said.err
    );
}
