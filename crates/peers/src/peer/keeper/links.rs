//! The connections to one server: one for each class of clients, those on their way among them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use tectum_core::Fault;
use tokio::{sync::oneshot, task::JoinSet};

use super::guarded::guarded;
use crate::{
    link::{ConnectedLink, Link, Loss},
    peer::{Class, Peer},
    wire::Era,
};

/// Connections to one server, those on their way among them. One that is idle makes room; where none
/// is, a further one is refused.
pub(super) const MOST_LINKS: usize = 16;
/// A connection beyond the first that nobody used for so long is ended.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// Whoever waits for a connection.
pub(super) type LinkReply = oneshot::Sender<Result<Arc<Link>, Fault>>;
/// A greeted connection and its unasked messages, or why there is none.
type OpenedLink = Result<ConnectedLink, Loss>;

/// An event of a connection.
pub(super) enum LinkEvent {
    Opened(Class, OpenedLink),
    Closed(Class, Arc<Link>),
}

/// All of them.
#[derive(Default)]
pub(super) struct Links {
    /// With the moment since when each is there.
    live: HashMap<Class, (Arc<Link>, Instant)>,
    opening: HashMap<Class, Vec<LinkReply>>,
    /// On their way, though their client has left.
    unwanted: HashSet<Class>,
    work: JoinSet<LinkEvent>,
}

impl Links {
    /// The next event of a connection; `None` while there is none.
    pub(super) async fn next(&mut self) -> Option<LinkEvent> {
        loop {
            if let Ok(event) = self.work.join_next().await? {
                return Some(event);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Link>> {
        self.live.values().map(|(link, _)| link)
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = &Class> {
        self.live.keys()
    }

    /// The live connection of a class.
    pub(super) fn live(&self, class: &Class) -> Option<&Arc<Link>> {
        self.live.get(class).map(|(link, _)| link).filter(|link| !link.closed().is_cancelled())
    }

    /// The connection of this class, or one of those that can answer the same questions.
    pub(super) fn like(&self, class: &Class) -> Option<Arc<Link>> {
        let others = self.live.iter().filter(|(other, _)| other.abilities == class.abilities);
        let mut links = self.live.get(class).into_iter().chain(others.map(|(_, held)| held));
        links.find(|(link, _)| !link.closed().is_cancelled()).map(|(link, _)| link.clone())
    }

    /// Waits for a connection that is on its way; gives the reply back where none is.
    pub(super) fn wait(&mut self, class: &Class, reply: LinkReply) -> Option<LinkReply> {
        self.unwanted.remove(class);
        match self.opening.get_mut(class) {
            Some(waiting) => {
                waiting.push(reply);
                None
            }
            None => Some(reply),
        }
    }

    /// Opens a connection.
    pub(super) fn open(
        &mut self,
        class: Class,
        reply: LinkReply,
        connect: impl Future<Output = OpenedLink> + Send + 'static,
    ) {
        self.opening.insert(class.clone(), vec![reply]);
        self.work.spawn(async move { LinkEvent::Opened(class, guarded(connect).await) });
    }

    /// One is not on its way any more: who waits for it, and whether its client has left.
    pub(super) fn arrived(&mut self, class: &Class) -> (Vec<LinkReply>, bool) {
        (self.opening.remove(class).unwrap_or_default(), self.unwanted.remove(class))
    }

    /// Keeps one that is there.
    pub(super) fn keep(&mut self, class: &Class, link: &Arc<Link>) {
        self.live.insert(class.clone(), (link.clone(), Instant::now()));
        let (class, link) = (class.clone(), link.clone());
        self.work.spawn(async move {
            link.closed().cancelled().await;
            LinkEvent::Closed(class, link)
        });
    }

    /// One ended: how long it was there. `None` for one that was let go on purpose.
    pub(super) fn remove(&mut self, class: &Class, link: &Arc<Link>) -> Option<Duration> {
        let (_, since) = self.live.get(class).filter(|(held, _)| Arc::ptr_eq(held, link))?;
        let age = since.elapsed();
        self.live.remove(class);
        Some(age)
    }

    /// A client left. What was there for it alone is ended, also what is still on its way: nobody
    /// else ever uses it. Gives back the classes whose connections ended.
    pub(super) fn leave(&mut self, client: u64) -> Vec<Class> {
        let its = |class: &&Class| class.client == Some(client);
        self.unwanted.extend(self.opening.keys().filter(its).cloned());
        let classes: Vec<Class> = self.live.keys().filter(its).cloned().collect();
        classes.iter().for_each(|class| self.let_go(class));
        classes
    }

    /// Ends the connection that was idle longest, if there are too many; calls are never ended.
    pub(super) fn make_room(&mut self) -> Vec<Class> {
        if self.is_full() { self.end_idle_for(Duration::ZERO, 1) } else { Vec::new() }
    }

    /// True when there is no room for one more.
    pub(super) fn is_full(&self) -> bool {
        self.live.len() + self.opening.len() >= MOST_LINKS
    }

    /// True when some may be idle that are not needed.
    pub(super) fn has_spare(&self) -> bool {
        self.live.len() > 1
    }

    /// Ends the connections that nobody used for long.
    pub(super) fn end_idle(&mut self) -> Vec<Class> {
        self.end_idle_for(IDLE, MOST_LINKS)
    }

    fn end_idle_for(&mut self, idle: Duration, most: usize) -> Vec<Class> {
        let idling = |(class, (link, _)): (&Class, &(Arc<Link>, Instant))| {
            Some((link.inbox.idle().filter(|time| *time >= idle)?, class.clone()))
        };
        let mut found: Vec<(Duration, Class)> = self.live.iter().filter_map(idling).collect();
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        // One stays, so that the server is there for the next call.
        found.truncate(self.live.len().saturating_sub(1).min(most));
        let classes: Vec<Class> = found.into_iter().map(|(_, class)| class).collect();
        classes.iter().for_each(|class| self.let_go(class));
        classes
    }

    fn let_go(&mut self, class: &Class) {
        if let Some((link, _)) = self.live.remove(class) {
            tokio::spawn(async move { link.stop().await });
        }
    }

    /// The connection on which the server speaks the newer era, if it does.
    pub(super) fn modern(&self) -> Option<&Arc<Link>> {
        self.all().find(|link| link.hello().era == Era::Modern)
    }

    /// Lets everybody see the connections as they are now.
    pub(super) fn publish(&self, peer: &Peer) {
        let live = self.live.iter().map(|(class, (link, _))| (class.clone(), link.clone()));
        peer.links.store(Arc::new(live.collect()));
    }

    /// Ends all of them.
    pub(super) async fn stop(&mut self) {
        self.work.abort_all();
        let stopping: JoinSet<()> =
            self.live.drain().map(|(_, (link, _))| async move { link.stop().await }).collect();
        stopping.join_all().await;
    }
}
