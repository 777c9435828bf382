//! The conditions for becoming an observer: nobody unless it is wanted, then whoever offers the right
//! tool, from whichever file, for as long as it is there.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, address, command, lives, starts, until},
    rig::{Rig, fixture},
    watched::{
        ON, brief, check_pairs, copies, listening, log, observer, role, sequence, status, until_copies,
        until_status,
    },
};

fn rig() -> Rig {
    Rig::with(&[("a.txt", "hello\n")])
}

/// An observer that leaves a line in a file for each start.
fn counted(rig: &Rig, name: &str, marker: &Path) -> String {
    let (marker, program) = (marker.display().to_string(), fixture().display().to_string());
    let first = ["-c", "echo $$ >> \"$0\"; exec \"$@\"", &marker, &program].map(str::to_owned);
    let args: Vec<String> = first.into_iter().chain(role(rig, name, &[])).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    command(name, "sh", &args, "")
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn read(client: &mut Client) {
    client.call("read_file", json!({"path": "a.txt"}));
}

/// Looks long enough for a mistake to show: the files are looked at once a second.
fn a_while() {
    std::thread::sleep(std::time::Duration::from_millis(1500));
}

#[test]
fn one_that_never_says_what_it_is_is_waited_for_a_bounded_time_and_holds_up_nobody() {
    let mut rig = rig();
    rig.set("TECTUM_LOG", "tectum_peers::observe=debug");
    // Its own patience would be a minute, so that only the bound for observers can end the wait.
    // It comes first, by its name and in the file: whoever were asked one after the other would wait.
    let silent = command("dumb", "sleep", &["1000"], "start_timeout = \"60s\"");
    rig.configure(&format!("{ON}{silent}{}", observer(&rig, "eye", &[])));
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    // The other one has its copies while nobody knows yet what this one is.
    check_pairs(&until_copies(&rig, "eye", 2), &["read_file"]);
    let mut heard = String::new();
    let mut log = BufReader::new(client.pipe.child.stderr.take().expect("piped"));
    while !heard.contains("has not said in 5 s whether it is an observer") {
        assert!(log.read_line(&mut heard).expect("readable") > 0, "it ended: {heard}");
    }
    assert!(heard.lines().last().is_some_and(|line| line.contains("dumb")), "{heard}");
    assert!(heard.contains("gets a copy of every call"), "the other was found meanwhile: {heard}");
    assert_eq!(status(&rig)["observers"]["dumb"], Value::Null);
    read(&mut client);
    check_pairs(&until_copies(&rig, "eye", 4), &["read_file"; 2]);
}

#[test]
fn nobody_is_contacted_unless_it_is_wanted() {
    let mut rig = rig();
    let marker = rig.outside().join("starts");
    let table = counted(&rig, "eye", &marker);
    rig.configure(&table);
    // The first client ever makes its tools known; from then on nothing starts without a reason.
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("eye__observe");
    read(&mut client);
    client.pipe.close();
    assert_eq!((starts(&marker).len(), copies(&rig, "eye").len()), (1, 0), "off is the default");

    let check_off = |rig: &Rig| {
        let mut client = Client::new(rig, Era::Legacy);
        read(&mut client);
        a_while();
        read(&mut client);
        client.pipe.close();
        assert_eq!((starts(&marker).len(), copies(rig, "eye").len()), (1, 0));
        assert_eq!(status(rig)["enabled"], false);
    };
    check_off(&rig);
    for word in ["0", "true", "yes", ""] {
        let mut rig = Rig::with(&[]);
        rig.set("EFFERENT_COPY_ENABLE", word);
        assert_eq!(status(&rig)["enabled"], false, "only the word 1 counts, not {word:?}");
    }
    rig.configure(&format!("{ON}{table}"));
    rig.set("EFFERENT_COPY_ENABLE", "1");
    rig.set("EFFERENT_COPY_DISABLE", "1");
    check_off(&rig);

    rig.set("EFFERENT_COPY_DISABLE", "0");
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    check_pairs(&until_copies(&rig, "eye", 2), &["read_file"]);
    assert_eq!(starts(&marker).len(), 2, "known by what it offered, it is started to watch");
}

#[test]
fn the_environment_alone_can_want_it() {
    let mut rig = rig();
    rig.configure(&observer(&rig, "eye", &[]));
    rig.set("EFFERENT_COPY_ENABLE", "1");
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    check_pairs(&until_copies(&rig, "eye", 2), &["read_file"]);
    assert_eq!(status(&rig)["enabled"], true);
}

#[test]
fn children_are_told_not_to_copy() {
    let rig = rig();
    let script = "printenv EFFERENT_COPY_DISABLE >> \"$0\"; exec \"$@\"";
    let said = rig.outside().join("said");
    let args: Vec<String> = ["-c", script, &said.display().to_string(), &fixture().display().to_string()]
        .map(str::to_owned)
        .into_iter()
        .chain(role(&rig, "eye", &[]))
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    rig.configure(&format!("{ON}{}", command("eye", "sh", &args, "env = { EFFERENT_COPY_DISABLE = \"0\" }")));
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    until_copies(&rig, "eye", 2);
    assert_eq!(std::fs::read_to_string(said).expect("written"), "1\n", "ours is the last word");
}

#[test]
fn a_projects_file_is_enough_once_it_is_trusted() {
    let rig = rig();
    rig.configure(ON);
    let entry = |name: &str| json!({"command": fixture(), "args": role(&rig, name, &[])});
    // No `type`, as most files have it; one that says so, and one of a kind nobody knows.
    let mut typed = entry("typed");
    typed["type"] = json!("stdio");
    let servers = json!({"mcpServers": {"plain": entry("plain"), "typed": typed,
        "pigeon": {"type": "carrier-pigeon", "command": fixture(), "args": role(&rig, "pigeon", &[])},
        "stranger": entry("stranger")}});
    rig.write(".mcp.json", servers.to_string());
    let said = rig.run(&["trust", "plain", "typed", "--yes"]);
    assert!(said.status.success(), "{said:?}");
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    for name in ["plain", "typed"] {
        check_pairs(&until_copies(&rig, name, 2), &["read_file"]);
    }
    a_while();
    for name in ["stranger", "pigeon"] {
        assert!(!log(&rig, name).exists(), "{name} was never asked");
    }
    let names: Vec<String> =
        status(&rig)["observers"].as_object().expect("an object").keys().cloned().collect();
    assert_eq!(names, ["plain", "typed"]);
}

#[test]
fn only_a_tool_that_fits_makes_an_observer() {
    let rig = rig();
    let others = format!(
        "{}{}{}",
        observer(&rig, "mismatch", &["--how", "mismatch"]),
        observer(&rig, "none", &["--how", "no-tool"]),
        observer(&rig, "excluded", &[])
    );
    let exclude = format!("{ON}exclude = [\"excl*\"]\n");
    let gone = address("gone", "http://127.0.0.1:9/mcp", "");
    rig.configure(&format!("{exclude}{others}{gone}{}", observer(&rig, "eye", &[])));
    let mut client = Client::new(&rig, Era::Legacy);
    for name in ["mismatch", "none", "excluded"] {
        client.until_listed(&format!("{name}__pid"));
    }
    read(&mut client);
    check_pairs(&until_copies(&rig, "eye", 2), &["read_file"]);
    a_while();
    for name in ["mismatch", "none", "excluded"] {
        assert!(!log(&rig, name).exists(), "{name} got something");
    }
    until_status(&rig, "eye", "two sent", |status| status["sent"] == 2);
    let all = status(&rig)["observers"].clone();
    assert_eq!(all.as_object().map(serde_json::Map::len), Some(1), "{all}");
}

#[test]
fn one_that_comes_is_told_from_then_on_and_one_that_goes_no_more() {
    let rig = rig();
    let first = observer(&rig, "first", &[]);
    rig.configure(&format!("{ON}{first}"));
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    until_copies(&rig, "first", 2);

    rig.configure(&format!("{ON}{first}{}", observer(&rig, "second", &[])));
    until_status(&rig, "second", "watching", |status| status["state"] == "watching");
    read(&mut client);
    until_copies(&rig, "first", 4);
    let second = until_copies(&rig, "second", 2);
    let numbers: Vec<u64> = second.iter().map(sequence).collect();
    assert_eq!(numbers, [2, 3], "what was before it came is not told");
    let pid = u32::try_from(second[0]["pid"].as_u64().expect("a number")).expect("fits");

    rig.configure(&format!("{ON}{first}"));
    until("its end", || !lives(pid));
    until("its line's end", || status(&rig)["observers"].get("second").is_none());
    read(&mut client);
    check_pairs(&until_copies(&rig, "first", 6), &["read_file"; 3]);
    assert_eq!(copies(&rig, "second").len(), 2);
}

#[test]
fn one_that_is_changed_goes_on_where_it_was() {
    let rig = rig();
    let eye = |more: &str| command("eye", fixture(), &words(&role(&rig, "eye", &[])), more);
    rig.configure(&format!("{ON}{}", eye("")));
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    let pid = |copy: &Value| copy["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a pid");
    let first = pid(&until_copies(&rig, "eye", 2)[0]);
    rig.configure(&format!("{ON}{}", eye("env = { WORD = \"new\" }")));
    let mut calls = 1;
    until("another process", || {
        read(&mut client);
        calls += 1;
        copies(&rig, "eye").iter().any(|copy| pid(copy) != first)
    });
    // One that was on its way when the old process was stopped may be lost with it; it is counted.
    let counted = |status: &Value| {
        let counts = ["sent", "late", "refused", "lost", "dropped"].map(|name| status[name].as_u64());
        counts.into_iter().flatten().sum::<u64>()
    };
    let status = until_status(&rig, "eye", "every copy", |status| counted(status) == 2 * calls);
    let numbers: Vec<u64> = copies(&rig, "eye").iter().map(sequence).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "in order and once: {numbers:?}");
    let taken = status["sent"].as_u64().expect("a number");
    assert!(u64::try_from(numbers.len()).expect("fits") >= taken, "{status}: {numbers:?}");
}

