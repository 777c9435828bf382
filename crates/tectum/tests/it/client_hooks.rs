//! The hooks of coding agents with the real binary: what the rules say about a client's own tools, and that
//! nothing passes where nobody can judge.

use std::{
    io::Write as _,
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use crate::rig::{Http, Rig, TOKEN, terminal};

const RULES: &str = "[permissions]\n\
    allow = [\"run_shell(git status)\"]\n\
    deny = [\"run_shell(rm *)\", \"*(secret/**)\", \"gh__delete_*\", \"WebSearch\"]\n";

fn rig() -> Rig {
    let mut rig = Rig::with(&[("a.txt", "hello\n"), ("secret/key", "x\n"), ("src/b.rs", "\n")]);
    rig.configure(RULES);
    rig.set("TECTUM_TOKEN", TOKEN);
    rig
}

/// Runs the hook with a request on its standard input.
fn hook(rig: &Rig, args: &[&str], request: &str) -> Output {
    let mut command = rig.tectum();
    command.arg("hook").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    // One that refuses early does not read to the end.
    let _ = child.stdin.take().expect("piped").write_all(request.as_bytes());
    child.wait_with_output().expect("ends")
}

#[track_caller]
fn said(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn request(rig: &Rig, tool: &str, input: &Value) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": rig.project(), "tool_name": tool,
        "tool_input": input, "tool_use_id": "t" })
}

/// The decision and its reason, from the house over HTTP and from the command, which must agree.
#[track_caller]
fn judged(rig: &Rig, house: &Http, tool: &str, input: Value) -> (String, String) {
    let request = request(rig, tool, &input).to_string();
    let answer = house.send("POST", "/hooks/pre-tool-use", &house.headers(), &request);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json(), said(&hook(rig, &[], &request)));
    let body = answer.json();
    let word = |name: &str| body["hookSpecificOutput"][name].as_str().unwrap_or_default().to_owned();
    (word("permissionDecision"), word("permissionDecisionReason"))
}

#[test]
fn a_clients_own_tools_are_judged_by_our_rules() {
    let rig = rig();
    let house = rig.http();
    for (tool, input, decision, reason) in [
        ("Bash", json!({"command": "git status"}), "allow", "allow rule `run_shell(git status)`"),
        ("Bash", json!({"command": "git status && rm -rf src"}), "deny", "deny rule `run_shell(rm *)`"),
        ("Bash", json!({"command": "cargo test"}), "ask", "beyond the project ask"),
        ("Read", json!({"file_path": rig.project().join("a.txt")}), "allow", "built-in default"),
        ("Edit", json!({"file_path": "secret/key"}), "deny", "deny rule `*(secret/**)`"),
        ("Write", json!({"file_path": "new/dir/file.txt"}), "allow", "write_file"),
        ("Write", json!({"file_path": ".env"}), "deny", ".env"),
        ("Read", json!({"file_path": "/etc/passwd"}), "deny", "read_file"),
        ("Grep", json!({"pattern": "x", "path": "src"}), "ask", "leave them out"),
        ("Glob", json!({"pattern": "../*"}), "deny", "search_files"),
        ("WebFetch", json!({"url": "https://example.com"}), "ask", "fetch_url"),
        ("mcp__gh__delete_repo", json!({}), "deny", "gh__delete_repo"),
        ("mcp__gh__list", json!({}), "ask", "gh__list"),
        ("mcp__tectum__read_file", json!({"path": "secret/key"}), "", ""),
        ("TodoWrite", json!({}), "", ""),
        ("Unheard", json!({}), "ask", "Unheard"),
        ("Edit", json!({"file_path": ".claude/settings.local.json"}), "deny", "edit_file"),
    ] {
        let (got, why) = judged(&rig, &house, tool, input.clone());
        assert_eq!(got, decision, "{tool} {input}: {why}");
        assert!(why.contains(reason), "{tool} {input}: {why}");
    }
}

