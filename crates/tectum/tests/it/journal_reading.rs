//! `tectum log`: what was recorded is listed, shown, followed, found, summed up, exported and checked.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    rig::{Rig, Stdin, terminal, text},
};

/// A project after a session of four calls: two that worked, one of a missing file, one that a rule denies.
fn worked() -> Rig {
    let rig = Rig::with(&[("src/config.rs", "fn answer() -> u32 { 41 }\n"), ("notes.md", "todo\n")]);
    rig.configure("[permissions]\ndeny = [\"delete_file\"]\n");
    let mut client = rig.stdio();
    client.call("read_file", json!({"path": "src/config.rs"}));
    client.call("edit_file", json!({"path": "src/config.rs", "old_string": "41", "new_string": "42"}));
    client.call("read_file", json!({"path": "src/missing.rs"}));
    client.call("delete_file", json!({"path": "notes.md"}));
    client.close();
    rig
}

fn log(rig: &Rig, args: &[&str]) -> Said {
    Said::from(rig.run(&[&["log"], args].concat()))
}

fn data(rig: &Rig, args: &[&str]) -> Value {
    let said = log(rig, &[args, &["--json"]].concat());
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{args:?}: {}", said.out);
    said.json()
}

/// The tools of the calls that a search finds, the newest first.
fn found(rig: &Rig, args: &[&str]) -> Vec<String> {
    let found = data(rig, &[&["search"], args].concat());
    let calls = found["calls"].as_array().expect("calls").clone();
    calls.iter().map(|call| call["tool"].as_str().expect("a name").to_owned()).collect()
}

fn session(rig: &Rig) -> String {
    data(rig, &["list"])["sessions"][0]["session"].as_str().expect("a name").to_owned()
}

#[test]
fn sessions_are_listed_with_their_sums() {
    let rig = worked();
    let listed = data(&rig, &["list"]);
    let sessions = listed["sessions"].as_array().expect("a list");
    assert_eq!(sessions.len(), 1, "{listed}");
    assert_eq!((&sessions[0]["calls"], &sessions[0]["errors"]), (&json!(4), &json!(2)), "{listed}");
    assert_eq!((&sessions[0]["client"], &sessions[0]["door"]), (&json!("rig"), &json!("stdio")));
    let name = sessions[0]["session"].as_str().expect("a name");
    let said = log(&rig, &["list"]);
    assert!(said.out.contains(name) && said.out.contains("1 session, 4 calls"), "{}", said.out);
    // A second process is a second session, and the latest comes first.
    rig.stdio().call("get_tree", json!({"path": "."}));
    let listed = data(&rig, &["list", "-n", "1"]);
    assert_eq!((&listed["sessions"][0]["calls"], &listed["more"]), (&json!(1), &json!(true)), "{listed}");
}

#[test]
fn nothing_recorded_is_no_failure() {
    let rig = Rig::new();
    log(&rig, &["list"]).gives("no calls were recorded here yet\n");
    assert_eq!(data(&rig, &["list"]), json!({"sessions": [], "more": false}));
    log(&rig, &["search", "anything"]).gives("no call fits\n");
    let said = log(&rig, &["show", "last"]);
    assert_eq!((said.code, said.err.as_str()), (4, "error: no calls were recorded here yet\n"));
}

