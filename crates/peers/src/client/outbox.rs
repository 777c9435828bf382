//! The queue towards one client, bounded in messages and in bytes. Answers wait for room; notes wait
//! a moment, then they are dropped and counted.

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{Budget, BudgetShare, Unheard};

/// The time a note waits for room. A client that reads makes room in less, and one that did not is not
/// waited for again until it has read.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bounds of a queue. One message may be larger than `bytes`; it is then alone in the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// The sending end.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    queue: mpsc::Sender<Box<QueuedMessage>>,
    shared: Arc<QueueState>,
}

/// A sending end that does not keep the queue open.
#[derive(Debug)]
pub(crate) struct WeakOutbox {
    queue: mpsc::WeakSender<Box<QueuedMessage>>,
    shared: Arc<QueueState>,
}

/// The receiving end.
#[derive(Debug)]
pub(crate) struct Queue {
    messages: mpsc::Receiver<Box<QueuedMessage>>,
    shared: Arc<QueueState>,
}

#[derive(Debug)]
struct QueueState {
    bytes: usize,
    /// Bytes that still fit.
    room: Arc<Semaphore>,
    /// The last note was not read in time.
    stalled: AtomicBool,
    unheard: Unheard,
    /// The budget that all queues of one listener share.
    budget: Option<Budget>,
}

/// A message, and the room that it takes until it is dropped. It is boxed, since a queue has room for 32 at
/// once from its start, and most queues are of one call and stay empty.
#[derive(Debug)]
pub(crate) struct QueuedMessage {
    pub(crate) bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
    pub(crate) share: Option<BudgetShare>,
}

/// A place in the queue for one message.
pub(crate) struct QueuePlace<'o> {
    slot: mpsc::Permit<'o, Box<QueuedMessage>>,
    room: OwnedSemaphorePermit,
    budget: Option<&'o Budget>,
}

/// The client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// A queue with these bounds. What is dropped is counted in `unheard`, what waits in `budget`.
pub(crate) fn queue(bounds: Bounds, unheard: Unheard, budget: Option<Budget>) -> (Outbox, Queue) {
    let (send, receive) = mpsc::channel(bounds.messages);
    let shared = Arc::new(QueueState {
        bytes: bounds.bytes,
        room: Arc::new(Semaphore::new(bounds.bytes)),
        stalled: AtomicBool::new(false),
        unheard,
        budget,
    });
    (Outbox { queue: send, shared: shared.clone() }, Queue { messages: receive, shared })
}

impl Outbox {
    /// Waits for a place for a message of this size.
    pub(crate) async fn reserve(&self, bytes: usize) -> Result<QueuePlace<'_>, Gone> {
        let QueueState { room, budget, .. } = &*self.shared;
        let room = room.clone().acquire_many_owned(self.shared.permits(bytes)).await.map_err(|_| Gone)?;
        Ok(QueuePlace { slot: self.queue.reserve().await.map_err(|_| Gone)?, room, budget: budget.as_ref() })
    }

    /// Sends; waits for room in the queue.
    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), Gone> {
        self.reserve(message.len()).await?.send(message);
        Ok(())
    }

    /// Sends without waiting. False when the queue is full, which is counted, or closed, which is not.
    pub(crate) fn offer(&self, message: Vec<u8>) -> bool {
        let taken = self.place(message.len()).map(|place| place.send(message)).is_some();
        if taken {
            self.shared.stalled.store(false, Ordering::Relaxed);
        } else if !self.is_closed() {
            self.shared.unheard.add(1);
        }
        taken
    }

    /// Sends; waits a moment for room. What a full queue does not take is dropped and counted.
    pub(crate) async fn tell(&self, message: Vec<u8>) {
        let place = match self.place(message.len()) {
            Some(place) => Some(place),
            None if self.shared.stalled.load(Ordering::Relaxed) => None,
            None => match tokio::time::timeout(PATIENCE, self.reserve(message.len())).await {
                Ok(Ok(place)) => Some(place),
                Ok(Err(Gone)) => return,
                Err(_) => None,
            },
        };
        self.shared.stalled.store(place.is_none(), Ordering::Relaxed);
        match place {
            Some(place) => place.send(message),
            None => self.shared.unheard.add(1),
        }
    }

    /// A place that is free now.
    fn place(&self, bytes: usize) -> Option<QueuePlace<'_>> {
        // Whoever reads pays nothing for those who do not.
        let waiting = self.queue.capacity() < self.queue.max_capacity();
        let budget = self.shared.budget.as_ref();
        if waiting && budget.is_some_and(Budget::is_full) {
            return None;
        }
        let room = self.shared.room.clone().try_acquire_many_owned(self.shared.permits(bytes)).ok()?;
        Some(QueuePlace { slot: self.queue.try_reserve().ok()?, room, budget })
    }

    /// True when nobody receives any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    pub(crate) fn downgrade(&self) -> WeakOutbox {
        WeakOutbox { queue: self.queue.downgrade(), shared: self.shared.clone() }
    }
}

