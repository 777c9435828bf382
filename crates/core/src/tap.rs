//! The tap on calls: watchers get each call before it runs and after it ended, on the call's own
//! thread, and must not wait there.

use std::{fmt, sync::Arc};

use arc_swap::ArcSwapOption;

use crate::{Call, Outcome, Snapshot};

/// A call as the watchers see it.
#[derive(Clone, Copy, Debug)]
pub struct Tapped<'a> {
    /// The call.
    pub call: &'a Call,
    /// The outcome of the call; `None` before it runs.
    pub outcome: Option<&'a Outcome>,
}

/// Somebody who watches calls.
pub type TapWatcher = Arc<dyn Fn(Tapped<'_>) + Send + Sync>;

/// The place of the watchers. Without one, a call does no work here.
#[derive(Default)]
pub struct Tap(ArcSwapOption<Vec<TapWatcher>>);

impl Tap {
    /// Shows every call to this watcher from now on, until it is closed.
    pub fn open(&self, watcher: impl Fn(Tapped<'_>) + Send + Sync + 'static) -> TapWatcher {
        let watcher: TapWatcher = Arc::new(watcher);
        self.0.rcu(|all| {
            let all = all.iter().flat_map(|all| all.iter().cloned());
            Some(Arc::new(all.chain([watcher.clone()]).collect()))
        });
        watcher
    }

    /// Removes a watcher.
    pub fn close(&self, watcher: &TapWatcher) {
        self.0.rcu(|all| {
            let all = all.iter().flat_map(|all| all.iter().cloned());
            let others: Vec<TapWatcher> = all.filter(|one| !Arc::ptr_eq(one, watcher)).collect();
            (!others.is_empty()).then(|| Arc::new(others))
        });
    }

    /// Shows a call to the watchers, unless its tool is not observed.
    pub(crate) fn show(&self, tools: &Snapshot, tapped: Tapped<'_>) {
        let watchers = self.0.load();
        if let Some(watchers) = &*watchers
            && tools.tool(&tapped.call.tool).is_none_or(|tool| tool.observed)
        {
            watchers.iter().for_each(|watcher| watcher(tapped));
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tap").field(&self.0.load().as_ref().map_or(0, |all| all.len())).finish()
    }
}
