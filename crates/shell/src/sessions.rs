//! Commands that go on after their call: each belongs to the client that started it and ends with it,
//! unless it was to stay.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::AsyncWriteExt as _,
    net::unix::pipe,
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{
    output::Output,
    running::{CommandEnd, Owner, Running},
};

/// Ended commands of one client whose output can still be asked for.
const MOST_ENDED: usize = 16;
/// How long a session stays untouched whose client cannot be seen leaving.
const MOST_IDLE: Duration = Duration::from_secs(600);

/// One command that goes on.
#[derive(Debug)]
pub struct Session {
    /// Its name.
    pub id: String,
    /// The command as it was given.
    pub command: String,
    /// The directory it started in, as the client names it.
    pub directory: String,
    /// What it says.
    pub stdout: Arc<Output>,
    /// What it says beside that.
    pub stderr: Arc<Output>,
    /// When it began.
    pub began: Instant,
    /// Where the whole of its output can be read.
    pub name: String,
    owner: Owner,
    /// True once its client left and it stayed: it is everybody's.
    left: Mutex<bool>,
    stdin: tokio::sync::Mutex<Option<pipe::Sender>>,
    end: watch::Receiver<Option<CommandEnd>>,
    stop: CancellationToken,
    /// Up to where its output was told.
    told: Mutex<(u64, u64)>,
    touched: Mutex<Instant>,
}

/// What a command becomes a session with.
#[derive(Debug)]
pub struct Stay {
    /// The client.
    pub owner: Owner,
    /// Cancelled when it leaves; `None` where nobody can tell.
    pub left: Option<CancellationToken>,
    /// Whether it stays when its client leaves.
    pub keep: bool,
    /// The command as it was given.
    pub command: String,
    /// The directory it started in.
    pub directory: String,
    /// The name of its output on the disk.
    pub name: String,
    /// Up to where its output was told.
    pub told: (u64, u64),
}

/// All of them. Dropping it ends them.
#[derive(Debug, Default)]
pub struct Sessions {
    all: Arc<Mutex<BTreeMap<u64, Arc<Session>>>>,
    next: AtomicU64,
    end: CancellationToken,
}

impl Sessions {
    /// Lets a command go on.
    pub fn keep(&self, mut running: Running, stay: Stay) -> Arc<Session> {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let (tell, end) = watch::channel(None);
        let session = Arc::new(Session {
            id: format!("sh-{number}"),
            command: stay.command,
            directory: stay.directory,
            stdout: running.stdout.clone(),
            stderr: running.stderr.clone(),
            began: running.began,
            name: stay.name,
            owner: stay.owner,
            left: Mutex::new(false),
            stdin: tokio::sync::Mutex::new(running.stdin.take()),
            end,
            stop: self.end.child_token(),
            told: Mutex::new(stay.told),
            touched: Mutex::new(Instant::now()),
        });
        self.all.lock().insert(number, session.clone());
        let (all, kept) = (Arc::downgrade(&self.all), session.clone());
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = running.ended() => ended,
                () = kept.unwanted(stay.left.clone(), stay.keep) => running.stop().await,
            };
            drop(running);
            *kept.stdin.lock().await = None;
            let _ = tell.send(Some(ended));
            let gone = stay.left.is_some_and(|left| left.is_cancelled());
            if let Some(all) = all.upgrade() {
                let mut all = all.lock();
                if gone && !stay.keep {
                    all.remove(&number);
                }
                forget_oldest(&mut all, &kept.owner);
            }
        });
        session
    }

    /// The one of this name, if it is this client's.
    pub fn find(&self, owner: &Owner, id: &str) -> Option<Arc<Session>> {
        let all = self.all.lock();
        let found = all.values().find(|session| session.id == id && session.is_for(owner)).cloned()?;
        *found.touched.lock() = Instant::now();
        Some(found)
    }

    /// Those of this client, the oldest first.
    pub fn list(&self, owner: &Owner) -> Vec<Arc<Session>> {
        self.all.lock().values().filter(|session| session.is_for(owner)).cloned().collect()
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

fn forget_oldest(all: &mut BTreeMap<u64, Arc<Session>>, owner: &Owner) {
    let ended = all.iter().filter(|(_, one)| one.owner == *owner && one.ended().is_some());
    let ended: Vec<u64> = ended.map(|(number, _)| *number).collect();
    for number in ended.iter().take(ended.len().saturating_sub(MOST_ENDED)) {
        all.remove(number);
    }
}

impl Session {
    fn is_for(&self, owner: &Owner) -> bool {
        self.owner == *owner || *self.left.lock()
    }

    /// Waits until nobody wants it any more.
    async fn unwanted(&self, left: Option<CancellationToken>, keep: bool) {
        let leaves = async {
            match left {
                Some(left) => {
                    left.cancelled().await;
                    if keep {
                        *self.left.lock() = true;
                        std::future::pending::<()>().await;
                    }
                }
                None if keep => std::future::pending().await,
                None => loop {
                    let idle = self.touched.lock().elapsed();
                    if idle >= MOST_IDLE {
                        return;
                    }
                    sleep(MOST_IDLE - idle).await;
                },
            }
        };
        tokio::select! {
            () = leaves => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// How it ended, once it has.
    pub fn ended(&self) -> Option<CommandEnd> {
        *self.end.borrow()
    }

    /// Waits for its end or for something new to tell, for at most this long.
    pub async fn wait(&self, most: Duration) -> Option<CommandEnd> {
        let mut end = self.end.clone();
        let ended = tokio::time::timeout(most, end.wait_for(Option::is_some)).await;
        ended.ok().and_then(Result::ok).and_then(|end| *end)
    }

    /// Ends it with everything it started.
    pub async fn stop(&self) -> Option<CommandEnd> {
        self.stop.cancel();
        self.end.clone().wait_for(Option::is_some).await.ok().and_then(|end| *end)
    }

    /// Writes to its terminal; false where it has none, or it is closed.
    pub async fn write(&self, text: &str) -> bool {
        match &mut *self.stdin.lock().await {
            Some(stdin) => stdin.write_all(text.as_bytes()).await.is_ok(),
            None => false,
        }
    }

    /// Up to where its output was told, and from now on up to here.
    pub fn told(&self, now: Option<(u64, u64)>) -> (u64, u64) {
        let mut told = self.told.lock();
        let before = *told;
        *told = now.unwrap_or(before);
        before
    }
}
