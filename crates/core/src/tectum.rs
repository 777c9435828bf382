//! The house: the walk of one call from start to end.

use std::{
    pin::pin,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use serde_json::value::RawValue;
use tokio_util::task::TaskTracker;

use crate::{
    Approved, Approver, Asked, Asks, Call, Consent, Ctx, Effect, Effects, Fault, FaultKind, Gate, Grants,
    Judgement, Noted, Outcome, Payload, Prepared, Question, Recorder, Registry, Rehearsal, Rehearse, Seen,
    Snapshot, Tap, Tapped, Trail, Verdict, Wants,
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

/// What stands around one call: the tools it sees, and who asks about it.
#[derive(Clone, Copy)]
struct Around<'a> {
    tools: &'a Snapshot,
    /// The house's own approver if absent.
    approver: Option<&'a Arc<dyn Approver>>,
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
    approver: OnceLock<Arc<dyn Approver>>,
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
                approver: OnceLock::new(),
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

    /// Who asks people about calls; made by this if there was none.
    pub fn approver(&self, make: impl FnOnce() -> Arc<dyn Approver>) -> &Arc<dyn Approver> {
        self.rooms.approver.get_or_init(make)
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

    /// The number of calls in flight.
    pub fn in_flight(&self) -> usize {
        self.rooms.calls.len()
    }

    /// Runs a call on the thread of its caller. If the caller drops it, the call is cancelled and ends
    /// in a task of its own, so nobody can keep it out of the journal.
    pub fn call(&self, call: Call) -> Walking {
        self.call_among(self.registry().snapshot(), call)
    }

    /// Runs a call with the tools of this snapshot and no others, whatever the registry has by now.
    pub fn call_among(&self, tools: Arc<Snapshot>, call: Call) -> Walking {
        self.run(call, tools, Ok(None), None)
    }

    /// The same, with somebody who asks about this call instead of the house's own approver.
    pub fn call_asking(
        &self,
        tools: Arc<Snapshot>,
        call: Call,
        approver: Option<Arc<dyn Approver>>,
    ) -> Walking {
        self.run(call, tools, Ok(None), approver)
    }

    /// Runs one of several calls with these tools. Their runner applies its directives.
    pub fn step(&self, tools: Arc<Snapshot>, call: Call, step: Step) -> Walking {
        self.run(call, tools, Ok(Some(step)), None)
    }

    /// Records a call that its edge refuses before it could walk.
    pub fn refuse(&self, call: Call, fault: Fault) -> Walking {
        self.run(call, self.registry().snapshot(), Err(fault), None)
    }

    /// Runs a call on its own or as a step with others, unless its edge refuses it.
    fn run(
        &self,
        mut call: Call,
        tools: Arc<Snapshot>,
        step: Result<Option<Step>, Fault>,
        approver: Option<Arc<dyn Approver>>,
    ) -> Walking {
        let (id, started, cancel) = (call.id, Instant::now(), call.cancel.clone());
        let house = self.clone();
        let walk = Box::pin(async move {
            let mut trail = Trail::default();
            let outcome = match step {
                // A panic beside the work ends the call, too; it is recorded like any other end.
                Ok(step) => {
                    house.rooms.tap.show(&tools, Tapped { call: &call, outcome: None });
                    let around = Around { tools: &tools, approver: approver.as_ref() };
                    let walk = house.walk(&mut call, around, step, started, &mut trail);
                    let walked = caught(pin!(walk)).await;
                    let outcome = walked.unwrap_or_else(|fault| Outcome::fault(id, fault));
                    house.rooms.tap.show(&tools, Tapped { call: &call, outcome: Some(&outcome) });
                    outcome
                }
                Err(fault) => Outcome::fault(id, fault),
            };
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
        call: &mut Call,
        around: Around<'_>,
        step: Option<Step>,
        started: Instant,
        trail: &mut Trail,
    ) -> Outcome {
        let alone = step.is_none();
        let mut paths = Vec::new();
        let result = match self.clear(call, around, step, trail).await {
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
        let edited = trail.asked.as_ref().is_some_and(|asked| asked.instead_of.is_some());
        let edited = edited.then(|| call.args.clone());
        let outcome = Outcome { call: call.id, result, directives, paths, edited, took: started.elapsed() };
        if let (Some(asked), Some(approver)) = (&trail.asked, self.rooms.approver.get())
            && asked.approved
        {
            approver.ended(&call.tool, &asked.subject, outcome.failed());
        }
        if alone {
            self.rooms.effects.apply(call.id, &outcome.directives);
        }
        outcome
    }

    /// find, prepare, gate, approval: may fail at any step, and has changed nothing until then. The
    /// checks of a call that runs with others begin with the cheapest.
    async fn clear(
        &self,
        call: &mut Call,
        Around { tools, approver }: Around<'_>,
        step: Option<Step>,
        trail: &mut Trail,
    ) -> Result<Cleared, Fault> {
        let (mut prepared, checks) = match step {
            None => (tools.find(&call.tool)?.prepare(call)?, None),
            Some(Step { prepared, checks }) => {
                checks.first(call)?;
                (prepared?, Some(checks))
            }
        };
        let (mut asks, mut grants) = self.judge(call, &prepared, trail)?;
        if let Some(checks) = &checks
            && let Some(known) = checks.behind_gate(call)?
        {
            return Ok(Cleared::Known(known));
        }
        let (mut consent, mut newer) = (None, None);
        while let Some(asked) = asks {
            let among = newer.as_deref().unwrap_or(tools);
            let around = Around { tools: among, approver };
            let asking = self.ask(call, around, &prepared.wants, (&asked, &grants), consent.take(), trail);
            let Approved::Agreed(agreed) = Box::pin(asking).await? else { break };
            // Rules, files and tools may have changed while the person thought: it is judged as they are
            // now, and runs only if that is what the person saw.
            let registered = self.registry().snapshot();
            let changed = !registered.defines_alike(among, &call.tool);
            if changed {
                newer = Some(registered);
            }
            let edited = agreed.edited.clone();
            consent = Some(agreed);
            if changed || edited.is_some() {
                if let (Some(edited), Some(asked)) = (edited, &mut trail.asked) {
                    asked.instead_of.get_or_insert(std::mem::replace(&mut call.args, edited));
                }
                prepared = newer.as_deref().unwrap_or(tools).find(&call.tool)?.prepare(call)?;
            }
            (asks, grants) = self.judge(call, &prepared, trail)?;
        }
        // The caller may have left while the call waited for a person or for other calls.
        if call.cancel.is_cancelled() {
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        Ok(Cleared::Run(prepared, grants, checks))
    }

    /// The gate, and whether the call could be recorded.
    fn judge(
        &self,
        call: &Call,
        prepared: &Prepared,
        trail: &mut Trail,
    ) -> Result<(Option<Asks>, Grants), Fault> {
        trail.effect = Some(prepared.effect);
        let (judgement, rule, passed) = match self.gate().judge(call, prepared) {
            Verdict::Allow(grants, rule) => (Judgement::Allow, rule, Ok((None, grants))),
            Verdict::Ask(asks, grants) => (Judgement::Ask, asks.rule.clone(), Ok((Some(asks), grants))),
            Verdict::Deny(fault) => (Judgement::Deny, fault.message.clone(), Err(fault)),
        };
        trail.judged = Some((judgement, rule));
        let passed = passed?;
        if let Some(recorder) = self.rooms.recorder.get().filter(|_| prepared.effect != Effect::Read) {
            recorder.ready_for(call)?;
        }
        Ok(passed)
    }

    /// Has a person asked about a call, and notes for the record what came of it.
    async fn ask(
        &self,
        call: &Call,
        Around { tools, approver }: Around<'_>,
        wants: &Wants,
        (asks, grants): (&Asks, &Grants),
        before: Option<Consent>,
        trail: &mut Trail,
    ) -> Result<Approved, Fault> {
        let began = Instant::now();
        let tool = tools.tool(&call.tool);
        let rehearse = |args| Box::pin(self.rehearse(call, tools, args)) as Rehearsal<'_>;
        let (noted, rehearse) = (Noted::default(), Some(&rehearse as &Rehearse<'_>));
        let question = Question { call, tool, wants, grants, asks, rehearse, noted };
        let answer = match approver.or_else(|| self.rooms.approver.get()) {
            None => Err(asks.nobody_to_ask(&call.tool)),
            Some(approver) => tokio::select! {
                answer = approver.ask(&question, before) => answer,
                () = call.cancel.cancelled() => {
                    Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"))
                }
            },
        };
        let (id, by) = (question.noted.id.get().cloned(), question.noted.by.get().cloned());
        let earlier = trail.asked.take();
        trail.asked = Some(Asked {
            id: id.or_else(|| earlier.as_ref()?.id.clone()),
            subject: asks.subject.clone(),
            by: by.or_else(|| earlier.as_ref()?.by.clone()),
            approved: answer.is_ok(),
            waited: began.elapsed() + earlier.as_ref().map_or(Duration::ZERO, |earlier| earlier.waited),
            instead_of: earlier.and_then(|earlier| earlier.instead_of),
        });
        answer
    }

    /// Runs a call that changes nothing behind the gate, unseen and unrecorded.
    pub(crate) async fn rehearse(
        &self,
        call: &Call,
        tools: &Snapshot,
        args: Box<RawValue>,
    ) -> Result<Payload, Fault> {
        let rehearsed = Call::new(call.session.clone(), call.tool.clone(), args);
        let rehearsed = Call { cancel: call.cancel.child_token(), ..rehearsed };
        let prepared = tools.find(&rehearsed.tool)?.prepare(&rehearsed)?;
        let grants = match self.gate().judge(&rehearsed, &prepared) {
            Verdict::Allow(grants, _) | Verdict::Ask(_, grants) => grants,
            Verdict::Deny(fault) => return Err(fault),
        };
        Ok(self.execute(&rehearsed, prepared, grants).await?.payload)
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
