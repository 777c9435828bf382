//! When a server is asked what it offers, and what becomes of its answer.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{Notify, mpsc},
    task::JoinSet,
};

use super::{
    guarded::guarded,
    links::Links,
    pauses::{FIRST_PAUSE, pause},
};
use crate::{
    link::{Link, Listing, Loss},
    peer::{Approvals, Class, Offer, Peer, Shares, Surroundings, What, listing, shares},
};

/// A burst of changes is answered with one listing this long after the last of them.
const SETTLE: Duration = Duration::from_millis(100);
/// But not later than this after the first.
const AT_LATEST: Duration = Duration::from_secs(1);

/// And for each thing that it offers, so much later than the last listing: what is dear to list is
/// listed less often.
const FOR_EACH: Duration = Duration::from_millis(1);

/// The lists of one server: what was said, and what has to be asked for.
pub(super) struct Lists {
    peer: Arc<Peer>,
    approvals: Arc<Approvals>,
    offers: Arc<Notify>,
    /// The offers to each class of clients.
    shares: Shares,
    /// The lists to ask for, by class.
    stale: VecDeque<Stale>,
    /// When the first and the last of the changes came that are not listed yet.
    changed: Option<(Instant, Instant)>,
    /// The listing that is under way, if one is.
    work: JoinSet<ListOutcome>,
    /// The channel on which a listing tells of the tools before it has asked for the rest.
    early: (mpsc::Sender<ListedTools>, mpsc::Receiver<ListedTools>),
    /// A list that changed is not asked for before this.
    not_before: Option<Instant>,
    /// Listings that failed one after the other, and when the next retry is due.
    failures: u32,
    retry: Option<Instant>,
}

/// The lists to ask for anew for one class of clients.
struct Stale {
    class: Class,
    what: BTreeSet<What>,
}

/// An event of a listing.
pub(super) enum ListEvent {
    Tools(Box<ListedTools>),
    Ended(Box<ListOutcome>),
}

/// A connection on which a server has just said which tools it has, and what else is known there.
pub(super) struct ListedTools {
    link: Arc<Link>,
    class: Class,
    offer: Offer,
}

/// The outcome of a listing.
pub(super) struct ListOutcome {
    link: Arc<Link>,
    asked: Stale,
    missed: BTreeSet<What>,
    loss: Option<Loss>,
    offer: Offer,
}

impl Lists {
    pub(super) fn new(peer: Arc<Peer>, around: &Surroundings, shares: Shares) -> Self {
        Self {
            peer,
            approvals: around.approvals.clone(),
            offers: around.offers.clone(),
            shares,
            stale: VecDeque::new(),
            changed: None,
            work: JoinSet::new(),
            early: mpsc::channel(1),
            not_before: None,
            failures: 0,
            retry: None,
        }
    }

    /// The next event of the listing under way; `None` while there is none.
    pub(super) async fn next(&mut self) -> Option<ListEvent> {
        if self.work.is_empty() {
            return None;
        }
        loop {
            tokio::select! {
                ended = self.work.join_next() => if let Ok(listed) = ended? {
                    // What was told early is in it, too.
                    while self.early.1.try_recv().is_ok() {}
                    return Some(ListEvent::Ended(Box::new(listed)));
                },
                Some(tools) = self.early.1.recv() => return Some(ListEvent::Tools(Box::new(tools))),
            }
        }
    }

    /// A connection ended. What is known of its class is a memory, unless another one serves it.
    pub(super) fn grow_stale(&mut self, class: &Class, links: &Links) {
        let served = links.classes().any(|other| other.abilities == class.abilities);
        if !served && self.shares.grow_stale(&class.abilities) {
            self.compare();
            self.tell();
        }
    }

    /// There is no connection any more.
    pub(super) fn disconnected(&mut self) {
        self.retry = None;
    }

    /// A list changed for a class.
    pub(super) fn change(&mut self, class: &Class, what: What) {
        self.add(class, [what].into());
        let now = Instant::now();
        self.changed = Some((self.changed.map_or(now, |(first, _)| first), now));
    }

    fn add(&mut self, class: &Class, what: BTreeSet<What>) {
        match self.stale.iter_mut().find(|stale| stale.class == *class) {
            Some(stale) => stale.what.extend(what),
            None => self.stale.push_back(Stale { class: class.clone(), what }),
        }
    }

    /// When the next listing begins.
    pub(super) fn due(&self) -> Option<Instant> {
        if !self.work.is_empty() {
            return None;
        }
        let settled = self.changed.map(|(first, last)| (last + SETTLE).min(first + AT_LATEST));
        let settled = settled.map(|settled| self.not_before.map_or(settled, |until| settled.max(until)));
        settled.into_iter().chain(self.retry).min()
    }

