//! A handle on one server: its connections, its offer and how it is, for everybody who uses it.

use std::{
    collections::HashMap,
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter, clock::Clock as _};
use parking_lot::Mutex;
use tectum_core::{Fault, FaultKind};
use tokio::{
    sync::{Semaphore, SemaphorePermit, mpsc, oneshot, watch},
    time::Instant,
};

use super::{
    Approvals, Class, Failure, Offer, Shares, Standing, State, Surroundings, What, first_wait::FirstWait,
    health::Status,
};
use crate::{
    child::Stderr,
    client::ability_names,
    lineage::Lineage,
    link::{Link, Listing, Loss},
    spec::{EraChoice, Isolation, ServerSpec},
    wire::Era,
};

/// A handle on one server.
pub(crate) struct Peer {
    pub(crate) spec: Arc<ServerSpec>,
    pub(super) links: ArcSwap<HashMap<Class, Arc<Link>>>,
    era: Mutex<EraChoice>,
    pub(super) offer: ArcSwap<Offer>,
    /// Its last offer, also while it is still being asked for the rest.
    pub(super) heard: ArcSwap<Offer>,
    status: watch::Sender<Status>,
    commands: mpsc::Sender<Command>,
    seats: Semaphore,
    rate: Option<DefaultDirectRateLimiter>,
    approvals: Arc<Approvals>,
    pub(crate) stderr: Arc<Stderr>,
    pub(crate) lineage: Arc<Lineage>,
    first_wait: FirstWait,
}

/// A resource, and who awaits the server's agreement to tell of it.
pub(super) type Awaited = (String, oneshot::Sender<Result<(), Failure>>);

/// A command to a server's task.
pub(super) enum Command {
    Open { class: Class, reply: oneshot::Sender<Result<Arc<Link>, Fault>> },
    Changed(What, Class),
    Left(u64),
    Subscriptions(Option<Awaited>),
    Stop(oneshot::Sender<()>),
}

impl Peer {
    /// The handle on a server that was not started yet, with what earlier runs know of it.
    pub(super) fn new(
        spec: ServerSpec,
        around: &Surroundings,
        shares: &Shares,
        commands: mpsc::Sender<Command>,
    ) -> Self {
        let known = Arc::new(shares.together());
        if known.known {
            around.approvals.expect(&spec.name);
        }
        let unmet = around.state.as_deref().filter(|_| !known.known);
        let first_wait = unmet.map(|state| FirstWait::kept(state, &spec)).unwrap_or_default();
        let rate = spec.rate.map(|rate| RateLimiter::direct(Quota::per_minute(rate)));
        let log = around.state.as_ref().map(|state| state.join(format!("{}.log", spec.name)));
        let stderr = log.map(|log| Stderr::with_file(&log)).unwrap_or_default();
        Self {
            links: ArcSwap::default(),
            era: Mutex::new(match spec.era {
                EraChoice::Auto => known.era.map_or(EraChoice::Auto, choice),
                era => era,
            }),
            heard: ArcSwap::new(known.clone()),
            offer: ArcSwap::new(known),
            status: watch::Sender::new(Status::default()),
            commands,
            seats: Semaphore::new(spec.concurrency),
            rate,
            approvals: around.approvals.clone(),
            stderr: Arc::new(stderr),
            lineage: around.lineage.clone(),
            first_wait,
            spec: Arc::new(spec),
        }
    }

    /// Its offer, as last known.
    pub(crate) fn offer(&self) -> Arc<Offer> {
        self.offer.load_full()
    }

    /// True if it was never met and may still say what it offers: it is being started, or will be.
    pub(crate) fn is_on_its_way(&self) -> bool {
        let status = self.status.borrow();
        !self.offer.load().known && status.error.is_none() && status.state != State::Stopped
    }

    /// True if nobody waited so long yet for what it offers; the first who asks begins to wait.
    pub(crate) fn is_worth_waiting_for(&self, patience: Duration) -> bool {
        self.first_wait.is_left(patience)
    }

    /// Its approvals, compared with its last offer.
    pub(crate) fn standing(&self) -> Arc<Standing> {
        self.approvals.standing(&self.spec, &self.heard.load_full())
    }

