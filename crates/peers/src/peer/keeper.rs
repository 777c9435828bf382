//! The task of one server: it alone opens and closes connections, counts deaths and learns
//! what is offered. Everything it waits for runs beside it, so it always answers.

mod connect;
mod deaths;
mod ends;
mod guarded;
mod hear;
mod levels;
mod lists;
mod watch;

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use tectum_core::Fault;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use self::{
    connect::connect,
    ends::{IDLE, MOST_LINKS},
    guarded::guarded,
    hear::Hearing,
    levels::tell_levels,
    lists::Stale,
    watch::{End, Listening, Standing},
};
use super::{Awaited, Class, Command, Peer, State, Surroundings, health::Deaths, shares::Shares};
use crate::{
    link::{Link, LooseMessages, Loss},
    wire::era::Era,
};

/// A connection that has lived so long clears the record of deaths.
const STEADY: Duration = Duration::from_secs(60);
/// How often idle ones are looked for.
const LOOK: Duration = Duration::from_secs(60);
/// The pause before a server that is there is asked again what it did not answer; each further
/// failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause: a server that is mended is found within a minute or two.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

type Waiting = Vec<oneshot::Sender<Result<Arc<Link>, Fault>>>;

/// What ends beside the task.
enum Done {
    Opened(Class, Result<(Arc<Link>, LooseMessages), Loss>),
    Closed(Class, Arc<Link>),
    Listed(Box<lists::Listed>),
    Unheard { number: u64, end: End },
}

struct Keeper {
    peer: Arc<Peer>,
    around: Surroundings,
    opening: HashMap<Class, Waiting>,
    links: HashMap<Class, (Arc<Link>, Instant)>,
    /// Connections on their way whose client has left.
    unwanted: HashSet<Class>,
    work: JoinSet<Done>,
    deaths: Deaths,
    /// What it offers to each class of clients.
    shares: Shares,
    /// What is to be asked for, of whom.
    stale: VecDeque<Stale>,
    /// When the first and the last of the changes came that are not listed yet.
    changed: Option<(Instant, Instant)>,
    listing: bool,
    /// Where a listing tells of the tools before it has asked for the rest.
    early: mpsc::Sender<lists::Tools>,
    /// What says that it changed is not asked for before this.
    listed_until: Option<Instant>,
    /// Listings that failed one after the other, and when the next is tried.
    failures: u32,
    retry: Option<Instant>,
    /// What the server was told last to be watched, whether that is to be told anew, and who waits
    /// for its answer.
    watched: BTreeSet<String>,
    unwatched: bool,
    awaited: Vec<Awaited>,
    listening: Option<Listening>,
    standing: Standing,
    /// The resources that it agreed to tell of last, and those it refused to.
    granted: BTreeSet<String>,
    refused: Option<BTreeSet<String>>,
    /// How many subscriptions there were, how many ended by themselves, and when the next is tried.
    listens: u64,
    unheard_times: u32,
    listen_again: Option<Instant>,
}

/// Keeps a server until it is told to stop.
pub(super) async fn keep(
    peer: Arc<Peer>,
    around: Surroundings,
    shares: Shares,
    mut orders: mpsc::Receiver<Command>,
) {
    let (early, mut tools) = mpsc::channel(1);
    let mut keeper = Keeper {
        peer,
        around,
        opening: HashMap::new(),
        links: HashMap::new(),
        unwanted: HashSet::new(),
        work: JoinSet::new(),
        deaths: Deaths::default(),
        shares,
        stale: VecDeque::new(),
        changed: None,
        listing: false,
        early,
        listed_until: None,
        failures: 0,
        retry: None,
        watched: BTreeSet::new(),
        unwatched: false,
        awaited: Vec::new(),
        listening: None,
        standing: Standing::default(),
        granted: BTreeSet::new(),
        refused: None,
        listens: 0,
        unheard_times: 0,
        listen_again: None,
    };
    let mut look = tokio::time::interval(LOOK);
    let stopped = 'kept: loop {
        let (listing_due, listen_due) = (keeper.listing_due(), keeper.listen_again);
        tokio::select! {
            order = orders.recv() => {
                let mut next = order;
                loop {
                    match next {
                        Some(Command::Stop(done)) => break 'kept Some(done),
                        Some(order) => keeper.order(order),
                        None => break 'kept None,
                    }
                    match orders.try_recv() {
                        Ok(order) => next = Some(order),
                        Err(_) => break,
                    }
                }
                // Many wishes that come together are told to the server together.
                keeper.watch();
            }
            Some(done) = keeper.work.join_next() => {
                if let Ok(done) = done {
                    // What was told early is in it, too.
                    while matches!(done, Done::Listed(_)) && tools.try_recv().is_ok() {}
                    keeper.done(done);
                }
            }
            Some(tools) = tools.recv() => keeper.tools_listed(tools),
            () = reached(listing_due) => keeper.list(),
            () = reached(listen_due) => keeper.listen(Vec::new()),
            _ = look.tick(), if keeper.links.len() > 1 => keeper.end_idle(IDLE, MOST_LINKS),
        }
    };
    keeper.end().await;
    if let Some(stopped) = stopped {
        let _ = stopped.send(());
    }
}

