//! The house: the walk of one call from start to end.

use std::{
    pin::pin,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use tokio_util::task::TaskTracker;

use crate::{
    Asked, Call, Ctx, Desk, Effect, Effects, Fault, FaultKind, Gate, Grants, Judgement, Outcome, Payload,
    Prepared, Recorder, Registry, Seen, Snapshot, Tap, Tapped, Trail, Verdict,
    execute::{caught, execute},
    provider::Done,
    step::{Checks, Step},
    tool::ChangeBegun,
    walking::Walking,
};

/// A call that passed all checks.
enum Cleared {
    /// It runs, and its checks get the result.
    Run(Prepared, Grants, Option<Box<dyn Checks>>),
    /// It ran before, with this result.
    Known(Payload),
}

/// One roof over every tool. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tectum {
    rooms: Arc<Rooms>,
}

#[derive(Debug)]
struct Rooms {
    registry: Registry,
    gate: ArcSwap<Gate>,
    desk: Desk,
    tap: Tap,
    effects: Effects,
    recorder: OnceLock<Arc<dyn Recorder>>,
    calls: TaskTracker,
    on_the_spot: bool,
}

impl Tectum {
    /// A house with these tools behind this gate.
    pub fn new(tools: Snapshot, gate: Gate) -> Self {
        Self::build(tools, gate, false)
    }

    /// A house for a process that runs one call and ends: blocking work runs on the calling thread,
    /// since it delays nobody.
    pub fn for_one_call(tools: Snapshot, gate: Gate) -> Self {
        Self::build(tools, gate, true)
    }

    fn build(tools: Snapshot, gate: Gate, on_the_spot: bool) -> Self {
        Self {
            rooms: Arc::new(Rooms {
                registry: Registry::new(tools),
                gate: ArcSwap::from_pointee(gate),
                desk: Desk::default(),
                tap: Tap::default(),
                effects: Effects::default(),
                recorder: OnceLock::new(),
                calls: TaskTracker::new(),
                on_the_spot,
            }),
        }
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.rooms.registry
    }

    /// The current gate.
    pub fn gate(&self) -> Arc<Gate> {
        self.rooms.gate.load_full()
    }

    /// Replaces rules and allowlist for the calls that start from now on.
    pub fn replace_gate(&self, gate: Gate) {
        self.rooms.gate.store(Arc::new(gate));
    }

    /// The desk, where people are asked.
    pub fn desk(&self) -> &Desk {
        &self.rooms.desk
    }

    /// The tap, where calls can be watched.
    pub fn tap(&self) -> &Tap {
        &self.rooms.tap
    }

    /// The effects of directives: anchors, and notes for presenters.
    pub fn effects(&self) -> &Effects {
        &self.rooms.effects
    }

    /// Has every call recorded from now on; only the first recorder counts.
    pub fn record_with(&self, recorder: Arc<dyn Recorder>) {
        let _ = self.rooms.recorder.set(recorder);
    }

