//! Names below a granted directory that a rule of the house keeps from this one call.

use std::{fmt, sync::Arc};

type Judge = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Says which rule keeps a true name (spelled as [`SafePath::name`](crate::SafePath::name) spells it) from the call.
#[derive(Clone)]
pub struct Hide(Arc<Judge>);

impl Hide {
    /// A filter: it names the rule that hides a name, or nothing.
    pub fn new(rule: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    /// The rule that hides a name.
    pub(crate) fn rule(&self, spelled: &str) -> Option<String> {
        (self.0)(spelled)
    }

    /// True if both are one filter, not only alike.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Hide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hide")
    }
}
