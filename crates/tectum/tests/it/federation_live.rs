//! Servers that come, go and change while a client is there: only those that are meant are
//! touched, and nothing of them stays.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, command, echo, lives, marked, starts, until},
    rig::{Rig, text},
};

fn rig() -> (Rig, impl Fn(&str) -> PathBuf) {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let outside = rig.outside().to_owned();
    (rig, move |name: &str| outside.join(format!("{name}.starts")))
}

fn run(rig: &Rig, args: &[&str]) {
    let said = rig.run(args);
    assert!(said.status.success(), "{args:?}: {said:?}");
}

#[test]
fn a_change_touches_only_the_server_it_is_about() {
    check_changes(Era::Legacy);
}

#[test]
fn and_so_it_is_for_clients_of_the_newer_era() {
    check_changes(Era::Modern);
}

fn check_changes(era: Era) {
    let (rig, marker) = rig();
    let one = marked("one", &marker("one"), &[], "");
    let two = marked("two", &marker("two"), &[], "");
    rig.configure(&format!("{one}{two}"));
    let mut client = Client::new(&rig, era);
    client.until_listed("one__echo");
    client.until_listed("two__echo");
    let sleeping = client.begin("two__sleep", json!({"ms": 8000}));
    let names = client.tools();

    rig.configure(&format!("{one}{two}{}", marked("three", &marker("three"), &[], "")));
    until("the third", || starts(&marker("three")).len() == 1);
    client.until_listed("three__echo");
    let now = client.tools();
    assert!(names.iter().all(|name| now.contains(name)), "adding a server renames nothing");

    run(&rig, &["restart", "one"]);
    until("a second start", || starts(&marker("one")).len() == 2);
    until("the first one's end", || !lives(starts(&marker("one"))[0]));
    assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");

    run(&rig, &["disable", "three"]);
    client.until_gone("three__echo");
    until("the third one's end", || !lives(starts(&marker("three"))[0]));

    // What cannot be read changes nothing.
    let good = std::fs::read_to_string(rig.home().join("config/tectum/tectum.toml")).expect("there");
    rig.configure(&format!("{good}\n[servers.broken\n"));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
    rig.configure(&good);

    run(&rig, &["remove", "one"]);
    client.until_gone("one__echo");
    until("the end of all its starts", || !starts(&marker("one")).iter().any(|pid| lives(*pid)));
    assert_eq!(text(&client.wait(sleeping)["result"]), "Slept.", "a call elsewhere is not disturbed");
    let two = starts(&marker("two"));
    assert!(two.len() == 1 && lives(two[0]), "{two:?}");
}

#[test]
fn a_servers_tree_ends_with_a_restart_a_removal_and_a_kill() {
    let (rig, _) = rig();
    rig.configure(&format!("{}{}", echo("one", &[], ""), echo("two", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    let tree = |client: &mut Client, name: &str| -> Vec<u32> {
        client.until_listed(&format!("{name}__spawn_tree"));
        let said = client.say(&format!("{name}__spawn_tree"), json!({}));
        let tree: Vec<u32> = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        assert!(tree.len() >= 4 && tree.iter().all(|pid| lives(*pid)), "{said}");
        tree
    };
    let first = tree(&mut client, "one");
    run(&rig, &["restart", "one"]);
    until("the end after a restart", || !first.iter().any(|pid| lives(*pid)));
    let second = tree(&mut client, "one");
    run(&rig, &["remove", "one"]);
    until("the end after a removal", || !second.iter().any(|pid| lives(*pid)));
    let third = tree(&mut client, "two");
    client.pipe.child.kill().expect("killed");
    until("the end after a kill", || !third.iter().any(|pid| lives(*pid)));
}

#[test]
fn what_was_known_is_listed_without_a_start_and_said_to_be_stale() {
    for (ours, theirs) in Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs))) {
        let (rig, marker) = rig();
        rig.configure(&marked("one", &marker("one"), &["--era", theirs.word()], ""));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__echo");
        client.pipe.close();
        assert_eq!(starts(&marker("one")).len(), 1);

        let mut client = Client::new(&rig, ours);
        let stale =
            |client: &mut Client| client.result("tools/list", json!({}))["_meta"]["tectum/stale"].clone();
        assert!(client.tools().iter().any(|name| name == "one__echo"), "the first list has it");
        assert_eq!(stale(&mut client), json!(["one"]));
        assert_eq!(starts(&marker("one")).len(), 1, "nothing was started to list it");
        assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
        assert_eq!(starts(&marker("one")).len(), 2);
        until("its own word", || stale(&mut client) == Value::Null);
    }
}

