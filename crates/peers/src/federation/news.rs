//! What servers' tasks tell, and what clients may want to know of it.

use std::sync::Weak;

use tokio::sync::mpsc;

use super::{Caller, Federation, TaskNote, compose::Told};
use crate::peer::News;

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
pub(super) async fn hear(federation: Weak<Federation>, mut news: mpsc::UnboundedReceiver<News>) {
    while let Some(item) = news.recv().await {
        let Some(federation) = federation.upgrade() else { return };
        match item {
            News::Offer => {
                // Several servers often come up together; one composition serves them all.
                let mut others = Vec::new();
                while let Ok(next) = news.try_recv() {
                    if !matches!(next, News::Offer) {
                        others.push(next);
                    }
                }
                federation.recompose(Told::Everybody);
                for other in others {
                    federation.tell(other);
                }
            }
            other => federation.tell(other),
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
            News::Offer => return,
            News::Updated { server, uri } => Notice::Updated(self.goods().exposed(&server, &uri)),
            News::ElicitationDone { params } => Notice::ElicitationDone(params),
            News::Task { server, params } => match self.tasks.told(server, &params) {
                Some(note) => Notice::Task(note),
                None => return,
            },
        };
        let _ = self.notices.send(notice);
    }
}
