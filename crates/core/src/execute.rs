//! The provider's station: the work runs under a deadline, can be cancelled, and a panic ends only this call.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use crate::{
    Ctx, Fault, FaultKind, Payload,
    provider::{Done, Work},
};

/// How long a change that has begun may continue after its call was cancelled or its deadline passed.
/// Renames and syncs are short; the wait for a disk that hangs is bounded.
const GRACE: Duration = Duration::from_secs(30);

/// Runs the work until it ends, its deadline passes or it is cancelled, whichever comes first. A
/// change that has begun is finished.
pub(crate) async fn execute(work: Work, ctx: Ctx, deadline: Duration) -> Result<Done, Fault> {
    let (cancel, change, most) = (ctx.cancel.clone(), ctx.change.clone(), ctx.max_output);
    let mut running = pin!(async { caught(pin!(async move { work(ctx).await })).await });
    let ended = tokio::select! {
        biased;
        done = &mut running => Ok(done??),
        () = cancel.cancelled() => Err(Fault::new(FaultKind::Cancelled, "the call was cancelled")),
        () = tokio::time::sleep(deadline) => {
            cancel.cancel();
            Err(late(deadline))
        }
    };
    let done = match ended {
        Ok(done) => done,
        Err(stopped) if change.stop() => return Err(stopped),
        Err(stopped) => tokio::time::timeout(GRACE, running).await.map_err(|_| stopped)???,
    };
    match &done.payload {
        Payload::Native(reply) if reply.text.len() > most.saturating_add(SLACK) => Err(Fault::new(
            FaultKind::TooLarge,
            format!("the result has {} bytes, the cap is {most}", reply.text.len()),
        )
        .hint("ask for a smaller part")),
        _ => Ok(done),
    }
}

/// Tools page their own output; the note at its end may exceed the cap by this many bytes.
const SLACK: usize = 4096;

fn late(deadline: Duration) -> Fault {
    Fault::new(FaultKind::Timeout, format!("the call took longer than its {} s", deadline.as_secs()))
        .hint("ask for less at once; after a change, read the file to see whether it was made")
}

/// Waits for a future; its panic, at its start or at any step, becomes a fault.
pub(crate) async fn caught<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Result<F::Output, Fault> {
    let polled = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(step) => step.map(Ok),
        Err(panic) => Poll::Ready(Err(panicked(&*panic))),
    });
    polled.await
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Fault {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    let mut fault = Fault::internal("the call failed inside; it was ended and nothing else was harmed");
    fault.source = Some(said.into());
    fault
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{CallId, NativeReply, Progress};

    fn ctx(cancel: &CancellationToken) -> Ctx {
        Ctx {
            call: CallId::fresh(),
            session: crate::SessionId::new("test"),
            left: None,
            grants: std::sync::Arc::default(),
            cancel: cancel.clone(),
            progress: Progress::none(),
            max_output: 1024,
            on_the_spot: false,
            change: Default::default(),
        }
    }

    fn done() -> Done {
        Done::new(Payload::Native(NativeReply { text: "changed".into(), structured: "{}".into() }))
    }

    #[tokio::test]
    async fn a_change_that_began_is_told_though_the_call_was_cancelled() {
        let cancel = CancellationToken::new();
        let ((tell_begun, begun), (end, ended)) = (oneshot::channel(), oneshot::channel());
        let work: Work = Box::new(move |ctx| {
            Box::pin(async move {
                ctx.begin_change()?;
                tell_begun.send(()).map_err(|()| Fault::internal("nobody listens"))?;
                ended.await.map_err(|_| Fault::internal("nobody ends it"))?;
                Ok(done())
            })
        });
        let running = tokio::spawn(execute(work, ctx(&cancel), Duration::from_secs(600)));
        begun.await.expect("begun");
        cancel.cancel();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(!running.is_finished(), "its end is awaited");
        end.send(()).expect("it goes on");
        assert!(running.await.expect("no panic").is_ok(), "what was done is told");
    }

    #[tokio::test]
    async fn nothing_begins_after_the_caller_heard_that_the_call_is_cancelled() {
        let cancel = CancellationToken::new();
        let (tell, told) = oneshot::channel();
        let work: Work = Box::new(move |ctx| {
            Box::pin(async move {
                tell.send(ctx).map_err(|_| Fault::internal("nobody listens"))?;
                std::future::pending().await
            })
        });
        let running = tokio::spawn(execute(work, ctx(&cancel), Duration::from_secs(600)));
        let ctx = told.await.expect("running");
        cancel.cancel();
        let fault = running.await.expect("no panic").expect_err("cancelled");
        assert_eq!(fault.kind, FaultKind::Cancelled);
        assert!(!ctx.change.begin());
        assert!(ctx.begin_change().is_err());
    }
}
