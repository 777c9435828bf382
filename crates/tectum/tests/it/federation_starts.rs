//! Programs that are no servers: whoever wants one of their tools is told what they did instead.

use serde_json::json;

use crate::{
    cli_said::Said,
    federated::{Client, Era, command, echo, until},
    rig::{Rig, deserted},
};

/// The error of a call to a program that does this.
fn said(script: &str) -> Said {
    let rig = Rig::new();
    rig.configure(&command("one", "sh", &["-c", script], "start_timeout = \"20s\""));
    rig.run(&["call", "one__echo", "text=there"]).into()
}

fn check(script: &str, expect: &[&str]) {
    let said = said(script);
    assert_eq!(said.code, 7, "{script}: {}", said.err);
    for words in expect {
        assert!(said.err.contains(words), "{script}: {words} is not in {}", said.err);
    }
    assert_eq!(said.err.matches("could not be started").count(), 1, "it is said once: {}", said.err);
    assert!(!said.err.contains('\u{1b}'), "nothing acts on a terminal: {:?}", said.err);
}

#[test]
fn a_server_that_cannot_be_reached_says_where_to_look() {
    let rig = Rig::new();
    let (_held, address) = deserted();
    rig.configure(&format!("[servers.web]\nurl = \"http://{address}/mcp\"\n"));
    let said = Said::from(rig.run(&["call", "web__x"]));
    assert_eq!(said.code, 7, "{}", said.err);
    let hint = "hint: a person can see how it is reached with `tectum get web`";
    assert!(said.err.contains("web could not be started") && said.err.contains(hint), "{}", said.err);
    let said = Said::from(rig.run(&["login", "web"]));
    assert_eq!(said.code, 7, "{}", said.err);
    assert!(said.err.contains("hint: check that its URL is right"), "{}", said.err);
}

#[test]
fn how_a_program_ended_is_told() {
    check("true", &["it ended with exit code 0 before it answered"]);
    check("read line; exit 3", &["it ended with exit code 3 before it answered"]);
    check("echo wrong >&2; exit 1", &["it ended with exit code 1 before it answered", "it said last: wrong"]);
}

#[test]
fn what_a_program_wrote_instead_of_answers_is_told() {
    check(
        "printf '\\033[31mHello\\n'; echo again; exit 2",
        &["exit code 2", "it wrote 2 lines that are no JSON-RPC, the first: \\u{1b}[31mHello"],
    );
    check("exec yes", &["lines that are no JSON-RPC, the first: y"]);
    // It is not read any further once it is given up.
    let flood = said("exec yes").err;
    let lines = flood.split("it wrote ").last().and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    assert!(lines.is_some_and(|lines| lines < 100_000), "{flood}");
    check("exec cat", &["it sent back what it was told"]);
}

#[test]
fn a_program_that_stays_silent_but_for_a_greeting_is_told_with_it() {
    let rig = Rig::new();
    let script = "echo Listening on port 1; exec sleep 60";
    rig.configure(&command("one", "sh", &["-c", script], "start_timeout = \"1s\""));
    let said: Said = rig.run(&["call", "one__echo", "text=there"]).into();
    let expect =
        "it was not ready within 1 s of its start; it wrote a line that is no JSON-RPC: Listening on port 1";
    assert!(said.code == 7 && said.err.contains(expect), "{}", said.err);
}

#[test]
fn a_tool_of_a_server_that_is_not_there_is_refused_with_the_reason() {
    let rig = Rig::new();
    rig.write(
        ".mcp.json",
        json!({"mcpServers": {"web": {"command": "true", "args": ["secret word"]}}}).to_string(),
    );
    let all = [
        // A call of it waits as long as a call may take.
        echo("slow", &["--slow-start", "600000"], "timeout = \"1s\""),
        command("dead", "sh", &["-c", "exit 4"], ""),
        echo("off", &[], "enabled = false"),
        echo("wrong", &[], "cwd = \"${NOBODY_SET_THIS}\""),
        echo("fine", &[], ""),
    ];
    rig.configure(&all.concat());
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("fine__echo");
    let refused = |client: &mut Client, tool: &str| {
        let id = client.begin(tool, json!({"text": "there"}));
        client.wait(id)["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    until("its death", || refused(&mut client, "dead__echo").contains("exit code 4"));
    for (tool, words) in [
        ("slow__echo", &["`slow` has not said yet what it offers", "tectum list -v"][..]),
        ("dead__echo", &["`dead` is not there", "`tectum restart dead`"]),
        ("web__echo", &["`web` is not started", "is not approved", "`tectum trust web`"]),
        ("off__echo", &["`off` is not started", "switched off", "`tectum enable off`"]),
        ("wrong__echo", &["`wrong` is not started", "NOBODY_SET_THIS"]),
        ("fine__none", &["`fine` offers no such tool"]),
    ] {
        let said = refused(&mut client, tool);
        assert!(said.starts_with(&format!("Unknown tool: {tool}: ")), "{said}");
        assert!(words.iter().all(|words| said.contains(words)), "{words:?}: {said}");
        assert!(!said.contains("secret word"), "{said}");
    }
    for tool in ["nobody", "nobody__echo"] {
        let said = refused(&mut client, tool);
        assert!(said.starts_with(&format!("Unknown tool: {tool} (")), "no server is meant: {said}");
    }
    let said: Said = rig.run(&["call", "web__echo", "text=there"]).into();
    assert!(said.code == 4 && said.err.contains("`tectum trust web`"), "{}", said.err);
}
