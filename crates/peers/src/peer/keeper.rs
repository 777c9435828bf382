//! The task of one server: it alone opens and closes connections, counts deaths and learns
//! what is offered. Everything it waits for runs beside it, so it always answers.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use tectum_core::{Fault, FaultKind};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{Class, Command, News, Offer, Peer, State, Surroundings, What, health::Deaths, listing};
use crate::{
    child::{self, Order},
    link::{self, Ask, Carrier, Exchange, Inbox, Link, Loose, Loss, Pipes, Unfit, greet, modern_meta},
    spec::{EraChoice, Transport},
    wire::{
        era::Era,
        object::{Members, Object, quoted},
    },
};

/// A burst of changes is answered with one listing this long after the last of them.
const SETTLE: Duration = Duration::from_millis(100);
/// But not later than this after the first.
const AT_LATEST: Duration = Duration::from_secs(1);
/// A connection that has lived so long clears the record of deaths.
const STEADY: Duration = Duration::from_secs(60);
/// Connections to one server, one for each class of clients; one that is idle makes room.
const MOST_LINKS: usize = 16;
/// A connection beyond the first that nobody used for so long is ended.
const IDLE: Duration = Duration::from_secs(5 * 60);
/// How often idle ones are looked for.
const LOOK: Duration = Duration::from_secs(60);

type Waiting = Vec<oneshot::Sender<Result<Arc<Link>, Fault>>>;

/// What ends beside the task.
enum Done {
    Opened(Class, Result<(Arc<Link>, mpsc::Receiver<Loose>), Loss>),
    Closed(Class, Arc<Link>),
    Listed(Vec<What>, Result<Box<Offer>, Loss>),
}

struct Keeper {
    peer: Arc<Peer>,
    around: Surroundings,
    opening: HashMap<Class, Waiting>,
    links: HashMap<Class, (Arc<Link>, Instant)>,
    work: JoinSet<Done>,
    deaths: Deaths,
    stale: BTreeSet<What>,
    /// When the first and the last of the changes came that are not listed yet.
    changed: Option<(Instant, Instant)>,
    /// The connection that told of them.
    changed_on: Option<Arc<Link>>,
    listing: bool,
    watched: Vec<String>,
    level: Option<String>,
    listening: Option<Exchange>,
}

