//! Child processes: how a server is started, spoken to, and ended with everything it started.
//!
//! Servers are started one by one, commands of agents through a fork server.
//!
//! Between Tectum and a server stands a guard, which ends the server's tree when Tectum stops it or
//! dies. If the guard itself is killed, Tectum ends the tree. The one thing neither finds is a
//! process that left its session and cleared its environment before its guard was killed.

pub mod ancestry;
mod cgroup;
mod confine;
mod environment;
pub mod files;
mod fork_server;
pub mod guard;
mod guarded;
mod installed;
mod launch;
mod life;
pub mod lineage;
mod memory;
pub mod neighbour;
mod remote;
pub mod sandbox;
mod stderr;
mod terminal;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(not(target_os = "linux"))]
#[path = "tree_elsewhere.rs"]
mod tree;
pub mod visible;

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
};

use tokio::{net::unix::pipe, process::Command};

pub use self::{
    confine::Confinement,
    fork_server::ForkServers,
    installed::{Installed, NotInstalled},
    launch::{Launch, Secret},
    life::Life,
    sandbox::SandboxPlan,
    stderr::Stderr,
};

/// The pipes are widened to this where it is allowed, as those to our own clients are.
#[cfg(target_os = "linux")]
const WIDE: usize = 1024 * 1024;
/// Bytes of the word that all processes of one start carry: enough that nobody guesses it.
const MARK_BYTES: usize = 16;

/// What is to be started.
#[derive(Debug)]
pub struct Order<'a> {
    /// The command.
    pub launch: &'a Launch,
    /// Where it starts unless it says otherwise.
    pub directory: &'a Path,
    /// An executable with the `guard` command, see [`own_guard`]. Without one the server is started
    /// directly, and then nobody ends its tree if this process is killed.
    pub guard: Option<&'a Path>,
}

/// A server that was started.
#[derive(Debug)]
pub struct Child {
    /// To its standard input.
    pub stdin: pipe::Sender,
    /// From its standard output.
    pub stdout: pipe::Receiver,
    /// Its process; whoever drops it ends the server.
    pub life: Life,
}

/// Starts a server. Its standard error goes to `log`. Must be called within a runtime.
pub fn start(order: &Order<'_>, log: Arc<Stderr>) -> io::Result<Child> {
    start_within(order, None, log)
}

/// The file that this would start for a served directory, or why there is none. Nothing is started.
pub fn program_of(launch: &Launch, served: &Path) -> io::Result<PathBuf> {
    let directory = launch.cwd.as_ref().map_or(served.to_owned(), |cwd| served.join(cwd));
    let variables = environment::environment(launch, std::env::vars_os(), served, &mark()?)?;
    located(launch, &variables, served, &directory)
}

fn located(
    launch: &Launch,
    variables: &BTreeMap<OsString, OsString>,
    served: &Path,
    directory: &Path,
) -> io::Result<PathBuf> {
    let path = variables.get(OsStr::new("PATH")).map_or(OsStr::new(""), OsString::as_os_str);
    environment::program(&launch.command, path, directory)
        .map_err(|error| environment::explained(error, &launch.command, served))
}

/// The same with a bound on the memory of each of its processes, in bytes. A guard sets it before
/// it starts the server; without one it is set right after the start, and holds for what the
/// server takes and starts from then on.
pub fn start_within(order: &Order<'_>, memory: Option<u64>, log: Arc<Stderr>) -> io::Result<Child> {
    let (ours, theirs) = pipes()?;
    let (process, word) = spawned(order, memory, Ready::new(order)?, theirs.map(Stdio::from))?;
    let Ends { stdin, stdout, stderr } = ours;
    let life = Life::begin(process, word, order.guard.is_some(), stderr.map(|stderr| (stderr, log)))?;
    Ok(Child { stdin, stdout, life })
}

/// A command that was started for what it says.
#[derive(Debug)]
pub struct Spoken {
    /// To its standard input.
    pub stdin: pipe::Sender,
    /// From its standard output.
    pub stdout: pipe::Receiver,
    /// From its standard error; a terminal has both in one.
    pub stderr: Option<pipe::Receiver>,
    /// Its process; whoever drops it ends the command.
    pub life: Life,
}

/// Where the output of a command goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// Two pipes.
    Pipes,
    /// A terminal of its own, which only a guard can give it.
    Terminal,
}

/// Our ends of what a child reads and writes.
struct Ends {
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
    stderr: Option<pipe::Receiver>,
}

fn pipes() -> io::Result<(Ends, [OwnedFd; 3])> {
    let (stdin_child, stdin) = std::io::pipe()?;
    let (stdout, stdout_child) = std::io::pipe()?;
    let (stderr, stderr_child) = std::io::pipe()?;
    widen(&stdin);
    widen(&stdout);
    // Our ends first: if one cannot be watched, nothing has been started yet.
    let ours = Ends {
        stdin: pipe::Sender::from_owned_fd(OwnedFd::from(stdin))?,
        stdout: pipe::Receiver::from_owned_fd(OwnedFd::from(stdout))?,
        stderr: Some(pipe::Receiver::from_owned_fd(OwnedFd::from(stderr))?),
    };
    Ok((ours, [stdin_child.into(), stdout_child.into(), stderr_child.into()]))
}

