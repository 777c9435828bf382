//! The handle that everybody holds: the runtime feeds it, replies and tools take from it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use tectum_attention::{
    AgentRhythm, Dynamics, Event, Input, News, NewsId, Settings, Signal, Task, Workspace,
};
use tokio::sync::{broadcast, watch};

use crate::{
    ledger::Ledger,
    line::Line,
    reader::{Audience, ReaderKey},
    saved::Saved,
};

/// News that a slow listener may be behind by.
const NEWS: usize = 64;
/// Seconds for which somebody who asked for news is taken to wait for more.
const WATCHED: u64 = 10;
/// Seconds after a call until nobody is taken to be at work.
const AT_WORK: u64 = 15 * 60;
/// Whom subjects concern, at most so many; the rest concerns everybody.
const MOST_AUDIENCES: usize = 4096;

/// A time in seconds of the epoch, by a clock that never goes back.
pub type Moment = f64;

/// There is no organ of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOrgan {
    /// The name.
    pub organ: String,
    /// Those that there are.
    pub known: Vec<String>,
}

/// The attention of a house. Clones are the same one.
#[derive(Clone)]
pub struct Attention(Arc<Inner>);

struct Inner {
    begun: (Instant, Moment),
    workspace: Mutex<Workspace>,
    ledger: Mutex<Ledger>,
    /// Whom a subject of an organ concerns; everybody where it is not here.
    audiences: Mutex<HashMap<(String, String), Audience>>,
    /// Sessions that are shown changed files otherwise.
    shown_files: Mutex<HashSet<String>>,
    /// What the last events were about.
    subjects: Mutex<VecDeque<EventKey>>,
    /// What the workspace has not been told yet of what readers were told.
    unsettled: Mutex<Vec<(NewsId, Settled)>>,
    rounds: AtomicU64,
    /// Set where the state is not what was saved last.
    unsaved: AtomicBool,
    /// When a call was heard of last, in seconds of the epoch; 0 before the first.
    used: AtomicU64,
    /// When somebody waited for news last, in seconds of the epoch.
    watched: AtomicU64,
    nudge: OnceLock<Box<dyn Fn() + Send + Sync>>,
    changes: watch::Sender<u64>,
    news: broadcast::Sender<Arc<News>>,
}

/// What tells an event from others, in the news that it became.
#[derive(Clone, Debug)]
struct EventKey {
    organ: String,
    subject: String,
    path: String,
    new: String,
}

impl EventKey {
    fn is_of(&self, signal: &Signal) -> bool {
        self.organ == signal.organ && self.path == signal.path && signal.new.as_ref() == Some(&self.new)
    }
}

#[derive(Clone, Copy, Debug)]
enum Settled {
    Told,
    Seen,
}

impl Attention {
    /// With what was saved before, if there is any.
    pub fn new(settings: Settings, saved: Option<Saved>) -> Self {
        let (mut workspace, mut ledger) = match saved {
            Some(Saved { workspace, ledger }) => (workspace, ledger),
            None => (Workspace::new(settings.clone()), Ledger::default()),
        };
        workspace.configure(settings);
        ledger.restart();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(Arc::new(Inner {
            begun: (Instant::now(), wall.as_secs_f64()),
            workspace: Mutex::new(workspace),
            ledger: Mutex::new(ledger),
            audiences: Mutex::default(),
            subjects: Mutex::default(),
            shown_files: Mutex::default(),
            unsettled: Mutex::default(),
            rounds: AtomicU64::new(0),
            unsaved: AtomicBool::new(false),
            used: AtomicU64::new(0),
            watched: AtomicU64::new(0),
            nudge: OnceLock::new(),
            changes: watch::Sender::default(),
            news: broadcast::Sender::new(NEWS),
        }))
    }

    /// True if any of the optional parts of the theory is on.
    pub fn has_dynamics(&self) -> bool {
        let on = |dynamics: &Dynamics| {
            let parts = [dynamics.oscillators, dynamics.heads, dynamics.precision, dynamics.adapter];
            parts.contains(&true) || dynamics.ensemble || dynamics.prior || dynamics.energy
        };
        self.with(|workspace| on(&workspace.settings().dynamics))
    }

    /// The time now.
    pub fn now(&self) -> Moment {
        let (instant, wall) = self.0.begun;
        wall + instant.elapsed().as_secs_f64()
    }

    /// A call of this model ends: whatever it was told before has arrived. Costs a lock.
    pub fn heard(&self, reader: &ReaderKey, client: &str) {
        let seen = self.0.ledger.lock().heard(reader, client, self.now());
        self.settle(seen.into_iter().map(|id| (id, Settled::Seen)));
    }

