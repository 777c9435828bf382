//! The walk of a call: who sees it, and which tools it sees.

use std::sync::Mutex;

use serde_json::{Value, value::RawValue};
use tectum_security::Allowlist;

use super::*;
use crate::{Effect, NativeReply, Provider, Rules, SessionId, Subject, ToolInfo, ToolRole, Wants, World};

/// A tool that says what it was made with.
struct Says {
    tool: &'static str,
    words: &'static str,
    observed: bool,
}

impl Provider for Says {
    fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::new([ToolInfo {
            name: self.tool.into(),
            title: String::new(),
            description: String::new(),
            input_schema: Arc::new(Value::Null),
            output_schema: None,
            effect: Effect::Read,
            world: World::Project,
            idempotent: true,
            primary: String::new(),
            role: ToolRole::Usual,
            server: None,
            listed: true,
            observed: self.observed,
        }])
    }

    fn prepare(&self, _: &Call) -> Result<Prepared, Fault> {
        let reply = NativeReply { text: self.words.into(), structured: "{}".into() };
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths: Vec::new() },
            effect: Effect::Read,
            world: World::Project,
            deadline: Duration::from_secs(600),
            max_output: 1000,
            work: Box::new(|_| Box::pin(async { Ok(Done::new(Payload::Native(reply))) })),
        })
    }
}

fn tools(all: &[(&'static str, &'static str, bool)]) -> Snapshot {
    let provider =
        |&(tool, words, observed): &_| Arc::new(Says { tool, words, observed }) as Arc<dyn Provider>;
    Snapshot::of(&all.iter().map(provider).collect::<Vec<_>>())
}

fn house(tools: Snapshot) -> Tectum {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    Tectum::new(tools, Gate::new(Rules::default(), Arc::new(allowlist)))
}

fn call(tool: &str) -> Call {
    Call::new(SessionId::new("s"), tool, RawValue::from_string("{}".into()).expect("JSON"))
}

#[tokio::test]
async fn a_watcher_sees_each_call_before_and_after_while_the_tap_is_open() {
    let house = house(tools(&[("seen", "", true), ("unseen", "", false)]));
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = seen.clone();
    house.call(call("seen")).await;
    let watcher = house.tap().open(move |Tapped { call, outcome }| {
        let result = outcome.map(|outcome| outcome.result.is_ok());
        noted.lock().expect("whole").push(format!("{} {result:?}", call.tool));
    });
    for tool in ["seen", "unseen", "absent"] {
        house.call(call(tool)).await;
    }
    house.tap().close(&watcher);
    house.call(call("seen")).await;
    let seen = seen.lock().expect("whole");
    assert_eq!(*seen, ["seen None", "seen Some(true)", "absent None", "absent Some(false)"]);
}

#[tokio::test]
async fn several_watch_and_each_leaves_alone() {
    let house = house(tools(&[("seen", "", true)]));
    let seen: Arc<Mutex<Vec<&str>>> = Arc::default();
    let watch = |name: &'static str| {
        let noted = seen.clone();
        house.tap().open(move |tapped| {
            if tapped.outcome.is_some() {
                noted.lock().expect("whole").push(name);
            }
        })
    };
    let (one, _two) = (watch("one"), watch("two"));
    house.call(call("seen")).await;
    house.tap().close(&one);
    house.call(call("seen")).await;
    assert_eq!(*seen.lock().expect("whole"), ["one", "two", "two"]);
    assert_eq!(house.in_flight(), 0);
}

#[tokio::test]
async fn a_call_sees_one_set_of_tools_from_start_to_end() {
    let house = house(tools(&[("tool", "first", true)]));
    let looked_at = house.registry().snapshot();
    let begun = house.call(call("tool"));
    house.registry().replace(tools(&[("tool", "second", true)]));
    let among = house.call_among(looked_at, call("tool"));
    house.registry().replace(tools(&[]));
    for walking in [begun, among] {
        let Ok(Payload::Native(reply)) = walking.await.result else { panic!("it ran") };
        assert_eq!(reply.text, "first");
    }
    assert!(house.call(call("tool")).await.result.is_err());
}
