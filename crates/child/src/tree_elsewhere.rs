//! Ending a start's processes where there is no table of processes to read: its process group.

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};

/// Which processes are meant.
pub(super) struct Tree<'a> {
    /// The word in their environment, which nobody can read here.
    pub(super) mark: &'a str,
    /// Whether all children of this process are meant.
    pub(super) mine: bool,
    /// The guard that led them, once it is dead.
    pub(super) guard: Option<Pid>,
    /// The server itself, whose group is killed.
    pub(super) leader: Option<Pid>,
}

impl Tree<'_> {
    /// Kills the group, and reaps the server where it is our child.
    pub(super) fn clear(&self, reaped: &mut dyn FnMut(Pid, WaitStatus)) -> bool {
        let _ = (self.mark, self.guard);
        let Some(leader) = self.leader else { return true };
        let _ = kill_process_group(leader, Signal::KILL);
        if self.mine {
            // A killed process ends at once, so this wait is short.
            if let Ok(Some((pid, status))) = waitpid(Some(leader), WaitOptions::empty()) {
                reaped(pid, status);
            }
        }
        true
    }
}
