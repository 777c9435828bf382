//! When a server is asked what it offers, and what becomes of its answer.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::{Done, FIRST_PAUSE, Keeper, guarded, pause};
use crate::{
    link::{Link, Listing, Loss},
    peer::{Class, Offer, What, listing, shares},
};

/// A burst of changes is answered with one listing this long after the last of them.
const SETTLE: Duration = Duration::from_millis(100);
/// But not later than this after the first.
const AT_LATEST: Duration = Duration::from_secs(1);

/// And for each thing that it offers, so much later than the last listing: what is dear to list is
/// listed less often.
const FOR_EACH: Duration = Duration::from_millis(1);

/// What one class of clients has to be told anew.
pub(super) struct Stale {
    class: Class,
    what: BTreeSet<What>,
}

/// A connection on which a server has just said which tools it has, and what else is known there.
pub(super) struct Tools {
    link: Arc<Link>,
    class: Class,
    offer: Offer,
}

/// What became of asking.
pub(super) struct Listed {
    link: Arc<Link>,
    asked: Stale,
    missed: BTreeSet<What>,
    loss: Option<Loss>,
    offer: Offer,
}

impl Stale {
    pub(super) fn everything(class: Class) -> Self {
        Self { class, what: [What::Tools, What::Resources, What::Prompts].into() }
    }
}

impl Keeper {
    /// A connection ended. What is known of its class is a memory, unless another one serves it.
    pub(super) fn grow_stale(&mut self, class: &Class) {
        let served = self.links.keys().any(|other| other.abilities == class.abilities);
        if !served && self.shares.grow_stale(&class.abilities) {
            self.compare();
            self.tell();
        }
    }

    pub(super) fn change(&mut self, class: &Class, what: What) {
        match self.stale.iter_mut().find(|stale| stale.class == *class) {
            Some(stale) => drop(stale.what.insert(what)),
            None => self.stale.push_back(Stale { class: class.clone(), what: [what].into() }),
        }
        let now = Instant::now();
        self.changed = Some((self.changed.map_or(now, |(first, _)| first), now));
    }

    pub(super) fn listing_due(&self) -> Option<Instant> {
        if self.listing {
            return None;
        }
        let settled = self.changed.map(|(first, last)| (last + SETTLE).min(first + AT_LATEST));
        let settled = settled.map(|settled| self.listed_until.map_or(settled, |until| settled.max(until)));
        settled.into_iter().chain(self.retry).min()
    }

    /// Somebody uses a server that could not say yet what it offers: it is not asked less often than
    /// at first.
    pub(super) fn list_sooner(&mut self) {
        if !self.peer.offer().known {
            let soon = Instant::now() + FIRST_PAUSE;
            self.retry = self.retry.map(|retry| retry.min(soon));
        }
    }

    /// Asks for the first of what is to be asked for; the others follow when it has answered.
    pub(super) fn list(&mut self) {
        if self.listing {
            return;
        }
        (self.changed, self.retry) = (None, None);
        while let Some(asked) = self.stale.pop_front() {
            // Whoever opens a connection for a class that has none asks for everything.
            let Some(link) = self.link_for(&asked.class) else { continue };
            self.listing = true;
            let offer = self.shares.of(&asked.class.abilities);
            let (patience, early) = (self.peer.spec.start_timeout, self.early.clone());
            self.work
                .spawn(async move { Done::Listed(Box::new(ask(link, asked, offer, patience, early).await)) });
            return;
        }
    }

    /// The connection of this class, or one of those that can answer the same questions.
    fn link_for(&self, class: &Class) -> Option<Arc<Link>> {
        let others = self.links.iter().filter(|(other, _)| other.abilities == class.abilities);
        let mut links = self.links.get(class).into_iter().chain(others.map(|(_, held)| held));
        links.find(|(link, _)| !link.closed().is_cancelled()).map(|(link, _)| link.clone())
    }

    /// Its tools are known while the rest is still asked for: calls wait for nothing else.
    pub(super) fn tools_listed(&mut self, tools: Tools) {
        let Tools { link, class, mut offer } = tools;
        offer.fresh = self.link_for(&class).is_some();
        self.put(&class, offer);
        link.listing().send_replace(Listing::Done);
    }

