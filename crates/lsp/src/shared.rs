//! The state that a session shares with the tasks that hold its server's pipes: the documents, the
//! pending questions, and why it ended.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tectum_child::visible::visible;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Report, Trouble, answers,
    documents::{Documents, Known},
    greeting::folder,
    message::{self, AGAIN, Incoming, Refusal},
    report::Given,
    spec::{Asked, Spec},
    uri,
};

/// The most bytes in the queue to the server: several of the largest texts.
const MOST_QUEUED: usize = 64 * 1024 * 1024;
/// The delay before a retry of a request that something newer cancelled.
const ASK_AGAIN: Duration = Duration::from_millis(50);
/// The most characters of a server's message about a refusal.
const MOST_WORDS: usize = 300;

/// The state that a session shares with the tasks that hold its pipes.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) state: Mutex<SessionState>,
    /// A counter that rises with new diagnostics and when the server ends.
    news: watch::Sender<u64>,
    out: mpsc::UnboundedSender<Vec<u8>>,
    pub(crate) queued: AtomicUsize,
    /// Cancelled to end the server.
    pub(crate) end: CancellationToken,
    pub(crate) settings: Value,
    pub(crate) folders: Value,
}

#[derive(Debug)]
pub(crate) struct SessionState {
    documents: Documents,
    asked: HashMap<u64, oneshot::Sender<Result<Bytes, Refusal>>>,
    next: u64,
    pub(crate) used: Instant,
    /// Why the server has ended, or is being ended, and since when.
    pub(crate) over: Option<(Trouble, Instant)>,
}

impl Shared {
    /// The state of a new session: no questions, no documents. Its messages go into `out`.
    pub(crate) fn new(spec: &Spec, out: mpsc::UnboundedSender<Vec<u8>>) -> Self {
        Self {
            state: Mutex::new(SessionState {
                documents: Documents::default(),
                asked: HashMap::new(),
                next: 0,
                used: Instant::now(),
                over: None,
            }),
            news: watch::channel(0).0,
            out,
            queued: AtomicUsize::new(0),
            end: CancellationToken::new(),
            settings: spec.settings.clone(),
            folders: spec.roots.iter().map(|root| folder(root)).collect(),
        }
    }

    /// Puts a message into the queue; the server sees messages in the order of the queue.
    pub(crate) fn send(&self, frame: Vec<u8>) -> Result<(), Trouble> {
        if self.queued.fetch_add(frame.len(), Ordering::Relaxed) > MOST_QUEUED {
            return Err(self.give_up(Trouble::Stuck));
        }
        self.out.send(frame).map_err(|_| self.give_up(Trouble::Stuck))
    }

    /// Records why the server ends and notifies everybody who waits. The first reason counts.
    pub(crate) fn give_up(&self, why: Trouble) -> Trouble {
        let mut state = self.state.lock();
        let why = state.over.get_or_insert_with(|| (why, Instant::now())).0.clone();
        state.asked.clear();
        drop(state);
        self.end.cancel();
        self.news.send_modify(|count| *count += 1);
        why
    }

