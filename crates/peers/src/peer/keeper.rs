//! The task of one server: it alone opens and closes connections, counts deaths and learns
//! what is offered. Everything it waits for runs beside it, so it always answers.

mod connect;
mod guarded;
mod hear;
mod levels;
mod links;
mod lists;
mod pauses;
mod watch;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tectum_core::{Fault, FaultKind};
use tokio::sync::mpsc;

use self::{
    connect::connect,
    hear::Hearing,
    levels::tell_levels,
    links::{LinkEvent, LinkReply, Links, MOST_LINKS},
    lists::Lists,
    pauses::spread,
    watch::ResourceWatch,
};
use super::{Class, Peer, Shares, State, Surroundings, handle::Command, health::Deaths};
use crate::{
    link::{Link, LooseMessages, Loss},
    spec::ServerSpec,
    wire::Era,
};

/// Commands that may wait for a server's task.
const COMMANDS: usize = 256;
/// A connection that has lived so long clears the record of deaths.
const STEADY: Duration = Duration::from_secs(60);
/// The interval at which idle connections are looked for.
const LOOK: Duration = Duration::from_secs(60);

struct Keeper {
    peer: Arc<Peer>,
    around: Surroundings,
    deaths: Deaths,
    links: Links,
    lists: Lists,
    watch: ResourceWatch,
}

/// Begins to keep a server. It is not started before somebody needs it.
pub(crate) fn start(spec: ServerSpec, around: Surroundings) -> Arc<Peer> {
    let (commands, orders) = mpsc::channel(COMMANDS);
    let shares = around.state.as_deref().map(|state| Shares::kept(state, &spec)).unwrap_or_default();
    let peer = Arc::new(Peer::new(spec, &around, &shares, commands));
    let keeper = Keeper {
        deaths: Deaths::default(),
        links: Links::default(),
        lists: Lists::new(peer.clone(), &around, shares),
        watch: ResourceWatch::default(),
        peer: peer.clone(),
        around,
    };
    tokio::spawn(keeper.keep(orders));
    peer
}

