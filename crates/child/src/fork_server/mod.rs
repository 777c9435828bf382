//! Starting commands through a fork server: a process of Tectum that is started once, enters the sandbox
//! once, and then forks a guard for each command. To start the program, to look up what is closed and to
//! make the mounts takes milliseconds, and a fork a fraction of one.
//!
//! Tectum holds one end of a socket to each guard. If it closes that end, by wish or by its death, the guard
//! ends its command with everything that it started; before a guard ends it tells the exit code.

mod command_guard;
mod handing;
mod message;
mod serve;
mod spare;

use std::{
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

pub(crate) use self::serve::run;
use crate::{
    Ends, Life, Order, Ready, Spoken, Through, a_terminal, files, guard_command, pipes,
    remote::Remote,
    sandbox::{SandboxPlan, Scratch},
};

/// The argument of a guard that serves.
pub(crate) const FORKS: &str = "--forks";
/// Says how many files a command may have open.
const FILES: &str = "--files";
/// Says which directory the server removes if Tectum cannot.
const SCRATCH: &str = "--scratch";

/// The fork servers of one house, and the temporary directory of its commands.
#[derive(Debug, Default)]
pub struct ForkServers {
    scratch: OnceLock<Scratch>,
    running: Mutex<Vec<Running>>,
}

/// One server. It ends when its socket is closed and its last command has ended.
#[derive(Debug)]
struct Running {
    /// What its commands may change, which its mounts depend on; `None` without a sandbox.
    writable: Option<Vec<PathBuf>>,
    control: Arc<OwnedFd>,
}

/// A command on its way to a server.
struct Handed {
    guard: PathBuf,
    /// What it may change; `None` without a sandbox.
    writable: Option<Vec<PathBuf>>,
    /// Its ends of its input and output.
    files: [OwnedFd; 3],
    order: Vec<u8>,
}

impl ForkServers {
    /// The temporary directory that all commands share, made when it is first asked for.
    pub fn scratch(&self) -> io::Result<&Scratch> {
        if let Some(made) = self.scratch.get() {
            return Ok(made);
        }
        let made = Scratch::new()?;
        Ok(self.scratch.get_or_init(|| made))
    }

    /// Starts a command whose output is read as it comes, held to a plan if there is one. Without a guard
    /// it is a child of this process.
    pub fn start(
        self: &Arc<Self>,
        order: &Order<'_>,
        plan: Option<&SandboxPlan>,
        through: Through,
    ) -> io::Result<Spoken> {
        let without = |what: &str| {
            io::Error::new(io::ErrorKind::Unsupported, format!("without a guard there is no {what}"))
        };
        if order.guard.is_none() && plan.is_some() {
            return Err(without("sandbox"));
        }
        let (Ends { stdin, stdout, stderr }, theirs) = match through {
            Through::Pipes => pipes()?,
            Through::Terminal if order.guard.is_none() => return Err(without("terminal")),
            Through::Terminal => a_terminal()?,
        };
        let ready = Ready::new(order)?;
        let life = if let Some(guard) = order.guard {
            let order = message::encode(&ready, &order.launch.args, plan)?;
            let writable = plan.map(|plan| plan.writable.clone());
            let handed = Handed { guard: guard.to_owned(), writable, files: theirs, order };
            Life::of_guard(self.hand_over(handed)?, ready.word)
        } else {
            let (process, word) = crate::spawned(order, None, ready, theirs.map(Stdio::from))?;
            Life::begin(process, word, false, None)?
        };
        Ok(Spoken { stdin, stdout, stderr, life })
    }

    /// Gives a command to a server that forks its guard. One that was killed may take it and do nothing
    /// more, so another gets it if no guard begins: only a guard starts a command, and tells so before.
    fn hand_over(self: &Arc<Self>, handed: Handed) -> io::Result<Remote> {
        loop {
            let (server, is_new) = self.server(&handed)?;
            match give(&server, &handed) {
                Err(error) if is_new => return Err(error),
                // It ends with its last command; the next takes over.
                Err(_) => self.forget(&server),
                Ok(guard) if is_new => return Ok(guard),
                Ok(guard) => {
                    let servers = self.clone();
                    return Ok(guard.or(move || {
                        servers.forget(&server);
                        servers.hand_over(handed)
                    }));
                }
            }
        }
    }

    /// The socket of the server for such a command, and whether it was started now.
    fn server(&self, handed: &Handed) -> io::Result<(Arc<OwnedFd>, bool)> {
        let mut running = self.running.lock();
        if let Some(known) = running.iter().find(|server| server.writable == handed.writable) {
            return Ok((known.control.clone(), false));
        }
        let control = Arc::new(self.begin(&handed.guard, handed.writable.is_some())?);
        running.push(Running { writable: handed.writable.clone(), control: control.clone() });
        Ok((control, true))
    }

    fn forget(&self, server: &Arc<OwnedFd>) {
        self.running.lock().retain(|running| !Arc::ptr_eq(&running.control, server));
    }

    fn begin(&self, guard: &Path, is_sandbox: bool) -> io::Result<OwnedFd> {
        let (control, theirs) = UnixStream::pair()?;
        crate::adopt_orphans();
        let mut command = guard_command(guard);
        command.arg(FORKS);
        if let Some(files) = files::usual() {
            command.arg(FILES).arg(files.to_string());
        }
        if let Some(scratch) = self.scratch.get().filter(|_| is_sandbox) {
            command.arg(SCRATCH).arg(scratch.path());
        }
        command.env_clear().current_dir("/").stdin(Stdio::from(OwnedFd::from(theirs)));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("{} could not be started: {error}", guard.display()))
        })?;
        Ok(control.into())
    }
}

/// Gives a command's files and the guard's socket to a server.
fn give(control: &OwnedFd, Handed { files, order, .. }: &Handed) -> io::Result<Remote> {
    let (ours, theirs) = UnixStream::pair()?;
    let [stdin, stdout, stderr] = files.each_ref().map(OwnedFd::as_fd);
    handing::send(control, &[stdin, stdout, stderr, theirs.as_fd()])?;
    Remote::new(ours, order)
}
