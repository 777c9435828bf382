//! The loop with a scripted model, in a house whose tools do as they are told.

mod any;
mod directives;
mod ends;
mod window;

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
    Card, Ctx, Effect, Gate, Reply, Rules, Snapshot, Subject, Tool, ToolRole, Wants, World,
    security::Allowlist,
};
use tectum_native::{NativeSet, NativeTool};
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
        role: if effect == Effect::Read { ToolRole::Reader } else { ToolRole::Usual },
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
        role: ToolRole::Usual,
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
    scratch: tempfile::TempDir,
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
    Scene { engine, model, ctx, told, runs, hangs, scratch }
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
