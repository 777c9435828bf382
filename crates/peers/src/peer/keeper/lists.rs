//! When a server is asked what it offers, and what becomes of its answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Done, Keeper};
use crate::{
    link::Loss,
    peer::{News, Offer, What, listing},
};

/// A burst of changes is answered with one listing this long after the last of them.
const SETTLE: Duration = Duration::from_millis(100);
/// But not later than this after the first.
const AT_LATEST: Duration = Duration::from_secs(1);

impl Keeper {
    /// What is known is now a memory.
    pub(super) fn grow_stale(&self) {
        let offer = self.peer.offer();
        if offer.fresh {
            self.peer.offer.store(Arc::new(Offer { fresh: false, ..(*offer).clone() }));
            let _ = self.around.news.send(News::Offer);
        }
    }

    pub(super) fn change(&mut self, what: What) {
        self.stale.insert(what);
        let now = Instant::now();
        self.changed = Some((self.changed.map_or(now, |(first, _)| first), now));
    }

    pub(super) fn listing_due(&self) -> Option<Instant> {
        let (first, last) = self.changed?;
        (!self.listing).then(|| (last + SETTLE).min(first + AT_LATEST))
    }

    pub(super) fn list(&mut self) {
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

    pub(super) fn listed(&mut self, what: Vec<What>, listed: Result<Box<Offer>, Loss>) {
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
}
