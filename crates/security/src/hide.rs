//! Names below a granted directory that a rule of the house keeps from this one call.

use std::{fmt, path::Path, sync::Arc};

use crate::{Reason, SafePath};

type Judge = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Says which rule keeps a true name (spelled as [`SafePath::name`] spells it) from the call.
#[derive(Clone)]
pub struct Hide(Arc<Judge>);

impl Hide {
    /// A filter: it names the rule that hides a name, or nothing.
    pub fn new(rule: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    /// Whether both are one filter, not only alike.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Hide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hide")
    }
}

impl SafePath {
    /// The same capability without the names below it that the filter hides: they are not
    /// listed, not walked into, and a directory that holds one keeps its name and place.
    pub fn hiding(mut self, hide: Hide) -> Self {
        self.hide = Some(hide);
        self
    }

    /// Why a rule hides a path below the root, if one does.
    pub(crate) fn ruled(&self, real: &Path) -> Option<Reason> {
        self.rule(&self.spelled(real)).map(|rule| Reason::Ruled { rule })
    }

    /// The rule that hides a name, spelled as [`SafePath::name`] spells it.
    pub(crate) fn rule(&self, spelled: &str) -> Option<String> {
        let Hide(hide) = self.hide.as_ref()?;
        hide(spelled)
    }

    /// True for a name of a folder below the root that is not to be shown.
    pub(crate) fn hides(&self, folder: &Path, name: &std::ffi::OsStr) -> bool {
        self.policy.hides(&self.root, folder, name).is_some()
            || (self.hide.is_some() && self.ruled(&folder.join(name)).is_some())
    }
}
