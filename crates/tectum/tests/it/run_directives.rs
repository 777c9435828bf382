//! Directives of a federated tool, through the real binary, to what the model is asked next.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::echo,
    rig::Rig,
    run_model::{Asked, ModelServer, Reply, call},
    run_task::command,
};

const EVERY: &str = r#"directives = ["stop_processing", "tier_change", "context_anchor", "todo_state_changed",
    "inject_context", "prune_messages", "notify_presenter"]"#;

const TIERS: &str = "default = \"plan\"\n[tiers.plan]\nprompt = \"You plan.\"\nmay_hand_to = [\"work\"]\n\
                     [tiers.work]\nprompt = \"You work.\"\ntools = [\"read_file\"]\n";

/// A call of the server's tool whose result carries these.
fn asks(directives: Value) -> Reply {
    let text = json!({ "said": "done", "_directives": directives }).to_string();
    call("one__echo", json!({ "text": text }))
}

/// Reads a large file, lets the server ask for something, answers.
fn run(directives: Value) -> (Said, Vec<Asked>) {
    let rig = Rig::with(&[("big.txt", &"a line of text\n".repeat(100)), ("tiers.toml", TIERS)]);
    rig.configure(&echo("one", &[], EVERY));
    let replies =
        vec![call("read_file", json!({ "path": "big.txt" })), asks(directives), Reply::Text("over")];
    let server = ModelServer::start(true, replies);
    let said = command(&rig, &server, &["--tiers", "tiers.toml"]).output().expect("runs").into();
    (said, server.asked())
}

fn last(asked: &[Asked]) -> (&str, &str) {
    let last = asked.last().expect("asked").messages().last().expect("a message");
    (last["role"].as_str().expect("a role"), last["content"].as_str().expect("text"))
}

#[test]
fn anchors_and_lists_stand_at_the_end() {
    for (directive, expect) in [
        (json!({ "type": "context_anchor", "params": { "key": "k", "content": "in sight" } }), "in sight"),
        (json!({ "type": "todo_state_changed", "params": { "formatted_state": "[ ] one" } }), "[ ] one"),
    ] {
        let (said, asked) = run(json!([directive]));
        assert_eq!((said.code, asked.len(), last(&asked)), (0, 3, ("user", expect)), "{}", said.err);
    }
}

#[test]
fn messages_are_injected_by_their_role() {
    let inject =
        |role: &str| json!({ "type": "inject_context", "params": { "content": role, "role": role } });
    let (_, asked) = run(json!([inject("user"), inject("system")]));
    assert_eq!(asked[2].roles()[6..], ["user", "system"]);
    assert_eq!(last(&asked), ("system", "system"));
}

#[test]
fn older_results_are_pruned() {
    let (said, asked) = run(json!([{ "type": "prune_messages", "params": { "keep_recent": 1 } }]));
    let result = asked[2].messages()[3]["content"].as_str().expect("text");
    assert!(result.starts_with("[Previous: read_file, 1500 bytes"), "{result}");
    assert!(said.err.contains("  1 older results left out\n"), "{}", said.err);
}

#[test]
fn a_tier_hands_over_where_it_may() {
    let to = |tier: &str| json!([{ "type": "tier_change", "params": { "tier": tier, "reason": "planned" } }]);
    let (said, asked) = run(to("work"));
    assert_eq!(asked[2].messages()[0]["content"], "You work.");
    assert_eq!(asked[2].body["tools"].as_array().map(Vec::len), Some(1));
    assert!(said.err.contains("  plan hands over to work: planned\n"), "{}", said.err);
    let (said, asked) = run(to("boss"));
    assert_eq!(asked[2].messages()[0]["content"], "You plan.");
    assert!(last(&asked).1.contains("there is no tier `boss`"), "{:?}", last(&asked));
    assert!(said.err.contains("  not handed over to boss: "), "{}", said.err);
}

#[test]
fn stopping_ends_the_run_well() {
    let (said, asked) = run(json!([{ "type": "stop_processing" }]));
    assert_eq!((said.code, asked.len()), (0, 2), "{}", said.err);
    assert!(said.err.ends_with("stopped: a tool ended this turn\n"), "{}", said.err);
}

#[test]
fn notes_are_shown() {
    let (said, _) =
        run(json!([{ "type": "notify_presenter", "params": { "key": "found", "data": { "n": 2 } } }]));
    assert!(said.err.contains("  found: {\"n\":2}\n"), "{}", said.err);
}

/// Lets a server that may only send anchors ask for these.
fn in_vain(directives: &Value, more: &[&str]) -> Said {
    let rig = Rig::new();
    rig.configure(&echo("one", &[], ""));
    let server = ModelServer::start(true, vec![asks(directives.clone()), Reply::Text("over")]);
    command(&rig, &server, more).output().expect("runs").into()
}

#[test]
fn what_was_left_out_is_told_at_the_end() {
    let anchor = json!({ "type": "context_anchor", "params": { "key": "k", "content": "c" } });
    let stop = json!({ "type": "stop_processing" });
    let mixed = json!([stop, anchor, stop, { "type": "dance" }]);
    let mut many = vec![anchor.clone(); 70];
    many[0] = stop;
    let many = Value::Array(many);
    for (directives, expect, total) in [
        (
            &mixed,
            "3 directives were left out: 2 not allowed (`directives` in the server's table allows more), 1 not understood",
            [3, 2, 1, 0],
        ),
        (
            &many,
            "7 directives were left out: 1 not allowed (`directives` in the server's table allows more), 6 too many for one result",
            [7, 1, 0, 6],
        ),
        (&json!([{ "type": "tier_change" }]), "1 directive was left out: 1 not understood", [1, 0, 1, 0]),
    ] {
        let said = in_vain(directives, &[]);
        assert_eq!((said.code, said.out.as_str()), (0, "over\n"), "{}", said.err);
        assert!(said.err.ends_with(&format!("\nwarning: {expect}\n")), "{}", said.err);
        assert!(!in_vain(directives, &["-q"]).err.contains("left out"));
        let [all, not_allowed, not_understood, too_many] = total;
        assert_eq!(
            in_vain(directives, &["--json"]).json()["skipped_directives"],
            json!({ "total": all, "not_allowed": not_allowed, "not_understood": not_understood, "too_many": too_many })
        );
    }
    let said = in_vain(&json!([anchor]), &[]);
    assert!(said.code == 0 && !said.err.contains("left out"), "{}", said.err);
}