#[test]
fn a_client_elsewhere_is_not_judged_by_this_house() {
    let rig = rig();
    let house = rig.http();
    let mut elsewhere = request(&rig, "Bash", &json!({"command": "git status"}));
    elsewhere["cwd"] = json!(rig.home());
    let answer = house.send("POST", "/hooks/pre-tool-use", &house.headers(), &elsewhere.to_string()).json();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
}

#[test]
fn the_route_answers_garbage_with_a_denial_and_strangers_with_nothing() {
    let rig = rig();
    let house = rig.http();
    for (path, body) in [
        ("/hooks/pre-tool-use", ""),
        ("/hooks/pre-tool-use", "{"),
        ("/hooks/pre-tool-use", "{\"hook_event_name\": \"Stop\"}"),
        ("/hooks/pre-tool-use?client=claude", "[]"),
    ] {
        let answer = house.send("POST", path, &house.headers(), body);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{answer:?}");
    }
    let gemini = house.send("POST", "/hooks/pre-tool-use?client=gemini", &house.headers(), "{");
    assert_eq!(gemini.json()["decision"], "deny", "{gemini:?}");
    let nobody = vec![("Host".to_owned(), format!("127.0.0.1:{}", house.port))];
    assert_eq!(house.send("POST", "/hooks/pre-tool-use", &nobody, "{}").status, 401);
    assert_eq!(house.send("GET", "/hooks/pre-tool-use", &house.headers(), "").status, 405);
}

#[test]
fn without_a_house_everything_is_denied_with_the_way_to_start_one() {
    let rig = rig();
    let bash = request(&rig, "Bash", &json!({"command": "git status"})).to_string();
    let reason = |output: &Output| {
        let body = said(output);
        assert_eq!(body["hookSpecificOutput"]["permissionDecision"], "deny", "{body}");
        body["hookSpecificOutput"]["permissionDecisionReason"].as_str().expect("a reason").to_owned()
    };
    let why = reason(&hook(&rig, &["--client", "claude"], &bash));
    assert!(why.contains("tectum up -C "), "{why}");
    // One that ended without a word leaves its socket behind.
    let mut house = rig.http();
    assert_eq!(said(&hook(&rig, &[], &bash))["hookSpecificOutput"]["permissionDecision"], "allow");
    house.child.kill().expect("killed");
    house.child.wait().expect("ended");
    let why = reason(&hook(&rig, &[], &bash));
    assert!(why.contains("tectum up"), "{why}");
    // A wrong token is no way in, either.
    let other = Rig::new();
    let house = other.http();
    let mut stranger = Rig::new();
    stranger.set("TECTUM_URL", format!("http://127.0.0.1:{}", house.port));
    stranger.set("TECTUM_TOKEN", "ffeeddccbbaa99887766554433221100");
    let why = reason(&hook(&stranger, &[], &bash));
    assert!(why.contains("401"), "{why}");
    let cursor = said(&hook(&rig, &["--client", "cursor"], "garbage"));
    assert_eq!(cursor["permission"], "deny", "{cursor}");
}

#[test]
fn a_house_without_a_listener_judges_too() {
    let rig = rig();
    let mut client = rig.stdio();
    client.call("read_file", json!({"path": "a.txt"}));
    for (command, decision) in [("git status", "allow"), ("rm a.txt", "deny")] {
        let request = request(&rig, "Bash", &json!({ "command": command })).to_string();
        let body = said(&hook(&rig, &[], &request));
        assert_eq!(body["hookSpecificOutput"]["permissionDecision"], decision, "{body}");
    }
    // One below the served directory is served as well, one beside it is not.
    for (folder, reason) in [("src", "deny rule"), ("..", "no Tectum serves")] {
        let request = request(&rig, "Bash", &json!({ "command": "rm a.txt" })).to_string();
        let body = said(&hook(&rig, &["-C", folder], &request)).to_string();
        assert!(body.contains(reason), "{folder}: {body}");
    }
}