    /// Takes what a class was told, compares it with what was approved, and remembers it.
    fn put(&mut self, class: &Class, offer: Offer) {
        let live: BTreeSet<String> = self.links.keys().map(|class| shares::class(&class.abilities)).collect();
        self.shares.put(&class.abilities, offer, &|class| live.contains(class));
        self.compare();
        if self.peer.heard.load().known {
            let (shares, spec) = (self.shares.clone(), self.peer.spec.clone());
            let name = spec.name.clone();
            self.around.approvals.remember(&name, move |state| shares.to_keep(state, &spec));
        }
    }

    pub(super) fn listed(&mut self, listed: Listed) {
        let Listed { link, asked, missed, loss, mut offer } = listed;
        self.listing = false;
        self.listed_until =
            Some(Instant::now() + FOR_EACH * u32::try_from(self.shares.count()).unwrap_or(u32::MAX));
        if missed.len() < asked.what.len() {
            let (tools, there) = (!missed.contains(&What::Tools), self.link_for(&asked.class).is_some());
            offer.fresh = tools && there;
            offer.known |= tools;
            for left_out in &offer.left_out {
                tracing::warn!(server = %self.peer.spec.name, left_out, "something it offers cannot be used");
            }
            self.put(&asked.class, offer);
            if asked.what.contains(&What::Tools) && tools {
                link.listing().send_replace(Listing::Done);
            }
            self.tell();
        }
        let state = self.peer.status().state;
        match loss {
            None if std::mem::take(&mut self.failures) > 0 => self.say(state, None),
            None => {}
            Some(loss) => {
                tracing::warn!(server = %self.peer.spec.name, why = %loss, "could not be asked what it offers");
                if matches!(loss, Loss::Unauthorized(_)) && missed.contains(&What::Tools) {
                    link.listing().send_replace(Listing::Refused(loss.clone()));
                }
                self.say(state, Some(loss.to_string()));
                self.failures = self.failures.saturating_add(1);
                match self.stale.iter_mut().find(|stale| stale.class == asked.class) {
                    Some(stale) => stale.what.extend(missed),
                    None => self.stale.push_back(Stale { class: asked.class, what: missed }),
                }
            }
        }
        // A server that is gone is asked everything when it is back; one that is there is asked
        // again what it did not say.
        if self.links.is_empty() {
            self.stale.clear();
        } else if self.failures > 0 {
            self.retry = Some(Instant::now() + pause(self.failures));
        } else if self.changed.is_none() {
            self.list();
        }
    }

    /// What all classes are offered is compared with what was approved.
    fn compare(&self) {
        self.peer.heard.store(Arc::new(self.shares.together()));
        self.peer.standing();
    }

    /// It is what others see from now on.
    fn tell(&self) {
        self.peer.offer.store(self.peer.heard.load_full());
        self.around.offers.notify_one();
    }
}

/// Asks a server for some of its lists. One that cannot be had does not cost the others.
async fn ask(
    link: Arc<Link>,
    asked: Stale,
    mut offer: Offer,
    patience: Duration,
    early: mpsc::Sender<Tools>,
) -> Listed {
    let hello = link.hello();
    offer.era = Some(hello.era);
    offer.instructions.clone_from(&hello.instructions);
    offer.extensions = hello.extensions();
    offer.left_out.clear();
    let until = tokio::time::Instant::now() + patience;
    let (mut missed, mut loss) = (BTreeSet::new(), None);
    for part in &asked.what {
        match tokio::time::timeout_at(until, guarded(listing::update(&link, &mut offer, *part))).await {
            Ok(Ok(())) => {
                if *part == What::Tools && asked.what.len() > 1 {
                    let tools =
                        Tools { link: link.clone(), class: asked.class.clone(), offer: offer.clone() };
                    let _ = early.try_send(tools);
                }
                continue;
            }
            Ok(Err(why)) => loss = Some(why),
            Err(_) => {
                loss = Some(Loss::Failed("it did not answer the question what it offers".into()));
            }
        }
        missed.insert(*part);
    }
    Listed { link, asked, missed, loss, offer }
}
