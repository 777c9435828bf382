//! Attention in a running house: what the house already knows is turned into facts, a workspace decides
//! which of them are news, and models are told at the end of their rounds. With `organs = "off"` nothing
//! of this exists.

mod flight;
mod goose;
mod keeper;
mod kept;
mod poller;
mod reaction;
mod senses;

use std::{sync::Arc, thread::JoinHandle};

use tectum_approval::Desk;
use tectum_attend::Attention;
use tectum_core::Tectum;
use tectum_peers::federation::Federation;
use tokio_util::task::AbortOnDropHandle;

pub use self::goose::GOOSE_FILE;
pub(crate) use self::kept::KeptAttention;
use self::{
    flight::TapQueue,
    keeper::Keeper,
    poller::{Inbox, Poller},
    senses::House,
};
use crate::{Config, config::Organs};

/// What watches a house, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Watching {
    flight: Arc<TapQueue>,
    thread: Option<JoinHandle<()>>,
    /// Reading of resources, and reactions; they end with this.
    _tasks: Vec<AbortOnDropHandle<()>>,
}

/// The attention of a house with these settings, with what it remembers; `None` where it is off.
pub(crate) fn open(config: &Config) -> Option<(Attention, KeptAttention)> {
    (config.attention.organs != Organs::Off).then(|| {
        let kept = KeptAttention::open(config);
        (Attention::new(config.attention.workspace.clone(), kept.read()), kept)
    })
}

/// The same to look at, or for one call: nothing is watched, and nothing kept.
pub(crate) fn peek(config: &Config) -> Option<Attention> {
    (config.attention.organs != Organs::Off)
        .then(|| Attention::new(config.attention.workspace.clone(), KeptAttention::beside(config).read()))
}

/// Begins to watch a house.
pub(crate) fn start(
    config: &Config,
    (attention, kept): (Attention, KeptAttention),
    house: &Tectum,
    federation: &Arc<Federation>,
) -> Option<Watching> {
    let flight = Arc::new(TapQueue::default());
    let around = House {
        house: house.clone(),
        desk: Desk::of(house),
        federation: federation.clone(),
        attention: attention.clone(),
        directory: config.directory.clone(),
        state: config.state.clone(),
        journal: crate::journal::directory(config).filter(|_| config.journal.on),
        journal_keep: config.journal.keep,
        todo_rounds: config.attention.todo_rounds,
    };
    let watcher = flight.clone();
    let watcher = house.tap().open(move |tapped| watcher.note(tapped));
    let nudged = flight.clone();
    attention.nudge_with(move || nudged.nudge());
    let mut tasks = Vec::new();
    let inbox = Inbox::default();
    if config.attention.organs == Organs::Auto {
        let poller = Poller {
            house: house.clone(),
            federation: federation.clone(),
            attention: attention.clone(),
            inbox: inbox.clone(),
            requests: config.attention.requests,
        };
        tasks.push(AbortOnDropHandle::new(tokio::spawn(poller.run())));
    }
    if !config.attention.reactions.is_empty() {
        let reactions = config.attention.reactions.clone();
        let reacting = reaction::react(house.clone(), attention.clone(), reactions);
        tasks.push(AbortOnDropHandle::new(tokio::spawn(reacting)));
    }
    let keeper = Keeper::new(attention, kept, flight.clone(), around, watcher, inbox);
    let thread = std::thread::Builder::new().name("attention".into()).spawn(move || keeper.run());
    match thread {
        Ok(thread) => Some(Watching { flight, thread: Some(thread), _tasks: tasks }),
        Err(error) => {
            tracing::error!(%error, "attention is off: there is no thread for it");
            None
        }
    }
}

impl Watching {
    /// Ends it; what is remembered is on the disk afterwards. Waits for the disk.
    pub(crate) fn stop(mut self) {
        self.flight.stop();
        if let Some(thread) = self.thread.take() {
            // It fails only if it panicked, which is in the log.
            let _ = thread.join();
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.flight.stop();
    }
}
