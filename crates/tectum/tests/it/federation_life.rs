//! Servers that come late, die, come back, change, page, log and are cancelled; and everything
//! they say, whole and in order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, Listening, address, echo, with},
    rig::text,
};

/// Every pair of a client's era and a server's.
fn pairs() -> impl Iterator<Item = (Era, Era)> {
    Era::ALL.into_iter().flat_map(|client| Era::ALL.map(|server| (client, server)))
}

#[test]
fn a_death_ends_its_calls_and_the_next_use_starts_it_again() {
    for (ours, theirs) in pairs() {
        let rig = with(&format!("{}{}", echo("one", &["--era", theirs.word()], ""), echo("two", &[], "")));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__echo");
        client.until_listed("two__echo");
        let before = client.say("one__pid", json!({}));
        let waiting = client.begin("one__hang", json!({}));
        let dying = client.begin("one__die", json!({}));
        for id in [waiting, dying] {
            let answer = client.wait(id);
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            assert!(text(&answer["result"]).contains("one"), "it names the server: {answer}");
        }
        assert_eq!(client.say("two__echo", json!({"text": "there"})), "there");
        assert_ne!(client.say("one__pid", json!({})), before, "another process answers");
    }
}

#[test]
fn slow_and_dead_servers_hold_nobody_up() {
    let rig = with(&format!(
        "{}{}{}",
        echo("slow", &["--slow-start", "600000"], ""),
        echo("fine", &[], ""),
        crate::federated::command("gone", "no-such-program-anywhere", &[], "")
    ));
    let mut client = Client::new(&rig, Era::Legacy);
    assert!(client.tools().iter().any(|name| name == "read_file"));
    client.until_listed("fine__echo");
    assert_eq!(client.say("fine__echo", json!({"text": "there"})), "there");
    assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "hello\n");
    assert!(!client.tools().iter().any(|name| name.starts_with("slow__") || name.starts_with("gone__")));
}

#[test]
fn servers_that_do_not_take_the_probe_well() {
    for how in ["--die-at-probe", "--silent-probe"] {
        let rig = with(&echo("old", &["--era", "legacy", how], ""));
        let mut client = Client::new(&rig, Era::Modern);
        client.until_listed("old__echo");
        assert_eq!(client.say("old__echo", json!({"text": "there"})), "there", "{how}");
    }
}

#[test]
fn two_clients_with_the_same_ids_get_their_own_answers() {
    for (ours, theirs) in pairs() {
        let server = Listening::fixture(&["--era", theirs.word(), "--name", "one"]);
        let rig = with(&address("one", &server.url, ""));
        let mut clients = [Client::new(&rig, ours), Client::new(&rig, ours)];
        for client in &mut clients {
            client.until_listed("one__echo");
        }
        let mut waiting = Vec::new();
        for round in 0..50 {
            for (number, client) in clients.iter_mut().enumerate() {
                let said = format!("client {number} round {round}");
                waiting.push((number, client.begin("one__echo", json!({"text": said})), said));
            }
        }
        for (number, id, said) in waiting {
            assert_eq!(text(&clients[number].wait(id)["result"]), said);
        }
    }
}

#[test]
fn heavy_progress_is_whole_and_in_order() {
    const CALLS: u64 = 200;
    const NOTES: u64 = 20;
    for (ours, theirs) in pairs() {
        let rig = with(&echo("one", &["--era", theirs.word()], ""));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__progress");
        let ids: Vec<u64> = (0..CALLS)
            .map(|number| {
                let params = json!({"name": "one__progress", "arguments": {"count": NOTES},
                    "_meta": {"progressToken": format!("token-{number}")}});
                client.start("tools/call", params)
            })
            .collect();
        let mut heard: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (number, id) in ids.into_iter().enumerate() {
            let answer = client.wait(id);
            assert_eq!(text(&answer["result"]), format!("{NOTES} notes were sent."));
            for note in std::mem::take(&mut client.notes) {
                let token = note["params"]["progressToken"].as_str().map(str::to_owned);
                let Some(token) = token else { continue };
                heard.entry(token).or_default().push(note["params"]["progress"].as_u64().expect("a number"));
            }
            // Nothing about a call comes after its answer.
            let whole: Vec<u64> = (1..=NOTES).collect();
            assert_eq!(heard.get(&format!("token-{number}")), Some(&whole), "{ours:?} {theirs:?}");
        }
        assert_eq!(heard.values().map(Vec::len).sum::<usize>() as u64, CALLS * NOTES);
    }
}