impl WeakOutbox {
    /// The sending end, while somebody else keeps the queue open.
    pub(crate) fn upgrade(&self) -> Option<Outbox> {
        Some(Outbox { queue: self.queue.upgrade()?, shared: self.shared.clone() })
    }
}

impl QueuePlace<'_> {
    pub(crate) fn send(self, bytes: Vec<u8>) {
        let share = self.budget.map(|budget| budget.take(bytes.len()));
        self.slot.send(Box::new(QueuedMessage { bytes, _room: self.room, share }));
    }
}

impl Deref for Queue {
    type Target = mpsc::Receiver<Box<QueuedMessage>>;

    fn deref(&self) -> &Self::Target {
        &self.messages
    }
}

impl DerefMut for Queue {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.messages
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Whoever waits for room learns that nobody will make any.
        self.shared.room.close();
    }
}

impl QueueState {
    fn permits(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.min(self.bytes)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { messages: 4, bytes: 100 };

    #[tokio::test]
    async fn notes_are_dropped_and_counted_and_answers_wait() {
        let unheard = Unheard::default();
        let (outbox, mut queue) = queue(BOUNDS, unheard.clone(), None);
        assert!(outbox.offer(vec![0; 60]));
        assert!(!outbox.offer(vec![0; 60]), "the bytes do not fit");
        outbox.tell(vec![0; 60]).await;
        assert_eq!(unheard.count(), 2);
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(vec![1; 60]).await }
        });
        tokio::task::yield_now().await;
        assert!(!outbox.offer(vec![0; 10]), "an answer that waits comes first");
        assert_eq!(queue.recv().await.map(|message| message.bytes), Some(vec![0; 60]));
        assert_eq!(waiting.await.expect("no panic"), Ok(()));
        assert_eq!(queue.recv().await.map(|message| message.bytes), Some(vec![1; 60]));
        assert!(outbox.offer(vec![0; 60]), "it reads again");
        assert_eq!(unheard.count(), 3);
    }

    #[tokio::test]
    async fn the_number_is_bounded_and_a_larger_message_is_alone() {
        let unheard = Unheard::default();
        let (outbox, mut queue) = queue(BOUNDS, unheard.clone(), None);
        let taken = (0..6).filter(|_| outbox.offer(vec![0])).count();
        assert_eq!((taken, unheard.count()), (4, 2));
        while queue.try_recv().is_ok() {}
        assert!(outbox.send(vec![0; 1000]).await.is_ok());
        assert!(!outbox.offer(vec![0]));
        drop(queue.recv().await);
        assert!(outbox.offer(vec![0]));
    }

    #[tokio::test]
    async fn who_waits_for_a_client_that_leaves_is_told() {
        let unheard = Unheard::default();
        let (outbox, queue) = queue(BOUNDS, unheard.clone(), None);
        assert!(outbox.offer(vec![0; 100]));
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(vec![1; 60]).await }
        });
        tokio::task::yield_now().await;
        drop(queue);
        assert_eq!(waiting.await.expect("no panic"), Err(Gone));
        assert!(!outbox.offer(vec![0]));
        assert_eq!(unheard.count(), 0, "who is gone misses nothing");
    }

    #[tokio::test]
    async fn queues_share_a_budget_until_their_messages_are_written() {
        let (budget, unheard) = (Budget::new(100), Unheard::default());
        let (one, mut read) = queue(BOUNDS, unheard.clone(), Some(budget.clone()));
        let (two, _unread) = queue(BOUNDS, unheard.clone(), Some(budget.clone()));
        let (three, _empty) = queue(BOUNDS, unheard.clone(), Some(budget.clone()));
        assert!(one.offer(vec![0; 50]) && two.offer(vec![0; 50]));
        assert!(budget.is_full() && !two.offer(vec![0; 1]));
        assert!(three.offer(vec![]), "a client without a backlog is not concerned");
        let message = read.recv().await.expect("a message");
        assert!(budget.is_full(), "it is still in memory");
        drop(message);
        assert!(!budget.is_full() && two.offer(vec![0; 1]));
    }
}
