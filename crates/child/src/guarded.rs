//! A command as the guard that started it holds it: alone its parent, and the new parent of all whom
//! others leave.

use std::{io, os::fd::OwnedFd, process::Child, time::Duration};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
    process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, wait},
};

use super::{terminal, tree::Tree};

/// How long a command may take to end after SIGTERM. Tectum waits more than twice as long for the
/// guard, so the rest is for killing.
pub(super) const GRACE: Duration = Duration::from_millis(200);
/// What shells answer for a program that could not be started.
pub(super) const NOT_STARTED: u8 = 126;

/// A started command, and how it ended.
pub(super) struct Guarded {
    pub(super) pid: Pid,
    pub(super) status: Option<WaitStatus>,
}

impl Guarded {
    /// Starts a command. From then on nothing of what this process had as its input and output is open
    /// here: an end of file must travel between Tectum and the command.
    pub(super) fn start(terminal: bool, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Self> {
        let null = null()?;
        let child = spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the system gave it no number"))?;
        if terminal {
            terminal::hand_over(pid);
        }
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        Ok(Self { pid, status: None })
    }

    /// Takes every child that ended: the command, and orphans that became ours.
    pub(super) fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.note(pid, status);
        }
    }

    fn note(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.pid {
            self.status = Some(status);
        }
    }

    /// Asks a command that still runs to end.
    pub(super) fn terminate(&self) {
        if self.status.is_none() {
            let _ = kill_process_group(self.pid, Signal::TERM);
        }
    }

    /// Kills what is left of the tree, and returns the exit code: the command's own, or 128 and its signal.
    pub(super) fn clear(mut self, word: &str) -> u8 {
        let tree = Tree { mark: word, root: Some(getpid()), guard: None, leader: Some(self.pid) };
        if !self.was_last() && !tree.clear(&mut |pid, status| self.note(pid, status)) {
            // Tectum looks for what a killed guard left, and only then.
            let _ = kill_process(getpid(), Signal::KILL);
        }
        let code = self.status.and_then(|status| match status.exit_status() {
            Some(code) => Some(code),
            None => status.terminating_signal().map(|signal| 128 + signal),
        });
        // Without a status it could not be killed, which only SIGKILL describes.
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(128 + 9)
    }

    /// True if nobody is left, which needs no look at the table of processes: whoever loses its parent
    /// becomes our child, so who has no child has no descendant.
    fn was_last(&mut self) -> bool {
        self.reap();
        cfg!(target_os = "linux") && matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD))
    }
}

/// The null device.
pub(super) fn null() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Standard error is the command's log, where whoever looks for the reason will look. If nobody reads it
/// any more, nobody needs the reason.
pub(super) fn say(text: &str) {
    let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
}
