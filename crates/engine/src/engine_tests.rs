//! The loop with a scripted model: each directive, the window, limits and cancellation.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tectum_core::{
    Card, Ctx, Effect, Gate, NativeSet, NativeTool, Reply, Rules, Snapshot, Subject, Tool, Wants, World,
    security::Allowlist,
};
use tokio::sync::Notify;

use super::*;
use crate::{Role, Scripted, ToolCall, prune::STUB, scripted::Asked, tiers::tests::two};

/// Do as told.
#[derive(Deserialize, JsonSchema)]
struct Args {
    /// What is asked of the loop.
    #[serde(default)]
    directives: Vec<Value>,
    /// How long the text is to be.
    #[serde(default)]
    size: usize,
    /// Whether it fails.
    #[serde(default)]
    fail: bool,
}

#[derive(Serialize, JsonSchema)]
struct Nothing {}

fn card(name: &'static str, effect: Effect) -> Card {
    Card {
        name,
        title: name,
        effect,
        world: World::Project,
        idempotent: true,
        primary: "",
        deadline: Duration::from_secs(600),
        max_output: usize::MAX - 10_000,
    }
}

fn wants<A>(_: &A) -> Wants {
    Wants { subject: Subject::None, paths: Vec::new() }
}

/// A tool that gives the directives and the text it was called with.
fn row(name: &'static str, effect: Effect, runs: Arc<AtomicUsize>) -> NativeTool {
    NativeTool::row::<Args, Nothing>(card(name, effect), "Does it.", wants, move |_, args| {
        runs.fetch_add(1, Ordering::Relaxed);
        if args.fail {
            return Err(Fault::conflict("it failed"));
        }
        let mut reply = Reply::new(format!("ok{}", ".".repeat(args.size)), Nothing {});
        for one in args.directives {
            reply.directives.push(Directive::read(&one.to_string()).map_err(Fault::invalid)?);
        }
        Ok(reply)
    })
}

/// A tool that never ends by itself.
struct Hang(Arc<Notify>);

impl Tool for Hang {
    type Args = Args;
    type Output = Nothing;
    const CARD: Card = Card {
        name: "hang",
        title: "hang",
        effect: Effect::Change,
        world: World::Project,
        idempotent: true,
        primary: "",
        deadline: Duration::from_secs(600),
        max_output: 1000,
    };

    fn wants(&self, args: &Args) -> Wants {
        wants(args)
    }

    async fn call(&self, _ctx: &Ctx, _args: Args) -> Result<Reply<Nothing>, Fault> {
        self.0.notify_one();
        std::future::pending().await
    }
}

struct Scene {
    engine: Engine<Scripted>,
    model: Scripted,
    ctx: LoopContext,
    told: Arc<Mutex<Vec<String>>>,
    runs: Arc<AtomicUsize>,
    hangs: Arc<Notify>,
    _scratch: tempfile::TempDir,
}

fn house(runs: &Arc<AtomicUsize>, hangs: &Arc<Notify>) -> (Tectum, tempfile::TempDir) {
    let scratch = tempfile::tempdir().expect("a directory");
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    let gate = Gate::new(Rules::default(), Arc::new(allowlist));
    let tools = vec![
        row("look", Effect::Read, runs.clone()),
        row("hand", Effect::Change, runs.clone()),
        row("change", Effect::Change, runs.clone()),
        NativeTool::new(Hang(hangs.clone())),
    ];
    (Tectum::new(Snapshot::of(&[Arc::new(NativeSet::new(tools))]), gate), scratch)
}

fn scene_with(settings: Settings, answers: Vec<Answer>) -> Scene {
    let (runs, hangs) = (Arc::<AtomicUsize>::default(), Arc::<Notify>::default());
    let (house, scratch) = house(&runs, &hangs);
    let model = Scripted::new(answers);
    let told = Arc::<Mutex<Vec<String>>>::default();
    let heard = told.clone();
    let engine = Engine::new(house, model.clone(), settings)
        .expect("settings")
        .telling(move |event| heard.lock().expect("whole").push(format!("{event:?}")));
    let ctx = engine.context();
    Scene { engine, model, ctx, told, runs, hangs, _scratch: scratch }
}

fn scene(answers: Vec<Answer>) -> Scene {
    scene_with(Settings { tiers: two(), ..Settings::default() }, answers)
}

impl Scene {
    async fn run(&mut self) -> Finished {
        let done = self.engine.run(&mut self.ctx, "do it", CancellationToken::new()).await.expect("an end");
        assert!(self.ctx.is_whole(), "{:#?}", self.ctx.messages);
        for asked in self.model.asked() {
            let messages = asked.messages;
            assert!(LoopContext { messages, ..self.ctx.clone() }.is_whole(), "a prompt is whole, too");
        }
        done
    }

    fn asked(&self, index: usize) -> Asked {
        self.model.asked()[index].clone()
    }

    fn told(&self, word: &str) -> usize {
        self.told.lock().expect("whole").iter().filter(|event| event.starts_with(word)).count()
    }
}

/// Calls in one answer, each with its arguments.
fn calls(all: &[(&str, Value)]) -> Answer {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let call = |(name, args): &(&str, Value)| {
        ToolCall::new(format!("id{}", NEXT.fetch_add(1, Ordering::Relaxed)), *name, args.to_string())
    };
    Answer::calls(all.iter().map(call).collect())
}

/// A call of `hand` that asks for these.
fn hand(directives: Value) -> Answer {
    calls(&[("hand", json!({ "directives": directives }))])
}

fn roles(messages: &[Message]) -> Vec<Role> {
    messages.iter().map(|one| one.role).collect()
}

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
async fn a_limit_ends_the_run_with_a_last_word() {
    for (limits, answers, stop) in [
        (Limits { rounds: 2, ..Limits::default() }, vec![json!({}), json!({ "size": 1 })], Stop::Rounds),
        (Limits::default(), vec![json!({ "fail": true }); 3], Stop::Errors),
    ] {
        let mut answers: Vec<Answer> = answers.into_iter().map(|args| calls(&[("look", args)])).collect();
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
async fn news_of_files_stand_behind_the_last_result_for_one_round() {
    let mut scene = scene(vec![
        calls(&[("look", json!({})), ("look", json!({ "size": 1 }))]),
        calls(&[("look", json!({ "size": 2 }))]),
        Answer::text("done"),
    ]);
    let mut news = vec![None, Some("a.rs changed".to_owned())];
    scene.engine = scene.engine.refreshing(move || news.pop().flatten());
    scene.run().await;
    let with = |index: usize| {
        let asked = scene.asked(index).messages;
        let at = (0..asked.len()).filter(|i| asked[*i].content.contains("a.rs changed"));
        (asked.len(), at.collect::<Vec<_>>())
    };
    assert_eq!((with(1), with(2)), ((5, vec![4]), (7, vec![])));
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
