//! Commands share a fork server: what was closed for one is closed for the next, whatever changed between
//! them, and the server's death costs nobody anything.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::json;
use tectum::peers::{
    child::{ForkServers, Order, Through},
    spec::Launch,
};
use tokio::io::AsyncReadExt as _;

use crate::rig::{Rig, Stdin, text};

const TECTUM: &str = env!("CARGO_BIN_EXE_tectum");
const SECRET: &str = "not-for-you";

fn rig() -> Rig {
    let rig = Rig::with(&[(".env", SECRET), ("a.txt", "hello\n"), ("sub/note", "below\n")]);
    rig.configure("[permissions]\nallow = [\"run_shell\"]\n");
    rig
}

fn run(client: &mut Stdin, command: &str) -> String {
    text(&client.call("run_shell", json!({"command": command}))).to_owned()
}

/// The children of a process that run this program with these words.
fn children(parent: u32, words: &str) -> Vec<u32> {
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.get(1) == Some(&parent.to_string().as_str()) && fields.first() != Some(&"Z")
    };
    let says = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(words)
    };
    let all = fs::read_dir("/proc").expect("readable").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_child).filter(says).collect()
}

fn server(client: &Stdin) -> u32 {
    match children(client.child.id(), "guard --forks")[..] {
        [one] => one,
        ref other => panic!("one server, not {other:?}"),
    }
}

/// The guards of commands: the one that waits for the next command has no child.
fn guards(server: u32) -> Vec<u32> {
    let mut guards = children(server, "guard --forks");
    guards.retain(|guard| !children(*guard, "").is_empty());
    guards
}

/// The number of processes that sleep for this long.
fn alive(word: &str) -> usize {
    let all = fs::read_dir("/proc").expect("readable").flatten();
    let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&format!("sleep\0{word}"))).count()
}

fn end(pid: u32) {
    signal(pid, rustix::process::Signal::KILL);
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().expect("a number")).expect("a number");
    rustix::process::kill_process(pid, signal).expect("it is there");
}

#[test]
fn what_is_closed_stays_closed_when_files_come_and_are_replaced() {
    let rig = rig();
    let mut client = rig.stdio();
    let closed = |said: &str| assert!(!said.contains(SECRET) && !said.contains("EXIT CODE: 0"), "{said}");
    closed(&run(&mut client, "cat .env"));
    let first = server(&client);
    // As an editor saves it: another file takes the name, and the kernel takes the cover away.
    let fresh = rig.project().join("fresh");
    fs::write(&fresh, SECRET).expect("written");
    fs::rename(&fresh, rig.project().join(".env")).expect("renamed");
    closed(&run(&mut client, "cat .env"));
    // One that was not there before.
    fs::write(rig.project().join("sub/.env"), SECRET).expect("written");
    closed(&run(&mut client, "cat sub/.env"));
    // Removed and made again, perhaps with the same inode.
    fs::remove_file(rig.project().join(".env")).expect("removed");
    assert!(run(&mut client, "cat .env").contains("No such file"));
    fs::write(rig.project().join(".env"), SECRET).expect("written");
    closed(&run(&mut client, "cat .env"));
    assert_eq!(server(&client), first, "all by one server");
    assert_eq!(run(&mut client, "cat a.txt"), "STDOUT:\nhello\nEXIT CODE: 0");
}

#[test]
fn a_directory_that_came_later_can_be_read() {
    let mut rig = rig();
    let home = rig.outside().join("home");
    fs::create_dir_all(home.join(".ssh")).expect("made");
    fs::write(home.join(".ssh/id"), SECRET).expect("written");
    rig.set("HOME", &home);
    let mut client = rig.stdio();
    assert!(run(&mut client, "cat ~/.ssh/id").contains("Permission denied"));
    fs::create_dir(home.join("later")).expect("made");
    fs::write(home.join("later/f"), "new\n").expect("written");
    assert_eq!(run(&mut client, "cat ~/later/f"), "STDOUT:\nnew\nEXIT CODE: 0");
    assert!(run(&mut client, "cat ~/.ssh/id").contains("Permission denied"));
}

