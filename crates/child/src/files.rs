//! How many files a process may have open. Tectum takes as many as it is allowed, since every server
//! and every client costs some; what it starts has as many as it would have had without us, because
//! some programs cannot work with numbers above 1,024.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What we were started with, once we have taken more.
static USUAL: OnceLock<Option<u64>> = OnceLock::new();

/// Takes as many as this process is allowed.
pub fn take_all() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum && set(limit.maximum) {
        let _ = USUAL.set(limit.current);
    }
}

/// How many a child may have, if that is fewer than we have.
pub(super) fn usual() -> Option<u64> {
    *USUAL.get()?
}

/// Bounds this process, and those it starts from now on.
pub(super) fn bound_ourselves(files: u64) {
    // A lower bound is always allowed.
    let _ = set(Some(files));
}

fn set(current: Option<u64>) -> bool {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).is_ok()
}