#[test]
fn a_session_and_a_call_are_shown() {
    let rig = worked();
    let name = session(&rig);
    let shown = data(&rig, &["show", &name[..6]]);
    let entries = shown["entries"].as_array().expect("entries");
    let tools: Vec<&str> = entries.iter().filter_map(|entry| entry["tool"].as_str()).collect();
    assert_eq!(tools, ["read_file", "edit_file", "read_file", "delete_file"]);
    let denied = &entries[3];
    assert_eq!(denied["verdict"]["judgement"], "deny", "{denied}");
    let edit = &entries[1];
    assert_eq!(edit["args"]["new_string"], "42", "{edit}");
    let id = edit["id"].as_str().expect("an id");
    let said = log(&rig, &["show", id]);
    for part in ["edit_file", "src/config.rs", "\"new_string\": \"42\"", "Undo: c-", &name] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let said = log(&rig, &["show", "last"]);
    assert!(said.out.contains("denied") && said.out.contains("fault"), "{}", said.out);
    let said = log(&rig, &["show", "c-0000000000000000"]);
    assert_eq!(said.code, 4);
    let said = log(&rig, &["show", &id[..8]]);
    assert!(said.code == 2 && said.err.contains("write it whole, as in c-0123456789abcdef"), "{}", said.err);
    let said = log(&rig, &["show", "no-such-session"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (4, "error: no session is called `no-such-session`\nhint: `tectum log list` shows the sessions\n")
    );
}

#[test]
fn the_last_session_is_a_clients_and_no_call_of_ones_own() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    assert!(rig.run(&["call", "read_file", "path=a.txt"]).status.success());
    // Where there is no other, it is that one.
    let own = data(&rig, &["show"]);
    assert_eq!((&own["door"], &own["calls"]), (&json!("cli"), &json!(1)), "{own}");
    rig.stdio().call("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    let clients = data(&rig, &["show"])["session"].clone();
    assert_ne!(clients, own["session"]);
    assert!(rig.run(&["call", "get_tree", "path=."]).status.success());
    assert!(rig.run(&["undo", "last", "--yes"]).status.success());
    assert_eq!(rig.read("a.txt"), "one\n");
    assert_eq!(data(&rig, &["list"])["sessions"].as_array().expect("a list").len(), 4);
    for named in [&["show"][..], &["show", "last"]] {
        assert_eq!(data(&rig, named)["session"], clients);
    }
}

#[test]
fn calls_are_found_by_words_and_by_every_filter() {
    let rig = worked();
    let all = ["delete_file", "read_file", "edit_file", "read_file"];
    assert_eq!(found(&rig, &[]), all);
    assert_eq!(found(&rig, &["answer"]), ["edit_file", "read_file"]);
    assert_eq!(found(&rig, &["ANSWER", "u32"]), ["edit_file", "read_file"]);
    assert_eq!(found(&rig, &["answ*"]), ["edit_file", "read_file"]);
    assert_eq!(found(&rig, &["nowhere"]), [""; 0]);
    // A text with signs in it must stand there as it is.
    assert_eq!(found(&rig, &["missing.rs"]), ["read_file"]);
    assert_eq!(found(&rig, &["rs.missing"]), [""; 0]);
    assert_eq!(found(&rig, &["\"fn answer()\""]), ["edit_file", "read_file"]);
    assert_eq!(found(&rig, &["\"answer fn\""]), [""; 0]);
    assert_eq!(found(&rig, &["--tool", "read_file"]), ["read_file", "read_file"]);
    assert_eq!(found(&rig, &["--tool", "*_file", "--failed"]), ["delete_file", "read_file"]);
    assert_eq!(found(&rig, &["--tool", "none"]), [""; 0]);
    assert_eq!(found(&rig, &["--path", "src/config.rs"]), ["edit_file", "read_file"]);
    assert_eq!(found(&rig, &["--path", "src"]), ["read_file", "edit_file", "read_file"]);
    assert_eq!(found(&rig, &["--path", "config.rs"]).len(), 2);
    let whole = rig.project().canonicalize().expect("there").join("src/config.rs");
    assert_eq!(found(&rig, &["--path", whole.to_str().expect("UTF-8")]).len(), 2);
    assert_eq!(found(&rig, &["--verdict", "deny"]), ["delete_file"]);
    assert_eq!(found(&rig, &["--client", "RIG"]), all);
    assert_eq!(found(&rig, &["--client", "stdio"]), all);
    assert_eq!(found(&rig, &["--client", "codex"]), [""; 0]);
    assert_eq!(found(&rig, &["--session", "last", "--since", "1h"]), all);
    assert_eq!(found(&rig, &["--until", "yesterday"]), [""; 0]);
    assert_eq!(found(&rig, &["--since", "today"]).len(), 4);
    assert_eq!(found(&rig, &["-n", "1"]), ["delete_file"]);
    let said = log(&rig, &["search", "answer"]);
    assert!(said.out.contains("fn answer() -> u32 { 41 }"), "{}", said.out);
    let said = log(&rig, &["search", "--since", "soon"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("`soon` is no time: write a time as 30m, 2h"), "{}", said.err);
    assert_eq!(log(&rig, &["search", "!!"]).code, 2);
}

#[test]
fn the_index_is_made_anew_when_it_is_missing_broken_or_old() {
    let rig = worked();
    assert_eq!(found(&rig, &["answer"]).len(), 2);
    let journal = data(&rig, &["path"])["path"].as_str().expect("a path").to_owned();
    let file = std::path::Path::new(&journal).with_file_name("journal-index").join("index.db");
    let made = std::fs::read(&file).expect("an index");
    let broken: [&dyn Fn(); 4] = [
        &|| std::fs::remove_file(&file).expect("removed"),
        &|| std::fs::write(&file, "no database at all").expect("written"),
        &|| std::fs::write(&file, &made[..made.len() / 2]).expect("written"),
        &|| {
            // The version that the header of the file has.
            let mut old = made.clone();
            old[60..64].copy_from_slice(&99_u32.to_be_bytes());
            std::fs::write(&file, old).expect("written");
        },
    ];
    for breaks in broken {
        breaks();
        assert_eq!(found(&rig, &["answer"]), ["edit_file", "read_file"]);
    }
    assert_eq!(found(&rig, &["--rebuild", "answer"]).len(), 2);
    // What is recorded afterwards is found without making it anew.
    rig.stdio().call("search_content", json!({"path": ".", "pattern": "answer"}));
    assert_eq!(found(&rig, &["answer"]), ["search_content", "edit_file", "read_file"]);
    let mode = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().expect("there").permissions().mode() & 0o777
    };
    assert_eq!((mode(&file), mode(file.parent().expect("a folder"))), (0o600, 0o700));
}

#[test]
fn sums_by_tool_and_by_session() {
    let rig = worked();
    let stats = data(&rig, &["stats"]);
    assert_eq!((&stats["total"]["calls"], &stats["total"]["errors"]), (&json!(4), &json!(2)), "{stats}");
    assert_eq!((&stats["tools"][0]["name"], &stats["tools"][0]["calls"]), (&json!("read_file"), &json!(2)));
    assert_eq!(stats["sessions"].as_array().expect("a list").len(), 1);
    assert!(stats["total"]["tokens_out"].as_u64().expect("a number") > 0, "{stats}");
    let said = log(&rig, &["stats"]);
    assert!(said.out.starts_with("4 calls, 2 errors (50.0 %)"), "{}", said.out);
    assert!(said.out.contains("████") && said.out.contains("SESSION"), "{}", said.out);
    assert_eq!(data(&rig, &["stats", "--until", "yesterday"])["total"]["calls"], 0);
}

#[test]
fn a_session_is_exported_for_programs_people_and_collectors() {
    let rig = worked();
    let lines = log(&rig, &["export", "last"]).out;
    let calls: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(calls.len(), 4);
    assert_eq!(calls[1]["tool"], "edit_file");
    let report = log(&rig, &["export", "last", "--format", "markdown"]).out;
    assert!(report.starts_with("# Session s-") && report.contains("edit_file: ok"), "{report}");
    assert!(report.contains("delete_file: denied") && report.contains("| calls | 4 |"), "{report}");
    let events = log(&rig, &["export", "--format", "otel"]).out;
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let record = &events[2]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    let attribute = |name: &str| {
        let all = record["attributes"].as_array().expect("attributes");
        all.iter().find(|one| one["key"] == name).map(|one| one["value"].clone())
    };
    assert_eq!(attribute("gen_ai.tool.name"), Some(json!({"stringValue": "read_file"})));
    assert_eq!(attribute("gen_ai.operation.name"), Some(json!({"stringValue": "execute_tool"})));
    assert_eq!(attribute("mcp.method.name"), Some(json!({"stringValue": "tools/call"})));
    assert_eq!(attribute("error.type"), Some(json!({"stringValue": "not_found"})));
    assert_eq!(attribute("network.transport"), Some(json!({"stringValue": "pipe"})));
    assert_eq!(record["eventName"], "gen_ai.execute_tool");
    let result = attribute("gen_ai.tool.call.result").expect("a result");
    assert!(result["stringValue"].as_str().expect("text").contains("missing.rs"), "{result}");
    let file = rig.outside().join("session.jsonl");
    let name = file.to_str().expect("UTF-8");
    assert_eq!(log(&rig, &["export", "last", "-o", name]).code, 0);
    assert_eq!(std::fs::read_to_string(&file).expect("written"), lines);
    assert_eq!(log(&rig, &["export", "last", "-o", name]).code, 5, "it is not written over");
}

/// Lets `tectum log list` wait for longer than a bar stays away, while somebody else writes the index, and
/// gives what it says on this standard error.
fn says_while_it_waits(rig: &Rig, stderr: Stdio, mut said: impl FnMut() -> String) -> String {
    rig.stdio().call("get_tree", json!({"path": "."}));
    let journal = data(rig, &["path"])["path"].as_str().expect("a path").to_owned();
    let lock = std::path::Path::new(&journal).with_file_name("journal-index").join("lock");
    let lock = std::fs::File::options().write(true).open(lock).expect("a lock");
    lock.lock().expect("locked");
    let mut command = rig.tectum();
    command.args(["log", "list"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = command.spawn().expect("starts");
    drop(command);
    let pid = format!(" {} ", child.id());
    let waits = || {
        let locks = std::fs::read_to_string("/proc/locks").expect("the kernel tells");
        locks.lines().any(|line| line.contains("->") && line.contains(&pid))
    };
    while !waits() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(1_100));
    lock.unlock().expect("unlocked");
    let said = said();
    assert!(child.wait().expect("ended").success());
    said
}

#[test]
fn a_bar_shows_how_far_it_is_on_a_terminal_alone() {
    let rig = worked();
    log(&rig, &["list"]);
    let (mut ours, theirs) = terminal();
    let said = says_while_it_waits(&rig, theirs.into(), move || {
        // The terminal of a program that ended gives an error.
        let mut bytes = Vec::new();
        let _ = ours.read_to_end(&mut bytes);
        String::from_utf8(bytes).expect("text")
    });
    assert!(said.contains("reading the record [##############################] 100 %"), "{said:?}");
    assert!(said.ends_with("\r\u{1b}[K"), "nothing is left of it: {said:?}");
    let (mut read, write) = std::io::pipe().expect("a pipe");
    let said = says_while_it_waits(&rig, write.into(), move || {
        let mut text = String::new();
        read.read_to_string(&mut text).expect("text");
        text
    });
    assert_eq!(said, "");
}

#[test]
fn new_calls_are_followed() {
    let rig = worked();
    let said = log(&rig, &["tail", "-n", "2", "--json"]);
    let lines: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[1]["tool"]), (2, &json!("delete_file")));
    let mut tail = rig.tectum();
    tail.args(["log", "tail", "-f", "-n", "1", "--json"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut tail = tail.spawn().expect("starts");
    let mut lines = BufReader::new(tail.stdout.take().expect("piped")).lines();
    let mut next = || -> Value {
        serde_json::from_str(&lines.next().expect("a line").expect("readable")).expect("JSON")
    };
    assert_eq!(next()["tool"], "delete_file");
    let mut client: Stdin = rig.stdio();
    client.call("read_file", json!({"path": "notes.md"}));
    assert_eq!(next()["paths"], json!(["notes.md"]));
    client.call("get_tree", json!({"path": "."}));
    assert_eq!(next()["tool"], "get_tree");
    tail.kill().and_then(|()| tail.wait()).expect("ended");
}

#[test]
fn a_record_is_checked_and_a_flipped_byte_is_named() {
    let rig = worked();
    let checked = data(&rig, &["verify"]);
    assert_eq!((&checked["ok"], &checked["damages"]), (&json!(true), &json!([])), "{checked}");
    let journal = data(&rig, &["path"])["path"].as_str().expect("a path").to_owned();
    log(&rig, &["path"]).gives(&format!("{journal}\n"));
    let segments = std::fs::read_dir(&journal).expect("a folder").map(|entry| entry.expect("one").path());
    let segment = segments.max_by_key(|path| path.metadata().expect("there").len()).expect("a segment");
    let mut bytes = std::fs::read(&segment).expect("readable");
    let at = bytes.windows(9).position(|window| window == b"edit_file").expect("recorded");
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).expect("written");
    let said = log(&rig, &["verify"]);
    assert_eq!(said.code, 5, "{}", said.out);
    assert!(said.out.contains("damaged:") && said.out.contains("at offset"), "{}", said.out);
    // Everything around it is still read.
    assert_eq!(found(&rig, &["--rebuild"]), ["delete_file", "read_file", "read_file"]);
}

#[test]
fn an_agent_finds_what_it_did_and_nothing_of_others() {
    let rig = worked();
    let other = session(&rig);
    let mut client = rig.stdio();
    client.call("read_file", json!({"path": "notes.md"}));
    let found = client.call("search_history", json!({"query": "todo"}));
    assert!(text(&found).contains("read_file  ok"), "{found}");
    let call = found["structuredContent"]["calls"][0]["call_id"].clone();
    let whole = client.call("search_history", json!({"call_id": call}));
    assert!(text(&whole).contains("todo"), "{whole}");
    let nothing = client.call("search_history", json!({"query": "answer"}));
    assert_eq!(text(&nothing), "No call fits.");
    let refused = client.call("search_history", json!({"query": "answer", "all_sessions": true}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("other sessions may not be searched here"), "{refused}");

    let listed = client.request("resources/list", json!({}));
    assert!(listed.to_string().contains("tectum://sessions/current"), "{listed}");
    let templates = client.request("resources/templates/list", json!({}));
    assert!(templates.to_string().contains("tectum://sessions/{id}"), "{templates}");
    let page = client.request("resources/read", json!({"uri": "tectum://sessions/current"}));
    let page = page["contents"][0]["text"].as_str().expect("text").to_owned();
    assert!(
        page.starts_with("# Session s-") && page.contains("search_history: denied")
            || page.contains("search_history: fault"),
        "{page}"
    );
    let refused = client.exchange("resources/read", json!({"uri": format!("tectum://sessions/{other}")}));
    assert!(
        refused["error"]["message"].as_str().expect("why").contains("only the current session"),
        "{refused}"
    );

    // A project's own file cannot allow it; the user's can.
    rig.write("tectum.toml", "[journal]\nother_sessions = true\n");
    let said = Said::from(rig.run(&["config", "check"]));
    assert!(said.code == 2 && said.err.contains("other_sessions"), "{} {}", said.out, said.err);
    std::fs::remove_file(rig.project().join("tectum.toml")).expect("removed");
    rig.configure("[journal]\nother_sessions = true\n");
    let mut client = rig.stdio();
    let found = client.call("search_history", json!({"query": "answer", "all_sessions": true}));
    assert_eq!(found["structuredContent"]["calls"].as_array().expect("calls").len(), 2, "{found}");
    let page = client.request("resources/read", json!({"uri": format!("tectum://sessions/{other}")}));
    assert!(page["contents"][0]["text"].as_str().expect("text").contains("edit_file: ok"), "{page}");
}

#[test]
fn without_a_record_there_is_no_history() {
    let rig = Rig::new();
    rig.configure("[journal]\nrecord = false\n");
    let mut client = rig.stdio();
    let tools = client.request("tools/list", json!({}));
    assert!(!tools.to_string().contains("search_history"));
    let page = client.exchange("resources/read", json!({"uri": "tectum://sessions/current"}));
    assert!(page["error"]["message"].as_str().expect("why").contains("no calls are recorded"), "{page}");
    client.close();
    log(&rig, &["list"]).gives("no calls were recorded here yet\n");
}
