//! What is kept when the window fills, results get old, or files change.

use std::path::Path;

use tectum_core::security::RawPath;

use super::*;

#[expect(clippy::disallowed_methods, reason = "the test changes its own files")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
}

#[tokio::test]
async fn results_are_capped_and_advice_follows_them() {
    let mut scene = scene(vec![
        calls(&[("look", json!({ "size": 40_000 }))]),
        hand(json!([])),
        hand(json!([])),
        Answer::text("done"),
    ]);
    scene.run().await;
    let first = &scene.asked(1).messages[3].content;
    assert!(first.len() <= 16_384 && first.ends_with("ask for a smaller part]"), "{}", first.len());
    let shortened = &scene.asked(2).messages[3].content;
    assert!(shortened.chars().count() <= 8_000, "a round later less is left: {}", shortened.len());
    let repeated = scene.asked(3).messages.pop().expect("a result").content;
    assert!(repeated.starts_with("ok\n\n[this call was made before"), "{repeated}");
}

#[tokio::test]
async fn a_full_window_is_warned_about_and_then_compacted() {
    let settings = Settings { tiers: Tiers::only("short"), budget: 3_000, ..Settings::default() };
    let look = |size: usize| calls(&[("look", json!({ "size": size })), ("look", json!({ "size": 1 }))]);
    let mut scene = scene_with(settings, vec![look(4_000), look(2_500), look(2_000), Answer::text("done")]);
    scene.engine.house().effects().anchors.set("k", "in sight");
    scene.run().await;
    assert!(scene.told("Scarce") >= 1 && scene.told("Compacted") >= 1, "{:?}", scene.told.lock());
    let warned: Vec<bool> = scene
        .model
        .asked()
        .iter()
        .map(|asked| {
            asked.messages.last().is_some_and(|one| one.content.contains("% of the context is used"))
        })
        .collect();
    assert!(!warned[0] && warned.contains(&true), "{warned:?}");
    let last = scene.asked(3).messages;
    assert_eq!(last[0].content, "short");
    assert!(last[1].content.starts_with("[Summary of earlier work"), "{last:#?}");
    assert!(last.iter().any(|one| one.metadata.source == Source::User && one.content == "do it"));
    assert!(last.last().expect("anchors").content.starts_with("in sight"), "anchors survive");
}

#[tokio::test]
async fn age_makes_stubs_by_itself() {
    let settings = Settings { limits: Limits { same_tool: 100, ..Limits::default() }, ..Settings::default() };
    let mut answers: Vec<Answer> = (0..12).map(|i| calls(&[("look", json!({ "size": 200 + i }))])).collect();
    answers.push(Answer::text("done"));
    let mut scene = scene_with(settings, answers);
    scene.run().await;
    let stubs = scene.ctx.messages.iter().filter(|one| one.content.starts_with(STUB)).count();
    assert_eq!(stubs, 2);
}

#[tokio::test]
async fn news_of_files_stand_behind_the_last_result_for_one_round() {
    let mut scene = scene(vec![
        calls(&[("look", json!({})), ("look", json!({ "size": 1 }))]),
        calls(&[("look", json!({ "size": 2 }))]),
        Answer::text("done"),
    ]);
    let file = scene.scratch.path().join("a.rs");
    write(&file, "one\n");
    scene.engine.track(&RawPath::new("a.rs"));
    write(&file, "two\n");
    scene.run().await;
    let with = |index: usize| {
        let asked = scene.asked(index).messages;
        let at = (0..asked.len()).filter(|i| asked[*i].content.contains("### `a.rs` changed"));
        (asked.len(), at.collect::<Vec<_>>())
    };
    assert_eq!((with(1), with(2)), ((5, vec![4]), (7, vec![])));
}

#[tokio::test]
async fn a_line_of_news_stands_at_the_end_of_a_rounds_last_result_and_stays_there() {
    let left = Arc::new(Mutex::new(vec!["[News n1] x"]));
    let news = RoundNews::new(move |session| {
        assert_eq!(&*session.0, "engine");
        left.lock().expect("whole").pop().map(str::to_owned)
    });
    let settings = Settings { tiers: two(), news: Some(news), ..Settings::default() };
    let look = || calls(&[("look", json!({ "size": 1 })), ("look", json!({ "size": 2 }))]);
    let mut scene = scene_with(settings, vec![look(), look(), Answer::text("done")]);
    scene.run().await;
    let told = |index: usize| {
        let messages = scene.asked(index).messages;
        messages.iter().filter(|one| one.content.ends_with("\n\n[News n1] x")).count()
    };
    assert_eq!((told(0), told(1), told(2)), (0, 1, 1));
}
