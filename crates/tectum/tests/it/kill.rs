//! A writer killed at any system call leaves the old file or the new one.

use std::{collections::BTreeMap, process::Stdio};

use crate::rig::Rig;

/// Large enough that writing it takes more than one moment, and easy to tell apart.
fn old() -> String {
    (0..4000).map(|line| format!("line {line} of the old content\n")).collect()
}

#[test]
fn heavy_a_kill_at_every_system_call_leaves_old_or_new() {
    let content = old();
    for (tool, args, after) in [
        (
            "edit_file",
            vec!["path=a.txt", "old_string=line 7 of", "new_string=line seven of"],
            content.replace("line 7 of", "line seven of"),
        ),
        (
            "set_file_slice",
            vec!["path=a.txt", "start_line=1", "end_line=1", "new_content=first"],
            content.replacen("line 0 of the old content", "first", 1),
        ),
        ("write_file", vec!["path=a.txt", "content=new"], "new".to_owned()),
        (
            "apply_edits",
            vec![
                r#"edits=[{"path":"a.txt","old_string":"line 7 of","new_string":"x"},{"path":"a.txt","old_string":"line 9 of","new_string":"y"}]"#,
            ],
            content.replace("line 7 of", "x").replace("line 9 of", "y"),
        ),
    ] {
        let mut tried = 0;
        for (call, times) in system_calls(tool, &args) {
            for nth in 1..=times {
                let rig = Rig::with(&[("a.txt", &content)]);
                let inject = format!("inject={call}:signal=KILL:when={nth}");
                let run = strace(&rig, tool, &args, &["-e", &format!("trace={call}"), "-e", &inject]);
                let now = rig.read("a.txt");
                assert!(
                    now == content || now == after,
                    "{tool} killed at {call} #{nth}: neither old nor new ({} bytes)",
                    now.len()
                );
                assert!(
                    !run || now == after,
                    "{tool}: success was reported, {call} #{nth}, and the file is old"
                );
                let left: Vec<_> = std::fs::read_dir(rig.project())
                    .expect("readable")
                    .flatten()
                    .map(|e| e.file_name())
                    .collect();
                assert!(left.len() <= 2, "more than one temporary file: {left:?}");
                tried += 1;
            }
        }
        assert!(tried > 20, "{tool}: only {tried} system calls were tried");
    }
}

#[test]
fn heavy_a_kill_while_moving_or_deleting_loses_nothing() {
    let content = old();
    for (tool, args) in
        [("move_file", vec!["source=a.txt", "destination=made/b.txt"]), ("delete_file", vec!["path=a.txt"])]
    {
        for (call, times) in system_calls(tool, &args) {
            for nth in 1..=times {
                let rig = Rig::with(&[("a.txt", &content)]);
                let inject = format!("inject={call}:signal=KILL:when={nth}");
                let ok = strace(&rig, tool, &args, &["-e", &format!("trace={call}"), "-e", &inject]);
                let at = |path: &str| std::fs::read_to_string(rig.project().join(path)).ok();
                let place = format!("{tool} killed at {call} #{nth}");
                match (at("a.txt"), at("made/b.txt")) {
                    (Some(here), None) => assert!(here == content && !ok, "{place}: still here"),
                    (None, Some(there)) => assert_eq!(there, content, "{place}: moved"),
                    (None, None) => assert_eq!(tool, "delete_file", "{place}: the file is gone"),
                    (Some(_), Some(_)) => panic!("{place}: there are two"),
                }
            }
        }
    }
}

