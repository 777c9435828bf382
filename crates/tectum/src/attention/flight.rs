//! What the tap on calls hands over: a few words about each call, in a queue that the thread of attention
//! empties. A call pays for a lock and the copy of what is kept of it, and never waits.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::{Condvar, Mutex};
use serde_json::value::RawValue;
use tectum_core::{CallId, Payload, Tapped, ToolName, security::RawPath};

/// Calls that wait to be looked at; of more the oldest are dropped, and counted.
const MOST_WAITING: usize = 4096;
/// Bytes of a call's arguments that identify it; of longer ones this many at both ends.
const IDENTITY: usize = 512;
/// Tools whose arguments and report are looked into.
const REPORTS: [&str; 6] =
    ["run_shell", "run_powershell", "shell_poll", "shell_write", "diagnostics", "check_errors"];

/// What was heard of a call.
#[derive(Debug)]
pub(super) enum Heard {
    /// It begins.
    Began { call: CallId, session: String },
    /// It ended.
    Ended(EndedCall),
}

/// A call that ended.
#[derive(Debug)]
pub(super) struct EndedCall {
    pub(super) call: CallId,
    pub(super) session: String,
    pub(super) tool: ToolName,
    /// When it ended, in seconds and nanoseconds of the epoch, as files have it.
    pub(super) at: (i64, i64),
    /// Tells the same call from others of its tool.
    pub(super) identity: u64,
    /// The reason, if it failed.
    pub(super) fault: Option<String>,
    pub(super) paths: Vec<RawPath>,
    /// Arguments and report, of tools whose report is looked into.
    pub(super) report: Option<(Box<RawValue>, String)>,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct TapQueue {
    state: Mutex<QueueState>,
    wake: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct QueueState {
    heard: VecDeque<Heard>,
    stopped: bool,
    /// Set when somebody wants a look though no call ended.
    nudged: bool,
}

impl TapQueue {
    /// Notes a call at the tap.
    pub(super) fn note(&self, Tapped { call, outcome }: Tapped<'_>) {
        let session = call.session.0.to_string();
        let heard = match outcome {
            None => Heard::Began { call: call.id, session },
            Some(outcome) => {
                let fault = match &outcome.result {
                    Err(fault) => Some(fault.message.chars().take(200).collect()),
                    Ok(Payload::Peer(reply)) if reply.failed => Some("the tool reports an error".to_owned()),
                    Ok(_) => None,
                };
                let report = match &outcome.result {
                    Ok(Payload::Native(reply)) if REPORTS.contains(&&*call.tool) => {
                        Some((call.args.clone(), reply.structured.clone()))
                    }
                    _ => None,
                };
                let identity = identity(call.args.get().as_bytes());
                let (tool, paths) = (call.tool.clone(), outcome.paths.clone());
                Heard::Ended(EndedCall {
                    call: call.id,
                    session,
                    tool,
                    at: now(),
                    identity,
                    fault,
                    paths,
                    report,
                })
            }
        };
        // Only ends are news; a thread that has something to do looks again by itself.
        let ended = matches!(heard, Heard::Ended(_));
        let mut state = self.state.lock();
        let first = ended && !state.heard.iter().any(|heard| matches!(heard, Heard::Ended(_)));
        if state.heard.len() >= MOST_WAITING {
            state.heard.pop_front();
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        state.heard.push_back(heard);
        drop(state);
        if first {
            self.wake.notify_one();
        }
    }

    /// Waits until a call ended, or for this long; without a time, until then. `None` after the end.
    pub(super) fn wait(&self, patience: Option<Duration>) -> Option<Vec<Heard>> {
        let mut state = self.state.lock();
        let is_quiet = |state: &mut QueueState| {
            !state.stopped
                && !state.nudged
                && !state.heard.iter().any(|heard| matches!(heard, Heard::Ended(_)))
        };
        match patience {
            Some(patience) => drop(self.wake.wait_while_for(&mut state, is_quiet, patience)),
            None => self.wake.wait_while(&mut state, is_quiet),
        }
        state.nudged = false;
        (!state.stopped).then(|| state.heard.drain(..).collect())
    }

    /// Somebody waits for news: looks go on.
    pub(super) fn nudge(&self) {
        self.state.lock().nudged = true;
        self.wake.notify_one();
    }

    /// Nothing more is looked at.
    pub(super) fn stop(&self) {
        self.state.lock().stopped = true;
        self.wake.notify_all();
    }

    /// Calls that were dropped because nobody looked in time.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

fn now() -> (i64, i64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(now.as_secs()).unwrap_or(i64::MAX), i64::from(now.subsec_nanos()))
}

fn identity(args: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    args.len().hash(&mut hasher);
    args[..args.len().min(IDENTITY)].hash(&mut hasher);
    args[args.len().saturating_sub(IDENTITY)..].hash(&mut hasher);
    hasher.finish()
}
