//! `tectum call`: arguments from words, results for people and programs, exit codes.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use crate::{cli_said::Said, rig::Rig};

fn said(rig: &Rig, args: &[&str]) -> Said {
    rig.run(args).into()
}

#[test]
fn people_get_the_text() {
    let rig = Rig::with(&[("a.txt", "one\ntwo\nthree\n")]);
    said(&rig, &["call", "read_file", "path=a.txt"]).gives("one\ntwo\nthree\n");
    let slice = said(&rig, &["call", "get_file_slice", "path=a.txt", "start_line=2", "end_line=2"]);
    assert!(slice.code == 0 && slice.out.contains("two") && !slice.out.contains("three"), "{}", slice.out);
}

#[test]
fn programs_get_everything() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let json = said(&rig, &["call", "read_file", "path=a.txt", "--json"]).json();
    assert_eq!(json["ok"], true);
    assert_eq!(json["text"], "one\n");
    assert_eq!(json["structured"]["path"], "a.txt");
    assert!(json["fault"].is_null() && json["took_ms"].is_f64(), "{json}");
    assert!(json["call_id"].as_str().expect("an id").starts_with("c-"), "{json}");
}

#[test]
fn a_fault_has_its_exit_code_and_its_advice() {
    let rig = Rig::with(&[(".env", "S=1\n"), ("folder/a", "")]);
    let refused = said(&rig, &["call", "read_file", "path=.env"]);
    assert_eq!((refused.code, refused.out.as_str()), (3, ""));
    assert!(
        refused.err.starts_with("error: `.env` is protected (built-in rule `.env*`)\nhint: "),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("\nhint: "), "{}", refused.err);
    assert_eq!(said(&rig, &["call", "read_file", "path=gone.txt"]).code, 4);
    assert_eq!(said(&rig, &["call", "read_file", "path=../outside"]).code, 3);
    assert_eq!(said(&rig, &["call", "read_file", "path=folder"]).code, 2);
}

#[test]
fn a_file_of_arguments_that_is_not_there_gets_advice_that_fits() {
    let rig = Rig::new();
    let whole = said(&rig, &["call", "read_file", "--args", "@nope.json"]);
    assert!(whole.code == 2 && whole.err.contains("@FILE with a file that can be read"), "{}", whole.err);
    let one = said(&rig, &["call", "read_file", "path=@nope.txt"]);
    assert!(one.code == 2 && one.err.contains("write path=@@nope.txt"), "{}", one.err);
}

#[test]
fn a_fault_as_json_is_a_result_like_any_other() {
    let rig = Rig::new();
    let refused = said(&rig, &["call", "--json", "read_file", "path=.env"]);
    assert_eq!((refused.code, refused.err.as_str()), (3, ""));
    let json = refused.json();
    assert_eq!((&json["ok"], &json["fault"]["kind"]), (&false.into(), &"permission".into()));
    assert!(json["fault"]["hint"].is_string() && json["structured"].is_null(), "{json}");
}

