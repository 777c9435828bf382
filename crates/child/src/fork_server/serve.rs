//! The fork server's own process: one thread, no runtime. Each command gets a fork of it as its guard.

use std::{
    ffi::OsString,
    io::{self, IoSliceMut, Write as _},
    mem::MaybeUninit,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    path::PathBuf,
    process::{Command, ExitCode},
    thread,
    time::{Duration, Instant},
};

use fork::{Fork, fork};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
    process::{Pid, WaitOptions, getpid, getppid, setsid, wait},
};

use super::{
    FILES, SCRATCH,
    message::{self, CommandWords},
};
use crate::{
    cgroup::Cgroup,
    files,
    guarded::{GRACE, Guarded, NOT_STARTED, null, say},
    sandbox::{Abandoned, Entered},
    terminal,
};

/// How often ended orphans are taken away, and children looked after where the kernel has no handles of
/// processes.
const LOOK: Duration =
    if cfg!(target_os = "linux") { Duration::from_secs(1) } else { Duration::from_millis(50) };

/// How long a killed process may take to be gone.
const DYING: Duration = Duration::from_secs(1);

/// The files of one command: its standard input, output and error, and the socket of its guard.
type Files = [OwnedFd; 4];

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
}

impl ForkServer {
    fn new() -> io::Result<Self> {
        let control = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        rustix::stdio::dup2_stdin(&null()?)?;
        Ok(Self { control: Some(control), guards: Vec::new(), sandbox: None })
    }

    fn serve(mut self, scratch: Option<Abandoned>) {
        let parent = getppid();
        let group = Cgroup::enter();
        while let Some(files) = self.next() {
            // If it fails the guard's socket is closed, and Tectum takes that for a killed guard.
            let _ = self.begin(files);
        }
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
    fn next(&mut self) -> Option<Files> {
        loop {
            while !self.is_called() {}
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
            let mut with = RecvAncillaryBuffer::new(&mut space);
            let mut byte = [0];
            let control = self.control.as_ref()?;
            let got = recvmsg(control, &mut [IoSliceMut::new(&mut byte)], &mut with, RecvFlags::CMSG_CLOEXEC);
            match got {
                Err(Errno::INTR) => {}
                Err(_) => return None,
                Ok(got) if got.bytes == 0 => return None,
                Ok(_) => {
                    let files = with.drain().filter_map(|message| match message {
                        RecvAncillaryMessage::ScmRights(files) => Some(files),
                        _ => None,
                    });
                    let files: Vec<_> = files.flatten().collect();
                    if let Ok(files) = Files::try_from(files) {
                        return Some(files);
                    }
                }
            }
        }
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

    /// Reads a command and forks its guard.
    fn begin(&mut self, files: Files) -> io::Result<()> {
        let [stdin, stdout, stderr, life] = files;
        let mut life = UnixStream::from(life);
        let words = message::read(&mut life)?;
        match self.enter(&words).and_then(|()| fork()) {
            Ok(Fork::Parent(pid)) => {
                self.guards.extend(Pid::from_raw(pid).and_then(handle));
                Ok(())
            }
            Ok(Fork::Child) => {
                self.control = None;
                self.guards.clear();
                let sandbox = self.sandbox.as_ref().filter(|_| words.plan.is_some());
                let guard = CommandGuard { words, sandbox, life };
                std::process::exit(guard.run([stdin, stdout, stderr]).into())
            }
            Err(error) => {
                rustix::io::write(&stderr, words.not_started(&error).as_bytes())?;
                life.write_all(&[0, 0, 0, 0, NOT_STARTED])
            }
        }
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

/// The guard of one command.
struct CommandGuard<'s> {
    words: CommandWords,
    sandbox: Option<&'s Entered>,
    life: UnixStream,
}

impl CommandGuard<'_> {
    fn run(mut self, files: [OwnedFd; 3]) -> u8 {
        let code = self.stand(files).unwrap_or_else(|error| {
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
    fn stand(&mut self, [stdin, stdout, stderr]: [OwnedFd; 3]) -> io::Result<u8> {
        // As in a guard of its own: a session that no terminal of others reaches, and all orphans.
        let _ = setsid();
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(getpid()))?;
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
        let mut guarded = Guarded::start(&mut command, terminal, |command| match self.sandbox {
            Some(sandbox) => sandbox.spawn(command),
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
fn handle(child: Pid) -> Option<OwnedFd> {
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