#[test]
fn a_cancelled_call_is_cancelled_at_its_server() {
    for (ours, theirs) in pairs() {
        let rig = with(&echo("one", &["--era", theirs.word()], ""));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__hang");
        let hanging = client.begin("one__hang", json!({}));
        while seen(&mut client)["hung"] != 1 {}
        client.cancel(hanging);
        while seen(&mut client)["cancelled"] != 1 {}
        assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
    }
}

#[test]
fn a_client_that_leaves_takes_its_calls_with_it() {
    for theirs in Era::ALL {
        let server = Listening::fixture(&["--era", theirs.word(), "--name", "one"]);
        let rig = with(&address("one", &server.url, ""));
        let mut stays = Client::new(&rig, Era::Modern);
        stays.until_listed("one__hang");
        let mut leaves = Client::new(&rig, Era::Modern);
        leaves.until_listed("one__hang");
        leaves.begin("one__hang", json!({}));
        until_seen(&mut stays, "hung");
        leaves.pipe.close();
        // What it listened for ends with it as well.
        until_seen(&mut stays, "cancelled");
    }
}

#[test]
fn questions_reach_the_client_and_answers_the_server() {
    for (ours, theirs) in pairs() {
        let rig = with(&echo("one", &["--era", theirs.word()], ""));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__ask");
        let said = client.say("one__ask", json!({"message": "Which way?"}));
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(
            said,
            json!({"action": "accept", "content": {"answer": "[one] Which way?"}}),
            "{ours:?} {theirs:?}"
        );
        assert!(client.say("one__sample", json!({"prompt": "Say it."})).contains("sampled"));
        assert!(client.say("one__roots", json!({})).contains("file:///rig"));
        assert_eq!(client.asked.len(), 3, "{ours:?} {theirs:?}");
    }
}

#[test]
fn what_a_server_says_arrives_byte_for_byte() {
    // The same texts that the fixture writes; only the tool's name is another.
    const STRUCTURED: &str = r#""structuredContent":{"one":1.0,"hundred":1e2,"big":12345678901234567890123,"zeta":0,"alpha":-0.0}"#;
    const CONTENT: &str = r#"{"type":"x-hologram","rays":[1.0,2.50],"_meta":{"vendor/ray":true}}"#;
    const TRAILER: &str = r#""x-trailer":{"b":[],"a":{}}"#;
    const ESCAPES: &str = r#""text":"caf\u00e9 \/ \ud83d\ude00","annotations":{"priority":0.50}"#;
    const SCHEMA: &str = r#""inputSchema":{"type":"object","zeta":true,"properties":{"z":{"type":"number","maximum":1.0e2},"a":{"type":"number","minimum":-0.0}},"required":[]}"#;
    const VENDOR: &str = r#""x-vendor":{"b":1.0,"a":1e2}"#;
    const META: &str = r#""_meta":{"vendor/key":{"deep":[1E+2,null]}}"#;
    for (ours, theirs) in pairs() {
        let rig = with(&echo("one", &["--era", theirs.word()], ""));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__structured");
        let id = client.begin("one__structured", json!({}));
        let (_, line) = client.wait_raw(id);
        for part in [STRUCTURED, CONTENT, TRAILER, ESCAPES] {
            assert!(line.contains(part), "{ours:?} {theirs:?}: {part} is not in {line}");
        }
        let id = client.start("tools/list", json!({}));
        let (_, line) = client.wait_raw(id);
        for part in [SCHEMA, VENDOR, META] {
            assert!(line.contains(part), "{ours:?} {theirs:?}: {part} is not in {line}");
        }
    }
}

#[test]
fn every_page_of_a_list_is_read() {
    for theirs in Era::ALL {
        let server = echo("one", &["--era", theirs.word(), "--tools", "500", "--page", "7"], "");
        let rig = with(&format!("[federation]\nexposure = \"all\"\n{server}"));
        let mut client = Client::new(&rig, Era::Legacy);
        client.until_listed("one__extra_0499");
        let names: BTreeSet<String> = client.tools().into_iter().collect();
        assert_eq!(names.iter().filter(|name| name.starts_with("one__extra_")).count(), 500);
        assert_eq!(client.say("one__extra_0250", json!({})), "extra_0250 of one");
    }
}

