//! The list of what is to do, through the house: every call is a round's, and asks for its anchor.

use std::sync::Arc;

use serde_json::{Value, json, value::RawValue};
use tectum_core::{
    Call, Directive, Gate, Outcome, Payload, Rules, SessionId, Snapshot, Tectum, security::Allowlist,
};
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog};

struct Desk {
    house: Tectum,
    _scratch: tempfile::TempDir,
}

impl Desk {
    fn new(tiers: &[&str]) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
        let tiers = tiers.iter().map(|tier| (*tier).to_owned()).collect();
        let tools = NativeSet::new(catalog(&Settings { tiers, ..Settings::default() }));
        let gate = Gate::new(Rules::default(), Arc::new(allowlist));
        Self { house: Tectum::new(Snapshot::of(&[Arc::new(tools)]), gate), _scratch: scratch }
    }

    async fn call(&self, tool: &str, args: Value) -> Outcome {
        let args = RawValue::from_string(args.to_string()).expect("JSON");
        self.house.call(Call::new(SessionId::new("s"), tool, args)).await
    }

    fn anchor(&self) -> String {
        self.house
            .effects()
            .anchors
            .get("todo_state")
            .map(|anchor| anchor.content.to_string())
            .unwrap_or_default()
    }
}

fn said(outcome: &Outcome) -> String {
    match &outcome.result {
        Ok(Payload::Native(reply)) => reply.text.clone(),
        Ok(Payload::Peer(reply)) => reply.json.get().to_owned(),
        Err(fault) => fault.text(),
    }
}

fn todo(content: &str, status: &str, tier: Option<&str>) -> Value {
    json!({ "content": content, "active_form": format!("{content} now"), "status": status, "target_tier": tier })
}

#[tokio::test]
async fn a_list_is_written_changed_and_always_in_sight() {
    let desk = Desk::new(&[]);
    let mut notes = desk.house.effects().notes();
    desk.call("todo_write", json!({ "todos": [todo("Read", "in_progress", None)] })).await;
    assert!(desk.anchor().contains("[>] Read (Read now)"), "{}", desk.anchor());
    desk.call("todo_write", json!({ "action": "add", "todos": [todo("Test", "pending", None)] })).await;
    desk.call("todo_write", json!({ "action": "update", "index": 0, "todos": [{ "status": "completed" }] }))
        .await;
    assert!(desk.anchor().contains("[0] [x] Read\n  [1] [ ] Test\nProgress: 1/2"), "{}", desk.anchor());
    let removed = desk.call("todo_write", json!({ "action": "remove", "index": 1 })).await;
    assert_eq!(said(&removed), desk.anchor());
    let counts: Vec<Value> =
        std::iter::from_fn(|| notes.try_recv().ok()).map(|note| note.data["count"].clone()).collect();
    assert_eq!(counts, [1, 2, 2, 1]);
    // An empty list is a reminder, and stays in sight.
    desk.call("todo_write", json!({ "todos": [] })).await;
    assert!(desk.anchor().contains("No todos."), "{}", desk.anchor());
}

#[tokio::test]
async fn a_call_that_says_nothing_shows_the_list_and_changes_nothing() {
    let desk = Desk::new(&[]);
    assert!(said(&desk.call("todo_write", json!({})).await).contains("No todos."));
    desk.call("todo_write", json!({ "todos": [todo("Read", "in_progress", None)] })).await;
    let before = desk.anchor();
    for args in [json!({}), json!({ "action": null, "todos": null, "index": null })] {
        let shown = desk.call("todo_write", args).await;
        assert_eq!(said(&shown), before);
        assert!(shown.directives.is_empty(), "nothing changed, so nobody is told");
    }
    assert_eq!(desk.anchor(), before);
}

#[tokio::test]
async fn mistakes_are_all_named_and_the_list_stays() {
    let desk = Desk::new(&[]);
    desk.call("todo_write", json!({ "todos": [todo("Read", "in_progress", None)] })).await;
    let before = desk.anchor();
    for (args, words) in [
        (
            json!({ "todos": [{}, { "content": "x" }] }),
            vec!["todo 0: `content`", "todo 0: `status`", "todo 1: `active_form`"],
        ),
        (json!({ "action": "update", "todos": [] }), vec!["`index` is missing", "takes one todo"]),
        (json!({ "action": "remove", "todos": [{}] }), vec!["`index` is missing", "no `todos`"]),
        (json!({ "action": "replace" }), vec!["`todos` is missing", "[] to empty it"]),
        (json!({ "index": 0 }), vec!["`index` goes with", "`todos` is missing"]),
        (json!({ "action": "add", "index": 0 }), vec!["`index` goes with", "`todos` is empty"]),
        (json!({ "action": "add", "todos": [todo("y", "in_progress", None)] }), vec!["one item at most"]),
        (json!({ "action": "dance" }), vec!["dance"]),
        (json!({ "todos": [{ "status": "done" }] }), vec!["done"]),
        (json!({ "action": "update", "index": 7, "todos": [{}] }), vec!["index 7 is out of range"]),
    ] {
        let outcome = desk.call("todo_write", args.clone()).await;
        assert!(outcome.failed() && outcome.directives.is_empty());
        for word in words {
            assert!(said(&outcome).contains(word), "{args}: {}", said(&outcome));
        }
    }
    assert_eq!(desk.anchor(), before);
}

#[tokio::test]
async fn work_is_handed_to_a_tier_that_is_there() {
    assert!(
        said(&Desk::new(&[]).call("handoff", json!({ "target_tier": "eng" })).await).contains("unknown tool")
    );
    let desk = Desk::new(&["eng", "lead"]);
    let todos = json!({ "todos": [todo("Plan", "in_progress", None)] });
    desk.call("todo_write", todos).await;
    let refused = said(&desk.call("handoff", json!({ "target_tier": "chef" })).await);
    assert!(
        refused.contains("known: eng, lead") && refused.contains("no todo has a `target_tier`"),
        "{refused}"
    );
    desk.call("todo_write", json!({ "action": "add", "todos": [todo("Build", "pending", Some("eng"))] }))
        .await;
    let args = json!({ "target_tier": "eng", "reason": "planned", "context": "see PLAN.md" });
    let call =
        Call::new(SessionId::new("s"), "handoff", RawValue::from_string(args.to_string()).expect("JSON"));
    let outcome = &desk.house.call(call).await;
    assert!(said(outcome).contains("your own todos were not done: Plan"), "{}", said(outcome));
    let names: Vec<&str> = outcome.directives.iter().map(Directive::name).collect();
    assert_eq!(
        names,
        ["context_anchor", "notify_presenter", "inject_context", "tier_change", "stop_processing"]
    );
    assert!(desk.anchor().contains("[0] [ ] Build") && !desk.anchor().contains("Plan"), "{}", desk.anchor());
}
