//! One request of a client's, carried out at a federated server, whatever eras the two speak.
//!
//! | client | server | a question in the middle of the call |
//! |---|---|---|
//! | legacy | legacy | goes to the client under an id of ours, its answer goes back |
//! | modern | modern | is the result; the client asks again and everything passes through |
//! | legacy | modern | is asked on the stream of the call, then the server is asked again |
//! | modern | legacy | is the result; the server's call waits, parked, for the client's next try |

mod asked;

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tectum_core::{Ctx, Fault, FaultKind, ProgressNote};
use tokio::time::Instant;

use super::{ParkedQuestion, Shelf, asking::OpenQuestions, translate};
use crate::{
    client::Caller,
    link::{Ask, Event, Exchange, Link, Loss, TOO_MANY, modern_meta},
    operation::{RequestBegun, TraceContext},
    peer::{Class, Failure, Peer, questions},
    wire::{Era, Members, Object, code, error_object, frame},
};

/// Questions that are put to a client together; a server that asks more is refused them all.
const MOST_QUESTIONS: usize = 32;

/// A request to be carried out.
#[derive(Debug)]
pub(crate) struct Order {
    /// The method.
    pub(crate) method: &'static str,
    /// What it is about, by the server's own name.
    pub(crate) name: Option<String>,
    /// Its parameters but for `_meta` and what belongs to a repeated try, as JSON members.
    pub(crate) params: Vec<(&'static str, Box<RawValue>)>,
    /// Values that stand beside the body where a transport has headers.
    pub(crate) headers: Vec<(String, String)>,
}

/// Carries out one request.
pub(crate) async fn run(
    peer: &Arc<Peer>,
    order: Order,
    caller: &Caller,
    shelf: &Shelf,
    ctx: Option<&Ctx>,
) -> Result<Box<RawValue>, Failure> {
    let patience = caller.patience(peer.spec.timeout);
    let end = patience.map(|patience| Instant::now() + patience);
    let class = peer.class(&caller.abilities(), caller.session());
    let mut carried = Carried {
        peer,
        class,
        order,
        caller,
        shelf,
        ctx,
        end,
        round: 0,
        repeated: false,
        asked_too_much: false,
    };
    let begun = async {
        let seat = peer.seat().await?;
        let exchange = match carried.resumed()? {
            Some(exchange) => exchange,
            None => carried.begin().await?,
        };
        Ok::<_, Failure>((seat, exchange))
    };
    let begun = tokio::select! {
        biased;
        begun = begun => begun,
        () = tokio::time::sleep_until(end.unwrap_or_else(Instant::now)), if end.is_some() => {
            Err(too_late(peer, patience).into())
        }
    };
    let (seat, exchange) = begun?;
    let done = carried.follow(exchange).await;
    drop(seat);
    done
}

/// Said in time to a client that would give up without a reason.
fn too_late(peer: &Peer, patience: Option<Duration>) -> Fault {
    let (name, seconds) = (&peer.spec.name, patience.unwrap_or_default().as_secs());
    let message = format!(
        "{name} has not answered within {seconds} s; the client waits no longer, so the call was cancelled"
    );
    Fault::new(FaultKind::Timeout, message).hint(
        "whether the call had an effect is not known: look before calling again, and ask for less at once",
    )
}

/// The next step of a call that asked something.
enum Step {
    /// It has a result for its client.
    Done(Box<RawValue>),
    /// It goes on without an answer.
    GoOn(Exchange),
}

struct Carried<'a> {
    peer: &'a Arc<Peer>,
    class: Class,
    order: Order,
    caller: &'a Caller,
    shelf: &'a Shelf,
    ctx: Option<&'a Ctx>,
    /// When it has to be answered.
    end: Option<Instant>,
    round: usize,
    /// Set when the server refused the session of the first try.
    repeated: bool,
    /// Set when the server asked more than is put to a client together: it asks nothing further in
    /// this call, so that no person is shown what is left of a flood.
    asked_too_much: bool,
}