    /// Waits until every call in flight has ended, for at most this long. True if all have.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.rooms.calls.close();
        let done = tokio::time::timeout(patience, self.rooms.calls.wait()).await.is_ok();
        self.rooms.calls.reopen();
        done
    }

    /// Runs a call on the thread of its caller. If the caller drops it, the call is cancelled and ends
    /// in a task of its own, so nobody can keep it out of the journal.
    pub fn call(&self, call: Call) -> Walking {
        self.call_among(self.registry().snapshot(), call)
    }

    /// Runs a call with the tools of this snapshot and no others, whatever the registry has by now.
    pub fn call_among(&self, tools: Arc<Snapshot>, call: Call) -> Walking {
        self.run(call, tools, Ok(None))
    }

    /// Runs one of several calls with these tools. Their runner applies its directives.
    pub fn step(&self, tools: Arc<Snapshot>, call: Call, step: Step) -> Walking {
        self.run(call, tools, Ok(Some(step)))
    }

    /// Records a call that its edge refuses before it could walk.
    pub fn refuse(&self, call: Call, fault: Fault) -> Walking {
        self.run(call, self.registry().snapshot(), Err(fault))
    }

    /// Runs a call on its own or as a step with others, unless its edge refuses it.
    fn run(&self, call: Call, tools: Arc<Snapshot>, step: Result<Option<Step>, Fault>) -> Walking {
        let (id, started, cancel) = (call.id, Instant::now(), call.cancel.clone());
        let house = self.clone();
        let walk = Box::pin(async move {
            let mut trail = Trail::default();
            let walked = match step {
                // A panic beside the work ends the call, too; it is recorded like any other end.
                Ok(step) => caught(pin!(house.walk(&call, &tools, step, started, &mut trail))).await,
                Err(fault) => Err(fault),
            };
            let outcome = walked.unwrap_or_else(|fault| Outcome::fault(id, fault));
            let seen = Seen { call: &call, outcome: &outcome, trail: &trail, tools: &tools };
            if let Some(recording) = house.rooms.recorder.get().and_then(|recorder| recorder.record(seen)) {
                recording.await;
            }
            outcome
        });
        Walking::new(id, walk, cancel, &self.rooms.calls)
    }

    async fn walk(
        &self,
        call: &Call,
        tools: &Snapshot,
        step: Option<Step>,
        started: Instant,
        trail: &mut Trail,
    ) -> Outcome {
        self.rooms.tap.show(tools, Tapped { call, outcome: None });
        let alone = step.is_none();
        let mut paths = Vec::new();
        let result = match self.clear(call, tools, step, trail).await {
            Ok(Cleared::Run(mut prepared, grants, checks)) => {
                paths = prepared.wants.paths.drain(..).map(|(path, _)| path).collect();
                let done = self.execute(call, prepared, grants).await;
                if let (Some(checks), Ok(done)) = (checks, &done) {
                    checks.done(&done.payload);
                }
                done
            }
            Ok(Cleared::Known(payload)) => Ok(Done::new(payload)),
            Err(fault) => Err(fault),
        };
        let (result, directives) = match result {
            Ok(done) => {
                self.rooms.effects.count(&call.tool, &done.skipped);
                (Ok(done.payload), done.directives)
            }
            Err(fault) => (Err(fault), Vec::new()),
        };
        let outcome = Outcome { call: call.id, result, directives, paths, took: started.elapsed() };
        if alone {
            self.rooms.effects.apply(call.id, &outcome.directives);
        }
        self.rooms.tap.show(tools, Tapped { call, outcome: Some(&outcome) });
        outcome
    }

    /// find, prepare, gate, approval: may fail at any step, and has changed nothing until then. The
    /// checks of a call that runs with others begin with the cheapest.
    async fn clear(
        &self,
        call: &Call,
        tools: &Snapshot,
        step: Option<Step>,
        trail: &mut Trail,
    ) -> Result<Cleared, Fault> {
        let (prepared, checks) = match step {
            None => (tools.find(&call.tool)?.prepare(call)?, None),
            Some(Step { prepared, checks }) => {
                checks.first(call)?;
                (prepared?, Some(checks))
            }
        };
        trail.effect = Some(prepared.effect);
        let (judgement, rule, passed) = match self.gate().judge(call, &prepared) {
            Verdict::Allow(grants, rule) => (Judgement::Allow, rule, Ok((None, grants))),
            Verdict::Ask(asks, grants) => (Judgement::Ask, asks.rule.clone(), Ok((Some(asks), grants))),
            Verdict::Deny(fault) => (Judgement::Deny, fault.message.clone(), Err(fault)),
        };
        trail.judged = Some((judgement, rule));
        let (question, grants) = passed?;
        if let Some(recorder) = self.rooms.recorder.get().filter(|_| prepared.effect != Effect::Read) {
            recorder.ready_for(call)?;
        }
        if let Some(checks) = &checks
            && let Some(known) = checks.behind_gate(call)?
        {
            return Ok(Cleared::Known(known));
        }
        if let Some(question) = question {
            let (began, by) = (Instant::now(), question.by.clone());
            let answer = tokio::select! {
                answer = call.asker.ask(&self.rooms.desk, question) => Some(answer),
                () = call.cancel.cancelled() => None,
            };
            let approved = matches!(answer, Some(Ok(())));
            trail.asked = Some(Asked { by: by.get().copied(), approved, waited: began.elapsed() });
            answer.transpose()?;
        }
        // The caller may have left while the call waited for a person or for other calls.
        if call.cancel.is_cancelled() {
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        Ok(Cleared::Run(prepared, grants, checks))
    }

    async fn execute(&self, call: &Call, prepared: Prepared, grants: Grants) -> Result<Done, Fault> {
        let ctx = Ctx {
            call: call.id,
            session: call.session.clone(),
            left: call.left.clone(),
            grants: Arc::new(grants),
            cancel: call.cancel.clone(),
            progress: call.progress.clone(),
            max_output: prepared.max_output,
            on_the_spot: self.rooms.on_the_spot,
            change: ChangeBegun::default(),
        };
        execute(prepared.work, ctx, prepared.deadline).await
    }
}

#[cfg(test)]
#[path = "tectum_tests.rs"]
mod tests;
