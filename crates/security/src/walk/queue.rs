//! The work of a walk that waits for a thread, the latest first, so that few folders are open at
//! a time; and the end of the walk, when nothing waits and nothing is being done.

use parking_lot::{Condvar, Mutex};

/// Jobs of one walk, shared by its threads.
pub(super) struct Queue<J> {
    state: Mutex<State<J>>,
    wake: Condvar,
}

struct State<J> {
    jobs: Vec<J>,
    /// Jobs that wait or are being done; the walk is over at zero.
    open: usize,
    /// Threads that wait for a job. To wake nobody costs a system call all the same.
    idle: usize,
    stop: bool,
}

impl<J> Queue<J> {
    pub(super) fn new(first: J) -> Self {
        let state = State { jobs: vec![first], open: 1, idle: 0, stop: false };
        Self { state: Mutex::new(state), wake: Condvar::new() }
    }

    /// How many jobs wait or are being done.
    pub(super) fn open(&self) -> usize {
        self.state.lock().open
    }

    /// A job to be done, waited for while others may still bring some; none at the end.
    pub(super) fn take(&self) -> Option<J> {
        let mut state = self.state.lock();
        loop {
            if state.stop || state.open == 0 {
                return None;
            }
            if let Some(job) = state.jobs.pop() {
                return Some(job);
            }
            state.idle += 1;
            self.wake.wait(&mut state);
            state.idle -= 1;
        }
    }

    /// A job is done, and brought these.
    pub(super) fn done(&self, more: Vec<J>) {
        let mut state = self.state.lock();
        state.open += more.len();
        state.open -= 1;
        state.jobs.extend(more);
        // Whoever brought jobs takes one of them next.
        let wake = state.idle > 0 && (state.open == 0 || state.jobs.len() > 1);
        drop(state);
        if wake {
            self.wake.notify_all();
        }
    }

    /// No job is taken any more.
    pub(super) fn stop(&self) {
        self.state.lock().stop = true;
        self.wake.notify_all();
    }
}
