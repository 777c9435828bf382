//! The hook API of the real binary: what it tells of a running house, and what it refuses.

use serde_json::{Value, json};

use crate::{
    federated::{echo, until},
    rig::{Answer, Http, Rig},
    watched::{ON, observer, status, until_copies, until_status},
};

fn rig() -> Rig {
    Rig::with(&[("a.txt", "hello\n")])
}

fn get(house: &Http, path: &str) -> Answer {
    house.send("GET", path, &house.headers(), "")
}

#[track_caller]
fn told(house: &Http, path: &str) -> Value {
    let answer = get(house, path);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{answer:?}");
    answer.json()
}

#[test]
fn it_says_that_it_runs_and_what_there_is() {
    let rig = rig();
    let house = rig.http();
    assert_eq!(told(&house, "/status"), json!({"status": "ok"}));
    let listed = told(&house, "/api");
    let reads = |methods: &Value| methods.get("GET").is_some();
    let listed = listed["paths"].as_object().expect("a list").clone();
    // A stream does not end.
    for path in listed.iter().filter(|(path, methods)| reads(methods) && !path.ends_with("/stream")) {
        let (path, _) = path;
        let answer = get(&house, &path.replace(['{', '}'], ""));
        let named = path.contains('{') && !path.starts_with("/api/gui/value");
        let expect = match path.as_str() {
            "/" | "/console" => 303,
            // It is for those who approve.
            "/console/sessions" => 403,
            _ if named => 404,
            _ => 200,
        };
        assert_eq!(answer.status, expect, "{path}: {answer:?}");
    }
    let head = house.send("HEAD", "/status", &house.headers(), "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn what_is_refused_says_what_to_do() {
    let rig = rig();
    let house = rig.http();
    let nowhere = get(&house, "/api/nonsense");
    assert_eq!(nowhere.status, 404);
    let error = &nowhere.json()["error"];
    assert_eq!(
        (&error["kind"], &error["message"]),
        (&json!("not_found"), &json!("nothing is served at /api/nonsense"))
    );
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("/api/observers")), "{error}");

    let wrong = house.send("POST", "/api/observers", &house.headers(), "{}");
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("GET,HEAD")), "{wrong:?}");
    let error = &wrong.json()["error"];
    assert_eq!(error["message"], "/api/observers does not take POST", "{error}");

    let odd = get(&house, "/api/observers/%ff");
    assert_eq!((odd.status, &odd.json()["error"]["kind"]), (404, &json!("not_found")), "{odd:?}");

    let nobody = get(&house, "/api/observers/nobody");
    assert_eq!(nobody.status, 404);
    let hint = nobody.json()["error"]["hint"].clone();
    assert!(hint.as_str().is_some_and(|hint| hint.contains("EFFERENT_COPY_ENABLE=1")), "{hint}");
}

#[test]
fn without_observers_it_says_so() {
    let rig = rig();
    rig.configure(&observer(&rig, "eye", &[]));
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(
        told(&house, "/api/observers"),
        json!({"enabled": false, "copied": 0, "observers": {}, "muted": []})
    );
    assert_eq!(
        told(&house, "/api/counters"),
        json!({"counters": {
            "copies": {"made": 0, "sent": 0, "late": 0, "refused": 0, "lost": 0, "dropped": 0},
            "directives": {"not_understood": 0, "not_allowed": 0, "too_many": 0},
            "messages": {"unheard": 0, "waited": 0},
            "events": {"missed": 0},
            "anchors": {"pushed_out": 0},
        }})
    );
}

