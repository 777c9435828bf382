//! What is known of a track while it is worked on: shown to whoever watches, and kept on the disk
//! after each change.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use tectum_core::Fault;
use tokio::sync::watch;

use crate::{ConsentKind, Graph, Keeper, MmaState, MmaStatus, Ticket, Told, Track, TrackSummary, mma::IDLE};

type Tell = Box<dyn Fn(Told<'_>) + Send + Sync>;

/// The state of orchestration in one house.
pub struct Board {
    inner: Mutex<Inner>,
    shown: watch::Sender<MmaState>,
    /// Held while the state is written, so that the last write has the last state.
    saving: tokio::sync::Mutex<()>,
    tell: Tell,
}

struct Inner {
    graph: Graph,
    keeper: Option<Arc<Keeper>>,
    /// The tiers at work, in the order they began.
    tiers: Vec<(u64, String)>,
    next: u64,
    waiting: Vec<ConsentKind>,
    tool_waits: bool,
}

impl Board {
    /// A board without a track, which tells this function what happens. It must not block.
    pub fn new(tell: impl Fn(Told<'_>) + Send + Sync + 'static) -> Self {
        let graph = Graph::new(Track { id: String::new(), description: String::new(), tickets: Vec::new() });
        let inner =
            Inner { graph, keeper: None, tiers: Vec::new(), next: 0, waiting: Vec::new(), tool_waits: false };
        Self {
            inner: Mutex::new(inner),
            shown: watch::Sender::new(MmaState::default()),
            saving: tokio::sync::Mutex::default(),
            tell: Box::new(tell),
        }
    }

    /// The state, as it is and as it changes.
    pub fn watch(&self) -> watch::Receiver<MmaState> {
        self.shown.subscribe()
    }

    /// The track as it stands.
    pub fn track(&self) -> Track {
        self.inner.lock().graph.track().clone()
    }

    /// Lists tracks that others worked on.
    pub fn list(&self, tracks: Vec<TrackSummary>) {
        self.shown.send_modify(|state| tracks.into_iter().for_each(|track| state.list(track)));
    }

    /// A track is being thought of; then it waits for a person.
    pub fn propose(&self, track: Option<Track>) {
        self.shown.send_modify(|state| {
            state.mma_status = MmaStatus::Planning;
            state.proposed_tracks = track.into_iter().collect();
        });
    }

    /// Nothing came of it.
    pub fn give_up(&self) {
        self.shown.send_modify(|state| {
            state.mma_status = MmaStatus::Idle;
            state.proposed_tracks.clear();
        });
    }

    /// This track is worked on from now.
    pub async fn open(&self, track: Track, keeper: Option<Keeper>, step: bool) -> Result<(), Fault> {
        {
            let mut inner = self.inner.lock();
            inner.graph = Graph::new(track);
            inner.keeper = keeper.map(Arc::new);
            self.shown.send_modify(|state| {
                state.mma_status = MmaStatus::Executing;
                state.mma_step_mode = step;
                state.active_track.clone_from(&inner.graph.track().id);
                state.proposed_tracks.clear();
            });
        }
        self.change(|_| Ok(())).await
    }

    /// Nothing is worked on any more. Gives what waits for what, where something is left to do.
    pub fn close(&self) -> Option<String> {
        let inner = self.inner.lock();
        let stall = inner.graph.stall();
        let summary = TrackSummary { stall: stall.clone(), ..TrackSummary::of(inner.graph.track()) };
        self.shown.send_modify(|state| {
            state.mma_status = MmaStatus::Done;
            state.list(summary);
        });
        stall
    }

    /// The tickets that may begin.
    pub fn ready(&self) -> Vec<Ticket> {
        self.inner.lock().graph.ready().cloned().collect()
    }

    /// Changes the graph; then the change is shown, told and kept.
    pub async fn change<R>(&self, change: impl FnOnce(&mut Graph) -> Result<R, Fault>) -> Result<R, Fault> {
        let (made, news) = {
            let mut inner = self.inner.lock();
            let before = inner.graph.track().clone();
            let made = change(&mut inner.graph)?;
            let now = inner.graph.track();
            let pairs = now.tickets.iter().zip(&before.tickets);
            let news: Vec<Ticket> =
                pairs.filter(|(now, before)| now != before).map(|(now, _)| now.clone()).collect();
            self.shown.send_modify(|state| {
                state.active_tickets.clone_from(&now.tickets);
                state.list(TrackSummary::of(now));
            });
            (made, news)
        };
        news.iter().for_each(|ticket| self.tell(Told::Ticket(ticket)));
        self.save().await?;
        Ok(made)
    }

    async fn save(&self) -> Result<(), Fault> {
        let _last = self.saving.lock().await;
        let (keeper, track) = {
            let inner = self.inner.lock();
            let Some(keeper) = inner.keeper.clone() else { return Ok(()) };
            (keeper, inner.graph.track().clone())
        };
        let saved = tokio::task::spawn_blocking(move || keeper.save(&track)).await;
        saved.map_err(|error| Fault::internal(format!("the state of the track was not kept: {error}")))?
    }

    /// Tells whoever listens.
    pub fn tell(&self, told: Told<'_>) {
        (self.tell)(told);
    }

    /// A worker said something. Whoever waits for a change is not woken by every word.
    pub fn say(&self, stream: &str, text: &str) {
        self.shown.send_if_modified(|state| {
            state.say(stream, text);
            false
        });
    }

    /// What the models do.
    pub fn ai_status(&self, status: &str) {
        self.shown.send_modify(|state| status.clone_into(&mut state.ai_status));
    }

    /// A question of this kind waits until the guard is dropped.
    pub fn waiting(self: &Arc<Self>, kind: ConsentKind) -> Waiting {
        self.inner.lock().waiting.push(kind);
        self.show_waiting();
        Waiting { board: self.clone(), kind }
    }

    /// Questions about calls wait, or none.
    pub fn set_tool_waits(&self, waits: bool) {
        self.inner.lock().tool_waits = waits;
        self.show_waiting();
    }

    fn show_waiting(&self) {
        let inner = self.inner.lock();
        let waits = |kind| inner.waiting.contains(&kind);
        self.shown.send_modify(|state| {
            state.set_pending(inner.tool_waits, waits(ConsentKind::Step), waits(ConsentKind::Spawn));
        });
    }

    /// A tier works until the guard is dropped.
    pub fn at_work(self: &Arc<Self>, tier: &str) -> AtWork {
        let number = {
            let mut inner = self.inner.lock();
            inner.next += 1;
            let number = inner.next;
            inner.tiers.push((number, tier.to_owned()));
            number
        };
        self.show_tier();
        AtWork { board: self.clone(), number }
    }

    fn show_tier(&self) {
        let inner = self.inner.lock();
        let tier = inner.tiers.last().map(|(_, tier)| tier.clone());
        self.shown.send_modify(|state| {
            if tier.is_none() {
                IDLE.clone_into(&mut state.ai_status);
            }
            state.active_tier = tier;
        });
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").field("state", &*self.shown.borrow()).finish_non_exhaustive()
    }
}

/// A question that waits.
#[derive(Debug)]
pub struct Waiting {
    board: Arc<Board>,
    kind: ConsentKind,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        {
            let waiting = &mut self.board.inner.lock().waiting;
            if let Some(at) = waiting.iter().position(|kind| *kind == self.kind) {
                waiting.swap_remove(at);
            }
        }
        self.board.show_waiting();
    }
}

/// A tier that works.
#[derive(Debug)]
pub struct AtWork {
    board: Arc<Board>,
    number: u64,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.board.inner.lock().tiers.retain(|(number, _)| *number != self.number);
        self.board.show_tier();
    }
}