    /// Sends a request and waits for the answer. Dropping the wait cancels the request.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<Result<Bytes, Refusal>, Trouble> {
        let (tell, told) = oneshot::channel();
        let id = {
            let mut state = self.state.lock();
            if let Some((why, _)) = &state.over {
                return Err(why.clone());
            }
            state.next += 1;
            let id = state.next;
            state.asked.insert(id, tell);
            id
        };
        let _question = Question { shared: self, id };
        self.send(message::request(id, method, params))?;
        told.await.map_err(|_| self.give_up(Trouble::Died("it never answered".into())))
    }

    pub(crate) fn bring(
        self: &Arc<Self>,
        asked: &Asked,
        changed: &[PathBuf],
        pulled: bool,
    ) -> Result<(i64, Waiting), Trouble> {
        let mut state = self.state.lock();
        if let Some((why, _)) = &state.over {
            return Err(why.clone());
        }
        state.used = Instant::now();
        let (version, messages) = state.documents.bring(asked, changed, pulled);
        // Under the lock: the messages of two questions must not mix in the queue.
        let queued: usize = messages.iter().map(Vec::len).sum();
        let full = self.queued.fetch_add(queued, Ordering::Relaxed) > MOST_QUEUED;
        let sent = !full && messages.into_iter().all(|message| self.out.send(message).is_ok());
        drop(state);
        let waiting = Waiting { shared: self.clone(), path: asked.path.clone() };
        if sent { Ok((version, waiting)) } else { Err(self.give_up(Trouble::Stuck)) }
    }

    /// Closes a document that must be opened again, and waits until the server has sent its
    /// diagnostics for a closed document, so that nobody takes them for an answer.
    pub(crate) async fn close_unversioned(&self, path: &Path, most: Duration) -> Result<(), Trouble> {
        let closing = self.state.lock().documents.close_unversioned(path);
        let Some(closing) = closing else { return Ok(()) };
        self.send(closing)?;
        // No server knows this method, and each refuses it when it has processed everything before it.
        let refused = self.request("tectum/barrier", &Value::Null);
        match timeout(most, refused).await {
            Ok(Err(why)) => Err(why),
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }

    /// Requests the diagnostics. The request follows the text in the queue, so the answer is about it.
    pub(crate) async fn pull(&self, path: &Path) -> Result<Report, Trouble> {
        #[derive(Deserialize)]
        struct Full {
            #[serde(default)]
            items: Vec<Given>,
        }
        let params = json!({ "textDocument": { "uri": uri::of_path(path) } });
        loop {
            match self.request("textDocument/diagnostic", &params).await? {
                Err(refusal) if AGAIN.contains(&refusal.code) => sleep(ASK_AGAIN).await,
                Err(refusal) => return Err(refused(&refusal)),
                Ok(told) => {
                    let full: Full = serde_json::from_slice(&told).map_err(|_| {
                        self.give_up(Trouble::Nonsense("findings that nobody can read".into()))
                    })?;
                    return Ok(Report::of(full.items));
                }
            }
        }
    }

    /// Waits for the diagnostics that the server publishes for this version.
    pub(crate) async fn told(&self, path: &Path, version: i64, settle: Duration) -> Result<Report, Trouble> {
        let mut news = self.news.subscribe();
        loop {
            news.borrow_and_update();
            let known = {
                let state = self.state.lock();
                if let Some((why, _)) = &state.over {
                    return Err(why.clone());
                }
                state.documents.known(path, version, settle)
            };
            match known {
                Known::Final(report) => return Ok(report),
                Known::Nothing => _ = news.changed().await,
                Known::Unless(until) => {
                    tokio::select! {
                        _ = news.changed() => {}
                        () = sleep_until(until) => {}
                    }
                }
            }
        }
    }

    /// Handles one message of the server.
    pub(crate) fn take(&self, body: &Bytes) -> Result<(), Trouble> {
        let nonsense = |what: &str| Trouble::Nonsense(what.to_owned());
        let incoming: Incoming<'_> =
            serde_json::from_slice(body).map_err(|_| nonsense("something that is no message"))?;
        match (incoming.method, incoming.id) {
            (Some(method), Some(id)) => {
                let answer = answers::answer(&method, incoming.params, &self.settings, &self.folders);
                self.send(message::answer(id, &answer))
            }
            (Some(method), None) => {
                if let ("textDocument/publishDiagnostics", Some(params)) = (&*method, incoming.params) {
                    let taken = self.state.lock().documents.published(params);
                    taken.map_err(|_| nonsense("findings that nobody can read"))?;
                    self.news.send_modify(|count| *count += 1);
                }
                Ok(())
            }
            (None, Some(id)) => {
                // An answer that nobody waits for is late, and dropped.
                let asked = id.get().parse().ok().and_then(|id: u64| self.state.lock().asked.remove(&id));
                if let Some(tell) = asked {
                    let result = incoming
                        .result
                        .map_or(Bytes::from_static(b"null"), |raw| body.slice_ref(raw.get().as_bytes()));
                    let _ = tell.send(incoming.error.map_or(Ok(result), Err));
                }
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// Returns when the server has been idle for this long.
    pub(crate) async fn idle(&self, most: Duration) {
        loop {
            let until = {
                let state = self.state.lock();
                let busy = state.documents.waiting() > 0 || !state.asked.is_empty();
                if busy { Instant::now() + most } else { state.used + most }
            };
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

/// A question that waits; once it is dropped, the document may be closed.
pub(crate) struct Waiting {
    shared: Arc<Shared>,
    path: PathBuf,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.documents.leave(&self.path);
        state.used = Instant::now();
    }
}

/// A request without an answer yet.
struct Question<'s> {
    shared: &'s Shared,
    id: u64,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let unanswered = self.shared.state.lock().asked.remove(&self.id).is_some();
        if unanswered {
            let _ = self.shared.send(message::notification("$/cancelRequest", &json!({ "id": self.id })));
        }
    }
}

pub(crate) fn refused(refusal: &Refusal) -> Trouble {
    Trouble::Refused(visible(&refusal.message).chars().take(MOST_WORDS).collect())
}
