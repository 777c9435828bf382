//! Directives on the wire, and where results carry them.

use serde_json::json;

use super::*;

fn check(wire: &str, expect: Directive) {
    let read = Directive::read(wire).expect("reads");
    assert_eq!(read, expect);
    let again = serde_json::to_string(&read).expect("writes");
    assert_eq!(Directive::read(&again).expect("reads again"), expect);
    assert!(NAMES.contains(&expect.name()) && again.contains(expect.name()));
}

#[test]
fn wire_names_and_defaults() {
    check(r#"{"type":"stop_processing"}"#, Directive::StopProcessing);
    check(r#"{"type":"stop_processing","params":{}}"#, Directive::StopProcessing);
    check(
        r#"{"type":"tier_change","params":{"tier":"2"}}"#,
        Directive::TierChange { target_tier: "2".into(), reason: String::new() },
    );
    check(
        r#"{"type":"context_anchor","params":{"key":"k","content":""}}"#,
        Directive::ContextAnchor { key: "k".into(), content: String::new() },
    );
    check(
        r#"{"type":"todo_state_changed","params":{"formatted_state":"x"}}"#,
        Directive::TodoStateChanged { formatted_state: "x".into() },
    );
    check(
        r#"{"type":"inject_context","params":{"content":"x"}}"#,
        Directive::InjectContext { content: "x".into(), role: Role::User },
    );
    check(
        r#"{"type":"inject_context","params":{"content":"x","role":"system"}}"#,
        Directive::InjectContext { content: "x".into(), role: Role::System },
    );
    check(r#"{"type":"prune_messages"}"#, Directive::PruneMessages { keep_recent: 2 });
    check(
        r#"{"type":"prune_messages","params":{"keep_recent":0}}"#,
        Directive::PruneMessages { keep_recent: 0 },
    );
    check(
        r#"{"type":"notify_presenter","params":{"key":"k"}}"#,
        Directive::NotifyPresenter { key: "k".into(), data: Value::Null },
    );
    assert_eq!(NAMES.len(), 7);
}

#[test]
fn what_cannot_be_read_is_named_and_the_others_keep_their_order() {
    let list = json!([
        {"type": "inject_context", "params": {"content": "a"}},
        {"type": "dance"},
        {"params": {}},
        3,
        {"type": "tier_change"},
        {"type": "context_anchor", "params": {"key": 1, "content": "x"}},
        {"type": "stop_processing"},
    ]);
    let found = Found::in_object(&json!({ "_directives": list }).to_string());
    let names: Vec<&str> = found.directives.iter().map(Directive::name).collect();
    assert_eq!(names, ["inject_context", "stop_processing"]);
    assert_eq!(found.skipped.len(), 5);
    assert!(
        found.skipped[0].words.contains("dance") && found.skipped[3].words.contains("target_tier"),
        "{:?}",
        found.skipped
    );
    assert!(found.skipped.iter().all(|one| (one.cause, one.count) == (Cause::NotUnderstood, 1)));
}

#[test]
fn other_shapes_carry_nothing() {
    for text in [
        "plain _directives",
        "[]",
        "3",
        r#"{"_directives":3}"#,
        r#"{"_directives":{}}"#,
        "{}",
        r#"{"a":"_directives"}"#,
    ] {
        assert_eq!(Found::in_object(text), Found::default(), "{text}");
    }
    let many = json!({ "_directives": vec![json!({"type": "stop_processing"}); 70] }).to_string();
    let found = Found::in_object(&many);
    assert_eq!((found.directives.len(), found.skipped.len()), (64, 1));
    assert_eq!((found.skipped[0].cause, found.skipped[0].count), (Cause::TooMany, 6));
}

#[test]
fn a_result_carries_them_in_three_places_and_once() {
    let stop = json!([{ "type": "stop_processing" }]);
    let carried = json!({ "value": 1, "_directives": stop });
    let both =
        json!({ "content": [{ "type": "text", "text": carried.to_string() }], "structuredContent": carried });
    let text = json!({ "content": [{ "type": "image" }, { "type": "text", "text": carried.to_string() }] });
    let meta = json!({ "content": [], "_meta": { "tectum/directives": stop } });
    for result in [both, text, meta] {
        assert_eq!(Found::in_result(&result.to_string()).directives, [Directive::StopProcessing], "{result}");
    }
    assert_eq!(Found::in_result(r#"{"content":[]}"#), Found::default());
}

#[test]
fn a_sender_is_held_to_what_it_may_ask() {
    let list = json!([
        { "type": "stop_processing" },
        { "type": "context_anchor", "params": { "key": "k", "content": "c" } },
    ]);
    let found = Found::in_list(&list.to_string()).only(&["context_anchor".into()]);
    assert_eq!(found.directives, [Directive::ContextAnchor { key: "k".into(), content: "c".into() }]);
    let words = "`stop_processing` is not allowed from this server";
    assert_eq!(found.skipped, [Skipped::one(Cause::NotAllowed, words)]);
}
