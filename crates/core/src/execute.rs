//! The provider's station: the work runs under a deadline, can be cancelled, and its panic is
//! its own.

use std::{
    panic::AssertUnwindSafe,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use crate::{
    Ctx, Fault, FaultKind, Payload,
    provider::{Done, Running, Work},
};

/// Runs the work to its end, its deadline or its cancellation, whichever comes first.
pub(crate) async fn execute(work: Work, ctx: Ctx, deadline: Duration) -> Result<Done, Fault> {
    let cancel = ctx.cancel.clone();
    let most = ctx.max_output;
    let running = Isolated { work: Some(work), ctx: Some(ctx), future: None };
    let done = tokio::select! {
        biased;
        done = running => done?,
        () = cancel.cancelled() => return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled")),
        () = tokio::time::sleep(deadline) => {
            cancel.cancel();
            return Err(late(deadline));
        }
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

/// Tools page their own output; their closing note may pass the cap by this much.
const SLACK: usize = 4096;

fn late(deadline: Duration) -> Fault {
    Fault::new(FaultKind::Timeout, format!("the call took longer than its {} s", deadline.as_secs()))
        .hint("ask for less at once; after a change, read the file to see whether it was made")
}

/// Work that may panic at its start or at any step: either way the call ends with a fault.
struct Isolated {
    work: Option<Work>,
    ctx: Option<Ctx>,
    future: Option<Running>,
}

impl Future for Isolated {
    type Output = Result<Done, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let step = std::panic::catch_unwind(AssertUnwindSafe(|| {
            if let (Some(work), Some(ctx)) = (this.work.take(), this.ctx.take()) {
                this.future = Some(work(ctx));
            }
            match &mut this.future {
                Some(future) => future.as_mut().poll(cx),
                None => Poll::Ready(Err(Fault::internal("the call was polled after its end"))),
            }
        }));
        step.unwrap_or_else(|panic| {
            this.future = None;
            Poll::Ready(Err(panicked(&*panic)))
        })
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Fault {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    let mut fault = Fault::internal("the tool failed inside; the call was ended and nothing else was harmed");
    fault.source = Some(said.into());
    fault
}
