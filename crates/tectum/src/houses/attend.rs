//! A house at its sockets: the kernel is asked for the user of whoever comes, who is answered then.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use tectum_approval::Surface;
use tectum_peers::serve::{Beside, LineServer};
use tokio::{
    io::AsyncWriteExt as _,
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use super::{Door, join::GREETING};
use crate::{hooks::Hooks, reload::Look};

/// Connections at the same time; more wait.
const MOST: usize = 64;
/// The time that the ends of relays' calls may take.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// The pause when the system has no descriptor for a connection.
const NO_DESCRIPTORS: Duration = Duration::from_millis(10);

/// A house at its sockets, for as long as this is kept.
#[derive(Debug)]
pub struct Attending {
    stop: CancellationToken,
    task: AbortOnDropHandle<()>,
    /// Whoever opens `tectum top` sees the questions that wait, so there is somebody to wait for.
    _surface: Option<Surface>,
}

/// What answers at the sockets.
pub(crate) struct DoorAnswers {
    /// The hook API.
    pub(crate) hooks: Hooks,
    /// MCP, for relays.
    pub(crate) server: LineServer,
    /// Makes sure that the settings are those of now.
    pub(crate) look: Look,
    /// True if questions wait for whoever comes; false if they wait only once somebody came.
    pub(crate) asks: bool,
}

impl Attending {
    /// Begins. Must be called in a runtime.
    pub(crate) fn new(door: Door, answering: DoorAnswers) -> Self {
        let stop = CancellationToken::new();
        let surface = answering.asks.then(|| answering.hooks.desk().attach());
        let task = tokio::spawn(attend(door, answering, stop.clone()));
        Self { stop, task: AbortOnDropHandle::new(task), _surface: surface }
    }

    /// Removes the sockets and leaves the clients of relays to other houses.
    pub async fn end(self) {
        self.stop.cancel();
        let _ = tokio::time::timeout(LAST_WORDS, self.task).await;
    }
}

async fn attend(door: Door, answering: DoorAnswers, stop: CancellationToken) {
    let mut asked = JoinSet::new();
    let (relays, leave) = (TaskTracker::new(), CancellationToken::new());
    let serving = answer(&door, &answering, &mut asked, &relays, &leave);
    let ended = tokio::select! {
        () = stop.cancelled() => None,
        Err(error) = serving => Some(error),
    };
    if let Some(error) = ended {
        tracing::warn!(%error, "`tectum status` and its neighbours do not reach this process");
    }
    // Relays look for another house at once, and must not find this one.
    drop(door);
    leave.cancel();
    relays.close();
    relays.wait().await;
}

async fn answer(
    door: &Door,
    DoorAnswers { hooks, server, look, .. }: &DoorAnswers,
    asked: &mut JoinSet<()>,
    relays: &TaskTracker,
    leave: &CancellationToken,
) -> io::Result<Infallible> {
    let api = UnixListener::from_std(door.api.try_clone()?)?;
    let mcp = door.mcp.as_ref().map(|mcp| UnixListener::from_std(mcp.try_clone()?)).transpose()?;
    let free = Arc::new(Semaphore::new(MOST));
    // Most houses are never asked anything: the routes are made for the first who comes.
    let mut beside: Option<Beside> = None;
    loop {
        let place = free.clone().acquire_owned().await.map_err(io::Error::other)?;
        while asked.try_join_next().is_some() {}
        tokio::select! {
            stream = next(Some(&api)) => if let Some(stream) = stream {
                let beside = beside.get_or_insert_with(|| hooks.clone().beside()).clone();
                asked.spawn(async move {
                    beside.serve(stream).await;
                    drop(place);
                });
            },
            stream = next(mcp.as_ref()) => if let Some(stream) = stream {
                let (server, look, stop) = (server.clone(), look.clone(), leave.child_token());
                relays.spawn(async move {
                    if let Err(error) = relayed(stream, &server, &look, stop).await {
                        tracing::debug!(%error, "a relay ended early");
                    }
                    drop(place);
                });
            },
        }
    }
}

/// Serves the client of a relay, under the settings as they are now.
async fn relayed(
    mut stream: UnixStream,
    server: &LineServer,
    look: &Look,
    stop: CancellationToken,
) -> io::Result<()> {
    look.now().await;
    stream.write_all(GREETING).await?;
    server.relayed(stream, stop).await
}

/// The next connection of this user.
async fn next(listener: Option<&UnixListener>) -> Option<UnixStream> {
    let Some(listener) = listener else { return std::future::pending().await };
    match listener.accept().await {
        Ok((stream, _)) => {
            let user = stream.peer_cred().ok()?.uid();
            (user == rustix::process::geteuid().as_raw()).then_some(stream)
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(NO_DESCRIPTORS).await;
            None
        }
    }
}
