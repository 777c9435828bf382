//! One observer: one session, its copies in order, each with little time. Whatever goes wrong
//! here is counted and told at most once a minute; no call ever hears of it.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::time::{error::Elapsed, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    audit::{self, Interceptor},
    copies::Reader,
    counts::Counts,
    marks::{Marks, with_meta},
    observation::Observation,
    rota::Rota,
    schema::{OBSERVE, observe_of},
};
use crate::{
    federation::Federation,
    link::{Ask, Exchange, Link, Loss, error_parts, headers},
    peer::Peer,
    wire::object::{Members, Object},
};

/// The time one copy may take once there is a connection.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);
/// The time others wait for one that is being told: observers take turns, so that a call which comes
/// meanwhile shares the machine with one of them and not with all.
const TURN: Duration = Duration::from_millis(1);
/// The time an observer may take to say what it is.
pub(super) const DISCOVERY: Duration = Duration::from_secs(5);
/// Before a connection is asked for again that could not be had. The server's own pauses between
/// starts are longer; this one only keeps us from asking all the time.
const RETRY: Duration = Duration::from_secs(1);

/// Said of a server that has interceptors, none of which only looks.
const IDLE: &str = "none of its interceptors only looks";

/// One observer's task.
pub(super) struct Sink {
    pub(super) federation: Arc<Federation>,
    pub(super) peer: Arc<Peer>,
    pub(super) counts: Arc<Counts>,
    pub(super) run: Arc<str>,
    /// The copies that may leave, and the observer whose turn it is.
    pub(super) rota: Arc<Rota>,
    /// Cancelled when no copies are wanted any more.
    pub(super) stop: CancellationToken,
    /// Cancelled when only those are wanted that are there.
    pub(super) last: CancellationToken,
}

/// A connection, and what is told on it.
struct Way {
    link: Arc<Link>,
    observe: Option<String>,
    audits: Vec<Interceptor>,
}

impl Way {
    /// True if nobody there wants to be told: interceptors that have a say are no observers.
    fn is_idle(&self) -> bool {
        self.observe.is_none() && self.audits.is_empty()
    }
}

impl Sink {
    /// Sends copies until it is stopped; one that is on its way then has its time.
    pub(super) async fn run(self, mut reader: Reader) {
        let mut way = None;
        loop {
            let copy = tokio::select! {
                () = self.stop.cancelled() => return,
                copy = self.next(&mut reader, &mut way) => copy,
            };
            let (Some(copy), Some(open)) = (copy, &way) else { return };
            copy.made(!open.audits.is_empty()).await;
            self.deliver(open, &copy).await;
        }
    }

    /// The next copy, when there is one and a connection for it; `None` at the end.
    async fn next(&self, reader: &mut Reader, way: &mut Option<Way>) -> Option<Arc<Observation>> {
        loop {
            let last = self.last.is_cancelled();
            // Connected before there is something to say: the first copy waits for nobody.
            if !self.connected(way).await {
                if last {
                    return None;
                }
                tokio::select! {
                    () = self.last.cancelled() => {}
                    () = tokio::time::sleep(RETRY) => {}
                }
                continue;
            }
            let Some(open) = way else { continue };
            if open.is_idle() {
                // What it has is not for us; another connection may bring something else.
                tokio::select! {
                    () = self.last.cancelled() => return None,
                    () = open.link.closed().cancelled() => {}
                }
                reader.skip();
                continue;
            }
            let idle = self.rota.idle();
            let release = self.rota.release();
            self.discard(reader, release.from);
            if reader.next() >= release.upto {
                if last {
                    return None;
                }
                tokio::select! {
                    () = idle.woken() => {}
                    () = self.last.cancelled() => {}
                    () = open.link.closed().cancelled() => {}
                }
                continue;
            }
            match self.take(reader) {
                None if self.stop.is_cancelled() => return None,
                None => {}
                // What it does itself it knows already; told of it, it might do it again.
                Some(copy) if self.federation.lineage.is_from(copy.call, self.peer.spec.name.as_str()) => {}
                copy => return copy,
            }
        }
    }

    /// Passes over copies before this number.
    fn discard(&self, reader: &mut Reader, from: u64) {
        let first = reader.next();
        while reader.next() < from && reader.take().0.is_some() {}
        let discarded = reader.next() - first;
        if discarded > 0 {
            *self.counts.next() = reader.next();
            self.counts.tally.lock().dropped += discarded;
        }
    }

    /// Takes a copy, unless it was stopped: then another may go on with it.
    fn take(&self, reader: &mut Reader) -> Option<Arc<Observation>> {
        let mut next = self.counts.next();
        if self.stop.is_cancelled() {
            return None;
        }
        let (copy, missed) = reader.take();
        *next = reader.next();
        drop(next);
        if missed > 0 {
            self.counts.tally.lock().dropped += missed;
            let why = format!("{missed} copies were overwritten before its turn came");
            self.counts.warn(self.peer.spec.name.as_str(), &why);
        }
        copy
    }

    /// Sees to it that there is a live connection.
    async fn connected(&self, way: &mut Option<Way>) -> bool {
        if way.as_ref().is_some_and(|way| !way.link.closed().is_cancelled()) {
            return true;
        }
        match open(&self.federation, &self.peer).await {
            Ok(opened) => {
                let idle = opened.is_idle();
                self.counts.idle.store(idle, Ordering::Relaxed);
                if idle {
                    *self.counts.error.lock() = Some(IDLE.into());
                }
                *way = Some(opened);
                true
            }
            Err(why) => {
                self.counts.warn(self.peer.spec.name.as_str(), &why);
                *self.counts.error.lock() = Some(why);
                false
            }
        }
    }

