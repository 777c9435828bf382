//! One child's process from its start to its end. A task of its own holds it, so that it is ended
//! and reaped whatever becomes of those who wanted it.

use std::{io, os::unix::process::ExitStatusExt as _, process::ExitStatus, sync::Arc, time::Duration};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe,
    process,
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{remote::Remote, stderr::Stderr, tree::Tree};

/// A server that reads its input sees its end and stops; most do within this.
const END_OF_INPUT: Duration = Duration::from_millis(200);
/// From SIGTERM to SIGKILL. A guard needs 200 ms of it for the server's grace and the rest for killing.
const TERM: Duration = Duration::from_millis(500);
/// How long the last words may take once nobody is left to write; a pipe's content is read in less.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Read from standard error at once.
const CHUNK: usize = 16 * 1024;

/// A child's process. Dropping it ends the child; `stop` also waits for that.
#[derive(Debug)]
pub struct Life {
    id: Option<u32>,
    wish: watch::Sender<Wish>,
    end: watch::Receiver<Option<ExitStatus>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Live,
    Stop,
    End,
}

impl Life {
    pub(super) fn begin(
        process: process::Child,
        word: String,
        guarded: bool,
        log: Option<(pipe::Receiver, Arc<Stderr>)>,
    ) -> io::Result<Self> {
        let id = process.id().ok_or_else(|| io::Error::other("the child ended before it began"))?;
        let process = if guarded { HeldProcess::Guard(process) } else { HeldProcess::Server(process) };
        let log = log.map(|(stderr, log)| tokio::spawn(listen(stderr, log)));
        Ok(Self::held(Held { process, id: Some(id), word }, log))
    }

    /// The life of a command whose guard was forked for it.
    pub(super) fn of_guard(guard: Remote, word: String) -> Self {
        Self::held(Held { process: HeldProcess::Forked(guard), id: None, word }, None)
    }

    fn held(held: Held, log: Option<JoinHandle<()>>) -> Self {
        let (wish, wishes) = watch::channel(Wish::Live);
        let (end, ended) = watch::channel(None);
        let id = held.id;
        tokio::spawn(async move {
            let status = held.live(wishes, log).await;
            let _ = end.send(Some(status));
        });
        Self { id, wish, end: ended }
    }

    /// The number of the server's process, or of its guard's. A guard that was forked tells only its holder.
    pub fn id(&self) -> Option<u32> {
        self.id
    }

    /// Waits until the child has ended, and all it started with it. May be asked again.
    pub async fn ended(&mut self) -> ExitStatus {
        match self.end.wait_for(Option::is_some).await {
            Ok(status) => (*status).unwrap_or_default(),
            // The runtime is going down and took the holder with it, which killed the child.
            Err(_) => ExitStatus::from_raw(Signal::KILL.as_raw()),
        }
    }

    /// Ends the child, whose input should be closed already, and returns when its tree is gone.
    pub async fn stop(mut self) -> ExitStatus {
        let _ = self.wish.send(Wish::Stop);
        self.ended().await
    }

    /// Ends the child without waiting for it to see the end of its input.
    pub async fn end(&mut self) -> ExitStatus {
        let _ = self.wish.send(Wish::End);
        self.ended().await
    }
}

/// Whether there still is a guard, where there was one.
#[derive(Clone, Copy, Debug)]
enum Guard {
    Alive,
    Gone,
}

/// A process, and who leads its tree.
enum HeldProcess {
    /// A server without a guard.
    Server(process::Child),
    /// The guard of a server.
    Guard(process::Child),
    /// The guard of a command, which a fork server is the parent of.
    Forked(Remote),
}

impl HeldProcess {
    /// Waits for its end. May be given up and asked again.
    async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Server(process) | Self::Guard(process) => process.wait().await,
            Self::Forked(guard) => guard.wait().await,
        }
    }

    fn is_guarded(&self) -> bool {
        !matches!(self, Self::Server(_))
    }
}

