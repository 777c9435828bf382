//! Calls of one answer that wait for something: one after the other, and as a round.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tectum_core::{
    Call, Done, Effect, Fault, Gate, NativeReply, Payload, Prepared, Provider, Rules, Running, SessionId,
    Snapshot, Subject, Tectum, ToolInfo, ToolRole, Wants, World, security::Allowlist,
};
use tectum_turns::{Limits, Turn};

use super::native;
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};

/// The number of calls, and how long each waits.
const TURNS: [(&str, usize, Duration); 2] =
    [("three_ms", 3, Duration::from_millis(100)), ("six_ms", 6, Duration::from_millis(200))];

/// One tool that waits as long as its argument says, as a slow disk or a web page would.
struct Waiting;

impl Provider for Waiting {
    fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::new([ToolInfo {
            name: "wait".into(),
            title: "Wait".into(),
            description: String::new(),
            input_schema: Arc::new(serde_json::json!({})),
            output_schema: None,
            effect: Effect::Read,
            world: World::Project,
            idempotent: true,
            primary: String::new(),
            role: ToolRole::Usual,
            server: None,
            listed: true,
            observed: true,
        }])
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let ms: u64 = call.args.get().parse().map_err(|_| Fault::invalid("a number of milliseconds"))?;
        let work = move |_| -> Running {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                let reply = NativeReply { text: "waited".into(), structured: "{}".into() };
                Ok(Done::new(Payload::Native(reply)))
            })
        };
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths: Vec::new() },
            effect: Effect::Read,
            world: World::Project,
            deadline: Duration::from_secs(10),
            max_output: usize::MAX,
            work: Box::new(work),
        })
    }
}

fn calls(count: usize, wait: Duration) -> Vec<Call> {
    let args = || serde_json::value::RawValue::from_string(wait.as_millis().to_string()).unwrap_or_default();
    (0..count).map(|_| Call::new(SessionId::new("bench"), "wait", args())).collect()
}

pub(super) fn measure(rounds: usize) -> Result<Measured> {
    let scratch = std::env::temp_dir();
    let gate = Gate::new(Rules::default(), Arc::new(Allowlist::builder().base(scratch).build()?));
    let house = Tectum::new(Snapshot::of(&[Arc::new(Waiting)]), gate);
    let runtime = native::runtime()?;
    let mut contenders =
        [Contender::ready("one-by-one", |_| Ok(false)), Contender::ready("tectum", |_| Ok(true))];
    let visit = |together: &mut bool, entry: &mut Entry| {
        for (figure, count, wait) in TURNS {
            let began = Instant::now();
            runtime.block_on(async {
                if *together {
                    let mut turn = Turn::new(Limits::default());
                    turn.round(&house, calls(count, wait)).await;
                } else {
                    for call in calls(count, wait) {
                        house.call(call).await;
                    }
                }
            });
            entry.note(figure, began.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    };
    let others = interleave(&mut contenders, rounds, |_| None, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}
