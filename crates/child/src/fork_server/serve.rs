//! The fork server's own process: one thread, no runtime. Each command gets a fork of it as its guard.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use fork::{Fork, fork};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Pid, WaitOptions, getppid, setsid, wait},
    termios::isatty,
};

use super::{
    FILES, SCRATCH,
    command_guard::{self, CommandGuard, handle},
    handing::{self, CommandFiles},
    message::{self, CommandWords},
    spare::{self, Spare},
};
use crate::{
    cgroup::Cgroup,
    files,
    guarded::{NOT_STARTED, null},
    sandbox::{Abandoned, ConfinedThread, Entered},
};

/// How long a killed process may take to be gone.
const DYING: Duration = Duration::from_secs(1);

/// Serves until Tectum closes the socket or is gone, and every command has ended.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let mut scratch = None;
    for pair in words.chunks_exact(2) {
        match (pair[0].to_str(), pair[1].to_str().and_then(|number| number.parse().ok())) {
            (Some(FILES), Some(number)) => files::bound_ourselves(number),
            (Some(SCRATCH), _) => scratch = Abandoned::new(PathBuf::from(&pair[1])),
            _ => return ExitCode::from(2),
        }
    }
    let _ = setsid();
    match ForkServer::new() {
        Ok(server) => {
            server.serve(scratch);
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::from(NOT_STARTED),
    }
}

struct ForkServer {
    /// The socket to Tectum; a guard closes its copy.
    control: Option<OwnedFd>,
    /// Handles of the guards that run.
    guards: Vec<OwnedFd>,
    sandbox: Option<Entered>,
    spare: Option<Spare>,
}

impl ForkServer {
    fn new() -> io::Result<Self> {
        let control = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        rustix::stdio::dup2_stdin(&null()?)?;
        Ok(Self { control: Some(control), guards: Vec::new(), sandbox: None, spare: None })
    }

    fn serve(mut self, scratch: Option<Abandoned>) {
        let parent = getppid();
        let group = Cgroup::enter();
        while let Some(files) = self.next() {
            // If it fails the guard's socket is closed, and Tectum takes that for a killed guard.
            let _ = self.begin(files);
        }
        self.spare = None;
        // Each guard ends when its own socket is closed.
        while !matches!(wait(WaitOptions::empty()), Err(Errno::CHILD)) {}
        if let Some(group) = group {
            group.end();
        }
        if let Some(scratch) = scratch {
            let until = Instant::now() + DYING;
            // Tectum removes it itself if it can. A process that was killed closes its files first and
            // leaves its children a moment later.
            while getppid() == parent && scratch.is_there() && Instant::now() < until {
                thread::sleep(DYING / 100);
            }
            if getppid() != parent {
                scratch.remove();
            }
        }
    }

    /// The files of the next command; `None` if there will be none.
    fn next(&mut self) -> Option<CommandFiles> {
        while !self.is_called() {}
        handing::receive(self.control.as_ref()?)
    }

    /// Waits for a message or a guard's end. True if there is a message.
    fn is_called(&mut self) -> bool {
        let guards = self.guards.iter().map(|guard| PollFd::new(guard, PollFlags::IN));
        let mut watched: Vec<_> =
            self.control.iter().map(|control| PollFd::new(control, PollFlags::IN)).chain(guards).collect();
        if poll(&mut watched, None).is_err() {
            return false;
        }
        let ready: Vec<bool> = watched.iter().map(|watched| !watched.revents().is_empty()).collect();
        let mut ended = ready.iter().skip(1);
        self.guards.retain(|_| ended.next() == Some(&false));
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        ready.first() == Some(&true)
    }

    /// Reads a command and gives it a guard.
    fn begin(&mut self, files: CommandFiles) -> io::Result<()> {
        let order = message::read(&files.life)?;
        let words = message::decode(&order)?;
        if let Err(error) = self.enter(&words) {
            return refuse(files, &words, &error);
        }
        // The rules of the spare one have no terminal in them.
        let spare = self.spare.take_if(|_| !isatty(&files.stdio[0]));
        let spare = spare.filter(|spare| spare.version == self.version());
        if spare.is_some_and(|spare| spare.give(&files, &order).is_ok()) {
            drop(files);
        } else {
            self.fork_guard(files, words)?;
        }
        if self.spare.is_none() {
            self.fork_spare();
        }
        Ok(())
    }

    fn fork_guard(&mut self, files: CommandFiles, words: CommandWords) -> io::Result<()> {
        match fork() {
            Ok(Fork::Parent(pid)) => self.guards.extend(Pid::from_raw(pid).and_then(handle)),
            Ok(Fork::Child) => {
                self.leave();
                let thread = || self.thread(isatty(rustix::stdio::stdin()));
                let guard = CommandGuard { words, life: files.life };
                let code = command_guard::stand_alone().map(|()| guard.run(files.stdio, thread));
                std::process::exit(code.unwrap_or(NOT_STARTED).into())
            }
            Err(error) => return refuse(files, &words, &error),
        }
        Ok(())
    }

    /// The next command waits for a fork if this fails.
    fn fork_spare(&mut self) {
        let Ok((ours, theirs)) = UnixStream::pair() else { return };
        match fork() {
            Ok(Fork::Parent(pid)) => {
                self.guards.extend(Pid::from_raw(pid).and_then(handle));
                self.spare = Some(Spare { socket: ours, version: self.version() });
            }
            Ok(Fork::Child) => {
                drop(ours);
                self.leave();
                let code = spare::stand_by(theirs, self.sandbox.as_ref());
                std::process::exit(code.unwrap_or(NOT_STARTED).into())
            }
            Err(_) => {}
        }
    }

    /// Closes what a guard must not have.
    fn leave(&mut self) {
        self.control = None;
        self.guards.clear();
        self.spare = None;
    }

    fn version(&self) -> Option<u64> {
        self.sandbox.as_ref().map(Entered::version)
    }

    fn thread(&self, has_terminal: bool) -> io::Result<Option<ConfinedThread>> {
        self.sandbox.as_ref().map(|sandbox| sandbox.thread(has_terminal)).transpose()
    }

    /// Brings the sandbox up to date with what is closed now.
    fn enter(&mut self, words: &CommandWords) -> io::Result<()> {
        let Some(plan) = &words.plan else { return Ok(()) };
        if self.sandbox.is_none() {
            self.sandbox = Some(Entered::enter(&plan.writable)?);
        }
        self.sandbox.as_mut().map_or(Ok(()), |sandbox| sandbox.renew(plan))
    }
}

/// Tells Tectum, and whoever reads what the command would have said, that it was not started.
fn refuse(mut files: CommandFiles, words: &CommandWords, error: &io::Error) -> io::Result<()> {
    rustix::io::write(&files.stdio[2], words.not_started(error).as_bytes())?;
    files.life.write_all(&[0, 0, 0, 0, NOT_STARTED])
}