fn a_terminal() -> io::Result<(Ends, [OwnedFd; 3])> {
    let (ours, theirs) = terminal::open()?;
    // What is watched must not wait.
    rustix::io::ioctl_fionbio(&ours, true)?;
    let ends = Ends {
        stdin: pipe::Sender::from_owned_fd_unchecked(ours.try_clone()?)?,
        stdout: pipe::Receiver::from_owned_fd_unchecked(ours)?,
        stderr: None,
    };
    Ok((ends, [theirs.try_clone()?, theirs.try_clone()?, theirs]))
}

/// A command whose program was found and whose environment is complete.
struct Ready {
    /// The word in its environment.
    word: String,
    directory: PathBuf,
    program: PathBuf,
    variables: BTreeMap<OsString, OsString>,
}

impl Ready {
    fn new(order: &Order<'_>) -> io::Result<Self> {
        let launch = order.launch;
        let directory =
            launch.cwd.as_ref().map_or(order.directory.to_owned(), |cwd| order.directory.join(cwd));
        if !directory.is_dir() {
            let text = format!("{} is not a directory to start in: correct `cwd`", directory.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let word = mark()?;
        let variables = environment::environment(launch, std::env::vars_os(), order.directory, &word)?;
        let program = located(launch, &variables, order.directory, &directory)?;
        if launch.args.iter().any(|arg| arg.contains('\0')) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an argument has a zero byte: remove it",
            ));
        }
        Ok(Self { word, directory, program, variables })
    }
}

/// Starts the process of an order with these as its standard input, output and error.
fn spawned(
    order: &Order<'_>,
    memory: Option<u64>,
    ready: Ready,
    [stdin, stdout, stderr]: [Stdio; 3],
) -> io::Result<(tokio::process::Child, String)> {
    if order.guard.is_some() {
        adopt_orphans();
    }
    let Ready { word, directory, program, variables } = ready;
    let mut command = command(order, memory, &program, &variables);
    command.current_dir(directory).stdin(stdin).stdout(stdout).stderr(stderr);
    let process = command.spawn().map_err(|error| {
        io::Error::new(error.kind(), format!("{} could not be started: {error}", program.display()))
    })?;
    // The command holds the child's ends open as well.
    drop(command);
    if let (None, Some(memory)) = (order.guard, memory) {
        memory::bound(process.id(), memory)?;
    }
    Ok((process, word))
}

impl Child {
    /// The number of the server's process, or of its guard's.
    pub fn id(&self) -> u32 {
        self.life.id().unwrap_or_default()
    }

    /// Waits until the server has ended, and all it started with it.
    pub async fn ended(&mut self) -> ExitStatus {
        self.life.ended().await
    }

    /// Ends the server: its input is closed, then it is asked, then it is killed. Returns when the
    /// whole tree is gone, which is within a second.
    pub async fn stop(self) -> ExitStatus {
        drop(self.stdin);
        self.life.stop().await
    }
}

/// A variable of this process as every child gets it; `None` for one that children do not get.
pub fn inherited(name: &str) -> Option<String> {
    environment::is_inherited(OsStr::new(name)).then(|| std::env::var(name).ok()).flatten()
}

/// This program's own file, to be used as a guard. A running program may have been replaced on
/// the disk; then the kernel still has it.
pub fn own_guard() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let kept = Path::new("/proc/self/exe");
    Ok(if !own.is_file() && kept.exists() { kept.to_owned() } else { own })
}

/// From now on, what a killed guard leaves behind becomes a child of this process, which can then
/// end it and reap it. Starting a child with a guard does this too.
pub fn adopt_orphans() {
    // It has been possible since Linux 3.4; where it is not, init takes them and the mark finds them.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[expect(
    clippy::disallowed_methods,
    reason = "servers are started here and nowhere else: in a clean environment, and ended with their tree"
)]
fn command(
    order: &Order<'_>,
    memory: Option<u64>,
    program: &Path,
    variables: &BTreeMap<OsString, OsString>,
) -> Command {
    let mut command = match order.guard {
        Some(guard) => {
            // It leaves our process group itself, by opening a session.
            let mut command = guard_command(guard);
            command.arg("--parent").arg(std::process::id().to_string());
            if let Some(memory) = memory {
                command.arg("--memory").arg(memory.to_string());
            }
            if let Some(files) = files::usual() {
                command.arg("--files").arg(files.to_string());
            }
            command.arg("--").arg(program);
            command
        }
        None => {
            let mut command = Command::new(program);
            command.process_group(0);
            command
        }
    };
    command.args(&order.launch.args).env_clear().envs(variables);
    command
}

#[expect(clippy::disallowed_methods, reason = "it starts this program itself")]
fn guard_command(guard: &Path) -> Command {
    let mut command = Command::new(guard);
    command.arg0("tectum").arg("guard");
    command
}

fn mark() -> io::Result<String> {
    let mut bytes = [0; MARK_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An unprivileged user has a budget for this; without it the pipe stays as it is.
fn widen(end: &impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(end, WIDE);
    #[cfg(not(target_os = "linux"))]
    let _ = end;
}
