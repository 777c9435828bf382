//! Calls that come back: an observer that calls the house it watches, with and without the lineage
//! of what it was told, and two houses that lead to each other. Calls are counted.

use serde_json::{Value, json};

use crate::{
    federated::{address, until},
    observe_ourselves::a_while,
    rig::{Http, Rig},
    watched::{ON, copies, listening, log, observer},
};

fn rig() -> Rig {
    Rig::with(&[("a.txt", "hello\n")])
}

/// An address that nobody has yet.
fn free() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").to_string()
}

/// The answers the observer got when it called back.
fn answers(rig: &Rig, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(log(rig, name).with_extension("answers")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line.trim_start_matches("data: ")).expect(line)).collect()
}

/// A house whose observer calls back, and the copies it has got when all is quiet.
fn called_back(how: &str, far: bool) -> (Rig, usize) {
    let rig = rig();
    let at = free();
    let url = format!("http://{at}/mcp");
    let args = ["--how", how, "--gateway", &url];
    let near = observer(&rig, "echo", &args);
    let remote = far.then(|| listening(&rig, "echo", &args));
    let table = remote.as_ref().map_or(near, |remote| address("echo", &remote.url, ""));
    rig.configure(&format!("{ON}{table}"));
    let mut house = rig.http_at(&at, &["--no-auth"], None);
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    until("its first copies", || copies(&rig, "echo").len() >= 2);
    // Quiet is when nothing comes for longer than anything here takes.
    let mut seen = 0;
    until("the end of the circle", || {
        let before = std::mem::replace(&mut seen, copies(&rig, "echo").len());
        a_while();
        before == copies(&rig, "echo").len()
    });
    drop(house);
    (rig, seen)
}

#[test]
fn an_observer_that_passes_on_what_it_is_told_is_refused_at_its_first_turn() {
    for far in [false, true] {
        let (rig, told) = called_back("passes-on", far);
        assert_eq!(told, 2, "one call, before and after: {:#?}", copies(&rig, "echo"));
        let answers = answers(&rig, "echo");
        assert_eq!(answers.len(), 2);
        for answer in answers {
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(said.contains("circle") && said.contains("came back"), "{answer}");
        }
    }
}

#[test]
fn an_observer_that_we_started_is_not_told_of_its_own_calls() {
    let (rig, told) = called_back("calls-back", false);
    println!(
        "soak: calls that one call becomes by an observer of ours that calls back unmarked | {}",
        1 + told
    );
    assert_eq!(told, 2, "one call, before and after: {:#?}", copies(&rig, "echo"));
    let answers = answers(&rig, "echo");
    assert_eq!(answers.len(), 2);
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false), "it is served: {answers:#?}");
}

#[test]
fn an_observer_that_nobody_knows_and_that_calls_back_is_cut() {
    let (_rig, told) = called_back("calls-back", true);
    println!("soak: calls that one call becomes by a far observer that calls back unmarked | {}", told / 2);
    // Without an end it was thousands within seconds.
    assert!(told <= 1200, "{told}");
}

/// The tools of a listener.
fn lists(house: &Http, tool: &str) -> bool {
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    house.post(&asked).json()["result"]["tools"].to_string().contains(&format!("\"{tool}\""))
}

#[test]
fn a_call_that_comes_back_over_another_house_is_refused_there() {
    let (left, right) = (rig(), rig());
    let all = "[federation]\nexposure = \"all\"\n";
    left.configure(all);
    right.configure(all);
    let mut one = left.http_with(&["--no-auth"], None);
    let mut two = right.http_with(&["--no-auth"], None);
    left.configure(&format!("{all}{}", address("right", &two.url(), "")));
    right.configure(&format!("{all}{}", address("left", &one.url(), "")));
    one.handshake();
    two.handshake();
    until("the tools of the other", || lists(&one, "right__read_file"));
    let read = one.call("right__read_file", json!({"path": "a.txt"}));
    assert_eq!(read["isError"], false, "one turn is no circle: {read}");
    until("the way round", || lists(&one, "right__left__read_file"));
    let round = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "right__left__read_file", "arguments": {"path": "a.txt"}}});
    let answer = one.post(&round).json();
    assert!(answer.to_string().contains("circle"), "{answer}");
}
