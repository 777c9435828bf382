//! Commands through the front door: what they say, what they find around them, and how they go on.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::rig::{Rig, Stdin, text};

/// Commands are asked about unless a rule allows them.
const ALLOWED: &str = "[permissions]\nallow = [\"run_shell\", \"run_powershell\", \"shell_write\"]\n";

fn rig() -> Rig {
    let rig = Rig::with(&[("a.txt", "hello\n"), ("sub/b.txt", "below\n")]);
    rig.configure(ALLOWED);
    rig
}

fn run(client: &mut Stdin, args: Value) -> Value {
    client.call("run_shell", args)
}

#[track_caller]
fn said(client: &mut Stdin, args: Value) -> String {
    let result = run(client, args);
    text(&result).to_owned()
}

/// Asks until a session has said this.
fn poll_until(client: &mut Stdin, session: &str, word: &str) -> String {
    let mut all = String::new();
    while !all.contains(word) {
        let polled = client.call("shell_poll", json!({"session": session, "yield_ms": 20}));
        assert!(
            polled["structuredContent"]["running"] == true || text(&polled).contains(word),
            "{all}\n{polled}"
        );
        all.push_str(text(&polled));
    }
    all
}

#[test]
fn a_command_says_what_it_says_and_how_it_ended() {
    let (rig, data) = (rig(), |result: &Value| result["structuredContent"].clone());
    let mut client = rig.stdio();
    assert_eq!(said(&mut client, json!({"command": "cat a.txt"})), "STDOUT:\nhello\nEXIT CODE: 0");
    let result = run(&mut client, json!({"command": "echo out; echo err >&2; exit 7"}));
    assert_eq!(text(&result), "STDOUT:\nout\nSTDERR:\nerr\nEXIT CODE: 7");
    let data = data(&result);
    assert_eq!(
        (&data["stdout"], &data["stderr"], &data["exit_code"]),
        (&json!("out\n"), &json!("err\n"), &json!(7))
    );
    assert_eq!(data["sandbox"], "enforced");
    assert_eq!(said(&mut client, json!({"command": "true"})), "EXIT CODE: 0");
    assert_eq!(
        said(&mut client, json!({"command": "cat *.txt", "cwd": "sub"})),
        "STDOUT:\nbelow\nEXIT CODE: 0"
    );
    assert_eq!(said(&mut client, json!({"command": "kill -9 $$"})), "EXIT CODE: 137");
    assert_eq!(
        said(&mut client, json!({"command": "cat", "stdin": "given"})),
        "STDOUT:\ngiven\nEXIT CODE: 0"
    );
    assert_eq!(
        said(&mut client, json!({"command": "cat; read x || echo closed"})),
        "STDOUT:\nclosed\nEXIT CODE: 0"
    );
    let binary = said(&mut client, json!({"command": r"printf 'a\377\000\033[1mb'"}));
    assert_eq!(binary, "STDOUT:\na\\xff\\u{0}\\u{1b}[1mb\nEXIT CODE: 0");
    // What it leaves behind in the background ends with it.
    assert_eq!(said(&mut client, json!({"command": "sleep 1000 & echo up"})), "STDOUT:\nup\nEXIT CODE: 0");
    for (args, word) in [
        (json!({"command": " "}), "`command` is empty"),
        (json!({"command": "true", "cwd": "a.txt"}), "is no directory"),
        (json!({"command": "true", "cwd": "none"}), "none"),
        (json!({"command": "true", "cwd": "/etc"}), "/etc"),
        (json!({"command": "true", "timeout_ms": 0}), "`timeout_ms`"),
        (json!({"command": "true", "yield_ms": 9999999}), "shell_poll"),
    ] {
        let result = run(&mut client, args);
        assert!(result["isError"] == true && text(&result).contains(word), "{result}");
    }
}

#[test]
fn a_command_is_asked_about_and_a_rule_decides() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    let refused = run(&mut client, json!({"command": "touch made"}));
    assert!(refused["isError"] == true && !rig.project().join("made").exists(), "{refused}");
    for tool in ["shell_list", "shell_poll", "shell_kill"] {
        let args = if tool == "shell_list" { json!({}) } else { json!({"session": "sh-1"}) };
        let result = client.call(tool, args);
        assert!(text(&result).contains("No sessions") || text(&result).contains("no session"), "{result}");
    }
}

