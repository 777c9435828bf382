//! What servers' tasks tell, and what clients may want to know of it.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use futures_util::FutureExt as _;
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep_until},
};

use super::{Caller, Federation, TaskNote, compose::Told, questions};
use crate::{peer::News, wire::object::raw};

/// Until what servers offer is put together again, for each of them: while thousands come, that
/// would be done all the time.
const FOR_EACH: Duration = Duration::from_micros(200);

/// Something all clients may want to know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Notice {
    /// The list of tools changed. The registry tells of that itself.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed.
    Resources,
    /// A resource changed, by any of these names.
    Updated(Vec<String>),
    /// A question put to a person elsewhere was answered there.
    ElicitationDone(String),
    /// A task is in another state; that concerns only whose it is.
    Task(TaskNote),
}

/// Takes what the servers' tasks tell.
pub(super) async fn hear(federation: Weak<Federation>, offers: Arc<Notify>, mut news: mpsc::Receiver<News>) {
    let mut next = Instant::now();
    loop {
        let item = tokio::select! {
            // What is told of a resource that is new comes after the resource.
            biased;
            () = async { sleep_until(next).await; offers.notified().await } => None,
            item = news.recv() => match item {
                Some(item) => Some(item),
                None => return,
            },
        };
        let Some(federation) = federation.upgrade() else { return };
        if item.is_none() || offers.notified().now_or_never().is_some() {
            let servers = federation.peers.load().len();
            let composing = federation.clone();
            // Several servers often come up together; one composition serves them all. It may be of
            // thousands of tools, so it is made beside those who call some. It fails only if it panicked.
            let _ = tokio::task::spawn_blocking(move || composing.recompose(Told::Everybody)).await;
            next = Instant::now() + FOR_EACH * u32::try_from(servers).unwrap_or(u32::MAX);
        }
        if let Some(news) = item {
            federation.tell(news);
        }
    }
}

impl Federation {
    /// Tells that a resource changed, by any of these names.
    pub(super) fn tell_updated(&self, names: Vec<String>) {
        // Nobody may be listening.
        let _ = self.notices.send(Notice::Updated(names));
    }

    /// The answer of this client's call has gone out: what was told of the task it names follows.
    pub(crate) fn answered(&self, caller: &Caller) {
        let Some(task) = caller.began.get() else { return };
        for note in self.tasks.answered(task) {
            let _ = self.notices.send(Notice::Task(note));
        }
    }

    fn tell(&self, news: News) {
        let notice = match news {
            News::Updated { server, uri } => Notice::Updated(self.goods().exposed(&server, &uri)),
            News::ElicitationDone { params } => Notice::ElicitationDone(params),
            News::Task { server, params, room } => {
                let named = questions::in_result(&server, raw(params));
                let Ok(params) =
                    named.inspect_err(|why| tracing::warn!(%server, why, "a task is not told of"))
                else {
                    return;
                };
                match self.tasks.told(server, params.get(), room) {
                    Some(note) => Notice::Task(note),
                    None => return,
                }
            }
        };
        let _ = self.notices.send(notice);
    }
}
