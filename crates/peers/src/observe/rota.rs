//! The turns of observers: which copies may leave, and one observer after the other. However many
//! observers there are, few of them are awake at a time, and where there are very many nobody is told
//! most of the time, so a call never waits behind all of them.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, sleep},
};

/// Observers up to which copies leave as fast as they are taken.
pub(super) const FEW: usize = 64;
/// Where there are more, they are told one after the other for so long,
const STINT: Duration = Duration::from_millis(2);
/// and then nobody is: a machine that is always busy with copies makes calls wait, however short
/// each of them is.
const REST: Duration = Duration::from_millis(6);

/// The copies that may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Release {
    /// Copies before this number are discarded.
    pub(super) from: u64,
    /// Copies from this number on have to wait.
    pub(super) upto: u64,
}

/// The turns of all observers.
#[derive(Debug)]
pub(super) struct Rota {
    release: Mutex<Release>,
    /// Whoever holds the one permit may be told something.
    turns: Semaphore,
    /// Observers that have nothing to read; a permit wakes the one that waited longest.
    idle: AtomicUsize,
    wakes: Semaphore,
    /// True if there are so many that nobody is told now and then.
    rests: AtomicBool,
    /// When the turns without a rest began, and the last of them.
    stint: Mutex<(Instant, Instant)>,
}

impl Rota {
    pub(super) fn new(next: u64) -> Self {
        Self {
            release: Mutex::new(Release { from: 0, upto: next }),
            turns: Semaphore::new(1),
            idle: AtomicUsize::new(0),
            wakes: Semaphore::new(0),
            rests: AtomicBool::new(false),
            stint: Mutex::new((Instant::now(), Instant::now())),
        }
    }

    /// Says whether there are so many observers that nobody is to be told now and then.
    pub(super) fn rest(&self, rests: bool) {
        self.rests.store(rests, Ordering::Relaxed);
    }

    pub(super) fn release(&self) -> Release {
        *self.release.lock()
    }

    /// Lets copies leave, and wakes nobody.
    pub(super) fn set(&self, release: Release) {
        *self.release.lock() = release;
    }

    /// Wakes those that have nothing to read, each when the one before it has had its turn.
    pub(super) async fn wake(&self) {
        // Those that found copies by themselves left theirs.
        self.wakes.forget_permits(usize::MAX);
        for _ in 0..self.idle.load(Ordering::SeqCst) {
            drop(self.turns.acquire().await);
            self.wakes.add_permits(1);
            // It asks for its turn before the next one is woken.
            tokio::task::yield_now().await;
        }
    }

    /// A turn to tell one observer something.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        let turn = self.turns.acquire().await.ok();
        if self.is_long() && self.rests.load(Ordering::Relaxed) {
            sleep(REST).await;
            self.is_long();
        }
        turn
    }

    /// True if there were turns for long without a rest. Another one begins now.
    fn is_long(&self) -> bool {
        let (mut stint, now) = (self.stint.lock(), Instant::now());
        let (since, last) = *stint;
        let since = if now - last >= REST { now } else { since };
        *stint = (since, now);
        now - since >= STINT
    }

    /// Says that an observer may have nothing to read. Made before it looks for copies: what is
    /// released while it looks wakes it.
    pub(super) fn idle(&self) -> Idle<'_> {
        self.idle.fetch_add(1, Ordering::SeqCst);
        Idle(self)
    }
}

/// An observer that may have nothing to read.
pub(super) struct Idle<'r>(&'r Rota);

impl Idle<'_> {
    /// Waits until there may be something.
    pub(super) async fn woken(&self) {
        if let Ok(wake) = self.0.wakes.acquire().await {
            wake.forget();
        }
    }
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.idle.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_is_awake_at_a_time_and_all_have_their_turn() {
        let (rota, awake) = (Arc::new(Rota::new(0)), Arc::new(AtomicUsize::new(0)));
        let woken = Arc::new(AtomicUsize::new(0));
        let mut told = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let (rota, awake, woken) = (rota.clone(), awake.clone(), woken.clone());
            told.spawn(async move {
                let idle = rota.idle();
                idle.woken().await;
                drop(idle);
                assert_eq!(rota.release().upto, 1);
                assert!(woken.fetch_add(1, Ordering::SeqCst) < 2, "they are not woken together");
                let _turn = rota.turn().await.expect("never closed");
                assert_eq!(awake.fetch_add(1, Ordering::SeqCst), 0);
                tokio::time::sleep(Duration::from_millis(1)).await;
                awake.fetch_sub(1, Ordering::SeqCst);
                woken.fetch_sub(1, Ordering::SeqCst);
            });
        }
        while rota.idle.load(Ordering::SeqCst) < 50 {
            tokio::task::yield_now().await;
        }
        rota.set(Release { from: 0, upto: 1 });
        rota.wake().await;
        told.join_all().await;
        assert_eq!(rota.idle.load(Ordering::SeqCst), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn very_many_are_told_for_a_part_of_the_time() {
        let turn = Duration::from_micros(100);
        for (rests, most) in [(false, turn * 201), (true, (turn * 201) * 5)] {
            let (rota, since) = (Rota::new(0), Instant::now());
            rota.rest(rests);
            for _ in 0..200 {
                let held = rota.turn().await;
                tokio::time::advance(turn).await;
                drop(held);
            }
            let took = since.elapsed();
            assert!(took <= most, "{took:?}");
            assert_eq!(took >= turn * 200 * 3, rests, "{took:?}");
        }
    }
}
