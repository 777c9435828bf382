//! The tap on calls: whoever watches is handed each call before it runs and after it ended, on the
//! call's own thread, and must not wait there.

use std::fmt;

use arc_swap::ArcSwapOption;

use crate::{Call, Outcome, Snapshot};

/// A call as a watcher sees it.
#[derive(Clone, Copy, Debug)]
pub struct Tapped<'a> {
    /// The call.
    pub call: &'a Call,
    /// What came of it; `None` before it runs.
    pub outcome: Option<&'a Outcome>,
}

type Watcher = Box<dyn Fn(Tapped<'_>) + Send + Sync>;

/// Where calls can be watched. With nobody watching, a call does no work here.
#[derive(Default)]
pub struct Tap(ArcSwapOption<Watcher>);

impl Tap {
    /// From now on this watcher sees every call. It takes the place of the one before.
    pub fn open(&self, watcher: impl Fn(Tapped<'_>) + Send + Sync + 'static) {
        self.0.store(Some(std::sync::Arc::new(Box::new(watcher))));
    }

    /// Nobody watches any more.
    pub fn close(&self) {
        self.0.store(None);
    }

    /// Shows a call to the watcher, unless its tool is not observed.
    pub(crate) fn show(&self, tools: &Snapshot, tapped: Tapped<'_>) {
        let watcher = self.0.load();
        if let Some(watcher) = &*watcher
            && tools.tool(&tapped.call.tool).is_none_or(|tool| tool.observed)
        {
            watcher(tapped);
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tap").field(&self.0.load().is_some()).finish()
    }
}
