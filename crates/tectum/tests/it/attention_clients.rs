//! News in every client's own rules: what its model would read of results, of hooks, of a monitor and of a file,
//! exactly once.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    attention::{changed, news, shown, texts},
    cli_said::Said,
    clients::{CODING, Fake, Reads},
    federated::{Era, until},
    rig::Rig,
};

/// What a running house says of itself, by the command line.
fn told(rig: &Rig) -> Value {
    let said = Said::from(rig.run(&["attention", "--json"]));
    if said.code == 0 { said.json() } else { Value::Null }
}

/// Changes a file that an agent knows until a running house has news of it: the sentence.
fn sentence(rig: &Rig, path: &str) -> String {
    let (mut found, mut lines) = (None, String::from("changed\n"));
    until(&format!("news of {path}"), || {
        lines.push_str("and again\n");
        rig.write(path, &lines);
        let told = told(rig);
        let all = told["news"].as_array().cloned().unwrap_or_default();
        found = all.iter().find(|news| news["subject"] == path).map(|news| news["sentence"].clone());
        found.is_some()
    });
    found.and_then(|found| found.as_str().map(str::to_owned)).expect("a sentence")
}

/// The sentence as it stands in a text, or in JSON.
fn times(text: &str, sentence: &str) -> usize {
    let escaped = Value::from(sentence).to_string();
    let escaped = escaped.trim_matches('"');
    text.matches(sentence).count() + if escaped == sentence { 0 } else { text.matches(escaped).count() }
}

#[test]
fn each_model_reads_a_piece_of_news_once_in_whatever_form_its_client_takes() {
    let others =
        [("some program", Reads::Structured), ("some program", Reads::Text), ("cursor-vscode", Reads::Text)];
    for (name, reads) in CODING.into_iter().chain(others) {
        let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
        // One house at a time: the last one that started is the one that is asked.
        let mut client = Fake::pipe(&rig, Era::Legacy, name, reads);
        client.say("read_file", json!({"path": "a.txt"}));
        let sentence = sentence(&rig, "a.txt");
        let read: Vec<String> = (0..3).map(|_| client.say("read_file", json!({"path": "b.txt"}))).collect();
        assert_eq!(times(&read[0], &sentence), 1, "{name}: {}", read[0]);
        assert!(read[1..].iter().all(|read| times(read, &sentence) == 0), "{name}: {read:?}");
        let told = told(&rig)["news"][0]["told"].clone();
        assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
        assert!(told[0]["seen"].is_string(), "{told}");
    }
}

#[test]
fn the_newer_era_over_http_is_one_model_over_all_its_requests_and_errors_carry_news_as_text() {
    for (pipe, era) in [true, false].into_iter().flat_map(|pipe| Era::ALL.map(|era| (pipe, era))) {
        let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
        let open = if pipe { Fake::pipe } else { Fake::http };
        let mut client = open(&rig, era, "claude-code", Reads::Structured);
        client.say("read_file", json!({"path": "a.txt"}));
        let sentence = sentence(&rig, "a.txt");
        let failed = client.call("read_file", json!({"path": "absent.txt"}));
        assert_eq!(
            (failed["isError"].as_bool(), times(&client.given(&failed), &sentence)),
            (Some(true), 1),
            "{failed}"
        );
        assert_eq!(times(&client.say("read_file", json!({"path": "b.txt"})), &sentence), 0);
    }
}

#[test]
fn hooks_of_six_clients_print_the_line_once_in_their_own_words_and_the_next_result_is_silent() {
    for (hook, name, event, place) in [
        ("codex", "codex-mcp-client", "PostToolUse", "/hookSpecificOutput/additionalContext"),
        ("codex", "codex-mcp-client", "UserPromptSubmit", "/hookSpecificOutput/additionalContext"),
        ("cursor", "cursor-vscode", "postToolUse", "/additional_context"),
        ("vscode", "Visual Studio Code", "PostToolUse", "/hookSpecificOutput/additionalContext"),
        ("gemini", "gemini-cli-mcp-client", "AfterTool", "/hookSpecificOutput/additionalContext"),
    ] {
        let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
        let mut client = Fake::pipe(&rig, Era::Legacy, name, Reads::Text);
        client.say("read_file", json!({"path": "a.txt"}));
        let sentence = sentence(&rig, "a.txt");
        let ask = || {
            hook_says(
                &rig,
                hook,
                &json!({"hook_event_name": event, "session_id": "s1", "conversation_id": "s1"}),
            )
        };
        let said = ask();
        let line = said.pointer(place).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(times(line, &sentence), 1, "{hook} {event}: {said}");
        assert_eq!(ask(), json!({}), "{hook}: once");
        assert_eq!(times(&client.say("read_file", json!({"path": "b.txt"})), &sentence), 0, "{hook}");
    }
    // Nobody serves: nothing is said, and nobody is kept from anything.
    let rig = Rig::new();
    assert_eq!(hook_says(&rig, "codex", &json!({"hook_event_name": "PostToolUse"})), json!({}));
}

