//! Rounds over a provider whose tools wait, fail, stop and repeat as the tests say.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use globset::{Glob, GlobSetBuilder};
use serde_json::{json, value::RawValue};
use tectum_core::{
    Directive, Done, Effect, NativeReply, Payload, Prepared, Provider, Recorder, Recording, Rules, Running,
    Seen, SessionId, Snapshot, Subject, Tally, ToolInfo, ToolRole, Wants, World,
    directives::{Cause, Skipped, TODO_ANCHOR},
    security::Allowlist,
};
use tokio::sync::Barrier;

use super::*;
use crate::Limits;

/// A provider whose tools do what their names say; the argument `as` tells calls apart in the log.
struct Stage {
    tools: Vec<ToolInfo>,
    log: Arc<Mutex<Vec<String>>>,
    barrier: Arc<Barrier>,
    runs: Arc<AtomicUsize>,
}

fn info(name: &str, effect: Effect) -> ToolInfo {
    ToolInfo {
        name: name.into(),
        title: name.into(),
        description: String::new(),
        input_schema: Arc::new(json!({})),
        output_schema: None,
        effect,
        world: World::Project,
        idempotent: false,
        primary: "path".into(),
        role: ToolRole::Usual,
        server: None,
        listed: true,
        observed: true,
    }
}

impl Provider for Stage {
    fn tools(&self) -> Arc<[ToolInfo]> {
        self.tools.clone().into()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let args: BTreeMap<String, String> =
            serde_json::from_str(call.args.get()).map_err(|error| Fault::invalid(error.to_string()))?;
        let path = args.get("path").cloned();
        let access = if &*call.tool == "write" { Access::Write } else { Access::Read };
        let paths = path.iter().map(|path| (RawPath::new(path), access)).collect();
        let (log, barrier, runs, tool) =
            (self.log.clone(), self.barrier.clone(), self.runs.clone(), call.tool.clone());
        let name = args.get("as").cloned().unwrap_or_default();
        let work = move |_| -> Running {
            Box::pin(async move {
                runs.fetch_add(1, Ordering::Relaxed);
                log.lock().expect("whole").push(format!("{name}+"));
                let directives = match &*tool {
                    "together" => {
                        barrier.wait().await;
                        vec![]
                    }
                    "fail" => return Err(Fault::conflict("it failed")),
                    "hang" => std::future::pending().await,
                    "stop" => vec![Directive::StopProcessing],
                    "anchor" => vec![Directive::ContextAnchor { key: "k".into(), content: name.clone() }],
                    "todo" => vec![Directive::TodoStateChanged { formatted_state: name.clone() }],
                    _ => {
                        for _ in 0..3 {
                            tokio::task::yield_now().await;
                        }
                        vec![]
                    }
                };
                log.lock().expect("whole").push(format!("{name}-"));
                let skipped = if &*tool == "vain" {
                    vec![Skipped::one(Cause::NotUnderstood, "`dance` is no directive")]
                } else {
                    vec![]
                };
                let payload = Payload::Native(NativeReply { text: name, structured: "{}".into() });
                Ok(Done { directives, skipped, ..Done::new(payload) })
            })
        };
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths },
            effect: Effect::Change,
            world: World::Project,
            deadline: Duration::from_secs(60),
            max_output: usize::MAX,
            work: Box::new(work),
        })
    }
}

struct Scene {
    house: Tectum,
    log: Arc<Mutex<Vec<String>>>,
    runs: Arc<AtomicUsize>,
    _scratch: tempfile::TempDir,
}

fn scene(together: usize) -> Scene {
    let scratch = tempfile::tempdir().expect("a directory");
    let names = ["write", "together", "fail", "hang", "stop", "anchor", "todo", "vain", "do"];
    let mut tools: Vec<ToolInfo> = names.iter().map(|name| info(name, Effect::Change)).collect();
    tools.push(info("read", Effect::Read));
    let (log, runs) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
    let stage =
        Stage { tools, log: log.clone(), barrier: Arc::new(Barrier::new(together)), runs: runs.clone() };
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    let gate = Gate::new(Rules::default(), Arc::new(allowlist));
    Scene { house: Tectum::new(Snapshot::of(&[Arc::new(stage)]), gate), log, runs, _scratch: scratch }
}

