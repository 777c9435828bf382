//! The disk is never waited for on the thread that reads calls.

use serde_json::{Value, json};

use crate::{
    federated::{echo, until, with},
    rig::{Rig, Stdin},
};

/// The answer to a call, whatever is told meanwhile.
fn answer(client: &mut Stdin, id: &str, tool: &str, args: &Value) -> Value {
    let params = json!({"name": tool, "arguments": args});
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    loop {
        let message = client.receive();
        if message["id"] == id {
            return message["result"].clone();
        }
    }
}

#[test]
fn the_thread_that_reads_calls_never_waits_for_the_disk() {
    let rig = with(&echo("e", &[], ""));
    let log = rig.outside().join("calls");
    let mut strace = rig.command("strace");
    strace.args(["-f", "-qq", "-e", "trace=execve,fsync,fdatasync,syncfs", "-o"]).arg(&log);
    strace.arg(env!("CARGO_BIN_EXE_tectum")).arg("serve");
    let mut client = Rig::client(strace);
    client.handshake();

    // A change with its before-image, and the approvals of a server that was never met.
    let args = json!({"path": "a.txt", "old_string": "hello", "new_string": "bye"});
    let edited = answer(&mut client, "edit", "edit_file", &args);
    assert_eq!(edited["isError"], false, "{edited}");
    let echoed = answer(&mut client, "echo", "e__echo", &json!({"text": "x"}));
    assert_eq!(echoed["content"][0]["text"], "x", "{echoed}");
    let projects = rig.home().join("state/tectum/projects");
    until("the approvals are kept", || {
        let mut projects = std::fs::read_dir(&projects).into_iter().flatten().flatten();
        projects.any(|project| project.path().join("servers/e.pins.json").is_file())
    });
    let (status, said) = client.close();
    assert!(status.success(), "{said}");

    let calls = std::fs::read_to_string(log).expect("readable");
    let threads: Vec<(&str, &str)> =
        calls.lines().filter_map(|line| line.split_once(' ')).map(|(id, call)| (id, call.trim())).collect();
    let (reads, first) = threads[0];
    assert!(first.starts_with("execve("), "{calls}");
    let syncs: Vec<_> = threads.iter().filter(|(_, call)| call.contains("sync(")).collect();
    assert!(syncs.len() >= 4, "{calls}");
    assert!(syncs.iter().all(|(thread, _)| *thread != reads), "{calls}");
}