#[test]
fn temporary_files_are_there_for_the_next_command_and_gone_with_tectum() {
    let rig = rig();
    let mut client = rig.stdio();
    let said = run(&mut client, "echo kept > $TMPDIR/f; echo $TMPDIR");
    let place = PathBuf::from(said.lines().nth(1).expect("a path"));
    assert_eq!(run(&mut client, "cat $TMPDIR/f"), "STDOUT:\nkept\nEXIT CODE: 0");
    let server = server(&client);
    end(client.child.id());
    while place.exists() || Path::new(&format!("/proc/{server}/exe")).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_killed_server_is_replaced_and_its_commands_go_on() {
    let rig = rig();
    let mut client = rig.stdio();
    let begun = client.call(
        "run_shell",
        json!({"command": "until [ -e go ]; do sleep 0.02; done; echo done", "yield_ms": 1}),
    );
    let session = begun["structuredContent"]["session"].as_str().expect("a session").to_owned();
    // The server is killed when it has forked the guard.
    let first = server(&client);
    let guard = loop {
        match guards(first)[..] {
            [guard] => break guard,
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    end(first);
    assert_eq!(run(&mut client, "touch go; cat a.txt"), "STDOUT:\nhello\nEXIT CODE: 0");
    // The guard of the other command is Tectum's child now.
    let servers = children(client.child.id(), "guard --forks");
    assert_eq!(servers.iter().filter(|pid| ![first, guard].contains(pid)).count(), 1, "{servers:?}");
    let ended = client.call("shell_poll", json!({"session": session, "yield_ms": 600_000}));
    assert!(text(&ended).contains("done\nEXIT CODE: 0"), "{ended}");
}

#[test]
fn what_a_killed_guard_leaves_ends_all_the_same() {
    let rig = rig();
    let mut client = rig.stdio();
    let word = format!("32{}.5", std::process::id());
    let command = format!("setsid sleep {word} & sleep {word}");
    let begun = client.call("run_shell", json!({"command": command, "yield_ms": 1}));
    let session = begun["structuredContent"]["session"].as_str().expect("a session").to_owned();
    while alive(&word) < 2 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    guards(server(&client)).into_iter().for_each(end);
    let ended = client.call("shell_poll", json!({"session": session, "yield_ms": 600_000}));
    assert!(text(&ended).contains("EXIT CODE: 137"), "{ended}");
    assert_eq!(alive(&word), 0);
}

/// Where the kernel gives us a control group: even a process that nobody can find, since it left its session,
/// cleared its environment and lost its guard, ends with Tectum.
#[test]
fn nothing_survives_in_the_control_group() {
    let rig = rig();
    let mut client = rig.stdio();
    let word = format!("31{}.5", std::process::id());
    let lost = format!("env -i setsid setsid sleep {word} > /dev/null 2>&1 & sleep 1000");
    client.call("run_shell", json!({"command": lost, "yield_ms": 200}));
    let server = server(&client);
    let group = fs::read_to_string(format!("/proc/{server}/cgroup")).expect("readable");
    if !group.lines().any(|line| line.starts_with("0::") && line.ends_with(&format!("tectum-{server}"))) {
        eprintln!("no control group can be made here");
        return;
    }
    while alive(&word) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let guard = guards(server);
    // Neither of the two who would look for it gets the time to.
    end(client.child.id());
    guard.into_iter().for_each(end);
    while alive(&word) > 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    while Path::new(&format!("/proc/{server}/exe")).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let left = fs::read_to_string("/proc/self/mountinfo").expect("readable");
    let tree = left.lines().find(|line| line.contains(" - cgroup2 ")).and_then(|line| line.split(' ').nth(4));
    assert!(!Path::new(tree.expect("mounted")).join(format!("tectum-{server}")).exists());
}

#[tokio::test]
async fn an_order_longer_than_a_socket_takes_at_once_arrives_whole() {
    let (rig, servers) = (rig(), Arc::new(ForkServers::default()));
    let mut args = vec!["-c".to_owned(), "echo $# ${#1} ${#5}".to_owned(), "sh".to_owned()];
    args.extend(std::iter::repeat_n("x".repeat(120_000), 5));
    let launch = Launch { command: "sh".into(), args, env: Default::default(), cwd: None };
    let project = rig.project();
    let order = Order { launch: &launch, directory: &project, guard: Some(Path::new(TECTUM)) };
    let mut child = servers.start(&order, None, Through::Pipes).expect("starts");
    let mut said = String::new();
    child.stdout.read_to_string(&mut said).await.expect("readable");
    assert_eq!(said, "5 120000 120000\n");
    assert_eq!(child.life.ended().await.code(), Some(0));
}

/// The guard that waits for the next command may be killed, stopped and left behind like any process.
#[test]
fn a_spare_guard_that_is_gone_is_done_without_and_none_outlives_tectum() {
    let rig = rig();
    let mut client = rig.stdio();
    // The guard of a command that just ended has no child either, until it is gone itself.
    let spare = |server: u32| loop {
        match children(server, "guard --forks")[..] {
            [only] if children(only, "").is_empty() => break only,
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    for _ in 0..3 {
        assert_eq!(run(&mut client, "cat a.txt"), "STDOUT:\nhello\nEXIT CODE: 0");
        end(spare(server(&client)));
    }
    assert_eq!(run(&mut client, "cat a.txt"), "STDOUT:\nhello\nEXIT CODE: 0");
    // What it entered beforehand is no longer what holds.
    fs::write(rig.project().join("sub/.env"), SECRET).expect("written");
    assert!(!run(&mut client, "cat sub/.env").contains(SECRET));
    let last = spare(server(&client));
    end(client.child.id());
    while Path::new(&format!("/proc/{last}/exe")).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// A server is killed after it was handed a command and before it forked a guard: the next one gets it.
#[tokio::test]
async fn a_command_that_a_killed_server_had_taken_is_not_lost() {
    let (rig, servers) = (rig(), Arc::new(ForkServers::default()));
    let args = vec!["-c".to_owned(), "echo once >> runs".to_owned()];
    let launch = Launch { command: "sh".into(), args, env: Default::default(), cwd: None };
    let project = rig.project();
    let order = Order { launch: &launch, directory: &project, guard: Some(Path::new(TECTUM)) };
    let mut child = servers.start(&order, None, Through::Pipes).expect("starts");
    assert_eq!(child.life.ended().await.code(), Some(0));
    let [server] = children(std::process::id(), "guard --forks")[..] else { panic!("not one server") };
    signal(server, rustix::process::Signal::STOP);
    let state = || fs::read_to_string(format!("/proc/{server}/stat")).expect("it is there");
    while !state().contains(") T ") {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let mut child = servers.start(&order, None, Through::Pipes).expect("starts");
    end(server);
    assert_eq!(child.life.ended().await.code(), Some(0));
    assert_eq!(fs::read_to_string(project.join("runs")).expect("written"), "once\nonce\n");
}