impl Carried<'_> {
    /// Sends the request. A connection that was found dead before anything left is replaced once.
    async fn begin(&self) -> Result<Exchange, Failure> {
        let link = self.cleared_link().await?;
        match self.send(&link, None, None) {
            Ok(exchange) => Ok(exchange),
            Err(Loss::Gone(_)) => {
                let link = self.cleared_link().await?;
                self.send(&link, None, None).map_err(|loss| self.lost(&loss))
            }
            Err(loss) => Err(self.lost(&loss)),
        }
    }

    /// A connection. A tool is called on it only as it was approved.
    async fn cleared_link(&self) -> Result<Arc<Link>, Failure> {
        let link = self.peer.link(&self.class).await?;
        if let Some(tool) = self.order.name.as_deref().filter(|_| self.order.method == "tools/call") {
            self.peer.cleared(&link, &self.class, tool).await?;
        }
        Ok(link)
    }

    fn send(&self, link: &Arc<Link>, input: Option<&str>, state: Option<&str>) -> Result<Exchange, Loss> {
        let modern = link.hello().era == Era::Modern;
        let caller = self.caller;
        let operation = caller.operation.as_ref().map(|operation| operation.begin(self.begun(link)));
        let context = operation.as_ref().map(|operation| operation.context()).unwrap_or_default();
        let beside = context.fields().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let ask = Ask {
            method: self.order.method,
            name: self.order.name.as_deref(),
            headers: self.order.headers.iter().cloned().chain(beside).collect(),
            owner: Some(caller.key()),
            operation,
        };
        link.request(ask, |id| {
            let mut params = Object::new();
            for (key, value) in &self.order.params {
                params.raw(key, value.get());
            }
            if modern {
                let own = caller.input.as_ref().filter(|_| caller.era == Era::Modern);
                if let Some(input) = input.or(own.map(|raw| raw.get())) {
                    params.raw("inputResponses", input);
                }
                if let Some(state) = state.or(caller.state.as_deref().filter(|_| own.is_some())) {
                    params.text("requestState", state);
                }
            }
            let mut meta = Object::new();
            caller.travelling(&mut meta, &self.peer.lineage, &context);
            if caller.token.is_some() || self.ctx.is_some_and(|ctx| ctx.progress.wanted()) {
                meta.raw("progressToken", &id.to_string());
            }
            if modern {
                modern_meta(&mut meta, &caller.declared());
                let level = match caller.era {
                    Era::Modern => caller.level.as_deref(),
                    Era::Legacy => Some(caller.level.as_deref().unwrap_or("info")),
                };
                if let Some(level) = level {
                    meta.text("io.modelcontextprotocol/logLevel", level);
                }
            }
            let meta = meta.end();
            if meta != "{}" {
                params.raw("_meta", &meta);
            }
            params.end()
        })
    }

    /// The request as telemetry sees it.
    fn begun<'b>(&'b self, link: &'b Link) -> RequestBegun<'b> {
        RequestBegun {
            method: self.order.method,
            subject: self.order.name.as_deref(),
            id: None,
            session: None,
            version: Some(&link.hello().version),
            pipe: link.process().is_some(),
            server: Some(self.peer.spec.name.as_str()),
            context: TraceContext::default(),
        }
    }

    /// Follows a request to its end.
    async fn follow(&mut self, exchange: Exchange) -> Result<Box<RawValue>, Failure> {
        let mut asking = OpenQuestions::default();
        let done = self.follow_and_ask(exchange, &mut asking).await;
        asking.end().await;
        done
    }

    async fn follow_and_ask(
        &mut self,
        mut exchange: Exchange,
        asking: &mut OpenQuestions,
    ) -> Result<Box<RawValue>, Failure> {
        let quiet = self.peer.spec.timeout;
        let mut until = Instant::now() + quiet;
        loop {
            // While a person is asked the server is not the one who is slow.
            let asks = asking.len() > 0;
            let event = tokio::select! {
                biased;
                event = exchange.next() => event,
                () = asking.next(), if asks => {
                    until = Instant::now() + quiet;
                    continue;
                }
                () = tokio::time::sleep_until(until), if !asks => return Err(self.late(quiet).into()),
                () = tokio::time::sleep_until(self.end.unwrap_or(until)), if self.end.is_some() => {
                    return Err(too_late(self.peer, self.caller.patience(quiet)).into());
                }
            };
            until = Instant::now() + quiet;
            let event = match event {
                Event::Question(asked) => match self.shown(&exchange, asked)? {
                    Some(asked) => Event::Question(asked),
                    None => continue,
                },
                event => event,
            };
            match event {
                Event::Note { method, params } => self.note(&method, &params).await,
                Event::Question(asked) if !self.caller.can(&asked.method) => {
                    let why = format!("{}: the client cannot do this", asked.method);
                    let error = error_object(code::METHOD_NOT_FOUND, &why);
                    exchange.link().reply(&asked.id, Err(&error)).map_err(|loss| self.lost(&loss))?;
                }
                Event::Question(asked) if self.asked_too_much || asking.len() >= MOST_QUESTIONS => {
                    exchange.link().reply(&asked.id, Err(TOO_MANY)).map_err(|loss| self.lost(&loss))?;
                }
                Event::Question(asked) if self.caller.era == Era::Legacy => {
                    let Some(client) = self.caller.client.clone() else { continue };
                    asking.ask(client, self.caller.outbox.clone(), exchange.link().clone(), asked);
                }
                Event::Question(asked) => {
                    let first = ParkedQuestion::new(1, asked);
                    match self.brought(&first) {
                        Some(answer) => {
                            let link = exchange.link();
                            link.reply(&first.asked.id, Ok(&answer)).map_err(|loss| self.lost(&loss))?;
                        }
                        None => match self.park(exchange, first).await? {
                            Step::Done(result) => return Ok(result),
                            Step::GoOn(next) => exchange = next,
                        },
                    }
                }
                Event::Answer(Ok(result)) => {
                    let theirs = exchange.link().hello().era;
                    if theirs == Era::Modern && self.caller.era == Era::Legacy {
                        match translate::input_required(&result) {
                            Some(input) => {
                                exchange = self.ask_and_retry(exchange.link().clone(), input).await?;
                                until = Instant::now() + quiet;
                                continue;
                            }
                            None => return Ok(translate::to_legacy(result)),
                        }
                    }
                    return match (theirs, self.caller.era) {
                        (Era::Legacy, Era::Modern) => Ok(translate::to_modern(self.order.method, result)),
                        (Era::Modern, Era::Modern) => questions::in_result(&self.peer.spec.name, result)
                            .map_err(|why| self.refused(&why)),
                        _ => Ok(result),
                    };
                }
                Event::Answer(Err(error)) => return Err(self.theirs(error)),
                // A restarted server knows nothing of the session and did not look at the request.
                Event::Lost(Loss::Refused(_)) if !self.repeated => {
                    self.repeated = true;
                    exchange = self.begin().await?;
                    until = Instant::now() + quiet;
                }
                Event::Lost(loss) => return Err(self.lost(&loss)),
            }
        }
    }

    /// Passes a notification on.
    async fn note(&self, method: &str, params: &RawValue) {
        let Some(members) = Members::of(params.get()) else { return };
        if method == "notifications/progress" {
            if let Some(ctx) = self.ctx.filter(|_| self.caller.token.is_none()) {
                ctx.progress.note(progress_note(&members));
            }
            if let Some(pulse) = &self.caller.pulse {
                return self.caller.tell(pulse.note(&members)).await;
            }
            let Some(token) = &self.caller.token else { return };
            let mut params = Object::new();
            params.raw("progressToken", token).all(&members.keep(|name| name != "progressToken"));
            return self.caller.tell(frame::notification(method, &params.end())).await;
        }
        if self.caller.wants(&members.text("level").unwrap_or_default()) {
            self.caller.tell(frame::notification(method, params.get())).await;
        }
    }

    fn late(&self, quiet: Duration) -> Fault {
        let name = &self.peer.spec.name;
        Fault::new(
            FaultKind::Timeout,
            format!("{name} was silent for {} s and the call was cancelled", quiet.as_secs()),
        )
        .hint(format!(
            "its `timeout` can be raised below [servers.{name}]; whether the call had an effect is not known"
        ))
    }

    fn lost(&self, loss: &Loss) -> Failure {
        let fault = self.peer.fault(loss);
        Failure::Ours(match loss {
            Loss::Gone(_) | Loss::Cut(_) | Loss::Flooding(_) if self.order.method == "tools/call" => {
                fault.hint("the server went away during the call: whether it had an effect is not known; look before calling again")
            }
            _ => fault,
        })
    }
}

fn progress_note(members: &Members<'_>) -> ProgressNote {
    let number = |key: &str| members.get(key).and_then(|raw| raw.get().parse::<f64>().ok());
    let whole = |number: f64| number.max(0.0) as u64;
    ProgressNote {
        done: number("progress").map_or(0, whole),
        total: number("total").map(whole),
        message: members.text("message").unwrap_or_default(),
    }
}
