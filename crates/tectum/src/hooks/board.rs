//! The board of the tracks, as somebody outside sees it.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

/// A board that is written elsewhere.
pub(super) struct Board(Box<dyn Fn() -> Value + Send + Sync>);

impl Board {
    pub(super) fn of<S: Serialize + Send + Sync + 'static>(board: watch::Receiver<S>) -> Self {
        Self(Box::new(move || serde_json::to_value(&*board.borrow()).unwrap_or_default()))
    }

    /// The state now.
    pub(super) fn now(&self) -> Value {
        (self.0)()
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Board")
    }
}