impl Keeper {
    fn order(&mut self, order: Command) {
        match order {
            Command::Open { class, reply } => self.open(class, reply),
            Command::Left(client) => self.left(client),
            Command::Changed(what, class) => self.change(&class, what),
            Command::Subscriptions(awaited) => {
                self.unwatched = true;
                self.awaited.extend(awaited);
            }
            Command::Stop(_) => {}
        }
    }

    fn open(&mut self, class: Class, reply: oneshot::Sender<Result<Arc<Link>, Fault>>) {
        self.unwanted.remove(&class);
        if let Some((link, _)) = self.links.get(&class)
            && !link.closed().is_cancelled()
        {
            let _ = reply.send(Ok(link.clone()));
            return self.list_sooner();
        }
        if let Some(waiting) = self.opening.get_mut(&class) {
            waiting.push(reply);
            return;
        }
        let now = Instant::now();
        if self.deaths.is_open(now) {
            let _ = reply.send(Err(self.left_alone(now)));
            return;
        }
        if !self.make_room() {
            let _ = reply.send(Err(self.crowded()));
            return;
        }
        self.opening.insert(class.clone(), vec![reply]);
        // Until it is there, why it was not is still worth knowing.
        self.say(State::Starting, self.peer.status().error);
        let (peer, around, pause) = (self.peer.clone(), self.around.clone(), self.deaths.pause(now));
        self.work.spawn(async move {
            tokio::time::sleep(pause).await;
            let opened = guarded(connect(&peer, &around, &class)).await;
            Done::Opened(class, opened)
        });
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Opened(class, Ok((link, loose))) => self.opened(class, link, loose),
            Done::Opened(class, Err(loss)) => self.failed(&class, &loss),
            Done::Closed(class, link) => self.closed(&class, &link),
            Done::Listed(listed) => self.listed(*listed),
            Done::Unheard { number, end } => self.unheard(number, &end),
        }
    }

    fn opened(&mut self, class: Class, link: Arc<Link>, loose: LooseMessages) {
        let era = link.hello().era;
        self.peer.remember_era(era);
        let waiting = self.opening.remove(&class).unwrap_or_default();
        if self.unwanted.remove(&class) && era == Era::Legacy {
            let state = if self.links.is_empty() { State::Idle } else { State::Ready };
            self.say(state, None);
            tokio::spawn(async move { link.stop().await });
            return;
        }
        // Without a handshake one connection serves everybody.
        let class = if era == Era::Modern { Class::default() } else { class };
        self.links.insert(class.clone(), (link.clone(), Instant::now()));
        let known_as = class.clone();
        self.publish();
        self.say(State::Ready, None);
        let hearing = Hearing::new(self.peer.clone(), class.clone(), link.clone(), self.around.clone());
        tokio::spawn(hearing.hear(loose));
        let closing = link.clone();
        self.work.spawn(async move {
            closing.closed().cancelled().await;
            Done::Closed(class, closing)
        });
        if link.hello().era == Era::Legacy && link.hello().can("logging") {
            tokio::spawn(tell_levels(link.clone(), self.around.levels.lowest()));
        }
        // Also where another connection has said it: each is compared with what was approved.
        self.stale.push_back(Stale::everything(known_as));
        self.list();
        self.watch_on(&link);
        for reply in waiting {
            let _ = reply.send(Ok(link.clone()));
        }
    }

    fn publish(&self) {
        let live = self.links.iter().map(|(class, (link, _))| (class.clone(), link.clone()));
        self.peer.links.store(Arc::new(live.collect()));
    }

    fn say(&self, state: State, error: Option<String>) {
        self.peer.status.send_modify(|status| {
            if status.state != state {
                status.since = SystemTime::now();
            }
            if state == State::Ready && status.state != State::Ready {
                status.starts += 1;
            }
            status.state = state;
            status.error = error;
        });
    }

    async fn end(mut self) {
        self.listening = None;
        self.standing.clear();
        self.peer.links.store(Arc::default());
        self.work.abort_all();
        let stopping: JoinSet<()> =
            self.links.drain().map(|(_, (link, _))| async move { link.stop().await }).collect();
        stopping.join_all().await;
        self.say(State::Stopped, None);
    }
}

/// Waits for a moment; for ever, where there is none.
async fn reached(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// How long to wait before something that failed so often is tried again.
fn pause(failures: u32) -> Duration {
    let pause = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(8)).min(LONGEST_PAUSE);
    pause.mul_f64(0.5 + spread())
}

/// A number in 0..1, so that servers that died together do not come back in step.
fn spread() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}
