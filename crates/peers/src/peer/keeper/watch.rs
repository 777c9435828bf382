//! What a server is asked to tell of: changes of lists and of watched resources, and logs.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use serde_json::value::RawValue;
use tectum_core::{Fault, FaultKind};
use tokio::task::AbortHandle;

use super::{Awaited, Done, Keeper, pause};
use crate::{
    federation::Failure,
    link::{Ask, Event, Exchange, Link, Loss, modern_meta},
    wire::{
        era::Era,
        object::{Members, Object, raw},
        rpc::code,
    },
};

/// Those who wait for the server's answer to a subscription. Whoever takes them out answers them.
#[derive(Clone, Default)]
struct Waiting(Arc<Mutex<Vec<Awaited>>>);

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
    /// The resources it is about.
    about: BTreeSet<String>,
    task: AbortHandle,
    waiting: Waiting,
}

/// What the server agreed to last, and holds while it is asked for something else.
#[derive(Clone, Default)]
pub(super) struct Standing(Arc<Mutex<Agreed>>);

#[derive(Default)]
struct Agreed {
    /// The number of the last subscription that was agreed to.
    number: u64,
    /// That subscription, while another is asked for.
    listening: Option<Listening>,
}

impl Standing {
    /// A subscription was agreed to: the one before it has had its time.
    fn agree(&self, number: u64) {
        let mut agreed = self.lock();
        *agreed = Agreed { number, listening: None };
    }

    /// Another one is asked for: this one stays if it was agreed to, else it ends.
    fn keep(&self, before: Listening) {
        let mut agreed = self.lock();
        if agreed.number == before.number {
            agreed.listening = Some(before);
        }
    }

    /// Takes out what stands there; with a number, only if it is that one.
    fn take(&self, number: Option<u64>) -> Option<Listening> {
        self.lock().listening.take_if(|held| number.is_none_or(|number| held.number == number))
    }

    /// Nothing holds any more.
    pub(super) fn clear(&self) {
        self.lock().listening = None;
    }

    fn lock(&self) -> MutexGuard<'_, Agreed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Waiting {
    fn add(&self, more: Vec<Awaited>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(more);
    }

    fn take(&self) -> Vec<Awaited> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn refuse(&self, why: impl Fn() -> Failure) {
        for (_, reply) in self.take() {
            let _ = reply.send(Err(why()));
        }
    }
}

impl Keeper {
    /// Lets the server know which resources are watched from now on, if that is new.
    pub(super) fn watch(&mut self) {
        if !std::mem::take(&mut self.unwatched) {
            return;
        }
        let watched = self.around.watchers.at(&self.peer.spec.name);
        let before = std::mem::replace(&mut self.watched, watched);
        let awaited = std::mem::take(&mut self.awaited);
        // What somebody waits for is asked even if it was before: only the server knows whether it
        // still is.
        let waits: BTreeSet<&String> = awaited.iter().map(|(uri, _)| uri).collect();
        let told: Vec<&Arc<Link>> = self
            .links
            .values()
            .map(|(link, _)| link)
            .filter(|link| link.hello().era == Era::Legacy && link.hello().can("resources.subscribe"))
            .collect();
        for link in &told {
            for uri in self.watched.iter().filter(|uri| !before.contains(*uri) && !waits.contains(uri)) {
                tell(link, "resources/subscribe", "uri", uri);
            }
            for uri in before.difference(&self.watched) {
                tell(link, "resources/unsubscribe", "uri", uri);
            }
        }
        if self.links.values().any(|(link, _)| link.hello().era == Era::Modern) {
            return self.listen(awaited);
        }
        for (uri, reply) in awaited {
            let asked = told.iter().map(|link| ask(link, "resources/subscribe", "uri", &uri)).collect();
            tokio::spawn(async move { drop(reply.send(agreed(asked).await)) });
        }
    }

    /// Tells a connection that is new what is watched.
    pub(super) fn watch_on(&mut self, link: &Arc<Link>) {
        if link.hello().era == Era::Modern {
            return self.listen(Vec::new());
        }
        if link.hello().can("resources.subscribe") {
            self.watched.iter().for_each(|uri| tell(link, "resources/subscribe", "uri", uri));
        }
    }