    /// A round of this model is over: the line that is added to its last answer, if there is one to add.
    pub fn close_round(&self, reader: &ReaderKey) -> Option<Line> {
        self.0.rounds.fetch_add(1, Ordering::Relaxed);
        self.tell(reader, "result", false)
    }

    /// The next line for a model, by some way. It counts as told from now on.
    pub fn tell(&self, reader: &ReaderKey, how: &str, urgent_only: bool) -> Option<Line> {
        let line = self.0.ledger.lock().tell(reader, how, urgent_only, self.now())?;
        let told = line.id.parse().ok().map(|id| (id, Settled::Told));
        self.settle(told.into_iter());
        Some(line)
    }

    /// The model of a session asked for all there is: what it was told before and what it is told now has
    /// arrived.
    pub fn ask(&self, session: &str) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for reader in self.readers_of(session) {
            self.heard(&reader, "");
            while let Some(line) = self.tell(&reader, crate::GET_ATTENTION, false) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            self.heard(&reader, "");
        }
        lines
    }

    /// The line for a hook that calls our tool in the session of its model. That the hook runs shows that
    /// what was told before has arrived.
    pub fn hook_of(&self, session: &str, urgent_only: bool) -> Option<Line> {
        let readers = self.readers_of(session);
        readers.iter().for_each(|reader| self.heard(reader, ""));
        readers.iter().find_map(|reader| self.tell(reader, "hook", urgent_only))
    }

    fn readers_of(&self, session: &str) -> Vec<ReaderKey> {
        let known: Vec<ReaderKey> = self.ledger(|ledger| {
            let of_session = ledger.readers().iter().filter(|reader| reader.key.session() == session);
            of_session.map(|reader| reader.key.clone()).collect()
        });
        if known.is_empty() { vec![ReaderKey::new(session, "")] } else { known }
    }

    /// Pins or mutes an organ, or takes that back.
    pub fn focus_on(&self, organ: &str, pin: Option<bool>, mute: Option<bool>) -> Result<(), UnknownOrgan> {
        let known = self.change(|workspace| {
            let pinned = pin.is_none_or(|pin| workspace.pin(organ, pin));
            pinned && mute.is_none_or(|mute| workspace.mute(organ, mute))
        });
        let names = || self.with(|workspace| workspace.organs().into_iter().map(|view| view.organ).collect());
        if known { Ok(()) } else { Err(UnknownOrgan { organ: organ.to_owned(), known: names() }) }
    }

    /// The model that the hook of a client speaks for.
    pub fn hooked(&self, is_client: impl Fn(&str) -> bool, client: &str, hook_session: &str) -> ReaderKey {
        self.0.ledger.lock().hooked(is_client, client, hook_session, self.now())
    }

    /// Has whoever looks after this woken by this when somebody waits for news.
    pub fn nudge_with(&self, nudge: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.nudge.set(Box::new(nudge));
    }

    /// Somebody waits for news though nobody calls: looks go on for some seconds.
    pub fn watch(&self) {
        let slept = !self.is_watched();
        self.0.watched.store(self.now() as u64, Ordering::Relaxed);
        if let Some(nudge) = self.0.nudge.get().filter(|_| slept) {
            nudge();
        }
    }

    /// A call was heard of.
    pub fn used(&self) {
        self.0.used.store(self.now() as u64, Ordering::Relaxed);
    }

    /// True if anybody called yet, or waits for news.
    pub fn is_used(&self) -> bool {
        self.0.used.load(Ordering::Relaxed) > 0 || self.is_watched()
    }

    /// True if somebody called a short while ago, or waits for news.
    pub fn is_at_work(&self) -> bool {
        self.now() as u64 <= self.0.used.load(Ordering::Relaxed) + AT_WORK || self.is_watched()
    }

    /// True while somebody waits for news.
    pub fn is_watched(&self) -> bool {
        self.now() as u64 <= self.0.watched.load(Ordering::Relaxed) + WATCHED
    }

    /// True if a model has not been told of something yet.
    pub fn is_due(&self, reader: &ReaderKey) -> bool {
        self.0.ledger.lock().is_due(reader)
    }

    fn settle(&self, settled: impl Iterator<Item = (NewsId, Settled)>) {
        let mut unsettled = self.0.unsettled.lock();
        let before = unsettled.len();
        unsettled.extend(settled);
        if unsettled.len() > before {
            drop(unsettled);
            self.changed();
        }
    }

    fn changed(&self) {
        self.0.unsaved.store(true, Ordering::Relaxed);
        self.0.changes.send_modify(|change| *change += 1);
    }

    /// A session is shown changed files otherwise: they are no news to it.
    pub fn shows_files(&self, session: &str) {
        let mut shown = self.0.shown_files.lock();
        if shown.len() < MOST_AUDIENCES && !shown.contains(session) {
            shown.insert(session.to_owned());
        }
    }

    /// True if a session is shown changed files otherwise.
    pub fn is_shown_files(&self, session: &str) -> bool {
        self.0.shown_files.lock().contains(session)
    }

    /// Whom a subject of an organ concerns from now on.
    pub fn concerns(&self, organ: &str, subject: &str, audience: Audience) {
        let mut audiences = self.0.audiences.lock();
        if audiences.len() < MOST_AUDIENCES {
            audiences.insert((organ.to_owned(), subject.to_owned()), audience);
        }
    }

    /// The number of rounds that ended.
    pub fn rounds(&self) -> u64 {
        self.0.rounds.load(Ordering::Relaxed)
    }

    /// Lets the organs compete. The thread of a reply never waits for this.
    pub fn tick(&self, inputs: Vec<Input>, in_call: bool, task: &Task) -> Vec<Arc<News>> {
        let rhythm = AgentRhythm { round: self.rounds(), in_call };
        let unsettled = std::mem::take(&mut *self.0.unsettled.lock());
        let (now, fed) = (self.now(), !inputs.is_empty() || !unsettled.is_empty());
        self.remember(&inputs);
        let (news, offered) = {
            let mut workspace = self.0.workspace.lock();
            for (id, settled) in unsettled {
                match settled {
                    Settled::Told => workspace.told(id, now),
                    Settled::Seen => workspace.acknowledged(id, now),
                };
            }
            let news = workspace.tick(now, inputs, rhythm, task);
            (news, workspace.offered().map(|news| news.id).collect::<HashSet<_>>())
        };
        // What is over before anybody was told of it is no news any more.
        self.0.ledger.lock().drop_untold(|news| !offered.contains(&news.id));
        let news: Vec<Arc<News>> = news.into_iter().map(Arc::new).collect();
        for news in &news {
            let (subject, audience) = self.about(news);
            self.0.ledger.lock().add((**news).clone(), subject, audience);
            // Nobody may listen.
            let _ = self.0.news.send(news.clone());
        }
        if !news.is_empty() {
            self.changed();
        } else if fed {
            self.0.unsaved.store(true, Ordering::Relaxed);
        }
        news
    }

    /// What a piece of news is about, and whom that concerns.
    fn about(&self, news: &News) -> (Option<String>, Audience) {
        let signal = &news.factors.signal;
        let found = self.0.subjects.lock().iter().rev().find(|known| known.is_of(signal)).cloned();
        let Some(EventKey { organ, subject, .. }) = found else { return (None, Audience::All) };
        let audience = self.0.audiences.lock().get(&(organ, subject.clone())).cloned();
        (Some(subject), audience.unwrap_or_default())
    }

    fn remember(&self, inputs: &[Input]) {
        let mut subjects = self.0.subjects.lock();
        for input in inputs {
            let Input::Event(Event { organ, subject, path, new, .. }) = input else { continue };
            if subjects.len() >= MOST_AUDIENCES {
                subjects.pop_front();
            }
            let (organ, subject) = (organ.clone(), subject.clone());
            subjects.push_back(EventKey { organ, subject, path: path.clone(), new: new.clone() });
        }
    }

    /// Looks at, or changes, the workspace. A tick waits meanwhile.
    pub fn with<T>(&self, look: impl FnOnce(&mut Workspace) -> T) -> T {
        look(&mut self.0.workspace.lock())
    }

    /// The same where it changes something that is worth keeping.
    pub fn change<T>(&self, change: impl FnOnce(&mut Workspace) -> T) -> T {
        let done = self.with(change);
        self.changed();
        done
    }

    /// Looks at who was told of what.
    pub fn ledger<T>(&self, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.0.ledger.lock())
    }

    /// Raised whenever there is something new for those who look.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// The news from now on.
    pub fn news(&self) -> broadcast::Receiver<Arc<News>> {
        self.0.news.subscribe()
    }

    /// The state to be kept, if it is not what was kept last.
    pub fn unsaved(&self) -> Option<Saved> {
        self.0.unsaved.swap(false, Ordering::Relaxed).then(|| Saved {
            workspace: self.0.workspace.lock().clone(),
            ledger: self.0.ledger.lock().clone(),
        })
    }
}

impl std::fmt::Debug for Attention {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attention").finish_non_exhaustive()
    }
}

impl PartialEq for Attention {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Attention {}
