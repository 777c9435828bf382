//! Running houses, found and asked through their sockets.

use std::{
    io::{Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

use crate::rig::Rig;

/// The houses that run, as `tectum status` tells them.
fn houses(rig: &Rig) -> Vec<Value> {
    let output = rig.run(&["status", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["silent"], serde_json::json!([]), "{told}");
    told["houses"].as_array().expect("a list").clone()
}

fn sockets(rig: &Rig) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(rig.outside().join("run/tectum")).expect("readable");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "api")).collect()
}

#[test]
fn status_finds_every_house_whatever_carries_it() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let nobody = rig.run(&["status"]);
    assert!(String::from_utf8_lossy(&nobody.stdout).contains("no Tectum is running"), "{nobody:?}");
    let (mut serve, up) = (rig.stdio(), rig.http());
    let told = houses(&rig);
    assert_eq!(told.len(), 2, "{told:?}");
    let project = std::fs::canonicalize(rig.project()).expect("there");
    let by_pid = |pid: u32| told.iter().find(|house| house["pid"] == pid).expect("told of").clone();
    for (pid, transport, command) in [(serve.child.id(), "stdio", "serve"), (up.child.id(), "http", "up")] {
        let house = by_pid(pid);
        assert_eq!(house["project"].as_str(), project.to_str(), "{house}");
        assert_eq!((&house["transport"], &house["command"]), (&transport.into(), &command.into()));
        assert_eq!(house["version"], env!("CARGO_PKG_VERSION"));
    }
    assert_eq!(by_pid(serve.child.id())["clients"][0]["name"], "rig");
    let shown = rig.run(&["status"]);
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("rig 1") && shown.contains(&up.child.id().to_string()), "{shown}");

    assert_eq!(sockets(&rig).len(), 2);
    serve.child.kill().expect("killed");
    serve.child.wait().expect("ended");
    let told = houses(&rig);
    assert_eq!((told.len(), sockets(&rig).len()), (1, 1), "what it left is gone, too");
    let (status, _) = {
        let second = rig.stdio();
        assert_eq!(houses(&rig).len(), 2);
        second.close()
    };
    assert!(status.success());
    assert_eq!(sockets(&rig).len(), 1, "one that ends takes its socket along");
}

#[test]
fn the_socket_is_for_its_owner_and_answers_as_the_hook_api_does() {
    let rig = Rig::new();
    let _serve = rig.stdio();
    let socket = sockets(&rig).pop().expect("a socket");
    let mode = |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().expect("a folder"))), (0o600, 0o700));
    let ask = |path: &str| {
        let mut stream = UnixStream::connect(&socket).expect("connects");
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        answer
    };
    assert!(ask("/status").ends_with(r#"{"status":"ok"}"#));
    assert!(ask("/api/house").contains("\"transport\":\"stdio\""));
    assert!(ask("/nonsense").starts_with("HTTP/1.0 404"));
}

/// What another user of this machine is told at a socket; `None` where this user may not act as another.
fn as_somebody_else(socket: &Path) -> Option<Output> {
    const NOBODY: u32 = 65_534;
    const ASK: &str = "import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b'GET /api/house HTTP/1.0\\r\\n\\r\\n')
s.settimeout(60)
print('told:', s.recv(100), end='')";
    let python = |script: &str| {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", script]).arg(socket).current_dir("/").uid(NOBODY).gid(NOBODY);
        command.output().ok().filter(|output| script == ASK || output.status.success())
    };
    python("pass").and_then(|_| python(ASK))
}

#[test]
fn another_user_is_not_let_in_and_not_answered_where_somebody_opened_the_folder() {
    let mut rig = Rig::new();
    let outside = rig.outside().to_owned();
    let open = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
    };
    rig.configure("[serve]\njoin = \"auto\"\n");
    let _serve = rig.stdio();
    let (run, folder) = (outside.join("run"), outside.join("run/tectum"));
    let names = std::fs::read_dir(&folder).expect("readable").map(|entry| entry.expect("an entry").path());
    let names: Vec<PathBuf> = names.filter(|path| path.extension().is_some()).collect();
    assert_eq!(names.len(), 2, "one for the hook API, one for relays: {names:?}");
    [&outside, &run].iter().for_each(|path| open(path, 0o755));
    for socket in &names {
        let Some(stranger) = as_somebody_else(socket) else { continue };
        assert!(String::from_utf8_lossy(&stranger.stderr).contains("PermissionError"), "{stranger:?}");
    }
    // What the files no longer hold off, the house does: the kernel tells it who comes.
    open(&folder, 0o777);
    for socket in &names {
        open(socket, 0o666);
        let Some(stranger) = as_somebody_else(socket) else { continue };
        let told = String::from_utf8_lossy(&stranger.stdout);
        assert!(told == "told: b''" || told.is_empty(), "{stranger:?}");
    }
    // Nobody looks for houses in such a folder, or opens one there: anybody could have put them there.
    let told: Value = serde_json::from_slice(&rig.run(&["status", "--json"]).stdout).expect("JSON");
    assert_eq!(told["houses"], serde_json::json!([]), "{told}");
    rig.set("TECTUM_SERVE_JOIN", "off");
    let _second = rig.stdio();
    assert_eq!(houses(&rig).len(), 1);
    assert_eq!(std::fs::read_dir(rig.home().join("state/tectum/houses")).expect("made").count(), 2);
    // Closed again, its owner is answered as before.
    open(&folder, 0o700);
    assert_eq!(houses(&rig).len(), 2);
}

#[test]
fn without_a_runtime_directory_the_socket_is_in_the_state() {
    let mut rig = Rig::new();
    rig.set("XDG_RUNTIME_DIR", rig.outside().join("absent/run"));
    std::fs::write(rig.outside().join("absent"), "a file").expect("written");
    let _serve = rig.stdio();
    assert_eq!(houses(&rig).len(), 1);
    let folder = rig.home().join("state/tectum/houses");
    assert!(std::fs::read_dir(folder).expect("made").count() >= 1);
}
