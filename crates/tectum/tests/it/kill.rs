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

/// One system call of a run that is left alone: its name, which one of that name it is, and
/// whether it is about the project's files.
struct Made {
    call: String,
    nth: usize,
    on_project: bool,
}

fn calls_made(tool: &str, args: &[&str]) -> Vec<Made> {
    let rig = Rig::with(&[("a.txt", &old())]);
    let log = rig.outside().join("calls");
    let log_name = log.to_str().expect("text").to_owned();
    assert!(strace(&rig, tool, args, &["-y", "-o", &log_name]), "the run that is left alone succeeds");
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

/// How often each system call that could change a file is made. Reading and memory cannot.
fn system_calls(tool: &str, args: &[&str]) -> BTreeMap<String, usize> {
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
    for Made { call, .. } in calls_made(tool, args) {
        if COULD_CHANGE.contains(&call.as_str()) {
            *counts.entry(call).or_insert(0) += 1;
        }
    }
    counts
}

fn strace(rig: &Rig, tool: &str, args: &[&str], options: &[&str]) -> bool {
    let mut command = rig.command("strace");
    if !options.contains(&"-o") {
        command.args(["-o", "/dev/null"]);
    }
    command.args(options).arg(env!("CARGO_BIN_EXE_tectum")).arg("call").arg(tool).args(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().expect("strace runs").success()
}
