//! A call while its caller waits for it: it runs with the caller, and ends without if the caller leaves.

use std::{
    fmt,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use tokio::runtime::Handle;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use crate::{CallId, Outcome, execute::caught};

/// The future of one call's walk.
type Walk = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A call in progress. No task is spawned for it: awaiting it runs it. Dropped before its end, it is
/// cancelled and ends in a task.
#[must_use = "nobody walks a call that is not awaited: it is cancelled"]
pub struct Walking {
    call: CallId,
    /// The walk; `None` once it has ended.
    walk: Option<Walk>,
    cancel: CancellationToken,
    calls: TaskTracker,
    /// The token that counts it among the calls in flight.
    _place: TaskTrackerToken,
}

impl Walking {
    pub(crate) fn new(call: CallId, walk: Walk, cancel: CancellationToken, calls: &TaskTracker) -> Self {
        Self { call, walk: Some(walk), cancel, calls: calls.clone(), _place: calls.token() }
    }
}

impl Future for Walking {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Some(walk) = &mut self.walk else { return Poll::Pending };
        // Whoever records it may panic; that ends only this call.
        let ended = ready!(pin!(caught(walk.as_mut())).poll(cx));
        self.walk = None;
        Poll::Ready(ended.unwrap_or_else(|fault| Outcome::fault(self.call, fault)))
    }
}

impl fmt::Debug for Walking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walking").field("call", &self.call).finish_non_exhaustive()
    }
}

impl Drop for Walking {
    fn drop(&mut self) {
        let Some(walk) = self.walk.take() else { return };
        self.cancel.cancel();
        // Without a runtime nothing can run on, so the call ends here.
        if let Ok(runtime) = Handle::try_current() {
            self.calls.spawn_on(walk, &runtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    fn outcome(call: CallId) -> Outcome {
        Outcome::fault(call, crate::Fault::not_found("x"))
    }

    #[tokio::test]
    async fn a_call_whose_caller_leaves_is_cancelled_and_goes_to_its_end() {
        let (calls, cancel, id) = (TaskTracker::new(), CancellationToken::new(), CallId::fresh());
        let recorded = Arc::new(AtomicBool::new(false));
        let (left, record) = (cancel.clone(), recorded.clone());
        let walk = Box::pin(async move {
            left.cancelled().await;
            tokio::task::yield_now().await;
            record.store(true, Ordering::Relaxed);
            outcome(id)
        });
        let mut walking = Walking::new(id, walk, cancel, &calls);
        let step = polled(&mut walking);
        assert!(step.is_pending() && calls.len() == 1);
        drop(walking);
        calls.close();
        calls.wait().await;
        assert!(recorded.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn a_call_that_ends_is_no_longer_counted_nor_cancelled() {
        let (calls, cancel, id) = (TaskTracker::new(), CancellationToken::new(), CallId::fresh());
        let ended = Walking::new(id, Box::pin(async move { outcome(id) }), cancel.clone(), &calls).await;
        assert_eq!(ended.call, id);
        assert!(calls.is_empty() && !cancel.is_cancelled());
    }

    #[tokio::test]
    async fn a_panic_beside_the_work_ends_the_call_with_a_fault() {
        let (calls, id) = (TaskTracker::new(), CallId::fresh());
        let walk = Box::pin(async move { panic!("beside the work") });
        let ended = Walking::new(id, walk, CancellationToken::new(), &calls).await;
        let fault = ended.result.expect_err("lost");
        assert_eq!(fault.kind, crate::FaultKind::Internal);
    }

    fn polled(walking: &mut Walking) -> Poll<Outcome> {
        Pin::new(walking).poll(&mut Context::from_waker(std::task::Waker::noop()))
    }
}
