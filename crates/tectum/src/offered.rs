//! Those of our own tools that are offered. Which they are may change while calls run; the tools and what
//! they remember stay.

use std::sync::Arc;

use tectum_core::{Call, Fault, Prepared, Provider, ToolInfo};
use tectum_native::NativeSet;

/// Some tools of a set.
#[derive(Clone, Debug)]
pub(crate) struct Offered {
    set: Arc<NativeSet>,
    infos: Arc<[ToolInfo]>,
}

impl Offered {
    /// Those whose names are chosen.
    pub(crate) fn filtered(set: &Arc<NativeSet>, chosen: impl Fn(&str) -> bool) -> Self {
        let infos = set.tools();
        let infos = if infos.iter().all(|info| chosen(&info.name)) {
            infos
        } else {
            infos.iter().filter(|info| chosen(&info.name)).cloned().collect()
        };
        Self { set: set.clone(), infos }
    }

    /// Those of them that the other offers as well.
    pub(crate) fn shared(&self, other: &Self) -> Self {
        Self::filtered(&self.set, |name| self.has(name) && other.has(name))
    }

    /// True if both are the same tools of the same set.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let names = |offered: &Self| offered.infos.iter().map(|info| info.name.clone()).collect::<Vec<_>>();
        Arc::ptr_eq(&self.set, &other.set) && names(self) == names(other)
    }

    fn has(&self, name: &str) -> bool {
        self.infos.iter().any(|info| &*info.name == name)
    }
}

impl Provider for Offered {
    fn tools(&self) -> Arc<[ToolInfo]> {
        self.infos.clone()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        // The registry knows this provider only under the names that it offers.
        self.set.prepare(call)
    }
}
