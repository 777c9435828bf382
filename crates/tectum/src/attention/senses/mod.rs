//! The senses of the house itself. Each turns something that the house already knows into facts.

mod commands;
mod diagnostics;
mod files;
mod head;
mod questions;
mod repeats;
mod servers;
mod space;
mod todos;

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use tectum_approval::Desk;
use tectum_attend::Attention;
use tectum_attention::{Direction, Event, Input, Severity};
use tectum_core::{CallId, Tectum};
use tectum_peers::federation::Federation;

use super::flight::EndedCall;

/// The house as the senses see it.
pub(super) struct House {
    pub(super) house: Tectum,
    pub(super) desk: Arc<Desk>,
    pub(super) federation: Arc<Federation>,
    pub(super) attention: Attention,
    pub(super) directory: PathBuf,
    pub(super) state: Option<PathBuf>,
    pub(super) journal: Option<PathBuf>,
    pub(super) journal_keep: u64,
    pub(super) todo_rounds: u64,
}

/// The calls that have not ended.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Their sessions.
    pub(super) in_flight: HashMap<CallId, String>,
    /// How many of each session wait for a person.
    pub(super) asked: HashMap<String, usize>,
}

impl Calls {
    /// True while a call of this session is at work; one that waits for a person is not.
    pub(super) fn are_of(&self, session: &str) -> bool {
        let calls = self.in_flight.values().filter(|busy| *busy == session).count();
        calls > self.asked.get(session).copied().unwrap_or_default()
    }

    /// True while any is at work.
    pub(super) fn any(&self) -> bool {
        self.in_flight.values().any(|session| self.are_of(session))
    }
}

/// One sense, on the thread of attention: it may look at files.
pub(super) trait Sense: Send {
    /// The name of its organ.
    fn organ(&self) -> &'static str;
    /// A call ended.
    fn ended(&mut self, _call: &EndedCall, _house: &House, _inputs: &mut Vec<Input>) {}
    /// Once a second while agents are at work, and after calls.
    fn look(&mut self, _house: &House, _calls: &Calls, _inputs: &mut Vec<Input>) {}
}

/// All of them.
pub(super) fn all() -> Vec<Box<dyn Sense>> {
    vec![
        Box::new(files::Files::default()),
        Box::new(head::Head::default()),
        Box::new(commands::Commands::default()),
        Box::new(diagnostics::Diagnostics::default()),
        Box::new(questions::Questions::default()),
        Box::new(servers::Servers::default()),
        Box::new(repeats::Repeats::default()),
        Box::new(todos::Todos::default()),
        Box::new(space::Space::default()),
    ]
}

/// A fact about a subject; what else there is to say is set on it.
fn fact(organ: &str, house: &House, subject: impl Into<String>, path: &str) -> Event {
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
