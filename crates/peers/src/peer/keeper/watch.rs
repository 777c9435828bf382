//! The subscriptions at a server: changes of lists and of watched resources, and logs.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use parking_lot::Mutex;
use tectum_core::{Fault, FaultKind};
use tokio::task::{AbortHandle, JoinSet};

use super::{links::Links, pauses::pause};
use crate::{
    link::{Ask, Event, Exchange, Link, Loss, NOBODY, acknowledged, own_meta},
    peer::{Failure, Watchers, handle::Awaited},
    spec::ServerName,
    wire::{Era, Object, code, error_object, raw},
};

/// The resources that a server is asked to tell of, and how far it has agreed.
#[derive(Default)]
pub(super) struct ResourceWatch {
    /// The set that the server was told last, and the dirty flag: there may be another one.
    watched: BTreeSet<String>,
    dirty: bool,
    /// Callers that await the server's acknowledgement.
    awaited: Vec<Awaited>,
    /// The subscription of the newer era that was asked for last.
    listening: Option<Listening>,
    agreed: LastAgreed,
    /// The set that the server acknowledged last, and the one it refused.
    granted: BTreeSet<String>,
    refused: Option<BTreeSet<String>>,
    /// The number of subscriptions, the number that ended by themselves one after the other, and the
    /// time of the next retry.
    subscriptions: u64,
    failures: u32,
    retry: Option<Instant>,
    /// The subscriptions that are followed, by their numbers.
    work: JoinSet<(u64, End)>,
}

/// Callers that await the acknowledgement of a subscription. Whoever takes them out answers them.
#[derive(Clone, Default)]
struct AwaitingCallers(Arc<Mutex<Vec<Awaited>>>);

/// The end of a subscription of the newer era by itself.
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
    waiting: AwaitingCallers,
}

/// The subscription that was acknowledged last. It holds while another one is asked for.
#[derive(Clone, Default)]
pub(super) struct LastAgreed(Arc<Mutex<Agreed>>);

#[derive(Default)]
struct Agreed {
    /// The number of the last subscription that was agreed to.
    number: u64,
    /// That subscription, while another is asked for.
    listening: Option<Listening>,
}

impl LastAgreed {
    /// A subscription was agreed to: the one before it has had its time.
    fn agree(&self, number: u64) {
        let mut agreed = self.0.lock();
        *agreed = Agreed { number, listening: None };
    }

    /// Another one is asked for: this one stays if it was agreed to, else it ends.
    fn keep(&self, before: Listening) {
        let mut agreed = self.0.lock();
        if agreed.number == before.number {
            agreed.listening = Some(before);
        }
    }

    /// Takes out what stands there; with a number, only if it is that one.
    fn take(&self, number: Option<u64>) -> Option<Listening> {
        self.0.lock().listening.take_if(|held| number.is_none_or(|number| held.number == number))
    }