    /// Sets its state, as its task knows it.
    pub(super) fn say(&self, state: State, error: Option<String>) {
        self.status.send_modify(|status| {
            if status.state != state {
                status.since = SystemTime::now();
            }
            if state == State::Ready && status.state != State::Ready {
                status.starts += 1;
            }
            if matches!(state, State::Down | State::Broken) && status.state != state {
                status.died(error.as_deref().unwrap_or("it ended"));
            }
            status.state = state;
            status.error = error;
        });
    }

    /// True if there is a connection.
    pub(crate) fn is_connected(&self) -> bool {
        self.links.load().values().any(|link| !link.closed().is_cancelled())
    }

    /// The number of messages of its present connections that were dropped, since it sent too many.
    pub(crate) fn dropped(&self) -> u64 {
        self.links.load().values().map(|link| link.inbox.total_dropped()).sum()
    }

    /// The processes that we started for it.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.links.load().values().filter_map(|link| link.process()).collect()
    }

    /// Its status.
    pub(crate) fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// The class of a client with these abilities. `None` stands for a client that cannot be told
    /// from others: one without a session.
    pub(crate) fn class(&self, abilities: &Arc<str>, client: Option<u64>) -> Class {
        // Without a handshake every request says what its client can do.
        if self.era() == EraChoice::Modern {
            return Class::default();
        }
        let client = client.filter(|_| self.spec.isolation == Isolation::PerClient);
        Class { abilities: abilities.clone(), client }
    }

    /// True when nobody who can do all of this ever saw what it offers: it may offer more to one who can.
    pub(crate) fn is_unseen_by(&self, abilities: &str) -> bool {
        self.era() != EraChoice::Modern && !ability_names(abilities).is_subset(&self.offer().abilities)
    }

    /// Tells the server something on the connection of this class, if there is one and it has a
    /// handshake: without one, every request says what its client has to say.
    pub(crate) fn notify(&self, class: &Class, method: &str) {
        if let Some(link) = self.links.load().get(class)
            && link.hello().era == Era::Legacy
        {
            // A server that is gone asks anew when it is back.
            let _ = link.notify(method, "{}");
        }
    }

    /// A live connection; the server is started if it has to be.
    pub(crate) async fn link(&self, class: &Class) -> Result<Arc<Link>, Fault> {
        if let Some(link) = self.links.load().get(class)
            && !link.closed().is_cancelled()
        {
            return Ok(link.clone());
        }
        let (reply, opened) = oneshot::channel();
        let open = Command::Open { class: class.clone(), reply };
        self.commands.send(open).await.map_err(|_| self.stopped())?;
        opened.await.map_err(|_| self.stopped())?
    }

    /// Its turn by the rate, and then a place among its calls: whoever waits for the first keeps nobody
    /// from the second, so it is clear which of the two there is too little of.
    pub(crate) async fn seat(&self) -> Result<SemaphorePermit<'_>, Fault> {
        let until = Instant::now() + self.spec.timeout;
        if let Some(rate) = &self.rate {
            let turn = async {
                while let Err(early) = rate.check() {
                    let clock = governor::clock::DefaultClock::default();
                    tokio::time::sleep(early.wait_time_from(clock.now()).max(Duration::from_millis(1))).await;
                }
            };
            tokio::time::timeout_at(until, turn).await.map_err(|_| self.too_often())?;
        }
        let seat = tokio::time::timeout_at(until, self.seats.acquire()).await;
        seat.map_err(|_| self.full())?.map_err(|_| self.stopped())
    }

    fn full(&self) -> Fault {
        let (name, wait, most) = (&self.spec.name, self.spec.timeout.as_secs(), self.spec.concurrency);
        let text =
            format!("{name} is busy: it has {most} calls at once, and no place became free within {wait} s");
        Fault::new(FaultKind::Upstream, text).hint("call it less often at once, or raise its `concurrency`")
    }

    fn too_often(&self) -> Fault {
        let (name, wait) = (&self.spec.name, self.spec.timeout.as_secs());
        let most = self.spec.rate.map_or(0, std::num::NonZero::get);
        let text = format!(
            "{name} is called too often: it may be called {most} times a minute, and its turn did not come within {wait} s"
        );
        Fault::new(FaultKind::Upstream, text).hint("wait before the next call, or raise its `rate`")
    }

    /// Waits until the server has said on this connection what it offers, and refuses a tool that is not
    /// as it was approved. Nothing has been sent when this fails.
    pub(crate) async fn cleared(&self, link: &Link, class: &Class, tool: &str) -> Result<(), Fault> {
        let name = &self.spec.name;
        if matches!(*link.listing.borrow(), Listing::Refused(_)) {
            // Somebody may have logged in meanwhile.
            link.listing.send_replace(Listing::Awaited);
            self.changed(What::Tools, class).await;
        }
        let mut listing = link.listing.subscribe();
        let said =
            async { listing.wait_for(|listing| *listing != Listing::Awaited).await.as_deref().ok().cloned() };
        let said = tokio::select! {
            biased;
            said = said => said,
            // Whoever sends on it hears how it ended.
            () = link.closed().cancelled() => return Ok(()),
            () = tokio::time::sleep(self.spec.timeout) => {
                let said = self.status().error.map(|error| format!(" ({error})")).unwrap_or_default();
                let message = format!(
                    "{name} did not say within {} s what its tools are{said}, so `{tool}` could not be compared \
                     with what was approved",
                    self.spec.timeout.as_secs()
                );
                return Err(Fault::new(FaultKind::Timeout, message).hint("the call was not sent; try it again"));
            }
        };
        if let Some(Listing::Refused(loss)) = said {
            return Err(self.fault(&loss));
        }
        self.standing().refusal(name, tool).map_or(Ok(()), Err)
    }

    /// Lets its task know that other resources are watched now.
    pub(crate) async fn subscribe(&self) {
        let _ = self.commands.send(Command::Subscriptions(None)).await;
    }

    /// The same, and waits for the server's acknowledgement of one of them.
    pub(crate) async fn subscribe_to(&self, uri: String) -> Result<(), Failure> {
        let (reply, agreed) = oneshot::channel();
        let command = Command::Subscriptions(Some((uri, reply)));
        self.commands.send(command).await.map_err(|_| self.stopped())?;
        agreed.await.map_err(|_| self.stopped())?
    }

    /// A client left: what is there for it alone is ended.
    pub(crate) async fn left(&self, client: u64) {
        if self.spec.isolation == Isolation::PerClient {
            let _ = self.commands.send(Command::Left(client)).await;
        }
    }

    /// Notes a change of its offers, for this class: a server with several connections has several
    /// states.
    pub(crate) async fn changed(&self, what: What, class: &Class) {
        let _ = self.commands.send(Command::Changed(what, class.clone())).await;
    }

    /// Ends it, with everything it started.
    pub(crate) async fn stop(&self) {
        let (done, ended) = oneshot::channel();
        if self.commands.send(Command::Stop(done)).await.is_ok() {
            let _ = ended.await;
        }
    }

    /// The fault of a connection that came to nothing.
    pub(crate) fn fault(&self, loss: &Loss) -> Fault {
        let name = &self.spec.name;
        let fault = Fault::new(FaultKind::Upstream, format!("{name}: {loss}"));
        match loss {
            Loss::Unauthorized(_) => fault.hint(format!("a person can log in with `tectum login {name}`")),
            _ => fault,
        }
    }

    fn stopped(&self) -> Fault {
        Fault::new(FaultKind::Upstream, format!("{} was stopped", self.spec.name))
            .hint("it was removed, disabled or changed in the configuration")
    }

    pub(super) fn era(&self) -> EraChoice {
        *self.era.lock()
    }

    /// The era it speaks, in a word; `None` before it was met.
    pub(crate) fn era_word(&self) -> Option<&'static str> {
        match self.era() {
            EraChoice::Auto => None,
            EraChoice::Legacy => Some("legacy"),
            EraChoice::Modern => Some("modern"),
        }
    }

    pub(super) fn remember_era(&self, era: Era) {
        *self.era.lock() = choice(era);
    }

    pub(super) fn forget_era(&self) {
        *self.era.lock() = self.spec.era;
    }
}

/// The offer of a server in an earlier run.
pub(crate) fn remembered(state: &Path, spec: &ServerSpec) -> Offer {
    Shares::kept(state, spec).together()
}

fn choice(era: Era) -> EraChoice {
    match era {
        Era::Legacy => EraChoice::Legacy,
        Era::Modern => EraChoice::Modern,
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("name", &self.spec.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
