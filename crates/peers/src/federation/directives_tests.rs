//! The places where results carry directives.

use serde_json::json;

use super::*;

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
    let found = CarriedDirectives::in_object(&json!({ "_directives": list }).to_string());
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
        assert_eq!(CarriedDirectives::in_object(text), CarriedDirectives::default(), "{text}");
    }
    let many = json!({ "_directives": vec![json!({"type": "stop_processing"}); 70] }).to_string();
    let found = CarriedDirectives::in_object(&many);
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
        assert_eq!(
            CarriedDirectives::in_result(&result.to_string()).directives,
            [Directive::StopProcessing],
            "{result}"
        );
    }
    assert_eq!(CarriedDirectives::in_result(r#"{"content":[]}"#), CarriedDirectives::default());
}

#[test]
fn a_sender_is_held_to_what_it_may_ask() {
    let list = json!([
        { "type": "stop_processing" },
        { "type": "context_anchor", "params": { "key": "k", "content": "c" } },
    ]);
    let found = CarriedDirectives::in_list(&list.to_string()).only(&["context_anchor".into()]);
    assert_eq!(found.directives, [Directive::ContextAnchor { key: "k".into(), content: "c".into() }]);
    let words = "`stop_processing` is not allowed from this server";
    assert_eq!(found.skipped, [Skipped::one(Cause::NotAllowed, words)]);
}
