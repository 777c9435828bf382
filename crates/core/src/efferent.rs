//! Copies of calls for those who watch: queued, never awaited, never felt by the call.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::mpsc;

use crate::{Call, CallId, FaultKind, Outcome, Payload, ToolName};

/// The tools that are never copied: an observer's own, and the audit trail.
const NEVER: &[&str] = &["observe", "audit_log"];

/// One copy, before or after a call.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Which call.
    pub call: CallId,
    /// Which tool.
    pub tool: ToolName,
    /// The arguments as they came.
    pub args: String,
    /// Nothing before the call; what came of it afterwards.
    pub result: Option<Result<String, (FaultKind, String)>>,
}

/// The observers of this house. With none, a call does no work here.
#[derive(Debug, Default)]
pub struct Efferent {
    sinks: Mutex<Vec<mpsc::Sender<Observation>>>,
    watched: std::sync::atomic::AtomicBool,
    dropped: AtomicU64,
}

impl Efferent {
    /// Adds an observer's queue. Its capacity is its bound: what does not fit is dropped and counted.
    pub fn attach(&self, sink: mpsc::Sender<Observation>) {
        self.sinks.lock().unwrap_or_else(|broken| broken.into_inner()).push(sink);
        self.watched.store(true, Ordering::Release);
    }

    /// Copies dropped so far.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// The copy before a call.
    pub fn before(&self, call: &Call) {
        if self.watches(&call.tool) {
            self.send(call, None);
        }
    }

    /// The copy after it.
    pub fn after(&self, call: &Call, outcome: &Outcome) {
        if !self.watches(&call.tool) {
            return;
        }
        let result = match &outcome.result {
            Ok(Payload::Native(reply)) => Ok(reply.structured.clone()),
            Ok(Payload::Raw(raw)) => Ok(raw.get().to_owned()),
            Err(fault) => Err((fault.kind, fault.message.clone())),
        };
        self.send(call, Some(result));
    }

    fn watches(&self, tool: &str) -> bool {
        self.watched.load(Ordering::Acquire) && !NEVER.contains(&tool)
    }

    fn send(&self, call: &Call, result: Option<Result<String, (FaultKind, String)>>) {
        let copy =
            Observation { call: call.id, tool: call.tool.clone(), args: call.args.get().to_owned(), result };
        let mut sinks = self.sinks.lock().unwrap_or_else(|broken| broken.into_inner());
        sinks.retain(|sink| match sink.try_send(copy.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        });
    }
}