#[test]
fn a_list_that_fails_is_asked_for_again_and_costs_no_other() {
    for (ours, theirs) in pairs() {
        let first = ["--era", theirs.word(), "--fail-list", "tools/list", "2"];
        let second = ["--era", theirs.word(), "--fail-list", "prompts/list", "1000000"];
        let rig = with(&format!("{}{}", echo("one", &first, ""), echo("two", &second, "")));
        let mut client = Client::new(&rig, ours);
        client.until_listed("two__echo");
        assert_eq!(client.say("two__echo", json!({"text": "there"})), "there");
        // Nothing but time brings this one back: it never says that anything changed.
        client.until_listed("one__echo");
        assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
        let pid = client.say("one__pid", json!({}));
        assert_eq!(client.say("one__pid", json!({})), pid, "the server was there all the time");
        let prompts = client.list("prompts/list", "prompts");
        let names: Vec<&str> = prompts.iter().filter_map(|prompt| prompt["name"].as_str()).collect();
        assert_eq!(names, ["one__greet"], "{ours:?} {theirs:?}");
    }
}

#[test]
fn a_changed_tool_is_withheld_until_a_person_approves_it() {
    for (ours, theirs) in pairs() {
        let rig = with(&format!(
            "{}{}",
            echo("one", &["--era", theirs.word(), "--change-on", "add"], ""),
            echo("two", &[], "")
        ));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__echo");
        client.until_listed("two__echo");
        if ours == Era::Modern {
            client.start("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
        }
        client.notes.clear();
        client.say("one__add", json!({"a": 1, "b": 1}));
        let changed = |client: &Client| {
            client.notes.iter().any(|note| note["method"] == "notifications/tools/list_changed")
        };
        while !changed(&client) {
            client.hear();
        }
        assert!(!client.tools().iter().any(|name| name == "one__echo"), "it is withheld");
        let refused = client.begin("one__echo", json!({"text": "x"}));
        let refused = client.wait(refused);
        assert!(text(&refused["result"]).contains("approve-tools one"), "{refused}");
        let slip = rig.run(&["approve-tools", "one", "nope", "--yes"]);
        let said = String::from_utf8_lossy(&slip.stderr);
        assert!(slip.status.code() == Some(4) && said.contains("waiting: `echo`"), "{said}");
        let shown = rig.run(&["approve-tools", "one", "--yes"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(
            shown.contains("one: echo") && shown.contains("+") && shown.contains("Changed 1 times."),
            "{shown}"
        );
        client.until_listed("one__echo");
        let tools = client.list("tools/list", "tools");
        let echo = tools.iter().find(|tool| tool["name"] == "one__echo").expect("listed");
        assert!(
            echo["description"].as_str().is_some_and(|text| text.ends_with("Changed 1 times.")),
            "{echo}"
        );
        assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
    }
}

#[test]
fn resources_and_prompts_of_several_servers_stay_apart() {
    for (ours, theirs) in pairs() {
        let rig = with(&format!(
            "{}{}",
            echo("one", &["--era", theirs.word()], ""),
            echo("two", &["--era", theirs.word()], "")
        ));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__echo");
        client.until_listed("two__echo");
        for name in ["one", "two"] {
            let read = client.result("resources/read", json!({"uri": format!("echo://{name}/note")}));
            assert_eq!(read["contents"][0]["text"], format!("A note of {name}."));
            let prompt = json!({"name": format!("{name}__greet"), "arguments": {"who": "Ada"}});
            let prompt = client.result("prompts/get", prompt);
            assert_eq!(prompt["messages"][0]["content"]["text"], format!("{name} greets Ada."));
        }
        let resources = client.list("resources/list", "resources");
        let uris: BTreeSet<&str> = resources.iter().filter_map(|one| one["uri"].as_str()).collect();
        assert_eq!(uris.len(), resources.len(), "no two resources have one address: {resources:?}");
    }
}

#[test]
fn a_server_sees_only_the_environment_it_was_given() {
    let rig = with(&echo("one", &[], "env = { GIVEN = \"yes\" }"));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__env");
    let names = client.say("one__env", json!({}));
    assert!(names.lines().any(|name| name == "GIVEN"), "{names}");
    // The word that all processes of one start carry, and nothing else of ours.
    let ours: Vec<&str> = names.lines().filter(|name| name.starts_with("TECTUM_")).collect();
    assert_eq!(ours, ["TECTUM_GUARDED", "TECTUM_WITHIN"], "{names}");
    assert!(names.lines().any(|name| name == "EFFERENT_COPY_DISABLE"), "{names}");
    assert!(!names.lines().any(|name| name.starts_with("CARGO_")), "{names}");
}

/// A hundred deaths in an ordinary run, a thousand in a soak. A server that dies often is left
/// alone for a while, so each dies a few times, and then a person starts it anew.
#[test]
fn soak_deaths_leave_nothing_behind() {
    const SERVERS: usize = 25;
    const EACH: usize = 4;
    let deaths = if std::env::var_os("TECTUM_SOAK").is_some() { 1000 } else { 100 };
    let names: Vec<String> = (0..SERVERS).map(|number| format!("s{number}")).collect();
    let configuration: String = names.iter().map(|name| echo(name, &[], "")).collect();
    let rig = with(&format!("[federation]\nexposure = \"all\"\n{configuration}"));
    let mut client = Client::new(&rig, Era::Legacy);
    for name in &names {
        client.until_listed(&format!("{name}__echo"));
    }
    let pids = |client: &mut Client| -> Vec<u32> {
        let asked: Vec<u64> =
            names.iter().map(|name| client.begin(&format!("{name}__pid"), json!({}))).collect();
        let pids = asked.into_iter().map(|id| text(&client.wait(id)["result"]).parse().ok());
        pids.map(|pid| pid.expect("every server is there")).collect()
    };
    let mut before = pids(&mut client);
    let (held_before, mut died) = (held(&client), 0);
    while died < deaths {
        for _ in 0..EACH {
            let dying: Vec<u64> =
                names.iter().map(|name| client.begin(&format!("{name}__die"), json!({}))).collect();
            for id in dying {
                assert_eq!(client.wait(id)["result"]["isError"], true);
            }
            died += SERVERS;
            let now = pids(&mut client);
            assert!(before.iter().all(|pid| !now.contains(pid)), "all of them died");
            before = now;
        }
        if died < deaths {
            for name in &names {
                assert!(rig.run(&["restart", name]).status.success());
            }
            crate::federated::until("all of them anew", || {
                let now = pids(&mut client);
                !before.iter().any(|pid| now.contains(pid))
            });
            before = pids(&mut client);
        }
    }
    crate::federated::until("the end of all that died", || held(&client).1 == held_before.1);
    let after = held(&client);
    assert!(after.0 <= held_before.0 + 4, "descriptors: {} before, {} after", held_before.0, after.0);
    println!(
        "soak: nothing is left behind by servers that die | {died} deaths, {} processes more, descriptors {} to {}",
        after.1 - held_before.1,
        held_before.0,
        after.0
    );
}

/// The number of descriptors the binary holds, and of processes below it.
fn held(client: &Client) -> (usize, usize) {
    let pid = client.pipe.child.id();
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("readable").count();
    let mut parents: BTreeMap<u32, u32> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").expect("readable").flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name in brackets may hold anything, so what follows is counted from its end.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        parents.extend(parent.map(|parent| (child, parent)));
    }
    let below = |mut child: u32| {
        while let Some(parent) = parents.get(&child) {
            if *parent == pid {
                return true;
            }
            child = *parent;
        }
        false
    };
    (descriptors, parents.keys().filter(|child| below(**child)).count())
}

/// Asks the server until it has seen something of this kind.
fn until_seen(client: &mut Client, what: &str) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while seen(client)[what].as_u64().unwrap_or(0) == 0 {
        assert!(std::time::Instant::now() < until, "nothing {what}: {}", seen(client));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn seen(client: &mut Client) -> Value {
    serde_json::from_str(&client.say("one__seen", json!({}))).expect("JSON")
}
