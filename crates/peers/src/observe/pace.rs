//! When copies leave: in the pauses between calls, and not while they cause the calls they tell of.
//!
//! An observer that calls back on a connection of its own, and does not pass on the lineage of what
//! it was told, cannot be known by what it says. It is known by what it does: its calls stop when
//! its copies stop. So when there are very many calls, copies are held back for a moment. Calls
//! that go on are somebody's own, and all is well. If they stop, one copy is let go, and then
//! another: when calls follow each time, they are the observers' own, and the copies that wait are
//! discarded, which ends the circle.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use super::{
    copies::Copies,
    rota::{Release, Rota},
};

/// Copies in [`WINDOW`] that look like a circle: no model makes that many calls, and a program that
/// waits for its copies before it calls again is done by then.
const MANY: u64 = 1024;
/// The same for a while after a circle was cut.
const FEW: u64 = 32;
const WINDOW: Duration = Duration::from_secs(16);
/// No call for so long: the calls have stopped.
const QUIET: Duration = Duration::from_millis(250);
/// Calls that go on for so long without any copy leaving are somebody's own.
const HOLD: Duration = Duration::from_millis(750);
/// Copies that are let go one by one; calls must follow on each of them to be a circle.
const PROBES: usize = 3;
/// The time for which many calls that were somebody's own are not looked at again, and for which a few
/// are enough for a look after a circle was cut; each further time doubles it.
const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);

/// Lets copies leave, and says when there is a first one.
pub(super) async fn keep(copies: Arc<Copies>, rota: Arc<Rota>, first: Arc<Notify>) {
    let mut pace = Pace::new(copies, rota);
    loop {
        let discarded = pace.step().await;
        first.notify_one();
        if discarded > 0 {
            tracing::warn!(
                discarded,
                "an observer calls back: its calls follow on the copies it gets, so these copies were \
                 discarded. Let it pass on `_meta` with its calls, or mute it"
            );
        }
    }
}

/// Lets copies leave.
pub(super) struct Pace {
    copies: Arc<Copies>,
    rota: Arc<Rota>,
    /// When the window began that is counted in, and with which copy.
    window: (Instant, u64),
    trusted_until: Instant,
    trust: Duration,
    cautious_until: Instant,
    caution: Duration,
}

/// The cause of many calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// They do not depend on copies.
    Clients,
    /// They follow on copies.
    Observers,
}

impl Pace {
    pub(super) fn new(copies: Arc<Copies>, rota: Arc<Rota>) -> Self {
        let (now, next) = (Instant::now(), copies.next());
        Self {
            copies,
            rota,
            window: (now, next),
            trusted_until: now,
            trust: FIRST,
            cautious_until: now,
            caution: FIRST,
        }
    }

    /// Waits for copies and lets them leave. Tells how many were discarded.
    pub(super) async fn step(&mut self) -> u64 {
        let held = self.rota.release();
        let next = self.copies.settled(held.upto).await;
        if !self.is_suspicious(next) || self.cause().await == Cause::Clients {
            self.let_go(Release { upto: self.copies.next(), ..held }).await;
            return 0;
        }
        // What the calls of the circle left behind is told to nobody: it would begin anew.
        let next = self.copies.next();
        self.cautious_until = Instant::now() + self.caution;
        self.caution = (self.caution * 2).min(LONGEST);
        self.window = (Instant::now(), next);
        self.let_go(Release { from: next, upto: next }).await;
        next - held.upto
    }

    async fn let_go(&self, release: Release) {
        self.rota.set(release);
        self.rota.wake().await;
    }

    /// True if there are so many copies that their cause is to be found.
    fn is_suspicious(&mut self, next: u64) -> bool {
        let now = Instant::now();
        if now.duration_since(self.window.0) > WINDOW {
            self.window = (now, self.rota.release().upto);
        }
        let most = if now < self.cautious_until { FEW } else { MANY };
        next - self.window.1 >= most && now >= self.trusted_until
    }

    /// Finds out what the calls depend on. Until then no copy leaves but those that try it.
    async fn cause(&mut self) -> Cause {
        let Release { from, mut upto } = self.rota.release();
        for probe in 0..=PROBES {
            self.rota.set(Release { from, upto: 0 });
            if !self.is_quiet().await {
                self.trusted_until = Instant::now() + self.trust;
                self.trust = (self.trust * 2).min(LONGEST);
                return Cause::Clients;
            }
            if probe == PROBES {
                return Cause::Observers;
            }
            // Those that wait may have been overwritten: the first that is left is let go.
            upto = upto.max(self.copies.from_the_start().next()) + 1;
            let before = self.copies.next();
            self.let_go(Release { from, upto }).await;
            sleep(QUIET).await;
            if self.copies.next() == before {
                return Cause::Clients;
            }
        }
        Cause::Observers
    }

    /// Waits until no call comes any more; false if they go on.
    async fn is_quiet(&self) -> bool {
        let since = Instant::now();
        while since.elapsed() < HOLD {
            let before = self.copies.next();
            sleep(QUIET).await;
            if self.copies.next() == before {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