#[test]
fn one_that_was_not_there_when_it_was_asked_is_asked_again() {
    let rig = rig();
    let far = listening(&rig, "late", &[]);
    let port = far.url.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port").to_owned();
    rig.configure(&format!("{ON}{}{}", address("late", &far.url, ""), observer(&rig, "eye", &[])));
    drop(far);
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    until_copies(&rig, "eye", 2);
    let _far = listening(&rig, "late", &["--http", &port]);
    until_status(&rig, "late", "watching", |status| status["state"] == "watching");
    read(&mut client);
    until("what came since", || copies(&rig, "late").iter().any(|copy| sequence(copy) == 3));
}

#[test]
fn one_that_comes_where_no_client_shook_hands_is_asked_too() {
    let rig = rig();
    rig.configure(ON);
    let house = rig.http();
    let mut headers = house.headers();
    for (name, value) in
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "read_file")]
    {
        headers.push((name.into(), value.into()));
    }
    let own = |key: &str| format!("io.modelcontextprotocol/{key}");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_file",
        "arguments": {"path": "a.txt"}, "_meta": {own("protocolVersion"): "2026-07-28",
            own("clientInfo"): {"name": "test", "version": "1"}, own("clientCapabilities"): {}}}});
    let read = || {
        let answer = house.send("POST", "/mcp", &headers, &call.to_string());
        assert_eq!(answer.json()["result"]["content"][0]["text"], "hello\n", "{answer:?}");
    };
    read();
    rig.configure(&format!("{ON}{}", observer(&rig, "eye", &[])));
    until_status(&rig, "eye", "watching", |status| status["state"] == "watching");
    read();
    let numbers: Vec<u64> = until_copies(&rig, "eye", 2).iter().map(sequence).collect();
    assert_eq!(numbers, [2, 3], "what was before it came is not told");
}

