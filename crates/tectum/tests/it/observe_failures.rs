//! Observers that hang, are slow, crash, refuse or speak nonsense: no call hears of it, and what
//! became of the copies is counted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, address, until},
    rig::Rig,
    watched::{
        ON, check_pairs, copies, listening, observer, sequence, status_of, until_copies, until_status,
    },
};

fn rig() -> Rig {
    Rig::with(&[("a.txt", "hello\n")])
}

fn read(client: &mut Client) {
    assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "hello\n");
}

fn count(status: &Value, counter: &str) -> u64 {
    status[counter].as_u64().unwrap_or_default()
}

#[test]
fn results_come_while_an_observer_hangs_and_what_it_misses_is_counted() {
    let rig = rig();
    rig.configure(&format!(
        "{ON}{}{}",
        observer(&rig, "stuck", &["--how", "hang"]),
        observer(&rig, "fine", &[])
    ));
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    // It has its first copy, and does not answer it for as long as it lives.
    until_copies_of(&rig, "stuck", 1);
    const CALLS: usize = 200;
    for call in 1..CALLS {
        read(&mut client);
        // One that is fine has the time it needs; one that hangs would need a minute.
        until_copies_of(&rig, "fine", (2 * call).saturating_sub(50));
    }
    let all = 2 * CALLS as u64;
    until_status(&rig, "fine", "all of them", |status| count(status, "sent") == all);
    let told = copies(&rig, "fine");
    assert_eq!(told.iter().map(sequence).collect::<Vec<_>>(), (0..all).collect::<Vec<_>>());

    // More came than are kept for it: the oldest were overwritten.
    let stuck = until_status(&rig, "stuck", "late and dropped", |status| {
        count(status, "late") > 1 && count(status, "dropped") > 0
    });
    assert_eq!((count(&stuck, "sent"), count(&stuck, "refused")), (0, 0), "{stuck}");
    assert!(stuck["error"].as_str().is_some_and(|text| text.contains("within 250 ms")), "{stuck}");
    let got: Vec<u64> = copies(&rig, "stuck").iter().map(sequence).collect();
    assert!(got.is_sorted_by(|one, next| one < next), "in order and once: {got:?}");
    assert!(got.windows(2).any(|pair| pair[1] > pair[0] + 1), "a gap is a loss: {got:?}");

    let (ended, stderr) = client.pipe.close();
    assert!(ended.success());
    let warnings: Vec<&str> = stderr.lines().filter(|line| line.contains("a copy did not arrive")).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("stuck"), "one warning a minute: {stderr}");
}

#[track_caller]
fn until_copies_of(rig: &Rig, name: &str, least: usize) {
    until(&format!("{least} copies for {name}"), || copies(rig, name).len() >= least);
}

#[test]
fn one_that_is_slow_gets_its_copies_in_order_and_all_are_late() {
    let rig = rig();
    rig.configure(&format!("{ON}{}", observer(&rig, "slow", &["--how", "slow"])));
    let mut client = Client::new(&rig, Era::Modern);
    (0..3).for_each(|_| read(&mut client));
    let slow = until_status(&rig, "slow", "six late", |status| count(status, "late") == 6);
    assert_eq!((count(&slow, "sent"), count(&slow, "dropped"), count(&slow, "lost")), (0, 0, 0), "{slow}");
    check_pairs(&copies(&rig, "slow"), &["read_file"; 3]);
}

#[test]
fn one_that_crashes_is_started_again_and_goes_on_where_it_was() {
    let rig = rig();
    rig.configure(&format!("{ON}{}", observer(&rig, "weak", &["--how", "crash", "--every", "5"])));
    let mut client = Client::new(&rig, Era::Legacy);
    (0..6).for_each(|_| read(&mut client));
    // It ends itself over the fifth and the tenth, which were told all the same.
    let told = until_copies(&rig, "weak", 12);
    check_pairs(&told, &["read_file"; 6]);
    let pids: BTreeSet<u64> = told.iter().filter_map(|copy| copy["pid"].as_u64()).collect();
    assert_eq!(pids.len(), 3, "{pids:?}");
    let weak = until_status(&rig, "weak", "ten sent", |status| count(status, "sent") == 10);
    assert_eq!((count(&weak, "lost"), count(&weak, "dropped"), count(&weak, "late")), (2, 0, 0), "{weak}");
    assert!(weak["error"].is_string(), "{weak}");
}

