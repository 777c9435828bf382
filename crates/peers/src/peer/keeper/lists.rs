//! When a server is asked what it offers, and what becomes of its answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Done, Keeper, pause};
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
        if self.listing {
            return None;
        }
        let settled = self.changed.map(|(first, last)| (last + SETTLE).min(first + AT_LATEST));
        settled.into_iter().chain(self.retry).min()
    }

    pub(super) fn list(&mut self) {
        (self.changed, self.retry) = (None, None);
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
            let until = tokio::time::Instant::now() + patience;
            let (mut missed, mut loss) = (Vec::new(), None);
            // A list that cannot be had does not cost the others.
            for part in &what {
                match tokio::time::timeout_at(until, listing::update(&link, &mut offer, *part)).await {
                    Ok(Ok(())) => continue,
                    Ok(Err(why)) => loss = Some(why),
                    Err(_) => {
                        loss = Some(Loss::Failed("it did not answer the question what it offers".into()));
                    }
                }
                missed.push(*part);
            }
            Done::Listed { asked: what, missed, loss, offer }
        });
    }

    pub(super) fn listed(
        &mut self,
        asked: &[What],
        missed: Vec<What>,
        loss: Option<Loss>,
        mut offer: Box<Offer>,
    ) {
        self.listing = false;
        if missed.len() < asked.len() {
            let tools = !missed.contains(&What::Tools);
            offer.fresh = tools;
            offer.known |= tools;
            for left_out in &offer.left_out {
                tracing::warn!(server = %self.peer.spec.name, left_out, "something it offers cannot be used");
            }
            if let Some(state) = self.around.state.as_ref().filter(|_| offer.known) {
                offer.keep(state, &self.peer.spec);
            }
            self.peer.offer.store(Arc::from(offer));
            let _ = self.around.news.send(News::Offer);
        }
        let state = self.peer.status().state;
        let Some(loss) = loss else {
            if std::mem::take(&mut self.failures) > 0 {
                self.say(state, None);
            }
            return;
        };
        tracing::warn!(server = %self.peer.spec.name, why = %loss, "could not be asked what it offers");
        self.say(state, Some(loss.to_string()));
        self.stale.extend(missed);
        // A server that is gone is asked everything when it is back; one that is there is asked
        // again what it did not say.
        if !self.links.is_empty() {
            self.failures = self.failures.saturating_add(1);
            self.retry = Some(Instant::now() + pause(self.failures));
        }
    }
}