#[test]
fn nothing_is_smuggled_in_and_nothing_waits_for_a_person() {
    let mut rig = rig();
    for (name, value) in [
        ("TECTUM_TOKEN", "token-of-ours"),
        ("LD_PRELOAD", ""),
        ("GIT_DIR", "/evil"),
        ("NODE_OPTIONS", "--evil"),
        ("PYTHONSTARTUP", "/evil"),
        ("BASH_ENV", "/evil"),
        ("AWS_SECRET_ACCESS_KEY", "evil"),
    ] {
        rig.set(name, value);
    }
    let path = std::env::var("PATH").expect("a path");
    rig.set("PATH", format!("::.:relative/bin:{}:{path}", rig.project().join("bin").display()));
    let mut client = rig.stdio();
    let env = said(&mut client, json!({"command": "env"}));
    for gone in ["token-of-ours", "evil", "LD_PRELOAD", "GIT_DIR", "BASH_ENV"] {
        assert!(!env.contains(gone), "{gone} in {env}");
    }
    for there in
        ["PAGER=cat\n", "GIT_TERMINAL_PROMPT=0\n", "LC_ALL=C.UTF-8\n", "PYTHONUTF8=1\n", "EDITOR=true\n"]
    {
        assert!(env.contains(there), "{there} in {env}");
    }
    let path = env.lines().find_map(|line| line.strip_prefix("PATH=")).expect("a path");
    assert!(path.split(':').all(|entry| entry.starts_with('/') && !entry.ends_with("project/bin")), "{path}");
}