    /// Somebody uses a server that could not say yet what it offers: it is not asked less often than
    /// at first.
    pub(super) fn sooner(&mut self) {
        if !self.peer.offer().known {
            let soon = Instant::now() + FIRST_PAUSE;
            self.retry = self.retry.map(|retry| retry.min(soon));
        }
    }

    /// Everything is to be asked for on a new connection.
    pub(super) fn everything(&mut self, class: Class, links: &Links) {
        self.stale.push_back(Stale { class, what: [What::Tools, What::Resources, What::Prompts].into() });
        self.begin(links);
    }

    /// Asks for the first of what is to be asked for; the others follow when it has answered.
    pub(super) fn begin(&mut self, links: &Links) {
        if !self.work.is_empty() {
            return;
        }
        (self.changed, self.retry) = (None, None);
        while let Some(asked) = self.stale.pop_front() {
            // Whoever opens a connection for a class that has none asks for everything.
            let Some(link) = links.like(&asked.class) else { continue };
            let offer = self.shares.offer(&asked.class.abilities);
            self.work.spawn(ask(link, asked, offer, self.peer.spec.start_timeout, self.early.0.clone()));
            return;
        }
    }

    /// Takes what a listing told.
    pub(super) fn take(&mut self, event: ListEvent, links: &Links) {
        match event {
            ListEvent::Ended(listed) => self.listed(*listed, links),
            // Calls wait for nothing else.
            ListEvent::Tools(tools) => {
                let ListedTools { link, class, mut offer } = *tools;
                offer.fresh = links.like(&class).is_some();
                self.put(&class, offer, links);
                link.listing.send_replace(Listing::Done);
            }
        }
    }

    /// Takes what a class was told, compares it with what was approved, and remembers it.
    fn put(&mut self, class: &Class, offer: Offer, links: &Links) {
        let live: BTreeSet<String> = links.classes().map(|class| shares::class(&class.abilities)).collect();
        self.shares.put(&class.abilities, offer, &|class| live.contains(class));
        self.compare();
        if self.peer.heard.load().known {
            let (shares, spec) = (self.shares.clone(), self.peer.spec.clone());
            let name = spec.name.clone();
            self.approvals.remember(&name, move |state| shares.to_keep(state, &spec));
        }
    }

    fn listed(&mut self, listed: ListOutcome, links: &Links) {
        let ListOutcome { link, asked, missed, loss, mut offer } = listed;
        self.not_before =
            Some(Instant::now() + FOR_EACH * u32::try_from(self.shares.count()).unwrap_or(u32::MAX));
        if missed.len() < asked.what.len() {
            let (tools, there) = (!missed.contains(&What::Tools), links.like(&asked.class).is_some());
            offer.fresh = tools && there;
            offer.known |= tools;
            for left_out in &offer.left_out {
                tracing::warn!(server = %self.peer.spec.name, left_out, "something it offers cannot be used");
            }
            self.put(&asked.class, offer, links);
            if asked.what.contains(&What::Tools) && tools {
                link.listing.send_replace(Listing::Done);
            }
            self.tell();
        }
        let state = self.peer.status().state;
        match loss {
            None if std::mem::take(&mut self.failures) > 0 => self.peer.say(state, None),
            None => {}
            Some(loss) => {
                tracing::warn!(server = %self.peer.spec.name, why = %loss, "could not be asked what it offers");
                if matches!(loss, Loss::Unauthorized(_)) && missed.contains(&What::Tools) {
                    link.listing.send_replace(Listing::Refused(loss.clone()));
                }
                self.peer.say(state, Some(loss.to_string()));
                self.failures = self.failures.saturating_add(1);
                self.add(&asked.class, missed);
            }
        }
        // A server that is gone is asked everything when it is back; one that is there is asked
        // again what it did not say.
        if links.is_empty() {
            self.stale.clear();
        } else if self.failures > 0 {
            self.retry = Some(Instant::now() + pause(self.failures));
        } else if self.changed.is_none() {
            self.begin(links);
        }
    }

    /// Compares the offer to all classes with the approvals.
    fn compare(&self) {
        self.peer.heard.store(Arc::new(self.shares.together()));
        self.peer.standing();
    }

    /// It is what others see from now on.
    fn tell(&self) {
        self.peer.offer.store(self.peer.heard.load_full());
        self.offers.notify_one();
    }
}

/// Asks a server for some of its lists. One that cannot be had does not cost the others.
async fn ask(
    link: Arc<Link>,
    asked: Stale,
    mut offer: Offer,
    patience: Duration,
    early: mpsc::Sender<ListedTools>,
) -> ListOutcome {
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
                    let (class, offer) = (asked.class.clone(), offer.clone());
                    let _ = early.try_send(ListedTools { link: link.clone(), class, offer });
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
    ListOutcome { link, asked, missed, loss, offer }
}