fn call(tool: &str, args: &serde_json::Value) -> Call {
    Call::new(SessionId::new("s"), tool, RawValue::from_string(args.to_string()).expect("JSON"))
}

fn text(outcome: &Outcome) -> String {
    match &outcome.result {
        Ok(Payload::Native(reply)) => reply.text.clone(),
        Ok(Payload::Peer(reply)) => reply.json.get().to_owned(),
        Err(fault) => fault.text(),
    }
}

#[tokio::test]
async fn calls_run_together_and_come_back_in_their_order() {
    let scene = scene(4);
    let calls = (0..4).map(|i| call("together", &json!({ "as": i.to_string() }))).collect();
    // Each waits for all others: run one after the other they would never end.
    let done = Turn::new(Limits::default()).round(&scene.house, calls).await;
    assert_eq!(done.outcomes.iter().map(text).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    assert_eq!((done.stop, done.advice), (None, vec![None; 4]));
}

#[tokio::test]
async fn who_changes_a_file_goes_before_those_who_come_after() {
    let scene = scene(1);
    let calls = vec![
        call("write", &json!({ "path": "a/x", "as": "1" })),
        call("write", &json!({ "path": "./a/x", "as": "2" })),
        call("read", &json!({ "path": "a", "as": "3" })),
        call("write", &json!({ "path": "b", "as": "4" })),
        call("read", &json!({ "path": "a/x", "as": "5" })),
    ];
    let done = Turn::new(Limits::default()).round(&scene.house, calls).await;
    assert!(done.outcomes.iter().all(|outcome| !outcome.failed()), "{:?}", done.outcomes);
    let log = scene.log.lock().expect("whole").clone();
    let at = |word: &str| log.iter().position(|entry| entry == word).expect("logged");
    assert!(at("1-") < at("2+") && at("2-") < at("3+") && at("2-") < at("5+"), "{log:?}");
    // The other file does not matter.
    assert!(at("4+") < at("2+"), "{log:?}");
}

#[tokio::test]
async fn one_at_a_time_is_no_deadlock() {
    let scene = scene(1);
    let mut calls = Vec::new();
    for i in 0..10 {
        let tool = ["write", "read", "do"][i % 3];
        calls.push(call(tool, &json!({ "path": format!("f{}", i % 2), "as": i.to_string() })));
    }
    let limits = Limits { concurrency: 1, ..Limits::default() };
    let done = Turn::new(limits).round(&scene.house, calls).await;
    assert_eq!(
        done.outcomes.iter().map(text).collect::<Vec<_>>(),
        (0..10).map(|i| i.to_string()).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn stopping_finishes_the_batch_and_directives_come_in_call_order() {
    let scene = scene(1);
    let calls = vec![
        call("anchor", &json!({ "path": "slow", "as": "first" })),
        call("stop", &json!({ "as": "s" })),
        call("todo", &json!({ "as": "list" })),
        call("anchor", &json!({ "path": "slow2", "as": "last" })),
    ];
    let done = Turn::new(Limits::default()).round(&scene.house, calls).await;
    assert_eq!((done.outcomes.len(), done.stop), (4, Some(Stop::Directive)));
    let anchors = scene.house.effects().anchors.all();
    let kept: Vec<(&str, &str)> = anchors.iter().map(|one| (&*one.key, &*one.content)).collect();
    assert_eq!(kept, [(TODO_ANCHOR, "list"), ("k", "last")]);
}

#[tokio::test]
async fn what_is_asked_in_vain_is_counted_alone_and_in_a_round() {
    let scene = scene(1);
    assert!(!scene.house.call(call("vain", &json!({ "as": "1" }))).await.failed());
    let calls = vec![call("vain", &json!({ "as": "2" })), call("do", &json!({}))];
    Turn::new(Limits::default()).round(&scene.house, calls).await;
    assert_eq!(scene.house.effects().skipped(), Tally { not_understood: 2, ..Tally::default() });
}

#[tokio::test]
async fn a_repeated_call_gets_its_result_again_until_something_changed() {
    let scene = scene(1);
    let mut turn = Turn::new(Limits::default());
    let same = || vec![call("do", &json!({ "a": "1", "b": "2", "as": "x" }))];
    let turned = || vec![call("do", &json!({ "b": "2", "as": "x", "a": "1" }))];
    turn.round(&scene.house, same()).await;
    let again = turn.round(&scene.house, turned()).await;
    assert_eq!((text(&again.outcomes[0]).as_str(), scene.runs.load(Ordering::Relaxed)), ("x", 1));
    assert!(again.advice[0].as_deref().is_some_and(|advice| advice.contains("made before")));
    // After another change the same call may have another result.
    turn.round(&scene.house, vec![call("do", &json!({ "as": "other" }))]).await;
    turn.round(&scene.house, same()).await;
    assert_eq!(scene.runs.load(Ordering::Relaxed), 3);
    // The same call twice in one round runs once.
    let twice = turn.round(&scene.house, vec![same().remove(0), same().remove(0)]).await;
    assert_eq!((scene.runs.load(Ordering::Relaxed), twice.stop), (3, None));
    let third = turn.round(&scene.house, same()).await;
    assert_eq!(third.stop, Some(Stop::Repeats));
}

#[tokio::test]
async fn readers_and_failures_are_not_remembered() {
    let scene = scene(1);
    let mut turn = Turn::new(Limits::default());
    for _ in 0..2 {
        turn.round(&scene.house, vec![call("read", &json!({})), call("fail", &json!({}))]).await;
    }
    assert_eq!(scene.runs.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn rounds_of_failures_end_the_turn_and_a_success_begins_anew() {
    let scene = scene(1);
    let mut turn = Turn::new(Limits::default());
    let fail = || call("fail", &json!({}));
    let fine = || call("read", &json!({}));
    // Failures in one answer count once, however many: the model had not seen them.
    assert_eq!(turn.round(&scene.house, vec![fail(), fail(), fail(), fail()]).await.stop, None);
    assert_eq!(turn.round(&scene.house, vec![fail()]).await.stop, None);
    assert_eq!(turn.round(&scene.house, vec![fail(), fine(), fail()]).await.stop, None);
    for expect in [None, None, Some(Stop::Errors)] {
        assert_eq!(turn.round(&scene.house, vec![fail(), fail()]).await.stop, expect);
    }
    assert!(Stop::Errors.message().contains("failed"));
}

#[tokio::test]
async fn a_turn_has_its_rounds_and_a_round_its_calls() {
    let scene = scene(1);
    let limits = Limits { rounds: 2, calls: 3, ..Limits::default() };
    let mut turn = Turn::new(limits);
    let calls = || (0..5).map(|i| call("read", &json!({ "as": i.to_string() }))).collect::<Vec<_>>();
    let first = turn.round(&scene.house, calls()).await;
    assert_eq!((first.stop, first.outcomes.iter().filter(|one| one.failed()).count()), (None, 2));
    assert!(text(&first.outcomes[4]).contains("may make 3 calls"), "{}", text(&first.outcomes[4]));
    assert_eq!(scene.runs.load(Ordering::Relaxed), 3);
    assert_eq!(turn.round(&scene.house, vec![]).await.stop, Some(Stop::Rounds));
}

#[tokio::test]
async fn one_tool_round_after_round_is_warned_about_and_then_refused() {
    let scene = scene(1);
    let mut turn = Turn::new(Limits::default());
    let read = |i: usize| vec![call("read", &json!({ "as": i.to_string() }))];
    for i in 1..=6 {
        let done = turn.round(&scene.house, read(i)).await;
        assert_eq!(done.advice[0].is_some(), i >= 5, "round {i}");
        assert!(!done.outcomes[0].failed());
    }
    let refused = turn.round(&scene.house, read(7)).await;
    assert!(text(&refused.outcomes[0]).contains("round after round"));
    assert_eq!(scene.runs.load(Ordering::Relaxed), 6);
    turn.round(&scene.house, vec![call("do", &json!({}))]).await;
    assert!(!turn.round(&scene.house, read(8)).await.outcomes[0].failed());
}

#[tokio::test]
async fn a_tier_has_its_tools() {
    let scene = scene(1);
    let mut turn = Turn::new(Limits::default());
    let tools = GlobSetBuilder::new().add(Glob::new("re*").expect("a glob")).build().expect("a set");
    turn.hold_to("reader", tools);
    let done = turn.round(&scene.house, vec![call("do", &json!({})), call("read", &json!({}))]).await;
    assert!(text(&done.outcomes[0]).contains("not a tool of the tier `reader`"));
    assert!(!done.outcomes[1].failed());
}

#[tokio::test]
async fn bad_arguments_and_unknown_tools_cost_their_own_call() {
    let scene = scene(1);
    let calls =
        vec![call("do", &json!([1])), call("dance", &json!({})), call("do", &json!({ "as": "fine" }))];
    let done = Turn::new(Limits::default()).round(&scene.house, calls).await;
    let failed: Vec<bool> = done.outcomes.iter().map(Outcome::failed).collect();
    assert_eq!(failed, [true, true, false]);
}

/// Passes on which calls are recorded, and how they failed.
#[derive(Debug)]
struct Note(tokio::sync::mpsc::UnboundedSender<(String, Option<FaultKind>)>);

impl Recorder for Note {
    fn record<'a>(&'a self, seen: Seen<'a>) -> Option<Recording<'a>> {
        let kind = seen.outcome.result.as_ref().err().map(|fault| fault.kind);
        self.0.send((seen.call.tool.to_string(), kind)).expect("somebody listens");
        None
    }

    fn ready_for(&self, _change: &Call) -> Result<(), Fault> {
        Ok(())
    }
}

#[tokio::test]
async fn a_round_that_nobody_waits_for_is_recorded_all_the_same() {
    let scene = scene(1);
    let (seen, mut entries) = tokio::sync::mpsc::unbounded_channel();
    scene.house.record_with(Arc::new(Note(seen)));
    let calls = vec![call("hang", &json!({ "path": "a" })), call("write", &json!({ "path": "a" }))];
    let house = scene.house.clone();
    let waiting = tokio::spawn(async move { Turn::new(Limits::default()).round(&house, calls).await });
    while scene.runs.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    waiting.abort();
    let recorded = entries.recv().await.expect("recorded");
    assert_eq!(recorded, ("hang".to_owned(), Some(FaultKind::Cancelled)));
    // The call that waits for it never began.
    assert_eq!(scene.runs.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn who_waits_in_a_round_that_is_cancelled_never_begins() {
    let scene = scene(1);
    let calls = vec![call("hang", &json!({})), call("write", &json!({ "path": "a" }))];
    let tokens: Vec<CancellationToken> = calls.iter().map(|call| call.cancel.clone()).collect();
    let limits = Limits { concurrency: 1, ..Limits::default() };
    let leaving = async {
        while scene.runs.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        tokens.iter().for_each(CancellationToken::cancel);
    };
    let mut turn = Turn::new(limits);
    let (done, ()) = tokio::join!(turn.round(&scene.house, calls), leaving);
    let kinds = done.outcomes.iter().map(|one| one.result.as_ref().err().map(|fault| fault.kind));
    assert_eq!(kinds.collect::<Vec<_>>(), [Some(FaultKind::Cancelled); 2]);
    assert_eq!(scene.runs.load(Ordering::Relaxed), 1);
}
