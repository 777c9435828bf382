//! The record of every call, refused ones too. Who keeps it is elsewhere; this is the interface.

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use serde_json::value::RawValue;

use crate::{Call, Effect, Fault, Judgement, Outcome, Snapshot};

/// A call at its end, as the recorder sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The call.
    pub call: &'a Call,
    /// The outcome of the call.
    pub outcome: &'a Outcome,
    /// What the stations before the provider found.
    pub trail: &'a Trail,
    /// The tools that it could call.
    pub tools: &'a Snapshot,
}

/// What the stations before the provider found out about a call; nothing after the one that refused it.
#[derive(Debug, Default)]
pub struct Trail {
    /// How the call affects the world.
    pub effect: Option<Effect>,
    /// The judgement of the gate, and the rule or the reason.
    pub judged: Option<(Judgement, String)>,
    /// The answer to the question, if one was asked.
    pub asked: Option<Asked>,
}

/// A question that was asked about a call.
#[derive(Debug)]
pub struct Asked {
    /// The id of the question; `None` if nobody was asked.
    pub id: Option<Arc<str>>,
    /// Who answered; `None` if nobody did.
    pub by: Option<Arc<str>>,
    /// The subject it was asked about.
    pub subject: String,
    /// True if the call may run.
    pub approved: bool,
    /// The time from the question to its end.
    pub waited: Duration,
    /// The arguments that the call came with, if a person put others in their place.
    pub instead_of: Option<Box<RawValue>>,
}

/// The future of a record that is being made.
pub type Recording<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Whoever keeps the record of calls.
pub trait Recorder: fmt::Debug + Send + Sync {
    /// Keeps a call. If there is something to wait for, its caller is answered after that.
    fn record<'a>(&'a self, seen: Seen<'a>) -> Option<Recording<'a>>;
    /// A fault if a call that changes something could not be recorded: it is refused with it.
    fn ready_for(&self, change: &Call) -> Result<(), Fault>;
}