#[test]
fn heavy_a_failing_disk_leaves_the_old_file_and_an_error() {
    let content = old();
    let args = ["path=a.txt", "old_string=line 7 of", "new_string=line seven of"];
    let mut tried = 0;
    for Made { call, nth, on_project } in calls_made("edit_file", &args) {
        let errors: &[&str] = match call.as_str() {
            "write" | "pwrite64" | "openat" if on_project => &["ENOSPC", "EIO", "EDQUOT"],
            "fsync" | "fdatasync" | "renameat" | "renameat2" | "fchmod" if on_project => &["EIO", "ENOSPC"],
            _ => continue,
        };
        for error in errors {
            let rig = Rig::with(&[("a.txt", &content)]);
            let inject = format!("inject={call}:error={error}:when={nth}");
            let ok = strace(&rig, "edit_file", &args, &["-e", &format!("trace={call}"), "-e", &inject]);
            assert!(!ok, "{call} #{nth} {error}: success was reported");
            assert_eq!(rig.read("a.txt"), content, "{call} #{nth} {error}");
            let left: Vec<_> = std::fs::read_dir(rig.project())
                .expect("readable")
                .flatten()
                .map(|e| e.file_name())
                .collect();
            assert_eq!(left, ["a.txt"], "{call} #{nth} {error}: something was left behind");
            tried += 1;
        }
    }
    assert!(tried >= 8, "only {tried} failures were tried");
}

#[test]
fn heavy_a_batch_whose_folder_is_not_synced_is_taken_back_as_a_whole() {
    let edits = r#"edits=[{"path":"a.txt","old_string":"line 7 of","new_string":"x"},{"path":"made/b.txt","old_string":"","new_string":"y"}]"#;
    for (tool, args) in [
        ("write_file", vec!["path=a.txt", "content=new"]),
        ("apply_edits", vec![edits]),
        ("delete_file", vec!["path=a.txt"]),
    ] {
        let syncs: Vec<usize> = project_syncs(tool, &args);
        assert!(!syncs.is_empty(), "{tool} syncs nothing");
        for nth in syncs {
            let rig = Rig::with(&[("a.txt", &old())]);
            let inject = format!("inject=fsync:error=EIO:when={nth}");
            let (ok, said) = strace_said(&rig, tool, &args, &["-e", "trace=fsync", "-e", &inject]);
            assert!(!ok, "{tool}: success was reported, fsync #{nth}: {said}");
            assert_eq!(rig.read("a.txt"), old(), "{tool}, fsync #{nth}");
            assert_eq!(names(&rig), ["a.txt"], "{tool}, fsync #{nth}: something was left behind");
        }
    }
}

#[test]
fn heavy_a_change_that_the_disk_does_not_confirm_is_told_as_made() {
    for (tool, args, begins) in [
        ("move_file", vec!["source=a.txt", "destination=b.txt"], "Moved a.txt to b.txt"),
        ("delete_file", vec!["path=folder", "recursive=true"], "Deleted directory folder"),
    ] {
        for nth in project_syncs(tool, &args) {
            let rig = with_folder();
            let inject = format!("inject=fsync:error=EIO:when={nth}");
            let (ok, said) = strace_said(&rig, tool, &args, &["-e", "trace=fsync", "-e", &inject]);
            assert!(ok, "{tool}, fsync #{nth}: {said}");
            assert!(said.starts_with(begins), "{tool}, fsync #{nth}: {said}");
            assert!(said.contains("the disk did not confirm it"), "{tool}, fsync #{nth}: {said}");
            let left = if tool == "move_file" { ["b.txt", "folder"].as_slice() } else { &["a.txt"] };
            assert_eq!(names(&rig), left, "{tool}, fsync #{nth}");
        }
    }
}