#[test]
fn mistakes_are_told_before_the_call() {
    let rig = Rig::with(&[("a.txt", "")]);
    said(&rig, &["call", "raed_file", "path=a.txt"])
        .fails(4, "error: unknown tool: raed_file\nhint: did you mean `read_file`?\n");
    said(&rig, &["call", "read_file", "pth=a.txt"])
        .fails(2, "error: read_file has no argument `pth`\nhint: did you mean `path`?\n");
    said(&rig, &["call", "get_file_slice", "path=a.txt", "start_line=x", "end_line=2"])
        .fails(2, "error: `start_line` must be an integer, got `x`\n");
    said(&rig, &["call", "read_file", "path=a.txt", "path=b.txt"])
        .fails(2, "error: `path` is given twice\nhint: give it once; lists are written as JSON\n");
    let missing = said(&rig, &["call", "read_file"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("missing argument `path`"), "{}", missing.err);
    let bare = said(&rig, &["call", "read_file", "a.txt"]);
    assert!(bare.err.starts_with("error: `a.txt` is not an argument: write key=value\n"), "{}", bare.err);
}

#[test]
fn a_mistake_as_json_is_one_line_on_standard_error() {
    let wrong = said(&Rig::new(), &["--json", "call", "read_file", "pth=a.txt"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    let error = wrong.error();
    assert_eq!((&error["kind"], &error["hint"]), (&"invalid_input".into(), &"did you mean `path`?".into()));
}

#[test]
fn all_arguments_at_once() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    said(&rig, &["call", "read_file", "--args", r#"{"path":"a.txt"}"#]).gives("one\n");
    let list = said(&rig, &["call", "read_file", "--args", "[]"]);
    assert!(list.code == 2 && list.err.starts_with("error: --args must be a JSON object\n"), "{}", list.err);
    assert_eq!(said(&rig, &["call", "read_file", "--args", "{"]).code, 2);
    assert_eq!(said(&rig, &["call", "read_file", "path=a", "--args", "{}"]).code, 2);
}

#[test]
fn a_value_comes_from_a_file_of_the_caller_or_from_standard_input() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("@odd", "odd\n"), ("elsewhere/name", "a.txt")]);
    // The file is found from where the command was typed, not from --dir.
    let mut command = rig.tectum();
    command.current_dir(rig.project().join("elsewhere")).args([
        "-C",
        "..",
        "call",
        "read_file",
        "path=@name",
    ]);
    Said::from(command.stdin(Stdio::null()).output().expect("runs")).gives("one\n");

    said(&rig, &["call", "read_file", "path=@@odd"]).gives("odd\n");
    let gone = said(&rig, &["call", "read_file", "path=@gone"]);
    assert!(gone.code == 2 && gone.err.starts_with("error: cannot read gone: "), "{}", gone.err);

    let from_stdin = |args: &[&str], input: &str| {
        let mut command: Command = rig.tectum();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("written");
        Said::from(child.wait_with_output().expect("ends"))
    };
    from_stdin(&["call", "read_file", "path=@-"], "a.txt").gives("one\n");
    from_stdin(&["call", "read_file", "--args", "@-"], r#"{"path":"a.txt"}"#).gives("one\n");
}

#[test]
fn files_are_written_from_files_and_lists_are_json() {
    let rig = Rig::with(&[("draft.md", "a = 1\nline two\n")]);
    let written = said(&rig, &["call", "write_file", "path=notes.md", "content=@draft.md"]);
    assert_eq!(written.code, 0, "{}", written.err);
    assert_eq!(rig.read("notes.md"), rig.read("draft.md"));

    let edits = r#"edits=[{"path":"notes.md","old_string":"two","new_string":"2"}]"#;
    let edited = said(&rig, &["call", "apply_edits", edits]);
    assert_eq!(edited.code, 0, "{}", edited.err);
    assert_eq!(rig.read("notes.md"), "a = 1\nline 2\n");
    let wrong = said(&rig, &["call", "apply_edits", "edits=notes.md"]);
    wrong
        .fails(2, "error: `edits` must be a JSON list, got `notes.md`\nhint: write edits='[\"notes.md\"]'\n");
}

#[test]
fn what_is_kept_for_undo_lies_in_the_users_state_and_not_in_the_project() {
    let rig = Rig::with(&[("a.txt", "old\n")]);
    let edit = ["call", "edit_file", "path=a.txt", "old_string=old", "new_string=new"];
    assert_eq!(said(&rig, &edit).code, 0);
    assert!(rig.home().join("state/tectum/projects").is_dir());
    let names: Vec<_> =
        rig.project().read_dir().expect("there").map(|e| e.expect("there").file_name()).collect();
    assert_eq!(names, ["a.txt"]);
}

#[test]
fn options_work_before_and_after_the_command() {
    let rig = Rig::with(&[("sub/a.txt", "one\n")]);
    for args in [
        ["-C", "sub", "call", "read_file", "path=a.txt"],
        ["call", "-C", "sub", "read_file", "path=a.txt"],
        ["call", "read_file", "path=a.txt", "--dir", "sub"],
    ] {
        said(&rig, &args).gives("one\n");
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let rig = Rig::with(&[("big.txt", &"line of some length\n".repeat(4000))]);
    let mut command = rig.tectum();
    command.args(["call", "read_file", "path=big.txt"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn heavy_ctrl_c_cancels_the_call() {
    // Much to search and little to write: one large file under many names.
    let rig = Rig::with(&[("0/a.txt", &"nothing to find here\n".repeat(20_000))]);
    for n in 1..600 {
        let folder = rig.project().join(n.to_string());
        fs::create_dir(&folder).expect("made");
        fs::hard_link(rig.project().join("0/a.txt"), folder.join("a.txt")).expect("linked");
    }
    let mut command = rig.tectum();
    command.env("TECTUM_TOOLS_THREADS", "1").args(["call", "search_content", "path=.", "pattern=absent"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // Until the signal is caught it would simply end the process.
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("runs");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask").trim();
        u64::from_str_radix(mask, 16).expect("hexadecimal") & 0b10 != 0
    };
    while !caught() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(rig.command("kill").args(["-INT", &child.id().to_string()]).status().expect("runs").success());
    Said::from(child.wait_with_output().expect("ends")).fails(6, "error: the call was cancelled\n");
}

#[test]
fn help_for_a_tool_is_the_tools_own() {
    let rig = Rig::new();
    let help = said(&rig, &["call", "edit_file", "--help"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    for words in ["Usage: tectum call edit_file [KEY=VALUE]...", "old_string", "text, required"] {
        assert!(help.out.contains(words), "{words}: {}", help.out);
    }
    assert!(said(&rig, &["call", "--help"]).out.contains("Call one tool"));
    assert_eq!(said(&rig, &["call", "edit_fil", "--help"]).code, 4);
    assert!(said(&rig, &["help"]).out.contains("Usage: tectum"));
}