#[test]
fn one_that_learns_to_watch_while_it_runs_is_told() {
    let rig = rig();
    let (table, fitting) = (observer(&rig, "eye", &["--how", "no-tool"]), observer(&rig, "eye", &[]));
    rig.configure(&format!("{ON}{table}"));
    let mut client = Client::new(&rig, Era::Modern);
    client.until_listed("eye__pid");
    read(&mut client);
    rig.configure(&format!("{ON}{fitting}"));
    until_status(&rig, "eye", "watching", |status| status["state"] == "watching");
    read(&mut client);
    let told = until_copies(&rig, "eye", 2);
    assert_eq!(
        told.iter().map(brief).collect::<Vec<_>>(),
        [false, true].map(|after| ("read_file".to_owned(), after))
    );
}

#[test]
fn the_same_process_watches_and_answers() {
    for era in Era::ALL {
        let rig = rig();
        rig.configure(&format!("{ON}{}", observer(&rig, "eye", &[])));
        let mut client = Client::new(&rig, era);
        client.until_listed("eye__pid");
        read(&mut client);
        until_copies(&rig, "eye", 2);
        let pid = client.say("eye__pid", json!({}));
        let told = until_copies(&rig, "eye", 4);
        let pids: Vec<Value> = told.iter().map(|copy| copy["pid"].clone()).collect();
        assert!(pids.iter().all(|one| one.as_u64() == pid.parse().ok()), "{pid}: {pids:?}");
    }
}

#[test]
fn one_that_every_client_has_to_itself_goes_on_watching_when_the_first_leaves() {
    let rig = rig();
    let table = observer(&rig, "eye", &["--era", "legacy"]);
    rig.configure(&format!("{ON}{table}isolation = \"per-client\"\n"));
    let mut http = rig.http();
    for client in 1..=3 {
        http.handshake();
        until_status(&rig, "eye", "watching", |status| status["state"] == "watching");
        http.call("read_file", json!({"path": "a.txt"}));
        until_copies(&rig, "eye", 2 * client);
        assert_eq!(http.send("DELETE", "/mcp", &http.headers(), "").status, 204);
        http.session = None;
    }
    let told = copies(&rig, "eye");
    let pids: std::collections::BTreeSet<Option<u64>> =
        told.iter().map(|copy| copy["pid"].as_u64()).collect();
    assert_eq!(pids.len(), 1, "{told:#?}");
    assert_eq!(until_status(&rig, "eye", "all", |status| status["sent"] == 6)["lost"], 0);
}
