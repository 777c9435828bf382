//! The thread that waits for the disk: all records that were written since it last looked share one sync.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::watch;

/// When records are synced to the disk. All of them survive the end of the process, whatever ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Before the call is answered; calls in flight share a sync. Nothing is lost in a power cut.
    Always,
    /// Several times a second: a power cut loses less than a second.
    #[default]
    Interval,
    /// When the system does it: a power cut may lose half a minute.
    Off,
}

/// How long records may wait for their sync where nobody waits for it.
const INTERVAL: Duration = Duration::from_millis(200);
/// A segment and the folders it is in, down to the user's state: all of their names may be new.
const NEW_FOLDERS: usize = 4;

/// What was written and is not synced.
#[derive(Debug)]
pub(crate) struct Syncer {
    policy: SyncPolicy,
    state: Mutex<Unsynced>,
    wake: Condvar,
    /// The number of the last record that is synced.
    synced: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Unsynced {
    /// The files to sync, and the path of one that is new.
    files: Vec<(Arc<File>, Option<PathBuf>)>,
    /// The number of the last record that was written.
    written: u64,
    thread: Option<JoinHandle<()>>,
    stopped: bool,
    /// Why the last sync failed.
    trouble: Option<String>,
    /// The number of syncs so far.
    syncs: u64,
    last: LastSync,
}

/// What the last sync tells about the next one.
#[derive(Clone, Copy, Debug, Default)]
struct LastSync {
    records: u64,
    took: Duration,
}

impl Syncer {
    pub(crate) fn new(policy: SyncPolicy) -> Arc<Self> {
        Arc::new(Self {
            policy,
            state: Mutex::default(),
            wake: Condvar::new(),
            synced: watch::Sender::new(0),
        })
    }

    /// Notes that a record was written to this file, whose name is new if there is a path. The number
    /// that is returned can be waited for.
    pub(crate) fn note(self: &Arc<Self>, file: &Arc<File>, new: Option<PathBuf>) -> u64 {
        if self.policy == SyncPolicy::Off {
            return 0;
        }
        let mut state = self.state.lock();
        state.written += 1;
        let waited_for = state.files.is_empty();
        match state.files.iter_mut().find(|(noted, _)| Arc::ptr_eq(noted, file)) {
            Some((_, path)) => *path = path.take().or(new),
            None => state.files.push((file.clone(), new)),
        }
        if state.thread.is_none() && !state.stopped {
            state.thread = self.start();
        }
        if state.thread.is_none() {
            // Nobody else would sync it.
            self.sync(&mut state);
        } else if waited_for || state.written - *self.synced.borrow() == state.last.records {
            self.wake.notify_one();
        }
        state.written
    }

    /// True if a call waits for the disk.
    pub(crate) fn waits(&self) -> bool {
        self.policy == SyncPolicy::Always
    }

    /// Waits until a record is on the disk, where the settings want that.
    pub(crate) async fn wait(&self, number: u64) {
        if self.waits() {
            // It fails only without a sender, and this is one.
            let _ = self.synced.subscribe().wait_for(|synced| *synced >= number).await;
        }
    }

    /// Why records may not be on the disk although they were written.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.state.lock().trouble.clone()
    }

    /// How often the disk was waited for.
    pub(crate) fn syncs(&self) -> u64 {
        self.state.lock().syncs
    }

    /// Syncs the rest and ends the thread.
    pub(crate) fn stop(&self) {
        let thread = {
            let mut state = self.state.lock();
            state.stopped = true;
            state.thread.take()
        };
        self.wake.notify_one();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    fn start(self: &Arc<Self>) -> Option<JoinHandle<()>> {
        let syncer = self.clone();
        let spawned = std::thread::Builder::new().name("journal".into()).spawn(move || syncer.run());
        spawned.inspect_err(|error| tracing::warn!(%error, "the journal has no thread of its own")).ok()
    }

    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            while state.files.is_empty() && !state.stopped {
                self.wake.wait(&mut state);
            }
            if state.files.is_empty() {
                return;
            }
            let is_gathered = |state: &Unsynced| match self.policy {
                SyncPolicy::Always => state.written - *self.synced.borrow() >= state.last.records,
                SyncPolicy::Interval | SyncPolicy::Off => false,
            };
            // Callers that the last sync let go are about to call again: one sync for all of them is
            // quicker than one for the first and another for the rest.
            let patience = if self.waits() { state.last.took / 2 } else { INTERVAL };
            let until = Instant::now() + patience;
            while !state.stopped && !is_gathered(&state) {
                if self.wake.wait_until(&mut state, until).timed_out() {
                    break;
                }
            }
            self.sync(&mut state);
        }
    }

    /// Syncs what was written so far; others may write meanwhile.
    fn sync(&self, state: &mut MutexGuard<'_, Unsynced>) {
        let (files, written) = (std::mem::take(&mut state.files), state.written);
        let began = Instant::now();
        let synced = MutexGuard::unlocked(state, || files.iter().try_for_each(sync_one));
        if let Err(error) = &synced {
            tracing::error!(%error, "the journal is not on the disk");
        }
        state.trouble = synced.err().map(|error| error.to_string());
        state.syncs += 1;
        let before = self.synced.send_replace(written);
        state.last = LastSync { records: written - before, took: began.elapsed() };
    }
}

fn sync_one((file, new): &(Arc<File>, Option<PathBuf>)) -> io::Result<()> {
    file.sync_data()?;
    let names = new.iter().flat_map(|path| path.ancestors().take(NEW_FOLDERS));
    names.into_iter().try_for_each(tectum_state::sync_folder)
}