impl Keeper {
    /// Keeps the server until it is told to stop.
    async fn keep(mut self, mut orders: mpsc::Receiver<Command>) {
        let mut look = tokio::time::interval(LOOK);
        let stopped = 'kept: loop {
            let (listing_due, watch_due) = (self.lists.due(), self.watch.due());
            tokio::select! {
                order = orders.recv() => {
                    let mut next = order;
                    loop {
                        match next {
                            Some(Command::Stop(done)) => break 'kept Some(done),
                            Some(order) => self.order(order),
                            None => break 'kept None,
                        }
                        match orders.try_recv() {
                            Ok(order) => next = Some(order),
                            Err(_) => break,
                        }
                    }
                    // Many changes that come together are told to the server together.
                    self.watch.sync(&self.peer.spec.name, &self.around.watchers, &self.links);
                }
                Some(event) = self.links.next() => match event {
                    LinkEvent::Opened(class, Ok((link, loose))) => self.opened(class, link, loose),
                    LinkEvent::Opened(class, Err(loss)) => self.failed(&class, &loss),
                    LinkEvent::Closed(class, link) => self.closed(&class, &link),
                },
                Some(said) = self.lists.next() => self.lists.take(said, &self.links),
                Some(ended) = self.watch.next() => self.watch.ended(&self.peer.spec.name, ended),
                () = reached(listing_due) => self.lists.begin(&self.links),
                () = reached(watch_due) => self.watch.listen(&self.links, Vec::new()),
                _ = look.tick(), if self.links.has_spare() => {
                    let ended = self.links.end_idle();
                    self.let_go(&ended);
                }
            }
        };
        self.watch.clear();
        self.peer.links.store(Arc::default());
        self.links.stop().await;
        self.peer.say(State::Stopped, None);
        if let Some(stopped) = stopped {
            let _ = stopped.send(());
        }
    }

    fn order(&mut self, order: Command) {
        match order {
            Command::Open { class, reply } => self.open(class, reply),
            Command::Left(client) => {
                let ended = self.links.leave(client);
                self.let_go(&ended);
                if !ended.is_empty() && self.links.is_empty() {
                    self.peer.say(State::Idle, None);
                }
            }
            Command::Changed(what, class) => self.lists.change(&class, what),
            Command::Subscriptions(awaited) => self.watch.changed(awaited),
            Command::Stop(_) => {}
        }
    }

    fn open(&mut self, class: Class, reply: LinkReply) {
        if let Some(link) = self.links.live(&class) {
            let _ = reply.send(Ok(link.clone()));
            return self.lists.sooner();
        }
        let Some(reply) = self.links.wait(&class, reply) else { return };
        let now = Instant::now();
        if self.deaths.is_open(now) {
            let _ = reply.send(Err(self.left_alone(now)));
            return;
        }
        let ended = self.links.make_room();
        self.let_go(&ended);
        if self.links.is_full() {
            let _ = reply.send(Err(self.crowded()));
            return;
        }
        // Until it is there, why it was not is still worth knowing.
        self.peer.say(State::Starting, self.peer.status().error);
        let (peer, around, pause) = (self.peer.clone(), self.around.clone(), self.deaths.pause(now));
        let connect = {
            let class = class.clone();
            async move {
                tokio::time::sleep(pause).await;
                connect(&peer, &around, &class).await
            }
        };
        self.links.open(class, reply, connect);
    }

    fn opened(&mut self, class: Class, link: Arc<Link>, loose: LooseMessages) {
        let era = link.hello().era;
        self.peer.remember_era(era);
        let (waiting, unwanted) = self.links.arrived(&class);
        if unwanted && era == Era::Legacy {
            let state = if self.links.is_empty() { State::Idle } else { State::Ready };
            self.peer.say(state, None);
            tokio::spawn(async move { link.stop().await });
            return;
        }
        // Without a handshake one connection serves everybody.
        let class = if era == Era::Modern { Class::default() } else { class };
        self.links.keep(&class, &link);
        self.links.publish(&self.peer);
        self.peer.say(State::Ready, None);
        let hearing = Hearing::new(self.peer.clone(), class.clone(), link.clone(), self.around.clone());
        tokio::spawn(hearing.hear(loose));
        if era == Era::Legacy && link.hello().can("logging") {
            tokio::spawn(tell_levels(link.clone(), self.around.levels.lowest()));
        }
        // Also where another connection has said it: each is compared with what was approved.
        self.lists.everything(class, &self.links);
        self.watch.connected(&link, &self.links);
        for reply in waiting {
            let _ = reply.send(Ok(link.clone()));
        }
    }

    /// A connection could not be made.
    fn failed(&mut self, class: &Class, loss: &Loss) {
        self.count_death(Some(loss));
        let (waiting, _) = self.links.arrived(class);
        self.peer.forget_era();
        let said = self.peer.stderr.lines().pop();
        let why = match said {
            Some(said) => format!("{loss}; it said last: {said}"),
            None => loss.to_string(),
        };
        // Where there are other connections, their clients are served as before.
        let state = if self.links.is_empty() { self.down() } else { State::Ready };
        self.peer.say(state, Some(why.clone()));
        // Whoever waits for it is told; who does not says so.
        tracing::info!(server = %self.peer.spec.name, why, "could not be started");
        for reply in waiting {
            let mut fault = self.peer.fault(loss);
            let name = &self.peer.spec.name;
            fault.message = format!("{name} could not be started: {why}");
            if fault.hint.is_none() {
                fault.hint = Some(format!("a person can see how it is reached with `tectum get {name}`"));
            }
            let _ = reply.send(Err(fault));
        }
    }

    /// A connection ended.
    fn closed(&mut self, class: &Class, link: &Arc<Link>) {
        let Some(age) = self.links.remove(class, link) else { return };
        if age > STEADY {
            self.deaths.forget();
        }
        self.count_death(link.inbox.lost().as_ref());
        self.let_go(std::slice::from_ref(class));
        if self.links.is_empty() {
            self.watch.disconnected();
            self.lists.disconnected();
            let how = link.inbox.lost().map(|loss| loss.to_string());
            tracing::info!(server = %self.peer.spec.name, how, "is gone");
            self.peer.say(self.down(), how);
        }
    }

    /// Connections of these classes have ended: what was known through them is a memory.
    fn let_go(&mut self, ended: &[Class]) {
        if !ended.is_empty() {
            self.links.publish(&self.peer);
            ended.iter().for_each(|class| self.lists.grow_stale(class, &self.links));
        }
    }

    fn down(&self) -> State {
        if self.deaths.is_open(Instant::now()) { State::Broken } else { State::Down }
    }

    /// Counts a death. One of a server that was never met keeps nobody from trying it again, unless
    /// it was cut off for what it sent.
    fn count_death(&mut self, loss: Option<&Loss>) {
        let (now, flooded) = (Instant::now(), matches!(loss, Some(Loss::Flooding(_))));
        if self.peer.offer().known || flooded {
            self.deaths.count(now, spread());
        } else {
            self.deaths.count_unmet(now, spread());
        }
    }

    /// The reason why it is not started now.
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

    /// The reason why there is no connection for one more class of clients.
    fn crowded(&self) -> Fault {
        let name = &self.peer.spec.name;
        let text = format!("{name} has {MOST_LINKS} connections, and all of them are in use");
        Fault::new(FaultKind::Upstream, text).hint(
            "try again when other clients have finished; `isolation = \"shared\"` lets clients share one",
        )
    }
}

/// Waits for a moment; for ever, where there is none.
async fn reached(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