#[test]
fn the_environment_of_a_project_holds_once_a_person_agreed_to_it() {
    let rig = rig();
    rig.write(
        "mcp_env.toml",
        "[path]\nprepend = [\"tools\"]\n[env]\nMINE = \"in ${HOME}${NONE}\"\nLD_PRELOAD = \"x\"\n",
    );
    rig.write("tools/hail", "#!/bin/sh\necho hail $MINE\n");
    std::fs::set_permissions(rig.project().join("tools/hail"), std::fs::Permissions::from_mode(0o755))
        .expect("set");
    let before = said(&mut rig.stdio(), json!({"command": "hail"}));
    assert!(before.contains("not found") && before.contains("`tectum trust`"), "{before}");
    let shown = rig.run(&["trust"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("MINE = "), "{shown:?}");
    assert!(rig.run(&["trust", "--yes"]).status.success());
    let after = said(&mut rig.stdio(), json!({"command": "hail"}));
    assert_eq!(after, format!("STDOUT:\nhail in {}\nEXIT CODE: 0", rig.home().display()));
    assert!(String::from_utf8_lossy(&rig.run(&["trust", "--list"]).stdout).contains("mcp_env.toml  trusted"));
    rig.write("mcp_env.toml", "[env]\nMINE = \"changed\"\n");
    let changed = said(&mut rig.stdio(), json!({"command": "echo [$MINE]; false"}));
    assert!(changed.contains("[]\n") && changed.contains("`tectum trust`"), "{changed}");
}

#[test]
fn a_command_that_takes_long_goes_on_as_a_session() {
    let rig = rig();
    let mut client = rig.stdio();
    let begun = run(
        &mut client,
        json!({"command": "echo one; while ! test -e go; do sleep 0.02; done; echo two", "yield_ms": 300}),
    );
    let data = &begun["structuredContent"];
    assert!(data["running"] == true && data["stdout"] == "one\n", "{begun}");
    let session = data["session"].as_str().expect("a session").to_owned();
    assert!(text(&begun).contains(&format!("session {session}")), "{begun}");
    let listed = client.call("shell_list", json!({}));
    assert!(text(&listed).starts_with(&format!("{session}  running")), "{listed}");
    let refused = client.call("shell_write", json!({"session": session, "text": "x"}));
    assert!(text(&refused).contains("pty=true"), "{refused}");
    rig.write("go", "");
    let ended = client.call("shell_poll", json!({"session": session, "yield_ms": 60_000}));
    assert_eq!(text(&ended), "STDOUT:\ntwo\nEXIT CODE: 0");
    let again = client.call("shell_poll", json!({"session": session}));
    assert_eq!(text(&again), "EXIT CODE: 0");
    let whole = client.call("shell_poll", json!({"session": session, "from": 0}));
    assert_eq!(text(&whole), "one\ntwo\n[bytes 0 to 8 of 8]");
    assert!(text(&client.call("shell_list", json!({"all": true}))).contains("exited 0"));
    let late = run(&mut client, json!({"command": "echo begun; sleep 1000", "timeout_ms": 300}));
    assert_eq!(text(&late), "STDOUT:\nbegun\nERROR: timed out after 0.3s");
    assert_eq!(late["structuredContent"]["timed_out"], true);
}

#[test]
fn a_terminal_is_typed_into() {
    let rig = rig();
    let mut client = rig.stdio();
    let command = "test -t 0 && test -t 1 && echo terminal; read name; echo hello $name; trap 'echo caught; exit 3' INT; while :; do sleep 0.05; done";
    let begun = run(&mut client, json!({"command": command, "pty": true, "yield_ms": 300}));
    let session = begun["structuredContent"]["session"].as_str().expect("a session").to_owned();
    if !text(&begun).contains("terminal") {
        poll_until(&mut client, &session, "terminal");
    }
    let written = client.call("shell_write", json!({"session": session, "text": "world\n"}));
    if !text(&written).contains("hello world") {
        poll_until(&mut client, &session, "hello world");
    }
    client.call("shell_write", json!({"session": session, "text": "\u{3}"}));
    let ended = client.call("shell_poll", json!({"session": session, "yield_ms": 60_000}));
    let all = client.call("shell_poll", json!({"session": session, "from": 0}));
    assert!(text(&all).contains("caught"), "{all}");
    assert_eq!(ended["structuredContent"]["exit_code"], 3, "{ended}");
    // Bash reads its terminal line by line, as a person's would.
    let begun = run(&mut client, json!({"command": "exec bash --norc -i", "pty": true, "yield_ms": 300}));
    let session = begun["structuredContent"]["session"].as_str().expect("a session").to_owned();
    client.call("shell_write", json!({"session": session, "text": "echo $((6*7))\n"}));
    poll_until(&mut client, &session, "42");
    let killed = client.call("shell_kill", json!({"session": session}));
    assert_eq!(killed["structuredContent"]["running"], false, "{killed}");
}

#[test]
fn of_fifty_megabytes_both_ends_are_shown_and_all_can_be_read() {
    let rig = rig();
    let mut client = rig.stdio();
    let begun = run(
        &mut client,
        json!({"command": "echo first; yes 0123456789abcde | head -c 52428800; echo last", "yield_ms": 600_000}),
    );
    let (shown, data) = (text(&begun), &begun["structuredContent"]);
    assert!(
        shown.starts_with("STDOUT:\nfirst\n") && shown.contains("last\nEXIT CODE: 0"),
        "{}",
        &shown[..200]
    );
    assert!(
        shown.len() < 64 * 1024 && data["omitted"].as_u64().expect("told") > 52_000_000,
        "{}",
        shown.len()
    );
    let (session, uri) =
        (data["session"].as_str().expect("a session"), data["whole"][0].as_str().expect("an address"));
    assert!(shown.contains(uri) && shown.contains(&format!("session={session}")), "{}", &shown[..400]);
    let read = client.request("resources/read", json!({"uri": format!("{uri}?offset=52428790&length=100")}));
    let read = &read["contents"][0];
    assert!(read["text"].as_str().expect("text").ends_with("last\n"), "{read}");
    assert_eq!(read["_meta"]["tectum/total"], 52_428_800 + 11);
    let page = client.call("shell_poll", json!({"session": session, "from": 26_214_400}));
    assert!(
        text(&page).contains("0123456789abcde\n") && text(&page).contains("continue with from="),
        "{page}"
    );
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("told").trim().to_owned();
    let kilobytes: u64 = peak.trim_end_matches(" kB").parse().expect("a number");
    eprintln!("peak memory with 50 MB of output: {kilobytes} kB");
    assert!(kilobytes < 200 * 1024, "{peak}");
}

#[test]
fn sessions_are_of_one_client() {
    let rig = rig();
    let mut one = rig.http();
    one.handshake();
    let begun = one.call("run_shell", json!({"command": "echo mine; sleep 1234.25", "yield_ms": 300}));
    let session = begun["structuredContent"]["session"].as_str().expect("a session").to_owned();
    let mine = one.session.clone();
    one.handshake();
    assert_ne!(mine, one.session);
    assert_eq!(text(&one.call("shell_list", json!({}))), "No sessions.");
    for tool in ["shell_poll", "shell_kill"] {
        let result = one.call(tool, json!({"session": session}));
        assert!(text(&result).contains("no session"), "{tool}: {result}");
    }
    // With the first client its command goes.
    one.session = mine;
    let alive = || {
        let processes = std::fs::read_dir("/proc").expect("readable").flatten();
        let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains("1234.25")).count()
    };
    assert!(alive() > 0, "it runs");
    assert!(one.send("DELETE", "/mcp", &one.headers(), "").status < 300);
    // Each look is at a later moment; the runner ends a test that never gets there.
    while alive() > 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_command_that_is_kept_outlives_its_client_but_not_tectum() {
    let rig = rig();
    let mut one = rig.http();
    one.handshake();
    let args = json!({"command": "until [ -e go ]; do sleep 0.02; done; echo went > on; sleep 1000", "keep": true, "yield_ms": 1});
    assert!(one.call("run_shell", args)["structuredContent"]["session"].is_string());
    assert!(one.send("DELETE", "/mcp", &one.headers(), "").status < 300);
    rig.write("go", "");
    while !rig.project().join("on").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// A stand-in that writes down what it was started with.
const RECORDER: &str = "#!/bin/sh\nprintf '%s\\0' \"$@\" > recorded\npwd > recorded.cwd\necho out\necho err >&2\nexit \"$(cat code)\"\n";

#[test]
fn powershell_gets_the_arguments_of_its_protocol() {
    let mut rig = Rig::new();
    let bin = rig.outside().join("bin");
    std::fs::create_dir(&bin).expect("made");
    for (name, script) in [("pwsh", RECORDER), ("qa", "#!/bin/sh\necho \"analysed: $(cat)\"\n")] {
        std::fs::write(bin.join(name), script).expect("written");
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).expect("set");
    }
    rig.configure(&format!("{ALLOWED}[shell]\nqa = [\"qa\", \"--brief\"]\n"));
    let missing = rig.stdio().call("run_powershell", json!({"script": "Get-Date"}));
    if std::process::Command::new("pwsh").arg("-v").output().is_err() {
        let said = text(&missing);
        assert!(said.starts_with("ERROR: PowerShell not found") && said.contains("run_shell"), "{said}");
    }
    let path = std::env::var("PATH").expect("a path");
    rig.set("PATH", format!("{}:{path}", bin.display()));
    rig.write("code", "0");
    let mut client = rig.stdio();
    let fine = client.call("run_powershell", json!({"script": "Get-ChildItem 'x'"}));
    assert_eq!(text(&fine), "STDOUT:\nout\nSTDERR:\nerr\nEXIT CODE: 0");
    let root = rig.project().canonicalize().expect("there");
    let script = format!("Set-Location -LiteralPath '{}'\nGet-ChildItem 'x'", root.display());
    assert_eq!(rig.read("recorded"), format!("-NoProfile\0-NonInteractive\0-Command\0{script}\0"));
    assert_eq!(rig.read("recorded.cwd").trim_end(), root.to_str().expect("text"));
    rig.write("code", "3");
    let failed = client.call("run_powershell", json!({"script": "boom"}));
    assert_eq!(text(&failed), "STDOUT:\nout\nSTDERR:\nerr\nEXIT CODE: 3\nQA ANALYSIS:\nanalysed: err");
    std::fs::write(bin.join("qa"), "#!/bin/sh\nexit 9\n").expect("written");
    let broken = client.call("run_powershell", json!({"script": "boom"}));
    assert!(
        text(&broken).ends_with("QA ANALYSIS:\n(the QA command gave none: it ended with exit code 9)"),
        "{broken}"
    );
}

#[test]
fn real_powershell_runs_a_script_where_it_is_installed() {
    if std::process::Command::new("pwsh").arg("-v").output().is_err() {
        eprintln!("pwsh is not installed; the stand-in has to do");
        return;
    }
    let rig = rig();
    let said =
        rig.stdio().call("run_powershell", json!({"script": "Get-Content a.txt; Write-Error no; exit 4"}));
    assert!(text(&said).contains("hello") && text(&said).ends_with("EXIT CODE: 4"), "{said}");
}

#[test]
fn sixty_four_run_at_once() {
    let rig = rig();
    let mut client = rig.stdio();
    for number in 0..64 {
        client.send(&json!({"jsonrpc": "2.0", "id": format!("c{number}"), "method": "tools/call", "params":
            {"name": "run_shell", "arguments": {"command": format!("echo number {number}")}}}));
    }
    let mut heard = std::collections::BTreeSet::new();
    while heard.len() < 64 {
        let answer = client.receive();
        if let Some(number) = answer["id"].as_str().and_then(|id| id.strip_prefix('c')) {
            assert_eq!(text(&answer["result"]), format!("STDOUT:\nnumber {number}\nEXIT CODE: 0"));
            heard.insert(number.to_owned());
        }
    }
}
