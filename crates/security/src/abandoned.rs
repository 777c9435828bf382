//! Whether anybody still waits for a call, asked before it goes on waiting for a folder.

use std::{fmt, sync::Arc};

use crate::SafePath;

/// Tells whether the call was cancelled or its deadline passed.
#[derive(Clone)]
pub struct Abandoned(Arc<dyn Fn() -> bool + Send + Sync>);

impl Abandoned {
    /// With this question, which must answer at once.
    pub fn new(abandoned: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(abandoned))
    }

    pub(crate) fn now(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Abandoned")
    }
}

impl SafePath {
    /// The same capability, which stops waiting for its folder when the call is abandoned.
    pub fn unless_abandoned(mut self, abandoned: Abandoned) -> Self {
        self.abandoned = Some(abandoned);
        self
    }
}
