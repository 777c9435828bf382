//! Following tasks: the servers that work on them are asked to tell of their changes, for one
//! subscription of one client, and only as long as that lasts.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::join_all;
use serde_json::value::RawValue;
use tokio::task::AbortHandle;

use super::{Caller, Federation};
use crate::{
    link::{Ask, Event, Exchange, modern_meta},
    peer::Peer,
    spec::ServerName,
    wire::{
        era::Era,
        object::{Members, Object},
    },
};

/// The error for a question on a stream that nobody answers on.
const NOBODY: &str = r#"{"code":-32601,"message":"nobody can be asked here"}"#;

/// A server tells of tasks. Letting go of this ends that.
#[derive(Debug)]
pub(crate) struct Following(AbortHandle);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The tasks of one server: its handle, and each task's id here and there.
type Group = (Arc<Peer>, Vec<(String, Arc<str>)>);

impl Federation {
    /// Asks the servers that work on these tasks to tell of them. Ends when each of them has agreed
    /// or refused, at the latest after its `timeout`; gives back the tasks that were agreed to.
    pub(crate) async fn follow_tasks(
        &self,
        caller: &Caller,
        ids: &[String],
    ) -> (Vec<String>, Vec<Following>) {
        let mut servers: BTreeMap<ServerName, Group> = BTreeMap::new();
        for id in ids {
            // A task that nobody knows is not agreed to.
            let Some(source) = self.task(id) else { continue };
            let name = source.peer.spec.name.clone();
            servers.entry(name).or_insert((source.peer, Vec::new())).1.push((id.clone(), source.own));
        }
        let asked = join_all(servers.into_values().map(|group| follow(caller, group))).await;
        let (agreed, following): (Vec<_>, Vec<_>) = asked.into_iter().flatten().unzip();
        (agreed.concat(), following)
    }
}

/// Asks one server, and keeps what it tells coming.
async fn follow(caller: &Caller, (peer, tasks): Group) -> Option<(Vec<String>, Following)> {
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
    Some((told, Following(following.abort_handle())))
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
    let ask = Ask { method: "subscriptions/listen", name: None, headers: Vec::new(), owner: None };
    let asked = link.request(ask, |_| {
        let mut meta = Object::new();
        modern_meta(&mut meta, &caller.declared());
        Object::new().raw("notifications", &wanted).raw("_meta", &meta.end()).end()
    });
    let mut exchange = asked.ok()?;
    loop {
        match exchange.next().await {
            Event::Note { method, params } if method == "notifications/subscriptions/acknowledged" => {
                let accepted = accepted(&params);
                return Some((exchange, accepted));
            }
            Event::Note { .. } => {}
            Event::Question(question) => drop(exchange.link().reply(&question.id, Err(NOBODY))),
            Event::Answer(_) | Event::Lost(_) => return None,
        }
    }
}

/// The tasks that an acknowledgement names.
fn accepted(params: &RawValue) -> Vec<String> {
    let accepted = Members::of(params.get()).and_then(|members| members.get("notifications"));
    let ids = accepted.and_then(|raw| Members::of(raw.get())?.get("taskIds"));
    ids.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
