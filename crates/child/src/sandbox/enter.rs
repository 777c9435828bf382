//! Entering a plan: mounts once in the fork server, rules on the thread that starts a command.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{OnceLock, mpsc},
    thread,
};

use landlock::RulesetCreated;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use seccompiler::BpfProgram;

use super::{
    calls,
    cover::Mounts,
    plan::SandboxPlan,
    rules::{self, FileRules, Listed},
};

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

/// The sandbox of a fork server: its mounts, and the rules of the newest plan.
#[derive(Debug)]
pub(crate) struct Entered {
    writable: Vec<PathBuf>,
    mounts: Mounts,
    current: Option<Current>,
    /// How many plans were looked up.
    renewed: u64,
}

/// A plan whose paths were looked up.
#[derive(Debug)]
struct Current {
    asked: SandboxPlan,
    /// What is closed inside of what may be written.
    inside: Vec<PathBuf>,
    /// The plan without these, its paths without links.
    plan: SandboxPlan,
    rules: FileRules,
    filter: BpfProgram,
}

impl Entered {
    /// Makes the mounts for commands that may change these. Called before there is a second thread: the
    /// kernel gives a user namespace only to a process with one.
    pub(crate) fn enter(writable: &[PathBuf]) -> io::Result<Self> {
        // What is not there cannot be changed.
        let mut writable: Vec<PathBuf> =
            writable.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let mounts = Mounts::make(&mut writable);
        Ok(Self { writable, mounts, current: None, renewed: 0 })
    }

    /// Closes what a plan with the same writable paths closes, as it is on the disk now.
    pub(crate) fn renew(&mut self, plan: &SandboxPlan) -> io::Result<()> {
        let is_known =
            |known: &Current| known.asked == *plan && known.rules.listed.iter().all(Listed::is_current);
        if !self.current.as_ref().is_some_and(is_known) {
            self.current = Some(self.look_up(plan)?);
            self.renewed += 1;
        }
        self.current.as_ref().map_or(Ok(()), |current| self.mounts.cover(&current.inside))
    }

    fn look_up(&self, asked: &SandboxPlan) -> io::Result<Current> {
        let closed: Vec<PathBuf> = asked.closed.iter().filter_map(|path| real(path)).collect();
        let is_inside =
            |path: &PathBuf| self.writable.iter().any(|root| path.starts_with(root) && path != root);
        let (inside, closed): (Vec<_>, Vec<_>) = closed.into_iter().partition(is_inside);
        let plan = SandboxPlan { writable: self.writable.clone(), closed, ..*asked };
        let rules = rules::rules(&plan)?;
        let filter = calls::filter(&plan, rules.truncation).map_err(io::Error::other)?;
        Ok(Current { asked: asked.clone(), inside, plan, rules, filter })
    }

    /// A thread that confines itself and then starts one command: the guard stays as it is. A command with
    /// a terminal, which is standard input then, has a rule for it that no other command may have.
    pub(crate) fn thread(&self, has_terminal: bool) -> io::Result<ConfinedThread> {
        let current = self.current.as_ref().ok_or_else(|| io::Error::other("there is no plan"))?;
        let rules =
            if has_terminal { rules::rules(&current.plan)?.set } else { current.rules.set.try_clone()? };
        let filter = current.filter.clone();
        let (command, given) = mpsc::channel::<Command>();
        let (answer, started) = mpsc::channel();
        thread::Builder::new().name("sandbox".into()).spawn(move || {
            let entered = restrict_this_thread(rules, &filter);
            let Ok(mut command) = given.recv() else { return };
            let _ = answer.send(entered.and_then(|()| command.spawn()));
        })?;
        Ok(ConfinedThread { command, started })
    }

    /// Another number than before means that threads made before are held to an older plan.
    pub(crate) fn version(&self) -> u64 {
        self.renewed
    }
}

/// A thread within the sandbox that waits for its command.
#[derive(Debug)]
pub(crate) struct ConfinedThread {
    command: mpsc::Sender<Command>,
    started: mpsc::Receiver<io::Result<Child>>,
}

impl ConfinedThread {
    pub(crate) fn spawn(self, command: Command) -> io::Result<Child> {
        let broken_off = || io::Error::other("the start was broken off");
        self.command.send(command).map_err(|_| broken_off())?;
        self.started.recv().map_err(|_| broken_off())?
    }
}

fn restrict_this_thread(rules: RulesetCreated, filter: &BpfProgram) -> io::Result<()> {
    let mut kept = capabilities(None)?;
    kept.effective &= KEPT;
    kept.permitted &= KEPT;
    kept.inheritable = CapabilitySet::empty();
    set_capabilities(None, kept)?;
    // This also forbids that a program gains what its user has not (`no_new_privs`), which keeps
    // these capabilities from coming back.
    rules::enter(rules)?;
    seccompiler::apply_filter(filter).map_err(io::Error::other)
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
