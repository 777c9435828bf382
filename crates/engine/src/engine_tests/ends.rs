//! How a run goes and ends: answers, limits, faults and cancellation.

use super::*;

#[tokio::test]
async fn an_answer_without_calls_ends_the_run() {
    let answer = Answer { usage: Usage { prompt: 5, completion: 2 }, ..Answer::text("It is done.") };
    let mut scene = scene(vec![answer.clone()]);
    let done = scene.run().await;
    let expect =
        Finished { reason: Reason::Answered, text: "It is done.".into(), usage: answer.usage, rounds: 0 };
    assert_eq!(done, expect);
    assert_eq!(roles(&scene.ctx.messages), [Role::System, Role::User, Role::Assistant]);
    assert_eq!(scene.told("Said"), 3, "the text came in pieces");
}

#[tokio::test]
async fn results_come_back_in_call_order_with_their_metadata() {
    let mut scene = scene(vec![
        calls(&[
            ("look", json!({ "size": 3 })),
            ("look", json!({ "fail": true })),
            ("look", json!({ "size": 1 })),
        ]),
        Answer::text("done"),
    ]);
    let done = scene.run().await;
    assert_eq!(done.rounds, 1);
    let results = &scene.ctx.messages[3..6];
    let texts: Vec<&str> = results.iter().map(|one| one.content.as_str()).collect();
    assert_eq!(texts, ["ok...", "ERROR: it failed", "ok."]);
    let errors: Vec<bool> = results.iter().map(|one| one.metadata.is_error).collect();
    assert_eq!(errors, [false, true, false]);
    let ids: Vec<Option<&str>> = results.iter().map(|one| one.tool_call_id.as_deref()).collect();
    let made: Vec<Option<&str>> =
        scene.ctx.messages[2].tool_calls.iter().map(|call| Some(call.id.as_str())).collect();
    assert_eq!(ids, made);
    assert!(results.iter().all(|one| one.metadata.iteration == 1
        && one.metadata.tool.as_deref() == Some("look")
        && one.metadata.source == Source::Tool));
    assert_eq!(scene.asked(1).messages, scene.ctx.messages[..6]);
    assert_eq!((scene.told("Calls"), scene.told("Called")), (3, 3));
}

#[tokio::test]
async fn a_limit_ends_the_run_with_a_last_word() {
    for (limits, answers, stop) in [
        (Limits { rounds: 2, ..Limits::default() }, vec![json!({}), json!({ "size": 1 })], Stop::Rounds),
        (Limits::default(), vec![json!({ "fail": true }); 3], Stop::Errors),
        (Limits::default(), vec![json!({ "size": 9 }); 4], Stop::Repeats),
    ] {
        let tool = if stop == Stop::Repeats { "change" } else { "look" };
        let mut answers: Vec<Answer> = answers.into_iter().map(|args| calls(&[(tool, args)])).collect();
        answers.push(Answer::text("that is how far I came"));
        let asked = answers.len();
        let mut scene = scene_with(Settings { limits, ..Settings::default() }, answers);
        let done = scene.run().await;
        assert_eq!((done.reason, done.text.as_str()), (Reason::Stopped(stop), "that is how far I came"));
        let last = scene.asked(asked - 1);
        assert!(!last.may_call && last.messages.last().expect("a notice").content.contains(stop.message()));
    }
}