#[test]
fn a_request_that_nobody_knows_ends_with_the_code_that_blocks() {
    let rig = rig();
    let _house = rig.http();
    for (args, request) in [(&[][..], "garbage"), (&[], ""), (&["--client", "nobody"], "{}")] {
        let output = hook(&rig, args, request);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn installing_shows_the_change_asks_and_is_undone_to_the_byte() {
    let rig = rig();
    let settings = "{\n    // mine\n    \"model\": \"x\",\n    \"env\": {\"A\": \"b\"}\n}\n";
    rig.write(".gemini/settings.json", settings);
    for (client, file) in [
        ("claude", ".claude/settings.local.json"),
        ("codex", ".codex/hooks.json"),
        ("cursor", ".cursor/hooks.json"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let place = rig.project().join(file);
        let before = std::fs::read(&place).ok();
        let asked = rig.run(&["hook", "install", client]);
        assert_eq!(asked.status.code(), Some(3), "{asked:?}");
        let shown = String::from_utf8_lossy(&asked.stdout).into_owned();
        assert!(shown.contains("+++ ") && shown.contains(&format!("hook --client {client} ")), "{shown}");
        assert_eq!(std::fs::read(&place).ok(), before, "nobody agreed");
        assert!(rig.run(&["hook", "install", client, "--dry-run"]).status.success());
        assert_eq!(std::fs::read(&place).ok(), before, "only shown");

        assert!(rig.run(&["hook", "install", client, "--yes"]).status.success());
        let once = rig.read(file);
        assert!(rig.run(&["hook", "install", client, "--yes"]).status.success());
        assert_eq!(rig.read(file), once, "twice is once");
        assert!(rig.run(&["hook", "remove", client, "--yes"]).status.success());
        assert_eq!(std::fs::read(&place).ok(), before, "{client}: {once}");
    }
}

#[test]
fn what_a_person_wrote_since_stays_when_the_hook_is_removed() {
    let rig = rig();
    rig.write(".claude/settings.local.json", "{\n  \"a\": 1\n}\n");
    assert!(rig.run(&["hook", "install", "claude", "--yes"]).status.success());
    let edited = rig.read(".claude/settings.local.json").replace("\"a\": 1", "\"a\": 2,\n  \"b\": [3]");
    rig.write(".claude/settings.local.json", &edited);
    assert!(rig.run(&["hook", "remove", "claude", "--yes"]).status.success());
    assert_eq!(rig.read(".claude/settings.local.json"), "{\n  \"a\": 2,\n  \"b\": [3]\n}\n");
}

#[test]
fn in_a_terminal_a_person_is_asked() {
    let rig = rig();
    for (typed, written) in [("no\n", false), ("yes\n", true)] {
        let (mut ours, theirs) = terminal();
        let mut command = rig.tectum();
        command.args(["hook", "install", "claude"]).stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("starts");
        ours.write_all(typed.as_bytes()).expect("typed");
        assert!(child.wait().expect("ends").success());
        assert_eq!(rig.project().join(".claude/settings.local.json").exists(), written, "{typed}");
    }
}

#[test]
fn the_installed_command_denies_even_if_the_program_is_gone() {
    let rig = rig();
    let moved = rig.outside().join("tectum-elsewhere");
    std::fs::copy(env!("CARGO_BIN_EXE_tectum"), &moved).expect("copied");
    let mut install = rig.command(&moved);
    assert!(install.args(["hook", "install", "claude", "--yes"]).output().expect("runs").status.success());
    let settings: Value = serde_json::from_str(&rig.read(".claude/settings.local.json")).expect("JSON");
    let line =
        settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let run = || {
        let mut shell = rig.command("sh");
        shell.args(["-c", &line]).stdin(Stdio::null()).output().expect("runs")
    };
    // It runs: an empty request is denied in the client's shape.
    assert_eq!(said(&run())["hookSpecificOutput"]["permissionDecision"], "deny");
    std::fs::remove_file(&moved).expect("removed");
    let gone = run();
    assert_eq!(gone.status.code(), Some(2), "{gone:?}");
    assert!(String::from_utf8_lossy(&gone.stderr).contains("tectum hook install claude"), "{gone:?}");
}
