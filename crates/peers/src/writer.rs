//! Writing to the disk beside whoever answers clients: jobs run one after the other, in their order,
//! on a thread where waiting costs nobody anything.

use std::{
    collections::VecDeque,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::{runtime::Handle, sync::watch};

type Job = Box<dyn FnOnce() + Send>;

/// The jobs of one federation. A job that was not begun gives its place to the next one for the same
/// file, so that there are never more than there are files.
#[derive(Default)]
pub(crate) struct Writer {
    jobs: Mutex<Jobs>,
    idle: watch::Sender<bool>,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<(PathBuf, Job)>,
    running: bool,
}

impl Writer {
    /// Has a job done soon. Without a runtime it is done at once.
    pub(crate) fn submit(self: &Arc<Self>, file: &Path, job: impl FnOnce() + Send + 'static) {
        let mut jobs = self.jobs.lock();
        match jobs.waiting.iter_mut().find(|(other, _)| other == file) {
            Some((_, waiting)) => *waiting = Box::new(job),
            None => jobs.waiting.push_back((file.to_owned(), Box::new(job))),
        }
        if std::mem::replace(&mut jobs.running, true) {
            return;
        }
        drop(jobs);
        self.idle.send_replace(false);
        let writer = self.clone();
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || writer.work())),
            Err(_) => writer.work(),
        }
    }

    /// Waits until all jobs so far are done.
    pub(crate) async fn flushed(&self) {
        let mut idle = self.idle.subscribe();
        while self.jobs.lock().running {
            if idle.changed().await.is_err() {
                return;
            }
        }
    }

    fn work(&self) {
        loop {
            let mut jobs = self.jobs.lock();
            let Some((_, job)) = jobs.waiting.pop_front() else {
                jobs.running = false;
                drop(jobs);
                self.idle.send_replace(true);
                return;
            };
            drop(jobs);
            // A job that panics must not take the others with it.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("waiting", &self.jobs.lock().waiting.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn jobs_keep_their_order_and_the_newest_for_a_file_counts() {
        let writer = Arc::new(Writer::default());
        let (done, begun) = (Arc::new(Mutex::new(Vec::new())), Arc::new(std::sync::Barrier::new(2)));
        let note = |word: &'static str| {
            let done = done.clone();
            move || done.lock().push(word)
        };
        let begin = begun.clone();
        writer.submit(Path::new("first"), move || {
            begin.wait();
        });
        // The first is at work or about to be; what follows waits.
        writer.submit(Path::new("a"), note("old a"));
        writer.submit(Path::new("b"), note("b"));
        writer.submit(Path::new("a"), note("a"));
        writer.submit(Path::new("c"), || panic!("one job"));
        writer.submit(Path::new("d"), note("d"));
        tokio::task::spawn_blocking(move || begun.wait()).await.expect("met");
        writer.flushed().await;
        assert_eq!(*done.lock(), ["a", "b", "d"]);
        writer.flushed().await;
    }
}