/// The process as its own task holds it. Its number stays its own until it has been waited for,
/// which happens only here; a forked guard has it for as long as it holds its socket.
struct Held {
    process: HeldProcess,
    id: Option<u32>,
    word: String,
}

impl Held {
    async fn live(mut self, mut wishes: watch::Receiver<Wish>, log: Option<JoinHandle<()>>) -> ExitStatus {
        let ended = tokio::select! {
            ended = self.process.wait() => ended,
            wish = wishes.changed() => {
                // No wish means that nobody holds the child any more, nor its input.
                let waits = wish.is_ok() && *wishes.borrow() == Wish::Stop;
                let patience = if waits { END_OF_INPUT } else { Duration::ZERO };
                self.end(patience).await
            }
        };
        // A guard that ended on its own account left nobody; one that did not was killed.
        if !(self.process.is_guarded() && ended.as_ref().is_ok_and(|status| status.code().is_some())) {
            self.clear(Guard::Gone).await;
        }
        if let Some(mut log) = log
            && timeout(LAST_WORDS, &mut log).await.is_err()
        {
            log.abort();
        }
        // Waiting for one's own child does not fail; if it did, there is no child any more.
        ended.unwrap_or_default()
    }

    async fn end(&mut self, patience: Duration) -> io::Result<ExitStatus> {
        tokio::select! {
            biased;
            ended = self.process.wait() => return ended,
            () = sleep(patience) => self.signal(Signal::TERM),
        }
        tokio::select! {
            biased;
            ended = self.process.wait() => return ended,
            () = sleep(TERM) => {}
        }
        // A guard that is held, or gets no turn on a busy machine, is the only one below whom all of
        // its tree is found. So they end first, and then the guard.
        if self.process.is_guarded() {
            self.clear(Guard::Alive).await;
        }
        self.signal(Signal::KILL);
        self.process.wait().await
    }

    /// The number of the process, once it is known.
    fn pid(&self) -> Option<Pid> {
        let id = match &self.process {
            HeldProcess::Forked(guard) => guard.guard(),
            _ => self.id,
        };
        i32::try_from(id?).ok().and_then(Pid::from_raw)
    }

    /// To a guard alone, who passes it on; to a server without one, with its group.
    fn signal(&mut self, signal: Signal) {
        let pid = self.pid();
        // Whoever is gone needs no signal; one without a number has been waited for.
        let _ = match &mut self.process {
            HeldProcess::Forked(guard) if signal == Signal::TERM => {
                guard.ask_to_end();
                None
            }
            HeldProcess::Forked(_) => pid.map(|pid| kill_process(pid, signal)),
            HeldProcess::Guard(process) => process.id().and(pid).map(|pid| kill_process(pid, signal)),
            HeldProcess::Server(process) => process.id().and(pid).map(|pid| kill_process_group(pid, signal)),
        };
    }

    /// What is left is killed: nothing after a guard that did its work, everything after one that
    /// was killed.
    async fn clear(&self, guard: Guard) {
        let (word, pid, guarded) = (self.word.clone(), self.pid(), self.process.is_guarded());
        let work = move || {
            let none = Tree { mark: &word, root: None, guard: None, leader: None };
            let tree = match guard {
                _ if !guarded => Tree { leader: pid, ..none },
                Guard::Alive => Tree { root: pid, ..none },
                Guard::Gone => Tree { guard: pid, ..none },
            };
            tree.clear(&mut |_, _| {})
        };
        // A look at the whole table of processes, and pauses in it, are not for the runtime's threads.
        if let Ok(false) = tokio::task::spawn_blocking(work).await {
            tracing::warn!(child = ?self.id, "some processes of a server could not be ended");
        }
    }
}

impl Drop for Held {
    /// The runtime goes down with the child still running. A guard does the rest on its own.
    fn drop(&mut self) {
        self.signal(if self.process.is_guarded() { Signal::TERM } else { Signal::KILL });
    }
}

async fn listen(mut from: pipe::Receiver, log: Arc<Stderr>) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(read) = from.read(&mut chunk).await {
        if read == 0 {
            break;
        }
        log.push(&chunk[..read]);
    }
    log.finish();
}