    /// Asks a modern server to tell of changes. What it agreed to before ends when it has agreed to
    /// this, so that nothing is missed in between, and stays when it refuses; who waits for an
    /// answer that has not come waits for this one.
    pub(super) fn listen(&mut self, awaited: Vec<Awaited>) {
        self.listen_again = None;
        // What was refused is asked for again only when somebody waits for it.
        let refused = awaited.is_empty() && self.refused.as_ref() == Some(&self.watched);
        let about = if refused { self.granted.clone() } else { self.watched.clone() };
        let waiting = Waiting::default();
        if let Some(before) = self.listening.take() {
            waiting.add(before.waiting.take());
            self.standing.keep(before);
        }
        waiting.add(awaited);
        let Some((link, _)) = self.links.values().find(|(link, _)| link.hello().era == Era::Modern) else {
            self.standing.clear();
            return waiting.refuse(|| denied("it is not there"));
        };
        let wanted = wanted(link, &about);
        if wanted == "{}" {
            self.standing.clear();
            return waiting.refuse(|| denied("nobody watches this resource"));
        }
        let ask = Ask { method: "subscriptions/listen", name: None, headers: Vec::new(), owner: None };
        let params = |_| {
            let mut meta = Object::new();
            modern_meta(&mut meta, "{}");
            Object::new().raw("notifications", &wanted).raw("_meta", &meta.end()).end()
        };
        let exchange = match link.request(ask, params) {
            Ok(exchange) => exchange,
            Err(loss) => {
                self.standing.clear();
                return waiting.refuse(|| lost(&loss));
            }
        };
        self.listens += 1;
        let (number, asking, standing) = (self.listens, waiting.clone(), self.standing.clone());
        let task = self.work.spawn(async move {
            let end = follow(exchange, asking, || standing.agree(number)).await;
            Done::Unheard { number, end }
        });
        self.listening = Some(Listening { number, about, task, waiting });
    }

    /// A subscription ended by itself: the server is asked again, unless it cannot be. What it
    /// agreed to before goes on.
    pub(super) fn unheard(&mut self, number: u64, end: &End) {
        let Some(ended) = self.listening.take_if(|listening| listening.number == number) else {
            drop(self.standing.take(Some(number)));
            return;
        };
        self.listening = self.standing.take(None);
        if let Some(holds) = self.listening.as_ref().or(Some(&ended).filter(|_| end.agreed)) {
            self.granted.clone_from(&holds.about);
        }
        if end.refused {
            let name = &self.peer.spec.name;
            let less = ended.about != self.granted;
            self.refused = Some(ended.about.clone());
            if self.listening.is_some() {
                return tracing::info!(server = %name, "tells of changes as before, and of no others");
            }
            // It may still tell of less.
            if !less {
                return tracing::info!(server = %name, "does not tell of changes");
            }
        }
        self.unheard_times = if end.agreed { 1 } else { self.unheard_times.saturating_add(1) };
        self.listen_again = Some(Instant::now() + pause(self.unheard_times));
    }
}

/// What is to be told of: everything the server can, and the resources somebody watches.
fn wanted(link: &Link, watched: &BTreeSet<String>) -> String {
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
async fn follow(mut exchange: Exchange, waiting: Waiting, agree: impl Fn()) -> End {
    let mut agreed = false;
    loop {
        match exchange.next().await {
            Event::Note { method, params } if method == "notifications/subscriptions/acknowledged" => {
                agreed = true;
                agree();
                let accepted = accepted(&params);
                for (uri, reply) in waiting.take() {
                    let _ = reply.send(match accepted.contains(&uri) {
                        true => Ok(()),
                        false => Err(denied("it does not tell of changes of this resource")),
                    });
                }
            }
            Event::Note { .. } => {}
            Event::Question(question) => drop(exchange.link().reply(&question.id, Err(NOBODY))),
            Event::Answer(Ok(_)) => {
                waiting.refuse(|| denied("it ended the subscription"));
                return End { agreed, refused: false };
            }
            Event::Answer(Err(error)) => {
                waiting.refuse(|| Failure::Theirs(error.clone()));
                return End { agreed, refused: !agreed };
            }
            Event::Lost(loss) => {
                waiting.refuse(|| lost(&loss));
                return End { agreed, refused: false };
            }
        }
    }
}

/// The error for a question that nobody can be asked.
const NOBODY: &str = r#"{"code":-32601,"message":"nobody can be asked here"}"#;

/// The resources that an acknowledgement names.
fn accepted(params: &RawValue) -> BTreeSet<String> {
    let accepted = Members::of(params.get()).and_then(|members| members.get("notifications"));
    let uris = accepted.and_then(|raw| Members::of(raw.get())?.get("resourceSubscriptions"));
    uris.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
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

fn denied(why: &str) -> Failure {
    let code = code::METHOD_NOT_FOUND.to_string();
    Failure::Theirs(raw(Object::new().raw("code", &code).text("message", why).end()))
}

fn lost(loss: &Loss) -> Failure {
    Failure::Ours(Fault::new(FaultKind::Upstream, loss.to_string()))
}

/// A request with one text in it.
pub(super) fn ask(
    link: &Arc<Link>,
    method: &'static str,
    key: &'static str,
    value: &str,
) -> Result<Exchange, Loss> {
    let ask = Ask { method, name: None, headers: Vec::new(), owner: None };
    link.request(ask, |_| Object::new().text(key, value).end())
}

/// A request whose answer changes nothing for us.
fn tell(link: &Arc<Link>, method: &'static str, key: &'static str, value: &str) {
    if let Ok(exchange) = ask(link, method, key, value) {
        tokio::spawn(async move { drop(exchange.answer().await) });
    }
}