#[test]
fn heavy_what_cannot_be_put_back_is_kept_under_a_name_that_is_told() {
    let args = ["path=a.txt", "old_string=line 7 of", "new_string=line seven of"];
    let rig = Rig::with(&[("a.txt", &old())]);
    // The folder's sync fails after the exchange, and so do both ways back.
    let last = project_syncs("edit_file", &args).into_iter().max().expect("it syncs");
    let sync = format!("inject=fsync:error=EIO:when={last}");
    let options = ["-e", "trace=fsync,renameat2", "-e", &sync, "-e", "inject=renameat2:error=EIO:when=2..3"];
    let (ok, said) = strace_said(&rig, "edit_file", &args, &options);
    assert!(!ok, "{said}");
    assert!(said.contains("a.txt holds the new content all the same"), "{said}");
    let kept = names(&rig).into_iter().find(|name| name.starts_with("a.txt.kept-")).expect("it is kept");
    assert!(said.contains(&kept), "its name is told: {said}");
    assert_eq!(rig.read(&kept), old());
    // Neither another write there nor another start takes it for a leftover.
    assert!(rig.run(&["call", "write_file", "path=new.txt", "content=x"]).status.success());
    drop(rig.stdio());
    assert_eq!(rig.read(&kept), old());
    let call = said.split("undo_edit ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("told");
    let undone = rig.run(&["call", "undo_edit", &format!("call_id={call}")]);
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    assert_eq!(rig.read("a.txt"), old());
}

/// The syncs of a run that are about the project, by their number.
fn project_syncs(tool: &str, args: &[&str]) -> Vec<usize> {
    let syncs = calls_made(tool, args).into_iter().filter(|made| made.call == "fsync" && made.on_project);
    syncs.map(|made| made.nth).collect()
}

fn with_folder() -> Rig {
    Rig::with(&[("a.txt", &old()), ("folder/file.txt", "x")])
}

fn names(rig: &Rig) -> Vec<String> {
    let entries = std::fs::read_dir(rig.project()).expect("readable").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// One system call of a run that is left alone: its name, which one of that name it is, and
/// whether it is about the project's files.
struct Made {
    call: String,
    nth: usize,
    on_project: bool,
}

fn calls_made(tool: &str, args: &[&str]) -> Vec<Made> {
    calls_made_in(&with_folder(), tool, args)
}

fn calls_made_in(rig: &Rig, tool: &str, args: &[&str]) -> Vec<Made> {
    let log = rig.outside().join("calls");
    let log_name = log.to_str().expect("text").to_owned();
    assert!(strace(rig, tool, args, &["-y", "-o", &log_name]), "the run that is left alone succeeds");
    let project = rig.project().to_str().expect("text").to_owned();
    let mut counts = BTreeMap::new();
    let mut made = Vec::new();
    for line in std::fs::read_to_string(log).expect("readable").lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let nth = counts.entry(call.to_owned()).or_insert(0);
        *nth += 1;
        let writes = call != "openat" || rest.contains("O_CREAT");
        let rest = rest.replace(&format!("AT_FDCWD<{project}>"), "");
        made.push(Made { call: call.to_owned(), nth: *nth, on_project: writes && rest.contains(&project) });
    }
    made
}

/// The number of times each system call that could change a file is made. Reading and memory cannot.
fn system_calls(tool: &str, args: &[&str]) -> BTreeMap<String, usize> {
    system_calls_in(&with_folder(), tool, args)
}

/// The same in a project of its own.
pub(crate) fn system_calls_in(rig: &Rig, tool: &str, args: &[&str]) -> BTreeMap<String, usize> {
    const COULD_CHANGE: &[&str] = &[
        "openat",
        "openat2",
        "write",
        "pwrite64",
        "writev",
        "fsync",
        "fdatasync",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "link",
        "linkat",
        "mkdir",
        "mkdirat",
        "ftruncate",
        "fchmod",
        "fchown",
        "flock",
        "fsetxattr",
        "close",
        "statx",
        "newfstatat",
    ];
    let mut counts = BTreeMap::new();
    for Made { call, .. } in calls_made_in(rig, tool, args) {
        if COULD_CHANGE.contains(&call.as_str()) {
            *counts.entry(call).or_insert(0) += 1;
        }
    }
    counts
}

fn strace(rig: &Rig, tool: &str, args: &[&str], options: &[&str]) -> bool {
    strace_said(rig, tool, args, options).0
}

/// True if it succeeded, and its output.
pub(crate) fn strace_said(rig: &Rig, tool: &str, args: &[&str], options: &[&str]) -> (bool, String) {
    let mut command = rig.command("strace");
    if !options.contains(&"-o") {
        command.args(["-o", "/dev/null"]);
    }
    command.args(options).arg(env!("CARGO_BIN_EXE_tectum")).arg("call").arg(tool).args(args);
    let output = command.stdin(Stdio::null()).output().expect("strace runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}
