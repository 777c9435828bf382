//! Entering a plan: in the guard, before the command is started, and only on the thread that does it.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::OnceLock,
    thread,
};

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::{calls, cover, plan::SandboxPlan, rules};

/// What an administrator's command keeps: what concerns files and users. The rest is about the machine,
/// and some of it opens files without asking for their names.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// A plan whose paths were looked up and whose inner closed paths are covered.
#[derive(Debug)]
pub(crate) struct Entered {
    plan: SandboxPlan,
}

impl Entered {
    /// Looks the paths up and covers what must be covered. Called before there is a second thread: the
    /// kernel gives a user namespace only to a process with one.
    pub(crate) fn prepare(plan: SandboxPlan) -> io::Result<Self> {
        // What is not there cannot be changed.
        let mut writable: Vec<PathBuf> =
            plan.writable.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let closed: Vec<PathBuf> = plan.closed.iter().filter_map(|path| real(path)).collect();
        let is_inside = |path: &PathBuf| writable.iter().any(|root| path.starts_with(root) && path != root);
        let (inside, closed): (Vec<_>, Vec<_>) = closed.into_iter().partition(is_inside);
        cover::cover(&inside, &mut writable)?;
        Ok(Self { plan: SandboxPlan { writable, closed, ..plan } })
    }

    /// Starts a command within it.
    pub(crate) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let start = || {
            self.restrict_this_thread()?;
            command.spawn()
        };
        thread::scope(|scope| {
            let started = thread::Builder::new().name("sandbox".into()).spawn_scoped(scope, start)?;
            started.join().unwrap_or_else(|_| Err(io::Error::other("the start was broken off")))
        })
    }

    fn restrict_this_thread(&self) -> io::Result<()> {
        let (rules, truncation) = rules::rules(&self.plan)?;
        let mut kept = capabilities(None)?;
        kept.effective &= KEPT;
        kept.permitted &= KEPT;
        kept.inheritable = CapabilitySet::empty();
        set_capabilities(None, kept)?;
        // This also forbids that a program gains what its user has not (`no_new_privs`), which keeps
        // these capabilities from coming back.
        rules::enter(rules)?;
        calls::enter(&self.plan, truncation)
    }
}

/// Whether this kernel can hold files, found out once.
pub(super) fn possible() -> io::Result<()> {
    static POSSIBLE: OnceLock<Result<(), String>> = OnceLock::new();
    let found = POSSIBLE.get_or_init(|| {
        let tried = thread::Builder::new().spawn(rules::try_out).map_err(|error| error.to_string())?;
        tried
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the try was broken off")))
            .map_err(|e| e.to_string())
    });
    found.clone().map_err(io::Error::other)
}

/// A path without links. Of one that is not there, the part that is; what is made there later is meant.
fn real(path: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(real) => Some(real),
        Err(_) => Some(real(path.parent()?)?.join(path.file_name()?)),
    }
}
