//! Tectum behind scripts that do not say so: by shell, by `env`, by Python, with its environment
//! cleared, one in the other. Real processes are counted.

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::json;

use crate::{
    federated::{Client, Era, command, echo, starts, until},
    observe_ourselves::processes,
    rig::Rig,
    watched::ON,
};

const TECTUM: &str = env!("CARGO_BIN_EXE_tectum");

fn rig() -> Rig {
    Rig::with(&[("a.txt", "hello\n")])
}

/// A program of somebody's, from its text.
fn program(rig: &Rig, name: &str, text: &str) -> PathBuf {
    let path = rig.outside().join(name);
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    path
}

/// The file in which each start of a wrapper leaves a line.
fn marker(rig: &Rig) -> PathBuf {
    rig.outside().join("starts")
}

/// A shell script that counts its starts and goes on with this line.
fn shell(rig: &Rig, name: &str, line: &str) -> PathBuf {
    program(rig, name, &format!("#!/bin/sh\necho $$ >> '{}'\n{line}\n", marker(rig).display()))
}

/// The problem of a server, by a running binary.
fn wrong(rig: &Rig, name: &str) -> String {
    let said = rig.run(&["list", "--json"]);
    let said: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap_or_default();
    let servers = said["servers"].as_array().cloned().unwrap_or_default();
    let server = servers.iter().find(|server| server["name"] == name);
    server.map_or(String::new(), |server| server["now"]["error"].to_string())
}

/// Serves with these wrappers as servers: each is started once, says why it does not serve, and
/// nothing of it is left.
fn check(rig: &Rig, wrappers: &[PathBuf], scripts: usize) -> usize {
    let name = |number: usize| format!("me{number}");
    let tables =
        wrappers.iter().enumerate().map(|(number, path)| command(&name(number), path, &["serve"], ""));
    rig.configure(&format!("{ON}{}", tables.collect::<String>()));
    let mut client = Client::new(rig, Era::Legacy);
    client.call("read_file", json!({"path": "a.txt"}));
    for number in 0..wrappers.len() {
        until("its refusal", || wrong(rig, &name(number)).contains("circle"));
    }
    let started = starts(&marker(rig)).len();
    let running = processes(rig);
    assert_eq!(started, scripts, "{running:#?}");
    assert_eq!(running.len(), 1, "{running:#?}");
    assert!(client.tools().iter().all(|tool| !tool.starts_with("me")));
    client.pipe.close();
    until("the end of all", || processes(rig).is_empty());
    started
}

#[test]
fn six_wrappers_that_say_nothing_start_once_each() {
    let rig = rig();
    let home = rig.home();
    let (home, path) = (home.display(), "PATH=/usr/local/bin:/usr/bin:/bin");
    let python = format!(
        "#!/usr/bin/env python3\nimport subprocess, sys\nopen('{}', 'a').write('1\\n')\n\
         sys.exit(subprocess.run(['{TECTUM}'] + sys.argv[1:]).returncode)\n",
        marker(&rig).display()
    );
    let wrappers = [
        shell(&rig, "exec.sh", &format!("exec '{TECTUM}' \"$@\"")),
        shell(&rig, "waits.sh", &format!("'{TECTUM}' \"$@\"\nexit $?")),
        shell(&rig, "env.sh", &format!("exec env A=1 '{TECTUM}' \"$@\"")),
        shell(&rig, "cleared.sh", &format!("exec env -i HOME='{home}' {path} '{TECTUM}' \"$@\"")),
        shell(&rig, "session.sh", &format!("exec setsid -w env -u TECTUM_WITHIN '{TECTUM}' \"$@\"")),
        program(&rig, "wrap.py", &python),
    ];
    let started = check(&rig, &wrappers, 6);
    println!("soak: scripts that six unmarked wrappers of Tectum started in all, none left | {started}");
}

