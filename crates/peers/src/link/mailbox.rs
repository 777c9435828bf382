//! The messages for one request, on their way to who waits for them.
//!
//! Most requests get one event, their answer, so a queue that is made for streams would cost more
//! than the rest of a call. How much may wait is the inbox's business.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Poll, Waker},
};

use parking_lot::{Mutex, MutexGuard};

use super::Event;

/// Both ends of a new mailbox.
pub(super) fn mailbox() -> (Sender, Receiver) {
    let mailbox = Arc::<Mutex<Mailbox>>::default();
    (Sender(mailbox.clone()), Receiver(mailbox))
}

/// The sending end.
#[derive(Debug)]
pub(super) struct Sender(Arc<Mutex<Mailbox>>);

/// The receiving end.
#[derive(Debug)]
pub(crate) struct Receiver(Arc<Mutex<Mailbox>>);

#[derive(Debug, Default)]
struct Mailbox {
    events: VecDeque<Event>,
    waiting: Option<Waker>,
    /// Set when nothing more can come.
    ended: bool,
}

impl Sender {
    /// Puts an event in. If nobody is there to take it, it is dropped with the mailbox.
    pub(super) fn send(&self, event: Event) {
        let mut state = self.0.lock();
        state.events.push_back(event);
        wake(state);
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        wake(state);
    }
}

impl Receiver {
    /// The next event; `None` when there is none and nothing more can come.
    pub(super) async fn recv(&mut self) -> Option<Event> {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if let Some(event) = state.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if state.ended {
                return Poll::Ready(None);
            }
            match &mut state.waiting {
                Some(waiting) => waiting.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}

/// Wakes who waits, after the lock is given back.
fn wake(mut state: MutexGuard<'_, Mailbox>) {
    let waiting = state.waiting.take();
    drop(state);
    if let Some(waiting) = waiting {
        waiting.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Loss;

    fn lost(why: &str) -> Event {
        Event::Lost(Loss::Failed(why.into()))
    }

    fn said(event: Option<Event>) -> Option<String> {
        event.map(|event| match event {
            Event::Lost(loss) => loss.to_string(),
            other => panic!("{other:?}"),
        })
    }

    #[tokio::test]
    async fn events_come_out_in_order_and_then_it_ends() {
        let (send, mut receive) = mailbox();
        send.send(lost("1"));
        send.send(lost("2"));
        drop(send);
        for expect in [Some("1"), Some("2"), None, None] {
            assert_eq!(said(receive.recv().await).as_deref(), expect);
        }
    }

    #[tokio::test]
    async fn who_waits_is_woken_by_an_event_and_by_the_end() {
        let (send, mut receive) = mailbox();
        let waiting = tokio::spawn(async move {
            let first = said(receive.recv().await);
            (first, said(receive.recv().await))
        });
        tokio::task::yield_now().await;
        send.send(lost("1"));
        tokio::task::yield_now().await;
        drop(send);
        assert_eq!(waiting.await.expect("woken"), (Some("1".into()), None));
    }
}
