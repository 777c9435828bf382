//! The copies that observers get: every call before and after it, whatever came of it, in order and once.

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, IMPATIENT, address, echo, until},
    rig::{Rig, text},
    watched::{
        ON, after, brief, check_pairs, copies, listening, observer, sequence, until_copies, until_status,
    },
};

fn rig(servers: impl Fn(&Rig) -> String) -> Rig {
    let rig = Rig::with(&[("a.txt", "hello\n"), ("b.txt", "there\n"), ("secrets/c.txt", "hidden\n")]);
    rig.configure(&format!("{ON}{}", servers(&rig)));
    rig
}

#[test]
fn a_call_is_told_before_and_after_in_all_eras_and_over_all_transports() {
    for (ours, theirs) in Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs))) {
        let args = ["--era", theirs.word()];
        let rig = rig(|rig| observer(rig, "pipe", &args));
        let far = listening(&rig, "http", &args);
        rig.configure(&format!("{ON}{}{}", observer(&rig, "pipe", &args), address("http", &far.url, "")));
        let mut client = Client::new(&rig, ours);
        let read = client.call("read_file", json!({"path": "a.txt"}));
        let missing = client.call("read_file", json!({"path": "nowhere.txt"}));
        assert_eq!((&read["isError"], &missing["isError"]), (&json!(false), &json!(true)));
        for name in ["pipe", "http"] {
            let copies = until_copies(&rig, name, 4);
            check_pairs(&copies, &["read_file", "read_file"]);
            assert_eq!(copies[0]["params"]["arguments"]["args"], json!({"path": "a.txt"}));
            assert_eq!(copies[1]["params"]["arguments"]["result"], read["structuredContent"]);
            assert_eq!(copies[3]["params"]["arguments"]["result"]["error_type"], "NotFound");
        }
    }
}

#[test]
fn a_house_on_http_copies_the_calls_of_all_its_clients() {
    let rig = rig(|rig| observer(rig, "one", &[]));
    let mut first = rig.http();
    first.handshake();
    first.call("read_file", json!({"path": "a.txt"}));
    first.handshake();
    first.call("list_directory", json!({"path": "."}));
    check_pairs(&until_copies(&rig, "one", 4), &["read_file", "list_directory"]);
}

