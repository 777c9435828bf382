//! `tectum run` when somebody interrupts it, and when somebody is asked on a terminal.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
};

use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use serde_json::json;

use crate::{
    federated::echo,
    rig::Rig,
    run_model::{ModelServer, Reply, call},
    run_task::command,
};

pub(crate) fn interrupt(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, Signal::INT).expect("sent");
}

#[test]
fn ctrl_c_in_a_long_call_cancels_it_and_ends() {
    let rig = Rig::new();
    rig.configure(&echo("one", &[], ""));
    let server = ModelServer::start(true, vec![call("one__hang", json!({})), Reply::Text("never asked for")]);
    let mut child =
        command(&rig, &server, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut errors = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    errors.read_line(&mut line).expect("readable");
    assert!(line.starts_with("  one__hang"), "{line}");
    interrupt(&child);
    let mut rest = String::new();
    errors.read_to_string(&mut rest).expect("readable");
    assert_eq!(child.wait().expect("ends").code(), Some(6), "{rest}");
    assert!(
        rest.contains("one__hang failed: the call was cancelled") && rest.ends_with("stopped: cancelled\n"),
        "{rest}"
    );
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn ctrl_c_while_the_model_thinks_ends_at_once() {
    let rig = Rig::new();
    let server = ModelServer::start(true, vec![Reply::Silence]);
    let child = command(&rig, &server, &["--json"]).stdout(Stdio::piped()).spawn().expect("starts");
    server.wait(1);
    interrupt(&child);
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(6));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((&said["reason"], &said["ok"]), (&json!("cancelled"), &json!(false)));
}

/// Runs the task on a terminal, answers each question when it is shown, and gives all that was shown.
fn on_a_terminal(rig: &Rig, server: &ModelServer, answers: &[&str]) -> String {
    let (code, shown) = at_a_terminal(command(rig, server, &[]), answers);
    assert_eq!(code, Some(0), "{shown}");
    shown
}

/// The same for any command, with its exit code.
pub(crate) fn at_a_terminal(mut command: Command, answers: &[&str]) -> (Option<i32>, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("granted");
    unlockpt(&ours).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("a name").into_string().expect("text");
    let theirs = File::options().read(true).write(true).open(name).expect("its other side");
    let end = |file: &File| Stdio::from(OwnedFd::from(file.try_clone().expect("a copy")));
    let mut child =
        command.stdin(end(&theirs)).stdout(end(&theirs)).stderr(end(&theirs)).spawn().expect("starts");
    // The command holds the other side, too.
    drop((theirs, command));
    let mut terminal = File::from(ours);
    let (mut shown, mut answered) = (String::new(), 0);
    let mut bytes = [0; 1024];
    // A terminal whose other side is closed gives an error, not an end.
    while let Ok(read @ 1..) = terminal.read(&mut bytes) {
        shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        if answered < answers.len() && shown.matches("[y/N]").count() > answered {
            terminal.write_all(answers[answered].as_bytes()).expect("typed");
            answered += 1;
        }
    }
    let code = child.wait().expect("ends").code();
    assert_eq!(answered, answers.len(), "nobody was asked: {shown}");
    (code, shown)
}

#[test]
fn a_person_at_a_terminal_is_asked() {
    for (answer, expect) in [("y\n", "the cat\n"), ("n\n", "teh cat\n"), ("\n", "teh cat\n")] {
        let rig =
            Rig::with(&[("a.txt", "teh cat\n"), ("tectum.toml", "[permissions]\nask = [\"edit_file\"]\n")]);
        let replies = vec![
            call("edit_file", json!({ "path": "a.txt", "old_string": "teh", "new_string": "the" })),
            Reply::Text("All \u{1b}[2J said."),
        ];
        let server = ModelServer::start(true, replies);
        let shown = on_a_terminal(&rig, &server, &[answer]);
        assert_eq!(rig.read("a.txt"), expect, "{shown}");
        assert!(shown.contains("edit_file {\"path\":\"a.txt\"") && shown.contains("ask rule"), "{shown}");
        assert!(
            shown.contains("said.") && !shown.contains("\u{1b}[2J"),
            "a model steers no terminal: {shown}"
        );
        assert_eq!(server.asked()[1].last().contains("was refused by a person"), expect.starts_with("teh"));
    }
}

#[test]
fn two_questions_at_once_are_shown_one_after_the_other() {
    let rig = Rig::with(&[
        ("a.txt", "teh cat\n"),
        ("b.txt", "teh dog\n"),
        ("tectum.toml", "[permissions]\nask = [\"edit_file\"]\n"),
    ]);
    let edit = |path: &str| {
        ("edit_file", json!({ "path": path, "old_string": "teh", "new_string": "the" }).to_string())
    };
    let replies = vec![Reply::Calls(vec![edit("a.txt"), edit("b.txt")]), Reply::Text("Done.")];
    let server = ModelServer::start(true, replies);
    let shown = on_a_terminal(&rig, &server, &["y\n", "n\n"]);
    let edited = [rig.read("a.txt"), rig.read("b.txt")].iter().filter(|text| text.starts_with("the")).count();
    assert_eq!(edited, 1, "each answer is for its own question: {shown}");
}
