//! From which level on a server of the older era is to log. It is told one level after the other: a
//! server may work on two requests at once, and then either could be the last.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

use super::watch::ask;
use crate::link::Link;

/// One that does not answer is told the next level all the same.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tells it the lowest level that a client wants, now and whenever that changes.
pub(super) async fn tell_levels(link: Arc<Link>, mut lowest: watch::Receiver<Option<String>>) {
    let telling = async {
        loop {
            let level = lowest.borrow_and_update().clone();
            if let Some(Ok(exchange)) = level.map(|level| ask(&link, "logging/setLevel", "level", &level)) {
                let _ = timeout(PATIENCE, exchange.answer()).await;
            }
            if lowest.changed().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = link.closed().cancelled() => {}
        () = telling => {}
    }
}
