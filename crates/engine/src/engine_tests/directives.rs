//! Each directive, from a native tool through the house to the next prompt.

use super::*;

#[tokio::test]
async fn stop_processing_ends_the_run_after_the_batch() {
    let stop = json!({ "directives": [{ "type": "stop_processing" }] });
    let mut scene = scene(vec![calls(&[("hand", stop), ("look", json!({ "size": 2 }))])]);
    let done = scene.run().await;
    assert_eq!(done.reason, Reason::Stopped(Stop::Directive));
    assert_eq!((scene.runs.load(Ordering::Relaxed), scene.model.asked().len()), (2, 1));
}

#[tokio::test]
async fn tier_change_locks_the_tier_and_its_tools() {
    let handing = json!([{ "type": "tier_change", "params": { "tier": "code", "reason": "planned" } }]);
    let mut scene = scene(vec![
        calls(&[("change", json!({}))]),
        hand(handing),
        calls(&[("change", json!({}))]),
        Answer::text("x"),
    ]);
    scene.run().await;
    let first = scene.asked(0);
    assert_eq!((first.model, first.tools), (None, vec!["look".into(), "hand".into()]));
    let last = scene.asked(3);
    assert_eq!((last.model.as_deref(), last.tools.len()), (Some("large"), 4));
    assert_eq!((scene.ctx.tier.as_str(), scene.ctx.messages[0].content.as_str()), ("code", "You code."));
    let results: Vec<&str> = scene
        .ctx
        .messages
        .iter()
        .filter(|one| one.role == Role::Tool)
        .map(|one| one.content.as_str())
        .collect();
    assert!(results[0].contains("not a tool of the tier `plan`"), "{results:?}");
    assert_eq!(results[1..], ["ok", "ok"]);
    assert_eq!(scene.told("Tier"), 1);
}

#[tokio::test]
async fn a_hand_over_that_stops_goes_on_in_the_new_tier() {
    let handing = json!([
        { "type": "tier_change", "params": { "tier": "code" } }, { "type": "stop_processing" },
    ]);
    let mut scene = scene(vec![hand(handing), Answer::text("coded")]);
    let done = scene.run().await;
    assert_eq!((done.reason, done.text.as_str()), (Reason::Answered, "coded"));
    assert_eq!(scene.asked(1).messages[0].content, "You code.");
}

#[tokio::test]
async fn a_refused_hand_over_is_told_to_the_model() {
    let handing = json!([{ "type": "tier_change", "params": { "tier": "boss" } }]);
    let mut scene = scene(vec![hand(handing), Answer::text("alone then")]);
    scene.run().await;
    assert_eq!(scene.ctx.tier, "plan");
    let asked = scene.asked(1).messages;
    let last = asked.last().expect("a note");
    assert!(last.role == Role::User && last.content.contains("no tier `boss`"), "{last:?}");
}

#[tokio::test]
async fn anchors_stand_at_the_end_of_every_prompt_and_never_in_the_history() {
    let anchor =
        |text: &str| json!([{ "type": "context_anchor", "params": { "key": "k", "content": text } }]);
    let args = |text: &str| json!({ "directives": anchor(text) });
    let mut scene = scene(vec![
        calls(&[("hand", args("first")), ("look", json!({})), ("hand", args("second"))]),
        calls(&[("look", json!({ "size": 1 }))]),
        hand(anchor("")),
        Answer::text("done"),
    ]);
    scene.run().await;
    for (index, expect) in [(1, true), (2, true), (3, false)] {
        let messages = scene.asked(index).messages;
        let at: Vec<usize> =
            (0..messages.len()).filter(|i| messages[*i].content.contains("second")).collect();
        let last = messages.len() - 1;
        assert_eq!(at, if expect { vec![last] } else { vec![] }, "prompt {index}");
        assert!(!messages.iter().any(|one| one.content.contains("first") && one.role != Role::Assistant));
        if expect {
            assert_eq!((messages[last].role, messages[last - 1].role), (Role::User, Role::Tool));
        }
    }
    assert!(scene.ctx.messages.iter().all(|one| one.metadata.source != Source::Anchors));
}

#[tokio::test]
async fn a_changed_to_do_list_is_an_anchor() {
    let todo = json!([{ "type": "todo_state_changed", "params": { "formatted_state": "[ ] one" } }]);
    let mut scene = scene(vec![hand(todo), Answer::text("done")]);
    scene.run().await;
    assert_eq!(scene.asked(1).messages.last().expect("an anchor").content, "[ ] one");
}

#[tokio::test]
async fn injected_messages_follow_the_whole_batch() {
    let inject = |text: &str, role: &str| json!({ "directives": [{ "type": "inject_context", "params": { "content": text, "role": role } }] });
    let mut scene = scene(vec![
        calls(&[
            ("hand", inject("one", "system")),
            ("look", json!({})),
            ("hand", inject("", "user")),
            ("hand", inject("two", "user")),
        ]),
        Answer::text("done"),
    ]);
    scene.run().await;
    let asked = scene.asked(1).messages;
    let tail: Vec<(Role, &str)> = asked[7..].iter().map(|one| (one.role, one.content.as_str())).collect();
    assert_eq!(tail, [(Role::System, "one"), (Role::User, "two")]);
    assert_eq!(roles(&asked[3..7]), [Role::Tool; 4]);
}

#[tokio::test]
async fn prune_messages_stubs_what_was_read() {
    let prune = json!([{ "type": "prune_messages", "params": { "keep_recent": 1 } }]);
    let big = || calls(&[("look", json!({ "size": 300 }))]);
    let mut scene = scene(vec![big(), big(), hand(prune), Answer::text("done")]);
    scene.run().await;
    let asked = scene.asked(3).messages;
    let results: Vec<&str> =
        asked.iter().filter(|one| one.role == Role::Tool).map(|one| one.content.as_str()).collect();
    assert!(
        results[0].starts_with("[Previous: look, 302 bytes") && results[1].starts_with(STUB),
        "{results:?}"
    );
    assert_eq!((results[2], scene.told("Pruned(2)")), ("ok", 1));
}

#[tokio::test]
async fn notes_reach_the_presenter_both_ways() {
    let note = json!([{ "type": "notify_presenter", "params": { "key": "k", "data": { "n": 1 } } }]);
    let mut scene = scene(vec![hand(note), Answer::text("done")]);
    let mut notes = scene.engine.house().effects().notes();
    scene.run().await;
    assert_eq!(scene.told("Note"), 1);
    assert_eq!(notes.try_recv().expect("a note").data, json!({ "n": 1 }));
}
