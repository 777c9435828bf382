//! The tap on calls: a watcher gets each call before it runs and after it ended, on the call's own
//! thread, and must not wait there.

use std::fmt;

use arc_swap::ArcSwapOption;

use crate::{Call, Outcome, Snapshot};

/// A call as the watcher sees it.
#[derive(Clone, Copy, Debug)]
pub struct Tapped<'a> {
    /// The call.
    pub call: &'a Call,
    /// The outcome of the call; `None` before it runs.
    pub outcome: Option<&'a Outcome>,
}

type Watcher = Box<dyn Fn(Tapped<'_>) + Send + Sync>;

/// The place of the watcher. Without one, a call does no work here.
#[derive(Default)]
pub struct Tap(ArcSwapOption<Watcher>);

impl Tap {
    /// Shows every call to this watcher from now on. It replaces the previous one.
    pub fn open(&self, watcher: impl Fn(Tapped<'_>) + Send + Sync + 'static) {
        self.0.store(Some(std::sync::Arc::new(Box::new(watcher))));
    }

    /// Removes the watcher.
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