#[test]
fn a_list_without_a_server_that_was_never_met_is_not_to_be_kept() {
    let rig = Rig::new();
    rig.configure(&format!("[servers]\nfirst_wait = 0\n{}", echo("one", &["--slow-start", "5000"], "")));
    let mut client = Client::new(&rig, Era::Modern);
    let lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    for method in lists {
        let list = client.result(method, json!({}));
        assert!(list["ttlMs"] == 0 && !list.to_string().contains("one__"), "{list}");
    }
    client.until_listed("one__echo");
    for method in lists {
        until(method, || client.result(method, json!({}))["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    }
}

#[test]
fn what_servers_want_models_to_know_is_told_from_memory_and_marked_as_theirs() {
    for (ours, theirs) in Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs))) {
        let (rig, marker) = rig();
        let args = ["--era", theirs.word(), "--instructions", "Say it twice.\nHidden: \u{202e}."];
        rig.configure(&marked("one", &marker("one"), &args, ""));
        let instructions = |client: &mut Client| match ours {
            Era::Legacy => client.hello["instructions"].as_str().expect("text").to_owned(),
            Era::Modern => {
                let hello = client.result("server/discover", json!({}));
                hello["instructions"].as_str().expect("text").to_owned()
            }
        };
        let mut client = Client::new(&rig, ours);
        assert!(instructions(&mut client).starts_with("Tools for the files and code of this project."));
        client.until_listed("one__echo");
        client.pipe.close();

        let mut client = Client::new(&rig, ours);
        let said = instructions(&mut client);
        let expect = "The server one says of itself (its tools begin with one__):\n> Say it twice.\n> Hidden: \\u{202e}.";
        assert!(
            said.starts_with("Tools for the files and code of this project.") && said.ends_with(expect),
            "{said}"
        );
        assert_eq!(starts(&marker("one")).len(), 1, "nothing was started to say it");
        client.pipe.close();

        // A server that stands for all there is says it all itself.
        let long = "All of it. ".repeat(2000);
        let args = ["--era", theirs.word(), "--instructions", &long];
        let alone = marked("alone", &marker("alone"), &args, "prefix = false");
        rig.configure(&format!("[tools]\nnative = false\n{alone}"));
        let mut client = Client::new(&rig, ours);
        client.until_listed("echo");
        client.pipe.close();
        assert_eq!(instructions(&mut Client::new(&rig, ours)), long.trim());
    }
}

#[test]
fn heavy_one_that_hangs_and_one_that_is_dead_are_no_concern_of_the_others() {
    let (rig, _) = rig();
    let mut all: String = (0..18).map(|number| echo(&format!("s{number}"), &[], "")).collect();
    all.push_str(&echo("slow", &["--slow-start", "600000"], "timeout = \"1s\""));
    all.push_str(&command("dead", "false", &[], ""));
    rig.configure(&format!("[federation]\nexposure = \"all\"\n{all}"));
    let mut client = Client::new(&rig, Era::Modern);
    for number in 0..18 {
        client.until_listed(&format!("s{number}__echo"));
    }
    let slow = client.begin("slow__echo", json!({"text": "late"}));
    assert!(client.wait(slow)["error"]["message"].as_str().is_some_and(|text| text.contains("Unknown tool")));
    for round in 0..3 {
        let calls: Vec<u64> = (0..18)
            .map(|number| client.begin(&format!("s{number}__echo"), json!({"text": round.to_string()})))
            .collect();
        for id in calls {
            assert_eq!(text(&client.wait(id)["result"]), round.to_string());
        }
    }
    assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "hello\n");
    assert!(!client.tools().iter().any(|name| name.starts_with("slow__") || name.starts_with("dead__")));
}
