//! Turns for calls of our own tools. However many calls clients send at once, few run at a time, so
//! that few answers are in memory that nobody has read yet.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Sleep,
};

use crate::client::Budget;

/// Calls that run at the same time.
const MOST: usize = 32;
/// The time a call waits for memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time a call keeps its turn while it works. What takes longer waits, for a person or for another
/// process, and holds up nobody else's calls.
const LONGEST: Duration = Duration::from_secs(2);

/// The turns of one client on a pipe, or of all clients of a listener.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    free: Arc<Semaphore>,
    budget: Option<Budget>,
}

/// The turn of one call; over when dropped.
#[derive(Default)]
pub(crate) struct Turn {
    waiting: Option<Waiting>,
    permit: Option<OwnedSemaphorePermit>,
    /// When it ends though its call does not.
    end: Option<Pin<Box<Sleep>>>,
}

type Waiting = Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>> + Send>>;

impl Turns {
    pub(crate) fn new(budget: Option<Budget>) -> Self {
        Self { free: Arc::new(Semaphore::new(MOST)), budget }
    }

    /// A turn, at once if one is free and there is memory for an answer.
    pub(crate) fn take(&self) -> Turn {
        if !self.budget.as_ref().is_some_and(Budget::is_full)
            && let Ok(permit) = self.free.clone().try_acquire_owned()
        {
            return Turn { permit: Some(permit), ..Turn::default() };
        }
        let Self { free, budget } = self.clone();
        let waiting: Waiting = Box::pin(async move {
            let permit = free.acquire_owned().await.ok();
            if let Some(budget) = budget {
                budget.room(PATIENCE).await;
            }
            permit
        });
        Turn { waiting: Some(waiting), ..Turn::default() }
    }
}

impl Turn {
    /// For work that needs none.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.waiting.is_none()
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(waiting) = &mut self.waiting {
            self.permit = ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
        }
        Poll::Ready(())
    }

    /// Ends the turn of a call that is still at work after a while.
    pub(crate) fn end_late(&mut self, cx: &mut Context<'_>) {
        if self.permit.is_none() {
            return;
        }
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(LONGEST)));
        if end.as_mut().poll(cx).is_ready() {
            self.permit = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    #[tokio::test]
    async fn a_call_waits_until_another_one_is_over() {
        let turns = Turns::new(None);
        let mut taken: Vec<Turn> = (0..MOST).map(|_| turns.take()).collect();
        assert!(taken.iter().all(Turn::is_taken));
        let mut next = turns.take();
        let mut poll = || next.poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        taken.pop();
        assert!(poll().is_ready());
        assert!(!turns.take().is_taken());
        taken.clear();
        assert!(turns.take().is_taken());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_take_long_hold_up_nobody() {
        let turns = Turns::new(None);
        let mut taken: Vec<Turn> = (0..MOST).map(|_| turns.take()).collect();
        let mut end =
            || taken.iter_mut().for_each(|turn| turn.end_late(&mut Context::from_waker(Waker::noop())));
        end();
        assert!(!turns.take().is_taken(), "they have only begun");
        tokio::time::sleep(LONGEST).await;
        end();
        assert!(turns.take().is_taken());
    }
}
