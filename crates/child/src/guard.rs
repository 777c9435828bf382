//! The guard: a small process between Tectum and one server, which outlives both for as long as
//! it takes to end everything the server started. It reads and writes nothing of what they say.

use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    process::{Command, ExitCode},
    thread,
    time::Duration,
};

use rustix::{
    io::Errno,
    process::{Pid, getpid, getppid, setsid},
};
use tokio::{
    signal::unix::{Signal as Signals, SignalKind, signal},
    sync::oneshot,
    time::{Instant, sleep_until},
};

use super::{
    environment::MARK,
    files, fork_server,
    guarded::{GRACE, Guarded, NOT_STARTED, say},
    mark, memory,
};

/// How often the parent is looked after where the kernel cannot tell of its death.
const LOOK: Duration = Duration::from_millis(100);
/// The thread that looks after the parent calls nothing deep.
const STACK: usize = 64 * 1024;

/// What a guard is told, by Tectum alone.
#[derive(Debug, Default)]
struct Task {
    /// The process for whose sake the command runs.
    parent: u32,
    /// The most bytes of memory that each process of it may take.
    memory: Option<u64>,
    /// The most files that each process of it may have open.
    files: Option<u64>,
    command: OsString,
    args: Vec<OsString>,
}

impl Task {
    /// Reads the words after `guard`. By hand: a guard is started for every command, and the command
    /// line for people takes longer to set up than all of the guard's own work.
    fn read(words: &[OsString]) -> Option<Self> {
        let mut task = Self::default();
        let mut words = words.iter();
        loop {
            let number = |word: Option<&OsString>| word?.to_str()?.parse::<u64>().ok();
            match words.next()?.to_str()? {
                "--" => break,
                "--parent" => task.parent = u32::try_from(number(words.next())?).ok()?,
                "--memory" => task.memory = Some(number(words.next())?),
                "--files" => task.files = Some(number(words.next())?),
                _ => return None,
            }
        }
        task.command = words.next()?.clone();
        task.args = words.cloned().collect();
        Some(task)
    }
}

/// Starts a command and ends its whole tree when it exits, when its parent dies, or on SIGTERM. The exit
/// code is the command's own, or 128 and its signal. `words` are those after `guard`.
pub fn run(words: &[OsString]) -> ExitCode {
    if let Some((first, rest)) = words.split_first()
        && first == fork_server::FORKS
    {
        return fork_server::run(rest);
    }
    let Some(task) = Task::read(words) else {
        say("tectum guard: it is started by Tectum itself, not by people\n");
        return ExitCode::from(2);
    };
    // An exit code says that the work is done, so a panic must not give one.
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    if let Some(files) = task.files {
        files::bound_ourselves(files);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(stand(&task))) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            say(&format!("tectum guard: {} could not be started: {error}\n", task.command.display()));
            ExitCode::from(NOT_STARTED)
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the guard exists to start this one program and to end all it starts"
)]
async fn stand(task: &Task) -> io::Result<u8> {
    // A session of our own: no terminal can reach the tree, and it can ask none for a password.
    // It fails only for the leader of a group, who cannot be reached by chance either.
    let _ = setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    // Listening begins before there is something to listen to.
    let mut children = signal(SignalKind::child())?;
    let mut calls = Calls::listen()?;
    let mut orphaned = Parent::find(task.parent)?.watch()?;
    let word = std::env::var(MARK).or_else(|_| mark())?;
    if let Some(bytes) = task.memory {
        memory::bound_ourselves(bytes)?;
    }
    let mut command = Command::new(&task.command);
    command.args(&task.args).env(MARK, &word).process_group(0);
    let mut server = Guarded::start(false, || command.spawn())?;
    loop {
        tokio::select! {
            _ = children.recv() => server.reap(),
            _ = &mut orphaned => break,
            () = calls.end() => break,
        }
        if server.status.is_some() {
            break;
        }
    }
    server.terminate();
    let until = Instant::now() + GRACE;
    while server.status.is_none() {
        tokio::select! {
            _ = children.recv() => server.reap(),
            () = sleep_until(until) => break,
        }
    }
    Ok(server.clear(&word))
}

/// The signals that ask a guard to end.
struct Calls {
    terminate: Signals,
    interrupt: Signals,
    hang_up: Signals,
}

impl Calls {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn end(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// Tectum, for whose sake the server runs.
struct Parent {
    pid: Pid,
    #[cfg(target_os = "linux")]
    handle: Option<OwnedFd>,
}

impl Parent {
    /// Finds it alive, or says that there is nobody left to serve.
    fn find(parent: u32) -> io::Result<Self> {
        let gone = || io::Error::other("the process that wanted it is gone");
        let pid = i32::try_from(parent).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
        #[cfg(target_os = "linux")]
        let handle = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::NONBLOCK).ok();
        // Asked after the handle was opened: if it is our parent now, the handle is our parent's.
        if getppid() != Some(pid) {
            return Err(gone());
        }
        Ok(Self {
            pid,
            #[cfg(target_os = "linux")]
            handle,
        })
    }

    /// Tells of its death. The runtime watches no handles of processes, so a small thread does.
    fn watch(self) -> io::Result<oneshot::Receiver<()>> {
        let (dead, death) = oneshot::channel();
        thread::Builder::new().name("parent".into()).stack_size(STACK).spawn(move || {
            self.wait();
            let _ = dead.send(());
        })?;
        Ok(death)
    }

    fn wait(&self) {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle {
            use rustix::event::{PollFd, PollFlags, poll};
            loop {
                match poll(&mut [PollFd::new(handle, PollFlags::IN)], None) {
                    Err(Errno::INTR) => {}
                    Ok(_) => return,
                    Err(_) => break,
                }
            }
        }
        while getppid() == Some(self.pid) {
            thread::sleep(LOOK);
        }
    }
}
