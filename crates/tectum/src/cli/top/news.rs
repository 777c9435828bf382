//! What running Tectums tell: a thread follows the events of each, another finds those that come and go.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tectum::houses;

use super::super::{
    asked::AskedHere,
    options::Shared,
    questions::waiting,
    status::{asked, folders},
};

/// The interval at which Tectums are looked for.
const LOOK: Duration = Duration::from_secs(2);
/// The longest time until questions are asked for again though no event tells of any.
const QUESTIONS: Duration = Duration::from_secs(20);

/// Something to show.
#[derive(Debug)]
pub(super) enum News {
    /// The Tectums that run, by their sockets, with what each says of itself.
    Houses(Vec<(PathBuf, Option<Value>)>),
    /// The questions that wait.
    Questions(Vec<AskedHere>),
    /// An event of the Tectum at this socket.
    Event(PathBuf, Value),
    /// A sentence for the person.
    Note(String),
}

/// Gathers news until nobody hears them.
pub(super) fn gather(shared: &Shared, tell: &mpsc::Sender<News>) {
    let folders = folders(shared);
    let tell = tell.clone();
    thread::spawn(move || {
        let (wake, woken) = mpsc::sync_channel(1);
        let followed: Arc<Mutex<HashSet<PathBuf>>> = Arc::default();
        let mut asked_at: Option<Instant> = None;
        let mut stale = true;
        loop {
            let sockets = houses::running(&folders);
            for socket in &sockets {
                if followed.lock().unwrap_or_else(PoisonError::into_inner).insert(socket.clone()) {
                    stale = true;
                    let (socket, tell, wake) = (socket.clone(), tell.clone(), wake.clone());
                    let followed = followed.clone();
                    thread::spawn(move || {
                        follow(&socket, &tell, &wake);
                        followed.lock().unwrap_or_else(PoisonError::into_inner).remove(&socket);
                    });
                }
            }
            if tell.send(News::Houses(asked("/api/house", &sockets))).is_err() {
                return;
            }
            if stale || asked_at.is_none_or(|at| at.elapsed() > QUESTIONS) {
                asked_at = Some(Instant::now());
                if tell.send(News::Questions(waiting(&sockets))).is_err() {
                    return;
                }
            }
            stale = woken.recv_timeout(LOOK).is_ok();
        }
    });
}

/// Passes the events of one Tectum on until it ends.
fn follow(socket: &Path, tell: &mpsc::Sender<News>, wake: &mpsc::SyncSender<()>) {
    let Ok(lines) = houses::follow(socket, "/api/events/stream") else { return };
    for line in lines {
        let Ok(line) = line else { return };
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let Ok(event) = serde_json::from_str::<Value>(data) else { continue };
        if event["kind"].as_str().is_some_and(|kind| kind.starts_with("question.")) {
            // One waiting call to look is enough.
            let _ = wake.try_send(());
        }
        if tell.send(News::Event(socket.to_owned(), event)).is_err() {
            return;
        }
    }
}