/// Keeps a server until it is told to stop.
pub(super) async fn keep(peer: Arc<Peer>, around: Surroundings, mut orders: mpsc::Receiver<Command>) {
    let mut keeper = Keeper {
        peer,
        around,
        opening: HashMap::new(),
        links: HashMap::new(),
        work: JoinSet::new(),
        deaths: Deaths::default(),
        stale: BTreeSet::new(),
        changed: None,
        changed_on: None,
        listing: false,
        watched: Vec::new(),
        level: None,
        listening: None,
    };
    let mut look = tokio::time::interval(LOOK);
    let stopped = loop {
        let listing_due = keeper.listing_due();
        tokio::select! {
            order = orders.recv() => match order {
                Some(Command::Stop(done)) => break Some(done),
                Some(order) => keeper.order(order),
                None => break None,
            },
            Some(done) = keeper.work.join_next() => {
                if let Ok(done) = done {
                    keeper.done(done);
                }
            }
            () = async { tokio::time::sleep_until(listing_due.unwrap_or_else(Instant::now).into()).await },
                if listing_due.is_some() => keeper.list(),
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
            Command::Changed(what, on) => {
                self.changed_on = Some(on);
                self.change(what);
            }
            Command::Subscriptions(uris) => self.watch(uris),
            Command::Level(level) => {
                for (link, _) in self.links.values() {
                    set_level(link, &level);
                }
                self.level = Some(level);
            }
            Command::Stop(_) => {}
        }
    }

    fn open(&mut self, class: Class, reply: oneshot::Sender<Result<Arc<Link>, Fault>>) {
        if let Some((link, _)) = self.links.get(&class)
            && !link.closed().is_cancelled()
        {
            let _ = reply.send(Ok(link.clone()));
            return;
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
        self.opening.insert(class.clone(), vec![reply]);
        self.say(State::Starting, None);
        let (peer, around, pause) = (self.peer.clone(), self.around.clone(), self.deaths.pause(now));
        self.work.spawn(async move {
            tokio::time::sleep(pause).await;
            let opened = tokio::time::timeout(peer.spec.start_timeout, connect(&peer, &around, &class)).await;
            let opened = opened.unwrap_or_else(|_| {
                let patience = peer.spec.start_timeout.as_secs();
                Err(Loss::Failed(format!("it was not ready within {patience} s of its start")))
            });
            Done::Opened(class, opened)
        });
    }

    fn left_alone(&self, now: Instant) -> Fault {
        let name = &self.peer.spec.name;
        let wait = self.deaths.pause(now).as_secs().max(1);
        let why = self.peer.status().error.unwrap_or_default();
        Fault::new(
            FaultKind::Upstream,
            format!("{name} died too often and is left alone for {wait} s: {why}"),
        )
        .hint(format!("`tectum list -v` shows what it said; `tectum restart {name}` tries at once"))
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Opened(class, Ok((link, loose))) => self.opened(class, link, loose),
            Done::Opened(class, Err(loss)) => self.failed(&class, &loss),
            Done::Closed(class, link) => self.closed(&class, &link),
            Done::Listed(what, listed) => self.listed(what, listed),
        }
    }

    fn opened(&mut self, class: Class, link: Arc<Link>, loose: mpsc::Receiver<Loose>) {
        let era = link.hello().era;
        self.peer.remember_era(era);
        let waiting = self.opening.remove(&class).unwrap_or_default();
        // Without a handshake one connection serves everybody.
        let class = if era == Era::Modern { Class::default() } else { class };
        self.make_room();
        let first = self.links.is_empty();
        self.links.insert(class.clone(), (link.clone(), Instant::now()));
        self.publish();
        self.say(State::Ready, None);
        tokio::spawn(hear(self.peer.clone(), link.clone(), loose, self.around.news.clone()));
        let closing = link.clone();
        self.work.spawn(async move {
            closing.closed().cancelled().await;
            Done::Closed(class, closing)
        });
        if let Some(level) = &self.level {
            set_level(&link, level);
        }
        if first || !self.peer.offer().fresh {
            for what in [What::Tools, What::Resources, What::Prompts] {
                self.stale.insert(what);
            }
            self.list();
        }
        self.listen();
        for reply in waiting {
            let _ = reply.send(Ok(link.clone()));
        }
    }

    fn failed(&mut self, class: &Class, loss: &Loss) {
        self.deaths.count(Instant::now(), spread());
        self.peer.forget_era();
        let said = self.peer.stderr.lines().pop();
        let why = match said {
            Some(said) => format!("{loss}; it said last: {said}"),
            None => loss.to_string(),
        };
        let state = if self.deaths.is_open(Instant::now()) { State::Broken } else { State::Down };
        match self.links.is_empty() {
            true => {
                self.say(state, Some(why.clone()));
                self.grow_stale();
            }
            // Others are served as before.
            false => self.say(State::Ready, Some(why.clone())),
        }
        tracing::warn!(server = %self.peer.spec.name, why, "could not be started");
        for reply in self.opening.remove(class).unwrap_or_default() {
            let mut fault = self.peer.fault(loss);
            fault.message = format!("{} could not be started: {why}", self.peer.spec.name);
            let _ = reply.send(Err(fault));
        }
    }

    fn closed(&mut self, class: &Class, link: &Arc<Link>) {
        match self.links.get(class) {
            Some((held, since)) if Arc::ptr_eq(held, link) => {
                if since.elapsed() > STEADY {
                    self.deaths.forget();
                }
                self.deaths.count(Instant::now(), spread());
                self.links.remove(class);
                self.publish();
            }
            // It was let go on purpose.
            _ => return,
        }
        if self.links.is_empty() {
            self.listening = None;
            let how = link.lost().map(|loss| loss.to_string());
            let state = if self.deaths.is_open(Instant::now()) { State::Broken } else { State::Down };
            tracing::info!(server = %self.peer.spec.name, how, "is gone");
            self.say(state, how);
            self.grow_stale();
        }
    }

    /// What is known is now a memory.
    fn grow_stale(&self) {
        let offer = self.peer.offer();
        if offer.fresh {
            self.peer.offer.store(Arc::new(Offer { fresh: false, ..(*offer).clone() }));
            let _ = self.around.news.send(News::Offer);
        }
    }

    fn change(&mut self, what: What) {
        self.stale.insert(what);
        let now = Instant::now();
        self.changed = Some((self.changed.map_or(now, |(first, _)| first), now));
    }

    fn listing_due(&self) -> Option<Instant> {
        let (first, last) = self.changed?;
        (!self.listing).then(|| (last + SETTLE).min(first + AT_LATEST))
    }

    fn list(&mut self) {
        self.changed = None;
        let told = self.changed_on.take().filter(|link| !link.closed().is_cancelled());
        let any = || self.links.values().next().map(|(link, _)| link.clone());
        let Some(link) = told.or_else(any) else { return };
        if self.listing || self.stale.is_empty() {
            return;
        }
        self.listing = true;
        let what: Vec<What> = std::mem::take(&mut self.stale).into_iter().collect();
        let mut offer = Box::new((*self.peer.offer()).clone());
        let patience = self.peer.spec.start_timeout;
        self.work.spawn(async move {
            let hello = link.hello();
            offer.era = Some(hello.era);
            offer.instructions.clone_from(&hello.instructions);
            offer.extensions = hello.extensions();
            offer.left_out.clear();
            let asking = async {
                for part in &what {
                    listing::update(&link, &mut offer, *part).await?;
                }
                Ok(())
            };
            let listed = match tokio::time::timeout(patience, asking).await {
                Ok(Ok(())) => Ok(offer),
                Ok(Err(loss)) => Err(loss),
                Err(_) => Err(Loss::Failed("it did not answer the question what it offers".into())),
            };
            Done::Listed(what, listed)
        });
    }

    fn listed(&mut self, what: Vec<What>, listed: Result<Box<Offer>, Loss>) {
        self.listing = false;
        match listed {
            Ok(mut offer) => {
                offer.fresh = true;
                offer.known = true;
                for left_out in &offer.left_out {
                    tracing::warn!(server = %self.peer.spec.name, left_out, "something it offers cannot be used");
                }
                if let Some(state) = &self.around.state {
                    offer.keep(state, &self.peer.spec);
                }
                self.peer.offer.store(Arc::from(offer));
                let _ = self.around.news.send(News::Offer);
            }
            Err(loss) => {
                tracing::warn!(server = %self.peer.spec.name, why = %loss, "could not be asked what it offers");
                let status = self.peer.status();
                self.say(status.state, Some(loss.to_string()));
                if matches!(loss, Loss::Gone(_)) {
                    self.stale.extend(what);
                }
            }
        }
    }

    fn watch(&mut self, uris: Vec<String>) {
        let before = std::mem::replace(&mut self.watched, uris);
        for (link, _) in self.links.values().filter(|(link, _)| link.hello().era == Era::Legacy) {
            if !link.hello().can("resources.subscribe") {
                continue;
            }
            for uri in self.watched.iter().filter(|uri| !before.contains(uri)) {
                tell(link, "resources/subscribe", "uri", uri);
            }
            for uri in before.iter().filter(|uri| !self.watched.contains(uri)) {
                tell(link, "resources/unsubscribe", "uri", uri);
            }
        }
        self.listen();
    }

    /// Asks a modern server to tell of changes; what it was asked before ends with that.
    fn listen(&mut self) {
        self.listening = None;
        let Some((link, _)) = self.links.values().find(|(link, _)| link.hello().era == Era::Modern) else {
            for (link, _) in self.links.values().filter(|(link, _)| link.hello().can("resources.subscribe")) {
                for uri in &self.watched {
                    tell(link, "resources/subscribe", "uri", uri);
                }
            }
            return;
        };
        let mut wanted = Object::new();
        for (capability, key) in [
            ("tools.listChanged", "toolsListChanged"),
            ("prompts.listChanged", "promptsListChanged"),
            ("resources.listChanged", "resourcesListChanged"),
        ] {
            if link.hello().can(capability) {
                wanted.raw(key, "true");
            }
        }
        if !self.watched.is_empty() {
            wanted.raw("resourceSubscriptions", &serde_json::to_string(&self.watched).unwrap_or_default());
        }
        let wanted = wanted.end();
        if wanted == "{}" {
            return;
        }
        let ask = Ask { method: "subscriptions/listen", name: None, headers: Vec::new(), owner: None };
        let params = |_| {
            let mut meta = Object::new();
            modern_meta(&mut meta, "{}");
            Object::new().raw("notifications", &wanted).raw("_meta", &meta.end()).end()
        };
        self.listening = link.request(ask, params).ok();
    }

    /// Ends the connection that was idle longest, if there are too many; calls are never ended.
    fn make_room(&mut self) {
        if self.links.len() >= MOST_LINKS {
            self.end_idle(Duration::ZERO, 1);
        }
    }

    /// Ends connections that nobody used for this long, at most so many.
    fn end_idle(&mut self, idle: Duration, most: usize) {
        let idling = |(class, (link, _)): (&Class, &(Arc<Link>, Instant))| {
            Some((link.idle().filter(|time| *time >= idle)?, class.clone()))
        };
        let mut found: Vec<(Duration, Class)> = self.links.iter().filter_map(idling).collect();
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        // One stays, so that the server is there for the next call.
        let spare = self.links.len().saturating_sub(1).min(most);
        for (_, class) in found.into_iter().take(spare) {
            if let Some((link, _)) = self.links.remove(&class) {
                tokio::spawn(async move { link.stop().await });
            }
        }
        self.publish();
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
        self.peer.links.store(Arc::default());
        self.work.abort_all();
        let stopping: JoinSet<()> =
            self.links.drain().map(|(_, (link, _))| async move { link.stop().await }).collect();
        stopping.join_all().await;
        self.say(State::Stopped, None);
    }
}

