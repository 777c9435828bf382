//! `tectum observe`: what people see of observers, and how they quiet one.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Client, Era, echo, until},
    rig::Rig,
    watched::{ON, brief, check_pairs, copies, observer, sequence, status, until_copies, until_status},
};

fn rig(servers: impl Fn(&Rig) -> String) -> Rig {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure(&format!("{ON}{}", servers(&rig)));
    rig
}

fn run(rig: &Rig, args: &[&str]) -> Said {
    Said::from(rig.run(args))
}

#[track_caller]
fn ok(rig: &Rig, args: &[&str]) -> Said {
    let said = run(rig, args);
    assert_eq!(said.code, 0, "{args:?}: {}{}", said.out, said.err);
    said
}

fn read(client: &mut Client) {
    client.call("read_file", json!({"path": "a.txt"}));
}

#[test]
fn the_list_says_who_gets_copies_and_why_nobody_does() {
    let off = Rig::new();
    assert!(ok(&off, &["observe", "list"]).out.contains("discover = true"), "how to have some");
    let rig = rig(|rig| format!("{}{}", echo("one", &[], ""), observer(rig, "eye", &[])));
    assert!(ok(&rig, &["observe", "list"]).out.contains("no Tectum is running here"));
    assert_eq!(
        status(&rig),
        json!({"enabled": true, "running": false, "observers": {}, "processes": [], "muted": []})
    );
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    until_status(&rig, "eye", "two sent", |status| status["sent"] == 2);
    let listed = ok(&rig, &["observe", "list"]).out;
    let words: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["NAME", "STATE", "SENT", "LATE", "REFUSED", "LOST", "DROPPED"]);
    assert_eq!(words[1..], [["eye", "watching", "2", "0", "0", "0", "0"]]);
    assert_eq!(status(&rig)["running"], true);
    client.pipe.close();
    assert_eq!(status(&rig)["running"], false, "what ended is not said to run");
}

#[test]
fn a_file_of_the_muted_that_cannot_be_read_is_named() {
    let rig = rig(|rig| observer(rig, "eye", &[]));
    ok(&rig, &["observe", "mute", "eye"]);
    let projects = rig.home().join("state/tectum/projects");
    let project = std::fs::read_dir(projects).expect("there").next().expect("one").expect("readable").path();
    let file = project.join("servers/muted.json");
    std::fs::write(&file, "{broken").expect("written");
    let said = run(&rig, &["observe", "unmute", "eye"]);
    assert!(
        said.code != 0 && said.err.contains("muted.json") && said.err.contains("you can remove it"),
        "{}",
        said.err
    );
    // Nobody can tell who is muted, so everybody is.
    let mut client = Client::new(&rig, Era::Modern);
    read(&mut client);
    until_status(&rig, "eye", "muted", |status| status["state"] == "muted");
    assert_eq!(copies(&rig, "eye").len(), 0);
    client.pipe.close();
    std::fs::remove_file(&file).expect("removed");
    ok(&rig, &["observe", "mute", "eye"]);
}

#[test]
fn a_house_without_observers_says_so() {
    let mut rig = rig(|_| echo("one", &[], ""));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    until("the record", || status(&rig)["running"] == true);
    assert!(ok(&rig, &["observe", "list"]).out.contains("no server here is an observer"));
    client.pipe.close();
    rig.set("EFFERENT_COPY_DISABLE", "1");
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    until("the record", || status(&rig)["running"] == true);
    assert_eq!((&status(&rig)["enabled"], &status(&rig)["observers"]), (&json!(false), &json!({})));
    rig.set("EFFERENT_COPY_DISABLE", "0");
    assert!(ok(&rig, &["observe", "list"]).out.contains("was started without observers"));
}

#[test]
fn two_houses_of_one_folder_are_told_apart_and_together() {
    let mut rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure(&observer(&rig, "eye", &[]));
    rig.set("EFFERENT_COPY_ENABLE", "1");
    rig.set("TECTUM_SERVE_JOIN", "off");
    let (mut first, mut second) = (Client::new(&rig, Era::Legacy), Client::new(&rig, Era::Legacy));
    rig.set("EFFERENT_COPY_ENABLE", "0");
    read(&mut first);
    until_status(&rig, "eye", "two sent", |status| status["sent"] == 2);
    read(&mut second);
    until_status(&rig, "eye", "four sent together", |status| status["sent"] == 4);
    let both = status(&rig);
    assert_eq!(both["processes"].as_array().map(Vec::len), Some(2), "{both}");
    assert_eq!(
        (&both["enabled"], &both["running"]),
        (&json!(true), &json!(true)),
        "what runs decides: {both}"
    );
    let listed = ok(&rig, &["list", "-v"]).out;
    assert_eq!(listed.matches(", process ").count(), 2, "{listed}");
    second.pipe.close();
    let left = status(&rig);
    assert_eq!((&left["running"], &left["observers"]["eye"]["sent"]), (&json!(true), &json!(2)), "{left}");
    assert_eq!(left["processes"][0]["pid"], first.pipe.child.id());
}