#[test]
fn wrappers_of_wrappers_start_once_each() {
    let rig = rig();
    let mut inner = PathBuf::from(TECTUM);
    for level in 0..6 {
        let cleared =
            if level % 2 == 0 { format!("env -i HOME='{}' ", rig.home().display()) } else { String::new() };
        inner =
            shell(&rig, &format!("level{level}.sh"), &format!("exec {cleared}'{}' \"$@\"", inner.display()));
    }
    check(&rig, &[inner], 6);
}

#[test]
fn a_copy_behind_a_wrapper_is_the_same_program() {
    let rig = rig();
    let copied = rig.outside().join("gateway");
    std::fs::copy(TECTUM, &copied).expect("copied");
    let wrapper = shell(
        &rig,
        "copy.sh",
        &format!("exec env -i HOME='{}' '{}' \"$@\"", rig.home().display(), copied.display()),
    );
    check(&rig, &[wrapper], 1);
}

/// A wrapper that serves another folder.
fn elsewhere(rig: &Rig, name: &str, cleared: &str) -> (PathBuf, PathBuf) {
    let folder = rig.outside().join(name);
    std::fs::create_dir(&folder).expect("made");
    std::fs::write(folder.join("b.txt"), "there\n").expect("written");
    let line = format!("exec {cleared} '{TECTUM}' -C '{}' \"$@\"", folder.display());
    (shell(rig, &format!("{name}.sh"), &line), folder)
}

fn there(client: &mut Client, name: &str) {
    client.until_listed(&format!("{name}__read_file"));
    let read = client.say(&format!("{name}__read_file"), json!({"path": "b.txt"}));
    assert_eq!(read, "there\n");
}

#[test]
fn others_for_other_folders_serve_and_nothing_is_started_twice() {
    let rig = rig();
    let names = ["one", "two", "three"];
    let tables: String =
        names.iter().map(|name| command(name, elsewhere(&rig, name, "").0, &["serve"], "")).collect();
    rig.configure(&format!("[federation]\nexposure = \"all\"\n{tables}"));
    let mut client = Client::new(&rig, Era::Legacy);
    names.iter().for_each(|name| there(&mut client, name));
    assert_eq!(starts(&marker(&rig)).len(), names.len(), "{:#?}", processes(&rig));
    client.pipe.close();
    until("the end of all", || processes(&rig).is_empty());
}

#[test]
fn one_for_another_folder_has_servers_of_its_own() {
    let rig = rig();
    let (script, folder) = elsewhere(&rig, "one", "");
    let own = json!({"mcpServers": {"own": {"command": crate::rig::fixture(),
        "args": ["--role", "echo", "--name", "own"]}}});
    std::fs::write(folder.join(".mcp.json"), own.to_string()).expect("written");
    let trusted = rig.run(&["-C", folder.to_str().expect("text"), "trust", "--yes"]);
    assert!(trusted.status.success(), "{trusted:?}");
    rig.configure(&format!("[federation]\nexposure = \"all\"\n{}", command("one", script, &["serve"], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__own__echo");
}

#[test]
fn one_whose_environment_was_cleared_serves_another_folder_and_starts_nobody() {
    let rig = rig();
    let cleared = format!("env -i HOME='{}' PATH=/usr/bin:/bin", rig.home().display());
    let (script, _) = elsewhere(&rig, "one", &cleared);
    let counted = shell(
        &rig,
        "counted.sh",
        &format!("exec '{}' --role echo --name more", crate::rig::fixture().display()),
    );
    rig.configure(&format!(
        "[federation]\nexposure = \"all\"\n{}{}{}",
        command("one", script, &["serve"], ""),
        command("more", counted, &[], ""),
        echo("plain", &[], "")
    ));
    let mut client = Client::new(&rig, Era::Legacy);
    there(&mut client, "one");
    client.until_listed("more__echo");
    // The outer one starts both; the inner one could not know that, and starts neither.
    assert_eq!(starts(&marker(&rig)).len(), 2, "{:#?}", processes(&rig));
    assert!(
        client.tools().iter().all(|tool| !tool.starts_with("one__more") && !tool.starts_with("one__plain"))
    );
}
