//! Whatever a model answers and wherever somebody leaves: every prompt is one that servers take.

use proptest::prelude::*;

use super::*;

/// One answer, from nothing to several calls, some of them nonsense.
fn answer() -> impl Strategy<Value = Answer> {
    let anchor = json!({ "type": "context_anchor", "params": { "key": "k", "content": "ANCHOR" } });
    let inject =
        |role: &str| json!({ "type": "inject_context", "params": { "content": "more", "role": role } });
    let directive = prop::sample::select(vec![
        anchor,
        inject("user"),
        inject("assistant"),
        inject("system"),
        json!({ "type": "prune_messages", "params": { "keep_recent": 0 } }),
        json!({ "type": "tier_change", "params": { "tier": "code" } }),
        json!({ "type": "tier_change", "params": { "tier": "boss" } }),
    ]);
    let args = prop_oneof![
        4 => (0usize..6_000).prop_map(|size| json!({ "size": size }).to_string()),
        3 => prop::collection::vec(directive, 1..3).prop_map(|all| json!({ "directives": all }).to_string()),
        1 => Just(json!({ "fail": true }).to_string()),
        1 => prop::sample::select(vec!["", "{", "[]", "null", "{\"size\": -1}"]).prop_map(str::to_owned),
    ];
    let tool = prop::sample::select(vec!["look", "hand", "change", "no_such_tool", ""]);
    let id = prop::sample::select(vec!["", "a", "b"]);
    let call = (id, tool, args).prop_map(|(id, tool, args)| ToolCall::new(id, tool, args));
    (prop::collection::vec(call, 0..5), ".{0,12}")
        .prop_map(|(calls, text)| Answer { calls, ..Answer::text(text) })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_prompt_is_whole(
        answers in prop::collection::vec(answer(), 1..12),
        budget in 200usize..8_000,
        leave_after in prop::option::of(0usize..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let limits = Limits { errors: 20, same_tool: 50, ..Limits::default() };
            let mut scene = scene_with(Settings { tiers: two(), limits, budget, ..Settings::default() }, answers);
            let (cancel, mut events) = (CancellationToken::new(), 0);
            let leave = cancel.clone();
            scene.engine = scene.engine.telling(move |_| {
                events += 1;
                if leave_after == Some(events) {
                    leave.cancel();
                }
            });
            // A script that ends too early is a fault like that of a model that is away.
            let _ = scene.engine.run(&mut scene.ctx, "do it", cancel).await;
            let whole = |messages: &[Message]| {
                LoopContext { messages: messages.to_vec(), ..scene.engine.context() }.is_whole()
            };
            prop_assert!(whole(&scene.ctx.messages), "{:#?}", scene.ctx.messages);
            for asked in scene.model.asked() {
                let messages = &asked.messages;
                prop_assert!(whole(messages), "{messages:#?}");
                prop_assert_eq!(messages[0].metadata.source, Source::System);
                prop_assert!(messages.iter().any(|one| one.content == "do it"));
                let anchors = messages.iter().rposition(|one| one.metadata.source == Source::Anchors);
                prop_assert!(anchors.is_none_or(|at| at == messages.len() - 1));
            }
            Ok(())
        })?;
    }
}
