//! Which connections are ended while their server is well: those that nobody uses, and those that
//! nobody can use any more.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tectum_core::{Fault, FaultKind};

use super::{Keeper, State};
use crate::{link::Link, peer::Class};

/// Connections to one server, one for each class of clients, those on their way among them. One that
/// is idle makes room; where none is, a further one is refused.
pub(super) const MOST_LINKS: usize = 16;
/// A connection beyond the first that nobody used for so long is ended.
pub(super) const IDLE: Duration = Duration::from_secs(5 * 60);

impl Keeper {
    /// A client left. What was there for it alone is ended, also what is still on its way: nobody
    /// else ever uses it.
    pub(super) fn left(&mut self, client: u64) {
        let its = |class: &&Class| class.client == Some(client);
        self.unwanted.extend(self.opening.keys().filter(its).cloned());
        let classes: Vec<Class> = self.links.keys().filter(its).cloned().collect();
        for class in &classes {
            self.let_go(class);
        }
        if !classes.is_empty() && self.links.is_empty() {
            self.say(State::Idle, None);
        }
    }

    /// Ends the connection that was idle longest, if there are too many; calls are never ended. False
    /// when there is no room for one more.
    pub(super) fn make_room(&mut self) -> bool {
        if self.links.len() + self.opening.len() >= MOST_LINKS {
            self.end_idle(Duration::ZERO, 1);
        }
        self.links.len() + self.opening.len() < MOST_LINKS
    }

    /// Why there is no connection for one more class of clients.
    pub(super) fn crowded(&self) -> Fault {
        let name = &self.peer.spec.name;
        let text = format!("{name} has {MOST_LINKS} connections, and all of them are in use");
        Fault::new(FaultKind::Upstream, text).hint(
            "try again when other clients have finished; `isolation = \"shared\"` lets clients share one",
        )
    }

    /// Ends connections that nobody used for this long, at most so many.
    pub(super) fn end_idle(&mut self, idle: Duration, most: usize) {
        let idling = |(class, (link, _)): (&Class, &(Arc<Link>, Instant))| {
            Some((link.idle().filter(|time| *time >= idle)?, class.clone()))
        };
        let mut found: Vec<(Duration, Class)> = self.links.iter().filter_map(idling).collect();
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        // One stays, so that the server is there for the next call.
        let spare = self.links.len().saturating_sub(1).min(most);
        for (_, class) in found.into_iter().take(spare) {
            self.let_go(&class);
        }
    }

    fn let_go(&mut self, class: &Class) {
        if let Some((link, _)) = self.links.remove(class) {
            tokio::spawn(async move { link.stop().await });
            self.publish();
            self.grow_stale(class);
        }
    }
}