#[test]
fn what_became_of_each_observers_copies_is_counted() {
    let rig = rig();
    rig.configure(&format!(
        "{ON}{}{}{}{}",
        observer(&rig, "fine", &[]),
        observer(&rig, "picky", &["--how", "refuse", "--every", "2"]),
        observer(&rig, "slow", &["--how", "slow"]),
        observer(&rig, "weak", &["--how", "crash", "--every", "5"]),
    ));
    let mut house = rig.http();
    house.handshake();
    for _ in 0..3 {
        house.call("read_file", json!({"path": "a.txt"}));
    }
    let counts = |name: &str| told(&house, "/api/observers")["observers"][name].clone();
    let expected = [
        ("fine", json!({"state": "watching", "sent": 6, "late": 0, "refused": 0, "lost": 0, "dropped": 0})),
        ("picky", json!({"state": "watching", "sent": 3, "late": 0, "refused": 3, "lost": 0, "dropped": 0})),
        ("slow", json!({"state": "watching", "sent": 0, "late": 6, "refused": 0, "lost": 0, "dropped": 0})),
        ("weak", json!({"state": "watching", "sent": 5, "late": 0, "refused": 0, "lost": 1, "dropped": 0})),
    ];
    for (name, expect) in &expected {
        until(&format!("{name} as {expect}"), || {
            let seen = counts(name);
            expect.as_object().expect("an object").iter().all(|(field, value)| seen[field] == *value)
        });
        assert_eq!(told(&house, &format!("/api/observers/{name}")), counts(name));
    }
    assert_eq!(told(&house, "/api/observers")["copied"], 6);
    assert_eq!(
        told(&house, "/api/counters")["counters"]["copies"],
        json!({"made": 6, "sent": 14, "late": 6, "refused": 3, "lost": 1, "dropped": 0})
    );
    // The command reads what the house writes down each second, and comes to the same.
    until_status(&rig, "weak", "one lost", |status| status["lost"] == 1 && status["sent"] == 5);
    until("the same from the command", || {
        status(&rig)["observers"] == told(&house, "/api/observers")["observers"]
    });

    let unknown = get(&house, "/api/observers/nobody").json();
    assert_eq!(unknown["error"]["hint"], "known observers: fine, picky, slow, weak");
}

#[test]
fn one_that_is_muted_or_gone_is_told_of_and_its_copies_stay_counted() {
    let rig = rig();
    rig.configure(&format!("{ON}{}{}", observer(&rig, "one", &[]), observer(&rig, "two", &[])));
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    until_copies(&rig, "one", 2);
    until_copies(&rig, "two", 2);
    assert_eq!(rig.run(&["observe", "mute", "two"]).status.code(), Some(0));
    until("two is muted", || told(&house, "/api/observers")["muted"] == json!(["two"]));
    until("and shown so", || told(&house, "/api/observers/two")["state"] == "muted");
    until("both took two", || told(&house, "/api/counters")["counters"]["copies"]["sent"] == 4);

    rig.configure(&format!("{ON}{}", observer(&rig, "one", &[])));
    until("two is gone", || get(&house, "/api/observers/two").status == 404);
    assert_eq!(told(&house, "/api/counters")["counters"]["copies"]["sent"], 4);
}

#[test]
fn what_a_result_asked_in_vain_and_anchors_that_made_room_are_counted() {
    let rig = rig();
    rig.configure(&echo("one", &[], "directives = [\"context_anchor\"]"));
    let mut house = rig.http();
    house.handshake();
    let say = |directives: Value| {
        let text = json!({"said": "done", "_directives": directives}).to_string();
        until("the server's tool", || house.call("one__echo", json!({"text": text}))["content"].is_array());
    };
    let anchor =
        |key: usize| json!({"type": "context_anchor", "params": {"key": format!("k{key}"), "content": "x"}});
    say(json!([{"type": "stop_processing"}, {"type": "no_such_thing"}, anchor(0)]));
    assert_eq!(
        told(&house, "/api/counters")["counters"]["directives"],
        json!({"not_understood": 1, "not_allowed": 1, "too_many": 0})
    );
    say((1..18).map(anchor).collect());
    assert_eq!(told(&house, "/api/counters")["counters"]["anchors"], json!({"pushed_out": 2}));
}