    async fn deliver(&self, way: &Way, copy: &Observation) {
        let patience = PATIENCE.as_millis();
        let marks = Marks { run: &self.run, lineage: &self.federation.lineage };
        // Each is told when its turn has come, not before.
        let observed = way.observe.iter().map(|definition| Told::Observe(definition));
        for told in observed.chain(way.audits.iter().map(Told::Audit)) {
            let turn = self.rota.turn().await;
            let exchange = match told {
                Told::Observe(definition) => observe(&way.link, definition, copy, marks),
                Told::Audit(one) => match audit::tell(&way.link, one, copy, marks, patience) {
                    Some(exchange) => exchange,
                    None => continue,
                },
            };
            let outcome = match exchange {
                Ok(exchange) => in_turn(turn, answer(exchange)).await,
                Err(loss) => Ok(Err(Refusal::Lost(loss))),
            };
            let (counts, name) = (&self.counts, self.peer.spec.name.as_str());
            match outcome {
                Ok(Ok(_)) => counts.tally.lock().sent += 1,
                Ok(Err(Refusal::Said(why))) => counts.failed(|tally| &mut tally.refused, name, why),
                Ok(Err(Refusal::Lost(loss))) => {
                    counts.failed(|tally| &mut tally.lost, name, loss.to_string());
                }
                Err(_) => {
                    let why = format!("it did not answer within {patience} ms");
                    counts.failed(|tally| &mut tally.late, name, why);
                }
            }
        }
    }
}

/// The receiver of a copy at the other end of a connection.
enum Told<'w> {
    Observe(&'w str),
    Audit(&'w Interceptor),
}

/// Waits for an answer as long as a copy may take, and lets others have their turn meanwhile if
/// it does not come at once.
async fn in_turn<T>(turn: impl Sized, answer: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut answer = pin!(answer);
    if let Ok(answered) = timeout(TURN, &mut answer).await {
        return Ok(answered);
    }
    drop(turn);
    timeout(PATIENCE.saturating_sub(TURN), answer).await
}

/// Sends one copy that stands for no call and returns what the observer says to it.
pub(super) async fn trial(
    federation: &Federation,
    peer: &Arc<Peer>,
    copy: &Observation,
) -> Result<(String, Duration), String> {
    let way = open(federation, peer).await?;
    let marks = Marks { run: "trial", lineage: &federation.lineage };
    let told = way.observe.iter().map(|definition| observe(&way.link, definition, copy, marks));
    let audited =
        way.audits.iter().filter_map(|one| audit::tell(&way.link, one, copy, marks, DISCOVERY.as_millis()));
    let Some(exchange) = told.chain(audited).next() else {
        if way.is_idle() {
            return Err(IDLE.into());
        }
        return Err("none of its interceptors wants to know of calls before they are made".into());
    };
    let exchange = exchange.map_err(|loss| loss.to_string())?;
    let started = Instant::now();
    match timeout(DISCOVERY, answer(exchange)).await {
        Ok(Ok(said)) => Ok((said, started.elapsed())),
        Ok(Err(Refusal::Said(why))) => Err(why),
        Ok(Err(Refusal::Lost(loss))) => Err(loss.to_string()),
        Err(_) => Err(format!("it did not answer within {} s", DISCOVERY.as_secs())),
    }
}

/// A connection to an observer, with what it takes. The same one that its other calls use, where
/// there is one: what it learns by watching is what it answers from. Where every client has its
/// own it is nobody's, since it watches all of them and ends with none.
async fn open(federation: &Federation, peer: &Arc<Peer>) -> Result<Way, String> {
    let (abilities, _) = federation.roster.first_client();
    let class = peer.class(&abilities, None);
    let link = peer.link(&class).await.map_err(|fault| fault.message)?;
    peer.cleared(&link, &class, OBSERVE).await.map_err(|fault| fault.message)?;
    let offer = peer.offer();
    let observe = observe_of(&offer).map(str::to_owned);
    let audits = if audit::is_declared(&offer) {
        match timeout(DISCOVERY, audit::list(&link)).await {
            Ok(Ok(audits)) => audits,
            Ok(Err(loss)) => return Err(loss.to_string()),
            Err(_) => return Err("it did not say which interceptors it has".into()),
        }
    } else {
        Vec::new()
    };
    Ok(Way { link, observe, audits })
}

fn observe(
    link: &Arc<Link>,
    definition: &str,
    copy: &Observation,
    marks: Marks<'_>,
) -> Result<Exchange, Loss> {
    let mut arguments = Object::new();
    arguments.text("tool_name", &copy.tool).raw("args", copy.args());
    if let Some(result) = copy.result() {
        arguments.raw("result", result);
    }
    let arguments = arguments.end();
    let headers = headers::of_call(&headers::annotated_schema(definition), &arguments);
    let ask = Ask { name: Some(OBSERVE), headers, ..Ask::of("tools/call") };
    link.request(ask, |_| {
        let mut params = Object::new();
        params.text("name", OBSERVE).raw("arguments", &arguments);
        with_meta(&mut params, link, Some((copy, marks)))
    })
}

/// The reasons why a copy was not taken.
enum Refusal {
    Said(String),
    Lost(Loss),
}

async fn answer(exchange: Exchange) -> Result<String, Refusal> {
    let result = match exchange.answer().await.map_err(Refusal::Lost)? {
        Ok(result) => result,
        Err(error) => {
            let (code, message) = error_parts(&error);
            return Err(Refusal::Said(format!("MCP {code}: {message}")));
        }
    };
    let failed =
        Members::of(result.get()).and_then(|members| members.get("isError").map(|raw| raw.get() == "true"));
    match failed {
        Some(true) => {
            Err(Refusal::Said(format!("it failed: {}", result.get().chars().take(300).collect::<String>())))
        }
        _ => Ok(result.get().to_owned()),
    }
}