/// Opens a connection. A server that dies at the question for its era is started again and
/// asked in the older way.
async fn connect(
    peer: &Peer,
    around: &Surroundings,
    class: &Class,
) -> Result<(Arc<Link>, mpsc::Receiver<Loose>), Loss> {
    let abilities = if class.abilities.is_empty() { "{}" } else { &class.abilities };
    let era = peer.era();
    match &peer.spec.transport {
        Transport::Stdio(launch) => {
            let start = |era: EraChoice| async move {
                let (inbox, loose) = Inbox::new();
                let inbox = Arc::new(inbox);
                let order = Order { launch, directory: &around.directory, guard: around.guard.as_deref() };
                let child = child::start(&order, peer.stderr.clone())
                    .map_err(|error| Unfit::Lost(Loss::Gone(error.to_string())))?;
                let link = Link::new(Carrier::Stdio(Pipes::new(child, inbox.clone())), inbox);
                match greet(&link, era, abilities).await {
                    Ok(()) => Ok((link, loose)),
                    Err(unfit) => {
                        link.stop().await;
                        Err(unfit)
                    }
                }
            };
            match start(era).await {
                Ok(opened) => Ok(opened),
                Err(Unfit::DiedAtProbe(_)) => start(EraChoice::Legacy).await.map_err(Unfit::into_loss),
                Err(Unfit::Lost(loss)) => Err(loss),
            }
        }
        Transport::Http(remote) => link::connect(&peer.spec.name, remote, era, abilities, &around.door).await,
        Transport::Sse(remote) => link::connect_sse(&peer.spec.name, remote, abilities, &around.door).await,
    }
}