#[tokio::test]
async fn more_calls_than_an_answer_may_make_are_refused_one_by_one() {
    let many: Vec<(&str, Value)> = (0..12).map(|i| ("look", json!({ "size": i }))).collect();
    let mut scene = scene(vec![calls(&many), Answer::text("fewer then")]);
    scene.run().await;
    let failed = scene.ctx.messages.iter().filter(|one| one.metadata.is_error);
    assert!(failed.clone().all(|one| one.content.contains("may make 10 calls")));
    assert_eq!((failed.count(), scene.runs.load(Ordering::Relaxed)), (2, 10));
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_not_kept() {
    let mut scene = scene(vec![Answer::text("")]);
    assert_eq!(scene.run().await.reason, Reason::Answered);
    assert_eq!(roles(&scene.ctx.messages), [Role::System, Role::User]);
}

#[tokio::test]
async fn a_model_that_cannot_sum_up_leaves_the_reason() {
    let settings = Settings { limits: Limits { rounds: 1, ..Limits::default() }, ..Settings::default() };
    let mut scene = scene_with(settings, vec![calls(&[("look", json!({}))])]);
    let done = scene.run().await;
    assert_eq!((done.reason, done.text.as_str()), (Reason::Stopped(Stop::Rounds), Stop::Rounds.message()));
}

#[tokio::test]
async fn an_answer_may_be_cut_or_held_back() {
    for (finish, reason) in [(Finish::Length, Reason::Cut), (Finish::Filtered, Reason::Filtered)] {
        let mut scene = scene(vec![Answer { finish, ..Answer::text("half") }]);
        let done = scene.run().await;
        assert_eq!((done.reason, done.text.as_str()), (reason, "half"));
    }
}

#[tokio::test]
async fn broken_arguments_are_an_error_the_model_can_correct() {
    let broken =
        Answer::calls(vec![ToolCall::new("1", "look", "{\"size\": "), ToolCall::new("1", "look", "")]);
    let mut scene = scene(vec![broken, Answer::text("done")]);
    scene.run().await;
    let results: Vec<&Message> = scene.ctx.messages.iter().filter(|one| one.role == Role::Tool).collect();
    assert!(results[0].content.contains("no JSON object") && results[0].metadata.is_error, "{results:?}");
    assert_eq!((results[1].content.as_str(), scene.runs.load(Ordering::Relaxed)), ("ok", 1));
}

#[tokio::test]
async fn a_cancelled_round_leaves_every_call_with_its_result() {
    let mut scene = scene_with(
        Settings { limits: Limits { concurrency: 1, ..Limits::default() }, ..Settings::default() },
        vec![calls(&[("look", json!({})), ("hang", json!({})), ("change", json!({}))])],
    );
    let cancel = CancellationToken::new();
    let (hangs, stop) = (scene.hangs.clone(), cancel.clone());
    let leaving = async move {
        hangs.notified().await;
        stop.cancel();
    };
    let (done, ()) = tokio::join!(scene.engine.run(&mut scene.ctx, "do it", cancel), leaving);
    assert_eq!(done.expect("an end").reason, Reason::Cancelled);
    assert!(scene.ctx.is_whole());
    let results: Vec<&str> = scene
        .ctx
        .messages
        .iter()
        .filter(|one| one.role == Role::Tool)
        .map(|one| one.content.as_str())
        .collect();
    assert_eq!(results, ["ok", "ERROR: the call was cancelled", "ERROR: the call was cancelled"]);
    assert_eq!(scene.runs.load(Ordering::Relaxed), 1, "who waited never began");
}

#[tokio::test]
async fn a_dropped_run_leaves_a_history_that_can_go_on() {
    let mut scene = scene_with(
        Settings::default(),
        vec![calls(&[("hang", json!({}))]), calls(&[("look", json!({}))]), Answer::text("done")],
    );
    let hangs = scene.hangs.clone();
    tokio::select! {
        _ = scene.engine.run(&mut scene.ctx, "do it", CancellationToken::new()) => panic!("it hangs"),
        () = hangs.notified() => {}
    }
    assert!(scene.ctx.is_whole());
    assert_eq!(scene.run().await.text, "done");
}

#[tokio::test]
async fn nobody_asks_a_model_for_somebody_who_left() {
    let mut scene = scene(vec![Answer::text("unheard")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let done = scene.engine.run(&mut scene.ctx, "do it", cancel).await.expect("an end");
    assert_eq!((done.reason, scene.model.asked().len()), (Reason::Cancelled, 0));
}

#[tokio::test]
async fn a_model_that_fails_is_a_fault_and_the_next_run_goes_on() {
    let (runs, hangs) = Default::default();
    let (house, _scratch) = house(&runs, &hangs);
    let model = Scripted::failing([
        Ok(calls(&[("look", json!({}))])),
        Err(Fault::new(tectum_core::FaultKind::Upstream, "away")),
        Ok(Answer::text("back")),
    ]);
    let mut engine = Engine::new(house, model.clone(), Settings::default()).expect("settings");
    let mut ctx = engine.context();
    let fault = engine.run(&mut ctx, "do it", CancellationToken::new()).await.expect_err("away");
    assert_eq!(fault.message, "away");
    assert!(ctx.is_whole());
    assert_eq!(engine.run(&mut ctx, "again", CancellationToken::new()).await.expect("an end").text, "back");
}

#[tokio::test]
async fn settings_and_tasks_that_cannot_be_are_refused() {
    let (runs, hangs) = Default::default();
    let (house, _scratch) = house(&runs, &hangs);
    let wrong = Settings { policy: Policy { warn: 80, ..Policy::default() }, ..Settings::default() };
    assert!(Engine::new(house.clone(), Scripted::default(), wrong).is_err());
    let mut engine = Engine::new(house, Scripted::default(), Settings::default()).expect("settings");
    let mut ctx = engine.context();
    assert!(engine.run(&mut ctx, "  ", CancellationToken::new()).await.is_err());
    ctx.tier = "nowhere".into();
    let fault = engine.run(&mut ctx, "x", CancellationToken::new()).await.expect_err("refused");
    assert_eq!(fault.hint.as_deref(), Some("there are: default"));
    assert_eq!(ctx.messages, []);
}
