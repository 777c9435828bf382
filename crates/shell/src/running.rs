//! One command from its start to its end: within a deadline, its output read all the while.

use std::{
    collections::HashMap, future::pending, io, os::unix::process::ExitStatusExt as _, path::Path,
    process::ExitStatus, sync::Arc, time::Duration,
};

use parking_lot::Mutex;
use tectum_child::{ForkServers, Launch, Life, Order, SandboxPlan, Through};
use tokio::{
    io::AsyncWriteExt as _,
    net::unix::pipe,
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};

use crate::{output::Output, spool::Spool};

/// How long the last words may take to arrive once all who could write are gone.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Commands of one client that may run together.
const MOST_OF_ONE: usize = 64;
/// Commands of all clients together.
const MOST: usize = 256;

/// The name of a client.
pub type Owner = Arc<str>;

/// What is to be run.
#[derive(Debug)]
pub struct ShellOrder<'a> {
    /// The program, its arguments and its variables.
    pub launch: &'a Launch,
    /// Where it starts.
    pub directory: &'a Path,
    /// The guard, see [`tectum_child::own_guard`].
    pub guard: Option<&'a Path>,
    /// Its input, which then ends; none where there is no text. A terminal stays open.
    pub stdin: Option<String>,
    /// Whether it has a terminal.
    pub terminal: bool,
    /// Where all of its output is kept, and under which name.
    pub spool: Option<(&'a Spool, String)>,
    /// When it is ended.
    pub deadline: Option<Duration>,
    /// What the kernel holds it to.
    pub sandbox: Option<&'a SandboxPlan>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, or by a signal, which counts from 128.
    Exited(i32),
    /// At its deadline, after this long.
    TimedOut(Duration),
    /// Because somebody ended it.
    Stopped,
}

/// A command that runs. Dropping it ends it with everything it started.
#[derive(Debug)]
pub struct Running {
    life: Life,
    /// To a terminal.
    pub(crate) stdin: Option<pipe::Sender>,
    /// What it says.
    pub stdout: Arc<Output>,
    /// What it says beside that; a terminal has both in one.
    pub stderr: Arc<Output>,
    readers: Vec<JoinHandle<()>>,
    /// When it began.
    pub began: Instant,
    deadline: Option<Duration>,
    /// Whether its deadline has passed.
    late: bool,
    _place: Place,
}

impl Running {
    /// Starts a command.
    pub fn start(servers: &Arc<ForkServers>, order: ShellOrder<'_>, place: Place) -> io::Result<Self> {
        let through = if order.terminal { Through::Terminal } else { Through::Pipes };
        let whom = Order { launch: order.launch, directory: order.directory, guard: order.guard };
        let spoken = servers.start(&whom, order.sandbox, through)?;
        let (stdout, stderr) = (Arc::new(Output::default()), Arc::new(Output::default()));
        let spool =
            |part: u8| order.spool.as_ref().map(|(spool, name)| ((*spool).clone(), format!("{name}.{part}")));
        let mut readers = vec![tokio::spawn(stdout.clone().read(spoken.stdout, spool(0)))];
        readers.extend(spoken.stderr.map(|pipe| tokio::spawn(stderr.clone().read(pipe, spool(1)))));
        let mut stdin = Some(spoken.stdin);
        if !order.terminal {
            let mut pipe = stdin.take();
            // It may read late or never, and nobody waits for that.
            if let Some(text) = order.stdin
                && let Some(mut pipe) = pipe.take()
            {
                tokio::spawn(async move { pipe.write_all(text.as_bytes()).await });
            }
        } else if let (Some(text), Some(pipe)) = (&order.stdin, &stdin) {
            // A terminal takes a few kilobytes at once; more is for `shell_write`.
            let _ = pipe.try_write(text.as_bytes());
        }
        let began = Instant::now();
        Ok(Self {
            life: spoken.life,
            stdin,
            stdout,
            stderr,
            readers,
            began,
            deadline: order.deadline,
            late: false,
            _place: place,
        })
    }

    /// Waits until it has ended or was ended at its deadline, with everything it started, and its
    /// last words are there. May be given up and asked again.
    pub async fn ended(&mut self) -> CommandEnd {
        let late = self.deadline.map(|deadline| self.began + deadline);
        let status = tokio::select! {
            biased;
            status = self.life.ended() => status,
            () = until(late) => {
                self.late = true;
                self.stop().await;
                return self.too_late();
            }
        };
        self.hear().await;
        if self.late { self.too_late() } else { CommandEnd::Exited(code(status)) }
    }

    fn too_late(&self) -> CommandEnd {
        CommandEnd::TimedOut(self.deadline.unwrap_or_default())
    }

    /// Ends it with everything it started.
    pub async fn stop(&mut self) -> CommandEnd {
        self.stdin = None;
        self.life.end().await;
        self.hear().await;
        CommandEnd::Stopped
    }

    async fn hear(&mut self) {
        let until = Instant::now() + LAST_WORDS;
        while let Some(reader) = self.readers.last_mut() {
            if timeout(until.saturating_duration_since(Instant::now()), &mut *reader).await.is_err() {
                reader.abort();
            }
            self.readers.pop();
        }
    }
}

/// The code as shells give it.
fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

async fn until(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => pending().await,
    }
}

/// Places for commands: bounded for each client and for all.
#[derive(Clone, Debug, Default)]
pub struct Places(Arc<Mutex<HashMap<Owner, usize>>>);

/// The place of one command; free again when dropped.
#[derive(Debug)]
pub struct Place {
    places: Places,
    owner: Owner,
}

impl Places {
    /// A place, or why there is none.
    pub fn take(&self, owner: &Owner) -> Result<Place, String> {
        let mut taken = self.0.lock();
        let all: usize = taken.values().sum();
        let own = taken.entry(owner.clone()).or_default();
        if *own >= MOST_OF_ONE {
            return Err(format!("{own} commands of this client run already, which is the most"));
        }
        if all >= MOST {
            return Err(format!("{all} commands of all clients run already, which is the most"));
        }
        *own += 1;
        Ok(Place { places: self.clone(), owner: owner.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock();
        if let Some(count) = taken.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.owner);
            }
        }
    }
}
