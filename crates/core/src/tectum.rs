//! The house: one call's walk from door to door.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use tokio_util::task::TaskTracker;

use crate::{
    Call, Ctx, Desk, Efferent, Fault, FaultKind, Gate, Grants, Journal, Outcome, Prepared, Registry,
    Snapshot, Verdict, execute::execute, provider::Done, walking::Walking,
};

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
    efferent: Efferent,
    journal: Journal,
    calls: TaskTracker,
    on_the_spot: bool,
}

impl Tectum {
    /// A house with these tools behind this gate.
    pub fn new(tools: Snapshot, gate: Gate) -> Self {
        Self::build(tools, gate, false)
    }

    /// The same for a process that runs one call and ends: blocking work is done on the spot,
    /// since there is nobody it could delay.
    pub fn for_one_call(tools: Snapshot, gate: Gate) -> Self {
        Self::build(tools, gate, true)
    }

    fn build(tools: Snapshot, gate: Gate, on_the_spot: bool) -> Self {
        Self {
            rooms: Arc::new(Rooms {
                registry: Registry::new(tools),
                gate: ArcSwap::from_pointee(gate),
                desk: Desk::default(),
                efferent: Efferent::default(),
                journal: Journal::default(),
                calls: TaskTracker::new(),
                on_the_spot,
            }),
        }
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.rooms.registry
    }

    /// The gate, now.
    pub fn gate(&self) -> Arc<Gate> {
        self.rooms.gate.load_full()
    }

    /// Replaces rules and reach for the calls that start from now on.
    pub fn replace_gate(&self, gate: Gate) {
        self.rooms.gate.store(Arc::new(gate));
    }

    /// Where people are asked.
    pub fn desk(&self) -> &Desk {
        &self.rooms.desk
    }

    /// Where observers are attached.
    pub fn efferent(&self) -> &Efferent {
        &self.rooms.efferent
    }

    /// Where calls are recorded.
    pub fn journal(&self) -> &Journal {
        &self.rooms.journal
    }

    /// Waits until every call in flight has ended, for at most this long.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.rooms.calls.close();
        let done = tokio::time::timeout(patience, self.rooms.calls.wait()).await.is_ok();
        self.rooms.calls.reopen();
        done
    }

    /// Runs a call, on the thread of whoever waits for it. If they leave, the call is cancelled and
    /// goes to its end in a task of its own, so nobody can keep it out of the journal.
    pub fn call(&self, call: Call) -> Walking {
        let (id, started, cancel) = (call.id, Instant::now(), call.cancel.clone());
        let house = self.clone();
        Walking::new(id, Box::pin(async move { house.walk(call, started).await }), cancel, &self.rooms.calls)
    }

    async fn walk(&self, call: Call, started: Instant) -> Outcome {
        let result = match self.clear(&call).await {
            Ok((prepared, grants)) => self.execute(&call, prepared, grants).await,
            Err(fault) => Err(fault),
        };
        let (result, directives) = match result {
            Ok(done) => (Ok(done.payload), done.directives),
            Err(fault) => (Err(fault), Vec::new()),
        };
        let outcome = Outcome { call: call.id, result, directives, took: started.elapsed() };
        self.rooms.efferent.after(&call, &outcome);
        self.rooms.journal.record(&call, &outcome).await;
        outcome
    }

    /// find, prepare, gate, approval: may fail at any step, and has changed nothing until then.
    async fn clear(&self, call: &Call) -> Result<(Prepared, Grants), Fault> {
        let registry = self.rooms.registry.snapshot();
        let prepared = registry.find(&call.tool)?.prepare(call)?;
        let gate = self.gate();
        match gate.judge(call, &prepared) {
            Verdict::Allow(grants) => Ok((prepared, grants)),
            Verdict::Deny(fault) => Err(fault),
            Verdict::Ask(question, grants) => {
                tokio::select! {
                    answer = self.rooms.desk.ask(question) => answer?,
                    () = call.cancel.cancelled() => {
                        return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
                    }
                }
                Ok((prepared, grants))
            }
        }
    }

    async fn execute(&self, call: &Call, prepared: Prepared, grants: Grants) -> Result<Done, Fault> {
        self.rooms.efferent.before(call);
        let ctx = Ctx {
            call: call.id,
            grants: Arc::new(grants),
            cancel: call.cancel.clone(),
            progress: call.progress.clone(),
            max_output: prepared.max_output,
            on_the_spot: self.rooms.on_the_spot,
        };
        execute(prepared.work, ctx, prepared.deadline).await
    }
}
