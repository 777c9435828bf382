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
    fs::{Mode, OFlags},
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, kill_process_group, setsid, wait,
    },
};
use tokio::{
    signal::unix::{Signal as Signals, SignalKind, signal},
    sync::oneshot,
    time::{Instant, sleep_until},
};

use super::{
    environment::MARK,
    files, mark, memory,
    sandbox::{Entered, SandboxPlan},
    terminal,
    tree::Tree,
};

/// How long a server may take to end after SIGTERM. Tectum waits more than twice as long for the
/// guard, so the rest is for killing.
const GRACE: Duration = Duration::from_millis(200);
/// How often the parent is looked after where the kernel cannot tell of its death.
const LOOK: Duration = Duration::from_millis(100);
/// The thread that looks after the parent calls nothing deep.
const STACK: usize = 64 * 1024;
/// What shells answer for a program that could not be started.
const NOT_STARTED: u8 = 126;

/// What a guard is told, by Tectum alone.
#[derive(Debug, Default)]
struct Task {
    /// The process for whose sake the command runs.
    parent: u32,
    /// The most bytes of memory that each process of it may take.
    memory: Option<u64>,
    /// The most files that each process of it may have open.
    files: Option<u64>,
    sandbox: Option<SandboxPlan>,
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
                other => SandboxPlan::take_arg(&mut task.sandbox, other, &mut words)?,
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
    let Some(mut task) = Task::read(words) else {
        say("tectum guard: it is started by Tectum itself, not by people\n");
        return ExitCode::from(2);
    };
    // An exit code says that the work is done, so a panic must not give one.
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    if let Some(files) = task.files {
        files::bound_ourselves(files);
    }
    // Before the runtime: it may start threads.
    let sandbox = task.sandbox.take().map(Entered::prepare).transpose();
    let stood = sandbox.and_then(|sandbox| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(stand(&task, sandbox.as_ref()))
    });
    match stood {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            say(&format!("tectum guard: {} could not be started: {error}\n", task.command.display()));
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// Standard error is the command's log, where whoever looks for the reason will look. If nobody reads it
/// any more, nobody needs the reason.
fn say(text: &str) {
    let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
}

async fn stand(task: &Task, sandbox: Option<&Entered>) -> io::Result<u8> {
    // A session of our own: no terminal can reach the tree, and it can ask none for a password.
    // It fails only for the leader of a group, who cannot be reached by chance either.
    let _ = setsid();
    let terminal = terminal::take();
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
    let mut server = Server::start(task, sandbox, &word, terminal)?;
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
    server.ask(&mut children).await;
    let tree = Tree { mark: &word, root: Some(getpid()), guard: None, leader: Some(server.pid) };
    if !server.was_last() && !tree.clear(&mut |pid, status| server.note(pid, status)) {
        // Tectum looks for what a killed guard left, and only then.
        let _ = kill_process(getpid(), Signal::KILL);
    }
    Ok(server.code())
}

/// The command, and how it ended.
struct Server {
    pid: Pid,
    status: Option<WaitStatus>,
}

impl Server {
    #[expect(
        clippy::disallowed_methods,
        reason = "the guard exists to start this one program and to end all it starts"
    )]
    fn start(task: &Task, sandbox: Option<&Entered>, word: &str, terminal: bool) -> io::Result<Self> {
        let null = null()?;
        let mut command = Command::new(&task.command);
        command.args(&task.args).env(MARK, word).process_group(0);
        let child = match sandbox {
            Some(sandbox) => sandbox.spawn(&mut command)?,
            None => command.spawn()?,
        };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the system gave it no number"))?;
        if terminal {
            terminal::hand_over(pid);
        }
        // An end of file must travel between Tectum and the server, so no copy of their pipes may
        // stay here. The log's pipe goes as well: nothing is said from now on.
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        Ok(Self { pid, status: None })
    }

    /// Takes every child that ended: the server, and orphans that became ours.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.note(pid, status);
        }
    }

    /// Whether nobody is left, which needs no look at the table of processes: whoever loses its parent
    /// becomes our child, so who has no child has no descendant.
    fn was_last(&mut self) -> bool {
        self.reap();
        cfg!(target_os = "linux") && matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD))
    }

    fn note(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.pid {
            self.status = Some(status);
        }
    }

    /// Asks a server that still runs to end, and gives it a moment.
    async fn ask(&mut self, children: &mut Signals) {
        let until = Instant::now() + GRACE;
        if self.status.is_none() {
            let _ = kill_process_group(self.pid, Signal::TERM);
        }
        while self.status.is_none() {
            tokio::select! {
                _ = children.recv() => self.reap(),
                () = sleep_until(until) => return,
            }
        }
    }

    fn code(&self) -> u8 {
        let code = self.status.and_then(|status| match status.exit_status() {
            Some(code) => Some(code),
            None => status.terminating_signal().map(|signal| 128 + signal),
        });
        // Without a status it could not be killed, which only SIGKILL describes.
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(128 + 9)
    }
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

fn null() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}
