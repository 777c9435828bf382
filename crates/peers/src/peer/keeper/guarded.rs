//! Work beside a server's task whose failure must be told, also where it is our own: whoever waits
//! for it would wait for ever.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use crate::link::Loss;

/// The outcome of some work; a panic is an outcome, too.
pub(super) async fn guarded<T>(work: impl Future<Output = Result<T, Loss>>) -> Result<T, Loss> {
    // What the work touched is not used again: a new attempt begins anew.
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a connection could not be made because of a mistake in Tectum itself");
        Err(Loss::Failed("a mistake in Tectum itself kept it from being reached; the log says more".into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_told_to_who_waits() {
        let outcome = guarded(async { if true { panic!("on purpose") } else { Ok(1) } }).await;
        assert!(matches!(outcome, Err(Loss::Failed(why)) if why.contains("mistake in Tectum")));
        assert_eq!(guarded(async { Ok(1) }).await, Ok(1));
    }
}
