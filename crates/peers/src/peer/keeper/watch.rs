//! What a server is asked to tell of: changes of lists and of watched resources, and logs.

use std::{sync::Arc, time::Instant};

use serde_json::value::RawValue;
use tectum_core::{Fault, FaultKind};
use tokio::{sync::oneshot, task::AbortHandle};

use super::{Done, Keeper, pause};
use crate::{
    federation::Failure,
    link::{Ask, Event, Exchange, Link, Loss, modern_meta},
    wire::{
        era::Era,
        object::{Members, Object, raw},
        rpc::code,
    },
};

/// Who waits to hear that a resource is watched, and which.
pub(super) type Awaited = (String, oneshot::Sender<Result<(), Failure>>);

/// How a subscription of the newer era ended by itself.
pub(super) struct End {
    /// The server had agreed to it.
    agreed: bool,
    /// The server does not do such a thing.
    refused: bool,
}

/// A subscription of the newer era. Letting go of it ends it.
pub(super) struct Listening {
    number: u64,
    task: AbortHandle,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Keeper {
    /// Lets the server know which resources are watched from now on.
    pub(super) fn watch(&mut self, uris: Vec<String>, awaited: Option<Awaited>) {
        let before = std::mem::replace(&mut self.watched, uris);
        let mut asked = Vec::new();
        for (link, _) in self.links.values().filter(|(link, _)| link.hello().era == Era::Legacy) {
            if !link.hello().can("resources.subscribe") {
                continue;
            }
            for uri in &self.watched {
                match &awaited {
                    // It is asked even if it was before: only the server knows whether it still is.
                    Some((wanted, _)) if wanted == uri => {
                        asked.push(ask(link, "resources/subscribe", "uri", uri));
                    }
                    _ if before.contains(uri) => {}
                    _ => tell(link, "resources/subscribe", "uri", uri),
                }
            }
            for uri in before.iter().filter(|uri| !self.watched.contains(uri)) {
                tell(link, "resources/unsubscribe", "uri", uri);
            }
        }
        if self.links.values().any(|(link, _)| link.hello().era == Era::Modern) {
            return self.listen(awaited);
        }
        if let Some((_, reply)) = awaited {
            tokio::spawn(async move { drop(reply.send(agreed(asked).await)) });
        }
    }

    /// Tells a connection that is new what is watched.
    pub(super) fn watch_on(&mut self, link: &Arc<Link>) {
        if link.hello().era == Era::Modern {
            return self.listen(None);
        }
        if link.hello().can("resources.subscribe") {
            self.watched.iter().for_each(|uri| tell(link, "resources/subscribe", "uri", uri));
        }
    }

    /// Asks a modern server to tell of changes. What it was asked before ends when it has agreed,
    /// so that nothing is missed in between.
    pub(super) fn listen(&mut self, awaited: Option<Awaited>) {
        self.listen_again = None;
        let before = self.listening.take();
        let Some((link, _)) = self.links.values().find(|(link, _)| link.hello().era == Era::Modern) else {
            return;
        };
        let wanted = wanted(link, &self.watched);
        if wanted == "{}" {
            return;
        }
        let ask = Ask { method: "subscriptions/listen", name: None, headers: Vec::new(), owner: None };
        let params = |_| {
            let mut meta = Object::new();
            modern_meta(&mut meta, "{}");
            Object::new().raw("notifications", &wanted).raw("_meta", &meta.end()).end()
        };
        let exchange = match link.request(ask, params) {
            Ok(exchange) => exchange,
            Err(loss) => return refuse(awaited, lost(&loss)),
        };
        self.listens += 1;
        let number = self.listens;
        let task = self.work.spawn(async move {
            let end = follow(exchange, before, awaited).await;
            Done::Unheard { number, end }
        });
        self.listening = Some(Listening { number, task });
    }

    /// A subscription ended by itself: the server is asked again, unless it cannot be.
    pub(super) fn unheard(&mut self, number: u64, end: &End) {
        if self.listening.as_ref().is_none_or(|listening| listening.number != number) {
            return;
        }
        self.listening = None;
        if end.refused {
            tracing::info!(server = %self.peer.spec.name, "does not tell of changes");
            return;
        }
        self.unheard_times = if end.agreed { 1 } else { self.unheard_times.saturating_add(1) };
        self.listen_again = Some(Instant::now() + pause(self.unheard_times));
    }
}

/// What is to be told of: everything the server can, and the resources somebody watches.
fn wanted(link: &Link, watched: &[String]) -> String {
    let mut wanted = Object::new();
    for (capability, key) in [
        ("tools.listChanged", "toolsListChanged"),
        ("prompts.listChanged", "promptsListChanged"),
        ("resources.listChanged", "resourcesListChanged"),
    ] {
        if link.hello().can(capability) {
            wanted.raw(key, "true");
        }
    }
    if !watched.is_empty() {
        wanted.raw("resourceSubscriptions", &serde_json::to_string(watched).unwrap_or_default());
    }
    wanted.end()
}

/// Follows a subscription to its end.
async fn follow(mut exchange: Exchange, mut before: Option<Listening>, mut awaited: Option<Awaited>) -> End {
    let mut agreed = false;
    loop {
        match exchange.next().await {
            Event::Note { method, params } if method == "notifications/subscriptions/acknowledged" => {
                agreed = true;
                drop(before.take());
                if let Some((uri, reply)) = awaited.take() {
                    let _ = reply.send(match accepts(&params, &uri) {
                        true => Ok(()),
                        false => Err(denied("it does not tell of changes of this resource")),
                    });
                }
            }
            Event::Note { .. } => {}
            Event::Question(question) => drop(exchange.link().reply(&question.id, Err(NOBODY))),
            Event::Answer(Ok(_)) => {
                refuse(awaited, denied("it ended the subscription"));
                return End { agreed, refused: false };
            }
            Event::Answer(Err(error)) => {
                refuse(awaited, Failure::Theirs(error));
                return End { agreed, refused: !agreed };
            }
            Event::Lost(loss) => {
                refuse(awaited, lost(&loss));
                return End { agreed, refused: false };
            }
        }
    }
}

/// The error for a question that nobody can be asked.
const NOBODY: &str = r#"{"code":-32601,"message":"nobody can be asked here"}"#;

/// True when an acknowledgement names this resource.
fn accepts(params: &RawValue, uri: &str) -> bool {
    let accepted = Members::of(params.get()).and_then(|members| members.get("notifications"));
    let uris = accepted.and_then(|raw| Members::of(raw.get())?.get("resourceSubscriptions"));
    let uris = uris.and_then(|raw| serde_json::from_str::<Vec<String>>(raw.get()).ok());
    uris.unwrap_or_default().iter().any(|accepted| accepted == uri)
}

/// What a server of the older era said on all its connections: one that agreed is enough.
async fn agreed(asked: Vec<Result<Exchange, Loss>>) -> Result<(), Failure> {
    let mut said = Err(denied("it does not tell of changes of resources"));
    for exchange in asked {
        let answer = match exchange {
            Ok(exchange) => exchange.answer().await,
            Err(loss) => Err(loss),
        };
        match answer {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => said = Err(Failure::Theirs(error)),
            Err(loss) => said = Err(lost(&loss)),
        }
    }
    said
}

fn refuse(awaited: Option<Awaited>, why: Failure) {
    if let Some((_, reply)) = awaited {
        let _ = reply.send(Err(why));
    }
}

fn denied(why: &str) -> Failure {
    let code = code::METHOD_NOT_FOUND.to_string();
    Failure::Theirs(raw(Object::new().raw("code", &code).text("message", why).end()))
}

fn lost(loss: &Loss) -> Failure {
    Failure::Ours(Fault::new(FaultKind::Upstream, loss.to_string()))
}

pub(super) fn set_level(link: &Arc<Link>, level: &str) {
    if link.hello().era == Era::Legacy && link.hello().can("logging") {
        tell(link, "logging/setLevel", "level", level);
    }
}

fn ask(link: &Arc<Link>, method: &'static str, key: &'static str, value: &str) -> Result<Exchange, Loss> {
    let ask = Ask { method, name: None, headers: Vec::new(), owner: None };
    link.request(ask, |_| Object::new().text(key, value).end())
}

/// A request whose answer changes nothing for us.
fn tell(link: &Arc<Link>, method: &'static str, key: &'static str, value: &str) {
    if let Ok(exchange) = ask(link, method, key, value) {
        tokio::spawn(async move { drop(exchange.answer().await) });
    }
}