#[test]
fn whatever_comes_of_a_call_is_told() {
    let rig = rig(|rig| {
        let more = format!("{}{}", echo("one", &["--also", "bare"], IMPATIENT), observer(rig, "eye", &[]));
        format!("[permissions]\ndeny = [\"*(secrets/**)\"]\n{more}")
    });
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let calls = [
        ("read_file", json!({"path": "a.txt"}), Value::Null),
        ("read_file", json!({"path": "nowhere"}), json!("NotFound")),
        ("read_file", json!({"path": 7}), json!("InvalidInput")),
        ("read_file", json!({"path": "secrets/c.txt"}), json!("Permission")),
        ("one__echo", json!({"text": "x"}), Value::Null),
        ("one__fail", json!({"text": "it broke"}), json!("ToolError")),
        ("one__hang", json!({}), json!("Timeout")),
        ("one__die", json!({}), json!("Upstream")),
    ];
    for (number, (tool, args, kind)) in calls.iter().enumerate() {
        let id = client.begin(tool, args.clone());
        let answer = client.wait(id);
        let copies = until_copies(&rig, "eye", 2 * (number + 1));
        let result = after(&copies, tool);
        assert_eq!(&result["error_type"], kind, "{tool} {args}: {result} for {answer}");
        if !kind.is_null() {
            assert!(result["error"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        }
    }
    let copies = copies(&rig, "eye");
    check_pairs(&copies, &calls.each_ref().map(|(tool, ..)| *tool));
    let failed = after(&copies, "one__fail");
    assert_eq!(failed["error"], "it broke");
    assert_eq!(failed["result"]["isError"], true, "what the tool said is there as well: {failed}");
}

#[test]
fn a_call_that_is_cancelled_has_an_end_too() {
    let rig = rig(|rig| format!("{}{}", echo("one", &[], ""), observer(rig, "eye", &[])));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__hang");
    let hanging = client.begin("one__hang", json!({}));
    until_copies(&rig, "eye", 1);
    client.cancel(hanging);
    let copies = until_copies(&rig, "eye", 2);
    check_pairs(&copies, &["one__hang"]);
    assert_eq!(after(&copies, "one__hang"), json!({"error": "cancelled", "error_type": "Cancelled"}));
}

#[test]
fn a_result_that_is_no_object_is_told_as_one_and_passed_on_as_it_was() {
    let rig = rig(|rig| format!("{}{}", echo("one", &["--also", "bare"], ""), observer(rig, "eye", &[])));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__bare");
    let bare = ["7", "null", "[1.0,2]", "\"text\"", "true", "{\"value\":1.50}"];
    for (number, json) in bare.iter().enumerate() {
        let id = client.begin("one__bare", json!({"json": json}));
        let (answer, line) = client.wait_raw(id);
        let value: Value = serde_json::from_str(json).expect("JSON");
        assert!(answer["result"] == value && line.contains(&format!("\"result\":{json}")), "{line}");
        let told = after(&until_copies(&rig, "eye", 2 * (number + 1)), "one__bare");
        let wrapped = if value.is_object() { value } else { json!({"value": value}) };
        assert_eq!(told, wrapped);
    }
}

#[test]
fn observing_and_the_audit_trail_are_never_copied() {
    let rig = rig(|rig| {
        let bare = echo("bare", &["--also", "audit_log"], "prefix = false");
        let named = echo("named", &["--also", "audit_log", "--also", "observe"], "");
        format!("{bare}{named}{}", observer(rig, "eye", &[]))
    });
    let mut client = Client::new(&rig, Era::Legacy);
    for tool in ["audit_log", "named__audit_log", "named__observe", "eye__observe"] {
        client.until_listed(tool);
        client.call(tool, json!({"tool_name": "by hand", "args": {}}));
    }
    client.call("read_file", json!({"path": "a.txt"}));
    // The one by hand is no copy: it has no number.
    let kept = until_copies(&rig, "eye", 3);
    let (by_hand, copied): (Vec<Value>, Vec<Value>) =
        kept.into_iter().partition(|copy| brief(copy).0 == "by hand");
    assert_eq!(by_hand.len(), 1);
    assert!(by_hand[0]["params"]["_meta"].get("tectum/sequence").is_none());
    check_pairs(&copied, &["read_file"]);
}

#[test]
fn every_observer_gets_every_copy() {
    let rig = rig(|rig| format!("{}{}", observer(rig, "one", &[]), observer(rig, "two", &[])));
    let mut client = Client::new(&rig, Era::Modern);
    client.call("read_file", json!({"path": "a.txt"}));
    client.call("read_file", json!({"path": "b.txt"}));
    for name in ["one", "two"] {
        check_pairs(&until_copies(&rig, name, 4), &["read_file", "read_file"]);
    }
    for name in ["one", "two"] {
        let seen = until_status(&rig, name, "four sent", |status| status["sent"] == 4);
        let quiet = ["late", "refused", "lost", "dropped"].map(|counter| seen[counter].clone());
        assert_eq!((&seen["state"], quiet), (&json!("watching"), [0, 0, 0, 0].map(Value::from)), "{seen}");
    }
}

#[test]
fn calls_at_the_same_time_are_told_in_one_order_to_everybody() {
    let rig = rig(|rig| {
        let eyes = format!("{}{}", observer(rig, "left", &[]), observer(rig, "right", &[]));
        format!("{}{eyes}", echo("one", &[], ""))
    });
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__sleep");
    let calls: Vec<u64> = (0..20).map(|ms| client.begin("one__sleep", json!({"ms": 20 - ms}))).collect();
    for id in calls {
        assert_eq!(text(&client.wait(id)["result"]), "Slept.");
    }
    let left = until_copies(&rig, "left", 40);
    let right = until_copies(&rig, "right", 40);
    let told = |copies: &[Value]| copies.iter().map(|copy| copy["params"].clone()).collect::<Vec<_>>();
    assert_eq!(told(&left), told(&right));
    assert_eq!(left.iter().map(sequence).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    for copy in left.iter().filter(|copy| brief(copy).1) {
        let call = &copy["params"]["_meta"]["tectum/call"];
        let same: Vec<&Value> =
            left.iter().filter(|other| &other["params"]["_meta"]["tectum/call"] == call).collect();
        assert!(same.len() == 2 && sequence(same[0]) < sequence(copy), "{same:?}");
    }
}

#[test]
fn copies_arrive_though_the_client_leaves_at_once() {
    for kind in ["pipe", "http"] {
        let rig = rig(|rig| observer(rig, "eye", &[]));
        let far = listening(&rig, "eye", &[]);
        if kind == "http" {
            rig.configure(&format!("{ON}{}", address("eye", &far.url, "")));
        }
        let mut client = Client::new(&rig, Era::Legacy);
        client.call("read_file", json!({"path": "a.txt"}));
        until_copies(&rig, "eye", 2);
        let calls: Vec<u64> = (0..20).map(|_| client.begin("read_file", json!({"path": "b.txt"}))).collect();
        for id in calls {
            client.wait(id);
        }
        let (ended, stderr) = client.pipe.close();
        assert!(ended.success(), "{stderr}");
        // The end has come: what is not there now will never be.
        check_pairs(&copies(&rig, "eye"), &["read_file"; 21]);
    }
}

#[test]
fn an_observer_that_is_still_on_its_way_when_the_client_leaves_is_told() {
    let rig = rig(|rig| observer(rig, "eye", &[]));
    let mut client = Client::new(&rig, Era::Legacy);
    client.call("read_file", json!({"path": "a.txt"}));
    let (ended, stderr) = client.pipe.close();
    assert!(ended.success(), "{stderr}");
    check_pairs(&copies(&rig, "eye"), &["read_file"]);
}

#[test]
fn copies_arrive_though_a_listener_is_stopped_at_once() {
    let rig = rig(|rig| observer(rig, "eye", &[]));
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    until_copies(&rig, "eye", 2);
    for _ in 0..5 {
        house.call("read_file", json!({"path": "b.txt"}));
    }
    let asked = std::process::Command::new("kill").args(["-TERM", &house.child.id().to_string()]).status();
    assert!(asked.expect("runs").success());
    house.child.wait().expect("ends");
    check_pairs(&copies(&rig, "eye"), &["read_file"; 6]);
}

#[test]
fn a_tool_called_through_another_is_told_as_itself() {
    let rig = rig(|rig| {
        let servers = format!("{}{}", echo("one", &[], ""), observer(rig, "eye", &[]));
        format!("[federation]\nexposure = \"search\"\n{servers}")
    });
    let mut client = Client::new(&rig, Era::Legacy);
    until("its tools", || client.say("find_tools", json!({"query": "echo"})).contains("one__echo"));
    client.call("call_tool", json!({"name": "one__echo", "arguments": {"text": "x"}}));
    until("the call inside", || copies(&rig, "eye").iter().any(|copy| brief(copy).0 == "one__echo"));
    let told = copies(&rig, "eye");
    let inside = told.iter().find(|copy| brief(copy).0 == "one__echo").expect("there");
    assert_eq!(inside["params"]["arguments"]["args"], json!({"text": "x"}));
    assert!(told.iter().all(|copy| brief(copy).0 != "call_tool"));
}

#[test]
fn a_result_that_is_very_large_is_only_said_to_be() {
    let rig = rig(|rig| format!("{}{}", echo("one", &[], "max_result = \"16M\""), observer(rig, "eye", &[])));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__big");
    let size = 5 * 1024 * 1024;
    assert_eq!(client.say("one__big", json!({"bytes": size})).len(), size);
    let told = after(&until_copies(&rig, "eye", 2), "one__big");
    let words = told["omitted"].as_str().unwrap_or_else(|| panic!("{told}"));
    assert!(words.contains("bytes is not copied"), "{words}");
}

#[test]
fn interceptors_that_only_look_are_told_in_the_phases_they_want() {
    for (era, (how, expected)) in Era::ALL.into_iter().flat_map(|era| {
        let look = [("look", "request"), ("look", "response"), ("ends", "response")];
        [("audit", look.to_vec()), ("audit-old", look[..2].to_vec())].map(|kind| (era, kind))
    }) {
        let rig = rig(|rig| {
            let args = ["--how", how, "--era", era.word()];
            format!("{}{}", echo("one", &[], ""), observer(rig, "eye", &args))
        });
        let mut client = Client::new(&rig, Era::Legacy);
        client.until_listed("one__echo");
        let read = client.call("read_file", json!({"path": "a.txt"}));
        let echoed = client.call("one__echo", json!({"text": "x"}));
        let copies = until_copies(&rig, "eye", 2 * expected.len());
        let told: Vec<(String, String)> = copies
            .iter()
            .map(|copy| {
                assert_eq!(
                    (&copy["method"], &copy["params"]["event"]),
                    (&json!("interceptor/invoke"), &json!("tools/call"))
                );
                let word = |key: &str| copy["params"][key].as_str().expect("a word").to_owned();
                (word("name"), word("phase"))
            })
            .collect();
        let twice: Vec<(String, String)> = expected
            .iter()
            .chain(&expected)
            .map(|(name, phase)| ((*name).to_owned(), (*phase).to_owned()))
            .collect();
        assert_eq!(told, twice);
        assert_eq!(
            copies[0]["params"]["payload"],
            json!({"method": "tools/call", "params": {"name": "read_file", "arguments": {"path": "a.txt"}}})
        );
        let payload = &copies[1]["params"]["payload"];
        assert_eq!(
            (&payload["content"], &payload["structuredContent"], &payload["isError"]),
            (&read["content"], &read["structuredContent"], &json!(false))
        );
        assert_eq!(copies[expected.len() + 1]["params"]["payload"]["content"], echoed["content"]);
        assert!(copies[0]["params"]["timeoutMs"].is_u64());
    }
}

#[test]
fn interceptors_that_would_have_a_say_are_told_nothing() {
    let rig =
        rig(|rig| format!("{}{}", observer(rig, "gate", &["--how", "blocks"]), observer(rig, "eye", &[])));
    let mut client = Client::new(&rig, Era::Legacy);
    client.call("read_file", json!({"path": "a.txt"}));
    check_pairs(&until_copies(&rig, "eye", 2), &["read_file"]);
    let gate = until_status(&rig, "gate", "an error", |status| status["error"].is_string());
    assert_eq!((&gate["sent"], copies(&rig, "gate").len()), (&json!(0), 0), "{gate}");
    assert_eq!(
        (&gate["state"], &gate["error"]),
        (&json!("away"), &json!("none of its interceptors only looks"))
    );
    let tried = crate::cli_said::Said::from(rig.run(&["observe", "test", "gate"]));
    assert!(tried.code == 7 && tried.err.contains("only looks"), "{}", tried.err);
}
