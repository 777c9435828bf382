//! Whether a call was cancelled, checked while it waits for a folder.

use std::{fmt, sync::Arc};

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