/// What `tectum attention hook` prints for a request.
fn hook_says(rig: &Rig, client: &str, request: &Value) -> Value {
    let mut command = rig.tectum();
    command.args(["attention", "hook", "--client", client]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut hook = command.spawn().expect("starts");
    hook.stdin.take().expect("piped").write_all(request.to_string().as_bytes()).expect("written");
    let said = hook.wait_with_output().expect("ends");
    assert!(said.status.success(), "{said:?}");
    serde_json::from_slice(&said.stdout).expect("JSON")
}

#[test]
fn claude_codes_hooks_call_our_tool_and_get_their_own_json() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
    let mut client = Fake::pipe(&rig, Era::Modern, "claude-code", Reads::Structured);
    client.say("read_file", json!({"path": "a.txt"}));
    let sentence = sentence(&rig, "a.txt");
    // At rest only what is urgent is told, and a changed file is not.
    let hook = |client: &mut Fake, event: &str| -> Value {
        let said = client.say("get_attention", json!({"hook": event}));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    };
    assert_eq!(hook(&mut client, "Stop"), json!({}));
    let said = hook(&mut client, "PostToolBatch");
    let context =
        said.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str).unwrap_or_default();
    assert_eq!(
        (&said["hookSpecificOutput"]["hookEventName"], times(context, &sentence)),
        (&json!("PostToolBatch"), 1)
    );
    assert_eq!(hook(&mut client, "UserPromptSubmit"), json!({}));
    assert_eq!(client.say("get_attention", json!({})), "No news.");
}

#[test]
fn asking_tells_everything_and_counts_as_seen_at_once() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    let told = changed(&rig, &house, "a.txt");
    let answer = house.call("get_attention", json!({}));
    let sentence = told["sentence"].as_str().expect("a sentence");
    assert_eq!(
        (times(&texts(&answer), sentence), &answer["structuredContent"]["news"][0]["id"]),
        (1, &told["id"])
    );
    let telling = news(&house, "internal:files", 1)[0]["told"][0].clone();
    assert_eq!((&telling["how"], telling["seen"].is_string()), (&json!("get_attention"), true), "{telling}");
    assert_eq!(texts(&house.call("get_attention", json!({}))), "No news.");
}

#[test]
fn a_monitor_gets_urgent_news_as_one_short_line_though_nobody_calls() {
    let rig = Rig::with(&[("state", "ok\n")]);
    rig.configure("[permissions]\nallow = [\"run_shell(*)\"]\n");
    let mut house = rig.http();
    house.handshake();
    let mut watch = rig.tectum();
    watch.args(["attention", "watch"]).stdout(Stdio::piped());
    let mut watch = watch.spawn().expect("starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("piped"));
    house.call("run_shell", json!({"command": "grep -q ok state"}));
    rig.write("state", "no\n");
    house.call("run_shell", json!({"command": "grep -q ok state"}));
    let told = news(&house, "internal:commands", 1).remove(0);
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line");
    let sentence = told["sentence"].as_str().expect("a sentence");
    assert!(line.chars().count() <= 481 && times(&line, sentence) == 1, "{line}");
    let telling = shown(&house)["news"][0]["told"][0]["how"].clone();
    assert_eq!(telling, "monitor");
    let _ = watch.kill();
    let _ = watch.wait();
}

#[test]
fn gooses_file_has_the_line_until_goose_goes_on() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
    let made = Said::from(rig.run(&["attention", "install", "goose", "--json"])).json();
    let file = made["file"].as_str().expect("a file").to_owned();
    let mut client = Fake::pipe(&rig, Era::Legacy, "goose", Reads::Text);
    client.say("read_file", json!({"path": "a.txt"}));
    let sentence = sentence(&rig, "a.txt");
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    until("the line in the file", || times(&read(), &sentence) == 1);
    assert_eq!(times(&client.say("read_file", json!({"path": "b.txt"})), &sentence), 0);
    until("the file without it", || times(&read(), &sentence) == 0);
    assert_eq!(Said::from(rig.run(&["attention", "remove", "goose"])).code, 0);
    assert!(!std::path::Path::new(&file).exists());
}

#[test]
fn installing_shows_the_change_and_removing_leaves_no_trace() {
    let rig = Rig::new();
    for (client, file) in [
        ("claude", ".claude/settings.local.json"),
        ("codex", ".codex/hooks.json"),
        ("cursor", ".cursor/hooks.json"),
        ("vscode", ".github/hooks/tectum.json"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let before = "{\n  // mine\n  \"other\": [1, 2]\n}\n";
        rig.write(file, before);
        let shown = Said::from(rig.run(&["attention", "install", client, "--dry-run"]));
        assert!(shown.code == 0 && shown.out.contains("+") && rig.read(file) == before, "{shown:?}");
        let done = Said::from(rig.run(&["attention", "install", client, "--yes"]));
        assert!(done.code == 0 && rig.read(file).contains("attention"), "{done:?}");
        let again = Said::from(rig.run(&["attention", "install", client, "--yes"]));
        assert!(again.out.contains("already"), "{again:?}");
        assert_eq!(Said::from(rig.run(&["attention", "remove", client, "--yes"])).code, 0);
        assert_eq!(rig.read(file), before, "{client}");
    }
    let wrong = Said::from(rig.run(&["attention", "install", "emacs"]));
    assert!(wrong.code != 0 && wrong.err.contains("claude, codex, cursor"), "{wrong:?}");
}
