//! What every sense has: the house around it, the calls in flight, and the form of a fact.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use tectum_approval::Desk;
use tectum_attend::Attention;
use tectum_attention::{Direction, Event, Input, Severity};
use tectum_core::{CallId, Tectum};
use tectum_peers::federation::Federation;

use super::super::flight::EndedCall;

/// The house as the senses see it.
pub(in super::super) struct House {
    pub(in super::super) house: Tectum,
    pub(in super::super) desk: Arc<Desk>,
    pub(in super::super) federation: Arc<Federation>,
    pub(in super::super) attention: Attention,
    pub(in super::super) directory: PathBuf,
    pub(in super::super) state: Option<PathBuf>,
    pub(in super::super) journal: Option<PathBuf>,
    pub(in super::super) journal_keep: u64,
    pub(in super::super) todo_rounds: u64,
}

/// The calls that have not ended.
#[derive(Debug, Default)]
pub(in super::super) struct Calls {
    /// Their sessions.
    pub(in super::super) in_flight: HashMap<CallId, String>,
    /// How many of each session wait for a person.
    pub(in super::super) asked: HashMap<String, usize>,
}

impl Calls {
    /// True while a call of this session is at work; one that waits for a person is not.
    pub(in super::super) fn are_of(&self, session: &str) -> bool {
        let calls = self.in_flight.values().filter(|busy| *busy == session).count();
        calls > self.asked.get(session).copied().unwrap_or_default()
    }

    /// True while any is at work.
    pub(in super::super) fn any(&self) -> bool {
        self.in_flight.values().any(|session| self.are_of(session))
    }
}

/// One sense, on the thread of attention: it may look at files.
pub(in super::super) trait Sense: Send {
    /// The name of its organ.
    fn organ(&self) -> &'static str;
    /// A call ended.
    fn ended(&mut self, _call: &EndedCall, _house: &House, _inputs: &mut Vec<Input>) {}
    /// Once a second while agents are at work, and after calls.
    fn look(&mut self, _house: &House, _calls: &Calls, _inputs: &mut Vec<Input>) {}
}

/// A fact about a subject; what else there is to say is set on it.
pub(super) fn fact(organ: &str, house: &House, subject: impl Into<String>, path: &str) -> Event {
    Event {
        organ: organ.to_owned(),
        at: house.attention.now(),
        subject: subject.into(),
        path: path.to_owned(),
        old: None,
        new: String::new(),
        severity: Severity::Warning,
        direction: Direction::Neutral,
        touches: None,
        details: None,
    }
}