    /// Nothing holds any more.
    pub(super) fn clear(&self) {
        self.0.lock().listening = None;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl AwaitingCallers {
    fn add(&self, more: Vec<Awaited>) {
        self.0.lock().extend(more);
    }

    fn take(&self) -> Vec<Awaited> {
        std::mem::take(&mut self.0.lock())
    }

    fn refuse(&self, why: impl Fn() -> Failure) {
        for (_, reply) in self.take() {
            let _ = reply.send(Err(why()));
        }
    }
}

impl ResourceWatch {
    /// The next subscription that ended by itself; `None` while there is none.
    pub(super) async fn next(&mut self) -> Option<(u64, End)> {
        loop {
            if let Ok(ended) = self.work.join_next().await? {
                return Some(ended);
            }
        }
    }

    /// When the server is asked again.
    pub(super) fn due(&self) -> Option<Instant> {
        self.retry
    }

    /// Clients may watch other resources now, and one may await the server's agreement.
    pub(super) fn changed(&mut self, awaited: Option<Awaited>) {
        self.dirty = true;
        self.awaited.extend(awaited);
    }

    /// Lets the server know which resources are watched from now on, if that is new.
    pub(super) fn sync(&mut self, server: &ServerName, watchers: &Watchers, links: &Links) {
        if !std::mem::take(&mut self.dirty) {
            return;
        }
        let watched = watchers.at(server);
        let before = std::mem::replace(&mut self.watched, watched);
        let awaited = std::mem::take(&mut self.awaited);
        // What somebody waits for is asked even if it was before: only the server knows whether it
        // still is.
        let waits: BTreeSet<&String> = awaited.iter().map(|(uri, _)| uri).collect();
        let told: Vec<&Arc<Link>> = links.all().filter(|link| can_subscribe(link)).collect();
        for link in &told {
            for uri in self.watched.iter().filter(|uri| !before.contains(*uri) && !waits.contains(uri)) {
                tell(link, "resources/subscribe", "uri", uri);
            }
            for uri in before.difference(&self.watched) {
                tell(link, "resources/unsubscribe", "uri", uri);
            }
        }
        if links.modern().is_some() {
            return self.listen(links, awaited);
        }
        for (uri, reply) in awaited {
            let asked = told.iter().map(|link| ask(link, "resources/subscribe", "uri", &uri)).collect();
            tokio::spawn(async move { drop(reply.send(agreed(asked).await)) });
        }
    }

    /// Tells a connection that is new what is watched.
    pub(super) fn connected(&mut self, link: &Arc<Link>, links: &Links) {
        if link.hello().era == Era::Modern {
            self.listen(links, Vec::new());
        } else if can_subscribe(link) {
            self.watched.iter().for_each(|uri| tell(link, "resources/subscribe", "uri", uri));
        }
    }

    /// There is no connection any more.
    pub(super) fn disconnected(&mut self) {
        self.clear();
        (self.retry, self.refused) = (None, None);
    }

    /// Nothing is asked for any more.
    pub(super) fn clear(&mut self) {
        self.listening = None;
        self.agreed.clear();
    }

    /// Asks a modern server to tell of changes. What it agreed to before ends when it has agreed to
    /// this, so that nothing is missed in between, and stays when it refuses; who waits for an
    /// answer that has not come waits for this one.
    pub(super) fn listen(&mut self, links: &Links, awaited: Vec<Awaited>) {
        self.retry = None;
        // What was refused is asked for again only when somebody waits for it.
        let refused = awaited.is_empty() && self.refused.as_ref() == Some(&self.watched);
        let about = if refused { self.granted.clone() } else { self.watched.clone() };
        let waiting = AwaitingCallers::default();
        if let Some(before) = self.listening.take() {
            waiting.add(before.waiting.take());
            self.agreed.keep(before);
        }
        waiting.add(awaited);
        let Some(link) = links.modern() else {
            self.agreed.clear();
            return waiting.refuse(|| denied("it is not there"));
        };
        let wanted = wanted(link, &about);
        if wanted == "{}" {
            self.agreed.clear();
            return waiting.refuse(|| denied("nobody watches this resource"));
        }
        let params = |_| Object::new().raw("notifications", &wanted).raw("_meta", &own_meta("{}")).end();
        let exchange = match link.request(Ask::of("subscriptions/listen"), params) {
            Ok(exchange) => exchange,
            Err(loss) => {
                self.agreed.clear();
                return waiting.refuse(|| lost(&loss));
            }
        };
        self.subscriptions += 1;
        let (number, asking, last) = (self.subscriptions, waiting.clone(), self.agreed.clone());
        let task =
            self.work.spawn(async move { (number, follow(exchange, asking, || last.agree(number)).await) });
        self.listening = Some(Listening { number, about, task, waiting });
    }

    /// A subscription ended by itself: the server is asked again, unless it cannot be. What it
    /// agreed to before goes on.
    pub(super) fn ended(&mut self, server: &ServerName, (number, end): (u64, End)) {
        let Some(ended) = self.listening.take_if(|listening| listening.number == number) else {
            drop(self.agreed.take(Some(number)));
            return;
        };
        self.listening = self.agreed.take(None);
        if let Some(holds) = self.listening.as_ref().or(Some(&ended).filter(|_| end.agreed)) {
            self.granted.clone_from(&holds.about);
        }
        if end.refused {
            let less = ended.about != self.granted;
            self.refused = Some(ended.about.clone());
            if self.listening.is_some() {
                return tracing::info!(%server, "tells of changes as before, and of no others");
            }
            // It may still tell of less.
            if !less {
                return tracing::info!(%server, "does not tell of changes");
            }
        }
        self.failures = if end.agreed { 1 } else { self.failures.saturating_add(1) };
        self.retry = Some(Instant::now() + pause(self.failures));
    }
}

/// True for a connection of the older era whose server takes subscriptions.
fn can_subscribe(link: &Link) -> bool {
    link.hello().era == Era::Legacy && link.hello().can("resources.subscribe")
}

/// The wanted notifications: all the server can send, and those of watched resources.
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
async fn follow(mut exchange: Exchange, waiting: AwaitingCallers, agree: impl Fn()) -> End {
    let mut agreed = false;
    loop {
        match exchange.next().await {
            Event::Note { method, params } if method == "notifications/subscriptions/acknowledged" => {
                agreed = true;
                agree();
                let accepted = acknowledged(&params, "resourceSubscriptions");
                for (uri, reply) in waiting.take() {
                    let denial = || Err(denied("it does not tell of changes of this resource"));
                    let _ = reply.send(if accepted.contains(&uri) { Ok(()) } else { denial() });
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

/// The answer of a server of the older era on all its connections: one that agreed is enough.
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
    Failure::Theirs(raw(error_object(code::METHOD_NOT_FOUND, why)))
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
    link.request(Ask::of(method), |_| Object::new().text(key, value).end())
}

/// A request whose answer changes nothing for us.
fn tell(link: &Arc<Link>, method: &'static str, key: &'static str, value: &str) {
    if let Ok(exchange) = ask(link, method, key, value) {
        tokio::spawn(async move { drop(exchange.answer().await) });
    }
}