#[test]
fn one_that_always_crashes_is_left_alone_for_a_while() {
    let rig = rig();
    rig.configure(&format!(
        "{ON}{}{}",
        observer(&rig, "weak", &["--how", "crash"]),
        observer(&rig, "fine", &[])
    ));
    let mut client = Client::new(&rig, Era::Legacy);
    (0..20).for_each(|_| read(&mut client));
    until_copies(&rig, "fine", 40);
    // Each start ends with a copy; after five deaths in a minute there is a long pause.
    until("five deaths", || copies(&rig, "weak").len() >= 5);
    until_status(&rig, "weak", "away", |status| status["state"] == "away");
    read(&mut client);
    until_copies(&rig, "fine", 42);
    let deaths = copies(&rig, "weak");
    assert!(deaths.len() < 20, "it was started {} times", deaths.len());
    let pids: BTreeSet<u64> = deaths.iter().filter_map(|copy| copy["pid"].as_u64()).collect();
    assert_eq!(pids.len(), deaths.len(), "no process saw two");
}

#[test]
fn one_that_refuses_is_heard_and_told_on() {
    for http in [false, true] {
        let rig = rig();
        let args = ["--how", "refuse", "--every", "2"];
        let far = listening(&rig, "picky", &args);
        let table = if http { address("picky", &far.url, "") } else { observer(&rig, "picky", &args) };
        rig.configure(&format!("{ON}{table}"));
        let mut client = Client::new(&rig, Era::Legacy);
        (0..3).for_each(|_| read(&mut client));
        check_pairs(&until_copies(&rig, "picky", 6), &["read_file"; 3]);
        let picky = until_status(&rig, "picky", "three refused", |status| count(status, "refused") == 3);
        assert_eq!((count(&picky, "sent"), &picky["state"]), (3, &json!("watching")), "{picky}");
        assert!(picky["error"].as_str().is_some_and(|text| text.contains("No, thanks.")), "{picky}");
    }
}

#[test]
fn nonsense_around_an_answer_costs_nothing() {
    let rig = rig();
    rig.configure(&format!("{ON}{}", observer(&rig, "odd", &["--how", "garbage"])));
    let mut client = Client::new(&rig, Era::Legacy);
    (0..5).for_each(|_| read(&mut client));
    check_pairs(&until_copies(&rig, "odd", 10), &["read_file"; 5]);
    let odd = until_status(&rig, "odd", "ten sent", |status| count(status, "sent") == 10);
    assert_eq!((count(&odd, "late"), count(&odd, "lost"), count(&odd, "refused")), (0, 0, 0), "{odd}");
}

#[test]
fn one_behind_an_address_that_hangs_holds_up_nobody_either() {
    let rig = rig();
    let far = listening(&rig, "stuck", &["--how", "hang"]);
    rig.configure(&format!("{ON}{}{}", address("stuck", &far.url, ""), observer(&rig, "fine", &[])));
    let mut house = rig.http();
    house.handshake();
    for _ in 0..20 {
        house.call("read_file", json!({"path": "a.txt"}));
    }
    check_pairs(&until_copies(&rig, "fine", 40), &["read_file"; 20]);
    until_status(&rig, "stuck", "late", |status| count(status, "late") > 2);
    assert_eq!(count(&status_of(&rig, "stuck"), "sent"), 0);
}

#[test]
fn one_whose_address_goes_away_comes_back() {
    let rig = rig();
    let far = listening(&rig, "eye", &[]);
    let port =
        far.url.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next()).expect("a port").to_owned();
    rig.configure(&format!("{ON}{}", address("eye", &far.url, "")));
    let mut client = Client::new(&rig, Era::Legacy);
    read(&mut client);
    until_copies(&rig, "eye", 2);
    drop(far);
    read(&mut client);
    let lost = until_status(&rig, "eye", "a loss", |status| {
        count(status, "lost") > 0 || status["error"].is_string()
    });
    assert!(lost["error"].is_string(), "{lost}");
    let _again = listening(&rig, "eye", &["--http", &port]);
    until("a copy after its return", || {
        read(&mut client);
        copies(&rig, "eye").len() > 2
    });
}