/// Takes what belongs to no call: changes are noted, questions of nobody's are refused.
async fn hear(
    peer: Arc<Peer>,
    link: Arc<Link>,
    mut loose: mpsc::Receiver<Loose>,
    news: mpsc::UnboundedSender<News>,
) {
    while let Some(message) = loose.recv().await {
        match message {
            Loose::Question { id, method } if method == "ping" => {
                let _ = link.answer(&id, Ok("{}"));
            }
            Loose::Question { id, method } => {
                let why = quoted(&format!("{method}: it is not clear whose call this belongs to"));
                let _ = link.answer(&id, Err(&format!(r#"{{"code":-32601,"message":{why}}}"#)));
            }
            Loose::Note { method, params } => match &*method {
                "notifications/tools/list_changed" => peer.changed(What::Tools, &link).await,
                "notifications/resources/list_changed" => peer.changed(What::Resources, &link).await,
                "notifications/prompts/list_changed" => peer.changed(What::Prompts, &link).await,
                "notifications/resources/updated" => {
                    if let Some(uri) = Members::of(params.get()).and_then(|members| members.text("uri")) {
                        let _ = news.send(News::Updated { server: peer.spec.name.clone(), uri });
                    }
                }
                "notifications/elicitation/complete" => {
                    let _ = news.send(News::ElicitationDone { params: params.get().to_owned() });
                }
                "notifications/message" => {
                    peer.stderr.push(params.get().as_bytes());
                    peer.stderr.push(b"\n");
                }
                _ => tracing::debug!(server = %peer.spec.name, method, "a notification nobody waits for"),
            },
        }
    }
}

fn set_level(link: &Arc<Link>, level: &str) {
    if link.hello().era == Era::Legacy && link.hello().can("logging") {
        tell(link, "logging/setLevel", "level", level);
    }
}

/// A request whose answer changes nothing for us.
fn tell(link: &Arc<Link>, method: &'static str, key: &'static str, value: &str) {
    let ask = Ask { method, name: None, headers: Vec::new(), owner: None };
    if let Ok(exchange) = link.request(ask, |_| Object::new().text(key, value).end()) {
        tokio::spawn(async move { drop(exchange.answer().await) });
    }
}

/// A number in 0..1, so that servers that died together do not come back in step.
fn spread() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}