#[test]
fn a_trial_shows_the_answer_or_what_is_wrong() {
    let rig = rig(|rig| {
        let bad = [("slow", "slow"), ("picky", "refuse"), ("mismatch", "mismatch"), ("weak", "crash")];
        let bad: String = bad.map(|(name, how)| observer(rig, name, &["--how", how])).concat();
        format!("{bad}{}{}", observer(rig, "eye", &[]), observer(rig, "look", &["--how", "audit"]))
    });
    let said = ok(&rig, &["observe", "test", "eye", "--json"]).json();
    assert_eq!((&said["observer"], &said["patience_ms"]), (&json!("eye"), &json!(250)));
    assert_eq!(said["answer"]["content"][0]["text"], "Taken.");
    let told = until_copies(&rig, "eye", 1);
    assert_eq!(brief(&told[0]), ("tectum_observe_test".to_owned(), false));
    assert_eq!(told[0]["params"]["arguments"]["args"], json!({"trial": true}));
    assert!(ok(&rig, &["observe", "test", "eye"]).out.contains("Taken."));

    let slow = ok(&rig, &["observe", "test", "slow"]);
    assert!(slow.err.contains("would count as late"), "{}", slow.err);
    let slow = ok(&rig, &["observe", "test", "slow", "--json"]).json();
    assert!(slow["took_ms"].as_u64() > slow["patience_ms"].as_u64(), "{slow}");

    let look = ok(&rig, &["observe", "test", "look", "--json"]).json();
    assert_eq!(look["answer"]["valid"], true);

    for (name, code, words) in [
        ("picky", 7, "No, thanks."),
        ("weak", 7, "did not take the copy"),
        ("mismatch", 2, "is no observer"),
        ("nobody", 4, "there is no server `nobody`"),
    ] {
        let said = run(&rig, &["observe", "test", name]);
        assert_eq!(said.code, code, "{name}: {}", said.err);
        assert!(said.err.contains(words), "{name}: {}", said.err);
    }
}

#[test]
fn one_that_is_muted_gets_nothing_until_it_is_let_off() {
    let rig = rig(|rig| format!("{}{}", observer(rig, "loud", &[]), observer(rig, "other", &[])));
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    until_copies(&rig, "loud", 2);

    let muted = ok(&rig, &["observe", "mute", "loud", "--json"]).json();
    assert_eq!(muted, json!({"observer": "loud", "muted": true, "changed": true}));
    assert_eq!(ok(&rig, &["observe", "mute", "loud", "--json"]).json()["changed"], false);
    until_status(&rig, "loud", "muted", |status| status["state"] == "muted");
    assert_eq!(status(&rig)["muted"], json!(["loud"]));
    read(&mut client);
    check_pairs(&until_copies(&rig, "other", 4), &["read_file"; 2]);
    assert_eq!(copies(&rig, "loud").len(), 2);

    ok(&rig, &["observe", "unmute", "loud"]);
    until_status(&rig, "loud", "watching", |status| status["state"] == "watching");
    read(&mut client);
    until_copies(&rig, "other", 6);
    let numbers: Vec<u64> = until_copies(&rig, "loud", 4).iter().map(sequence).collect();
    assert_eq!(numbers, [0, 1, 4, 5], "what happened meanwhile is not told later");
    let loud = until_status(&rig, "loud", "four sent", |status| status["sent"] == 4);
    assert_eq!(loud["dropped"], 0, "what it was not to have is no loss: {loud}");
}

#[test]
fn who_is_muted_stays_so_for_the_next_run() {
    let rig = rig(|rig| format!("{}{}", observer(rig, "loud", &[]), observer(rig, "other", &[])));
    ok(&rig, &["observe", "mute", "loud"]);
    for run in 1..=2 {
        let mut client = Client::new(&rig, Era::Modern);
        read(&mut client);
        until_copies(&rig, "other", 2 * run);
        until_status(&rig, "loud", "muted", |status| status["state"] == "muted");
        assert_eq!(copies(&rig, "loud").len(), 0);
        client.pipe.close();
    }
    let runs: std::collections::BTreeSet<String> =
        copies(&rig, "other").iter().map(|copy| copy["params"]["_meta"]["tectum/run"].to_string()).collect();
    assert_eq!(runs.len(), 2, "each run has its own name");
    let said = run(&rig, &["observe", "mute", "nobody"]);
    assert!(said.code == 4 && said.err.contains("no server `nobody`"), "{}", said.err);
    assert_eq!(ok(&rig, &["observe", "unmute", "nobody", "--json"]).json()["changed"], Value::Bool(false));
}
