//! The guard of one command: a fork of the fork server that starts it, and ends it with all that it started.

use std::{
    io::{self, Write as _},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    process::Command,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, getpid, setsid},
};

use super::message::CommandWords;
use crate::{
    guarded::{GRACE, Guarded, NOT_STARTED, say},
    sandbox::ConfinedThread,
    terminal,
};

/// How often ended orphans are taken away, and children looked after where the kernel has no handles of
/// processes.
const LOOK: Duration =
    if cfg!(target_os = "linux") { Duration::from_secs(1) } else { Duration::from_millis(50) };

/// Makes this process one that can guard, as a guard of its own is: a session that no terminal of others
/// reaches, and all orphans.
pub(super) fn stand_alone() -> io::Result<()> {
    let _ = setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    Ok(())
}

/// The guard of one command.
pub(super) struct CommandGuard {
    pub(super) words: CommandWords,
    pub(super) life: UnixStream,
}

impl CommandGuard {
    /// Starts the command from the thread that `thread` gives, if any, and stays until nobody is left.
    pub(super) fn run(
        mut self,
        files: [OwnedFd; 3],
        thread: impl FnOnce() -> io::Result<Option<ConfinedThread>>,
    ) -> u8 {
        let code = self.stand(files, thread).unwrap_or_else(|error| {
            say(&self.words.not_started(&error));
            NOT_STARTED
        });
        // If Tectum is gone, nobody needs it.
        let _ = self.life.write_all(&[code]);
        code
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the guard exists to start this one program and to end all it starts"
    )]
    fn stand(
        &mut self,
        [stdin, stdout, stderr]: [OwnedFd; 3],
        thread: impl FnOnce() -> io::Result<Option<ConfinedThread>>,
    ) -> io::Result<u8> {
        self.life.write_all(&std::process::id().to_le_bytes())?;
        rustix::stdio::dup2_stdin(&stdin)?;
        rustix::stdio::dup2_stdout(&stdout)?;
        rustix::stdio::dup2_stderr(&stderr)?;
        drop((stdin, stdout, stderr));
        let terminal = terminal::take();
        let CommandWords { program, args, directory, variables, mark, .. } = &self.words;
        let mut command = Command::new(program);
        command.args(args).current_dir(directory).process_group(0).env_clear();
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let mut guarded = Guarded::start(terminal, || match thread()? {
            Some(thread) => thread.spawn(command),
            None => command.spawn(),
        })?;
        let handle = handle(guarded.pid);
        while guarded.status.is_none() && !self.is_asked_to_end(handle.as_ref(), LOOK) {
            guarded.reap();
        }
        guarded.reap();
        guarded.terminate();
        let until = Instant::now() + GRACE;
        while guarded.status.is_none() && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now()).min(LOOK);
            let _ = match &handle {
                Some(handle) => poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timespec(left))),
                None => poll(&mut [], Some(&timespec(left))),
            };
            guarded.reap();
        }
        Ok(guarded.clear(&mark.to_string_lossy()))
    }

    /// Waits for the command's end or a wish. True if Tectum closed its end of the socket, or is gone.
    fn is_asked_to_end(&self, command: Option<&OwnedFd>, longest: Duration) -> bool {
        let command = command.map(|command| PollFd::new(command, PollFlags::IN));
        let mut watched = vec![PollFd::new(&self.life, PollFlags::IN)];
        watched.extend(command);
        poll(&mut watched, Some(&timespec(longest))).is_ok() && !watched[0].revents().is_empty()
    }
}

/// A handle of a child of ours, which can be watched.
pub(super) fn handle(child: Pid) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    return rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = child;
        None
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}
