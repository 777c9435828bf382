//! From a task to the server that works on it. Servers are asked to tell of changes of tasks for one
//! subscription of one client, and only as long as that lasts.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::join_all;

use super::{Roster, Source};
use crate::{
    client::{Caller, Following, Notice, Notices},
    link::{Ask, Event, Exchange, NOBODY, acknowledged, own_meta},
    peer::{Peer, Tasks},
    spec::ServerName,
    wire::{Era, Object},
};

/// The tasks of one server: its handle, and each task's id here and there.
type TaskGroup = (Arc<Peer>, Vec<(String, Arc<str>)>);

/// The way from a task to the server that works on it, and from what that tells to the task's client.
pub(crate) struct TaskRoutes {
    pub(super) tasks: Arc<Tasks>,
    pub(super) roster: Arc<Roster>,
    pub(super) notices: Notices,
}

impl TaskRoutes {
    /// The server that works on a task, as where a question about the task goes.
    pub(crate) fn source(&self, id: &str) -> Option<Source> {
        let place = self.tasks.place(id)?;
        let peer = self.roster.peers().get(&place.server)?.clone();
        Some(Source { peer, own: place.own })
    }

    /// The answer of this client's call has gone out: what was told of the task it names follows.
    pub(crate) fn answered(&self, caller: &Caller) {
        let Some(task) = caller.began.get() else { return };
        self.tasks.answered(task).into_iter().for_each(|note| self.notices.send(Notice::Task(note)));
    }

    /// Asks the servers that work on these tasks to tell of them. Ends when each of them has agreed
    /// or refused, at the latest after its `timeout`; gives back the tasks that were agreed to.
    pub(crate) async fn follow(&self, caller: &Caller, ids: &[String]) -> (Vec<String>, Vec<Following>) {
        let mut servers: BTreeMap<ServerName, TaskGroup> = BTreeMap::new();
        for id in ids {
            // A task that nobody knows is not agreed to.
            let Some(source) = self.source(id) else { continue };
            let name = source.peer.spec.name.clone();
            servers.entry(name).or_insert((source.peer, Vec::new())).1.push((id.clone(), source.own));
        }
        let asked = join_all(servers.into_values().map(|group| follow(caller, group))).await;
        let (agreed, following): (Vec<_>, Vec<_>) = asked.into_iter().flatten().unzip();
        (agreed.concat(), following)
    }
}

/// Asks one server, and keeps what it tells coming.
async fn follow(caller: &Caller, (peer, tasks): TaskGroup) -> Option<(Vec<String>, Following)> {
    let agreed = tokio::time::timeout(peer.spec.timeout, agreed(caller, &peer, &tasks));
    let (mut exchange, accepted) = agreed.await.ok()??;
    let told = tasks.into_iter().filter(|(_, own)| accepted.iter().any(|one| **one == **own));
    let told = told.map(|(id, _)| id).collect();
    let following = tokio::spawn(async move {
        // What is told comes the way of everything that belongs to no call.
        loop {
            match exchange.next().await {
                Event::Note { .. } => {}
                Event::Question(question) => drop(exchange.link().reply(&question.id, Err(NOBODY))),
                Event::Answer(_) | Event::Lost(_) => return,
            }
        }
    });
    Some((told, Following::new(following)))
}

/// The subscription at the server, and the tasks it agreed to tell of.
async fn agreed(
    caller: &Caller,
    peer: &Peer,
    tasks: &[(String, Arc<str>)],
) -> Option<(Exchange, Vec<String>)> {
    let link = peer.link(&peer.class(&caller.abilities(), caller.session())).await.ok()?;
    if link.hello().era != Era::Modern {
        return None;
    }
    let ids: Vec<&str> = tasks.iter().map(|(_, own)| &**own).collect();
    let wanted = Object::new().raw("taskIds", &serde_json::to_string(&ids).ok()?).end();
    let meta = own_meta(&caller.declared());
    let params = |_| Object::new().raw("notifications", &wanted).raw("_meta", &meta).end();
    let mut exchange = link.request(Ask::of("subscriptions/listen"), params).ok()?;
    loop {
        match exchange.next().await {
            Event::Note { method, params } if method == "notifications/subscriptions/acknowledged" => {
                let accepted = acknowledged(&params, "taskIds");
                return Some((exchange, accepted));
            }
            Event::Note { .. } => {}
            Event::Question(question) => drop(exchange.link().reply(&question.id, Err(NOBODY))),
            Event::Answer(_) | Event::Lost(_) => return None,
        }
    }
}
