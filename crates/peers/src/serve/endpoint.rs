//! The methods of an MCP server, for both eras and every transport.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use serde_json::value::RawValue;
use tectum_approval::Desk;
use tectum_core::Tectum;
use tokio_util::sync::CancellationToken;

use super::{
    Opening, Running, Turn, Turns,
    approval::open::{MARK, NextTry},
    catalogue::{self, Catalogue},
};
use crate::{
    client::{CallSeat, Caller, Conversation, Form, LEVELS, Outbox, Refused},
    federation::{Federation, Shelf},
    operation::Operation,
    wire::{
        Era, Members, Message, Pages, Params, Request, code, era, frame,
        rpc::{self, Malformed},
    },
};

/// The outcome of handling a message.
pub(crate) enum Handled {
    /// The answer was written.
    Answered,
    /// The answer comes when this ends; an empty one is not sent.
    Running(Running),
    /// A subscription began. Its first message was written, or comes when this ends.
    Listening(Option<Box<Opening>>),
    /// No answer is due.
    Silent,
}

/// Tectum as an MCP server, whatever carries the messages.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) house: Tectum,
    pub(crate) federation: Arc<Federation>,
    catalogue: Arc<Catalogue>,
    met: Arc<AtomicBool>,
    /// The desk where people are asked.
    pub(super) desk: Arc<Desk>,
    /// What waits for the next try of a modern client.
    pub(super) next_tries: Arc<Shelf<NextTry>>,
}

/// One message's surroundings.
pub(crate) struct Delivery<'d> {
    /// Who sent it.
    pub(crate) from: &'d Arc<Conversation>,
    /// The queue for messages of its call.
    pub(crate) outbox: Option<&'d Outbox>,
    /// The turns that calls of our own tools take.
    pub(crate) turns: &'d Turns,
    /// Set by a transport that knows the request to be of the newer era.
    pub(crate) modern: bool,
    /// Set by a transport that has read further calls of the same client already.
    pub(crate) ahead: bool,
}

/// One request of a client, in its era.
#[derive(Clone, Copy)]
pub(super) struct ClientRequest<'r> {
    pub(super) delivery: &'r Delivery<'r>,
    pub(super) request: &'r Request<'r>,
    pub(super) era: Era,
    /// Its measurement, if it is measured.
    pub(super) operation: Option<&'r Arc<dyn Operation>>,
}

impl Endpoint {
    /// A server for this house, and for the servers federated with it.
    pub(crate) fn new(house: Tectum, federation: Arc<Federation>) -> Self {
        Self {
            desk: Desk::of(&house),
            house,
            federation,
            catalogue: Arc::default(),
            met: Arc::default(),
            next_tries: Arc::new(Shelf::new(MARK)),
        }
    }

    /// The form of results for the client of a request.
    pub(super) fn form(&self, from: &Conversation, params: &Params<'_>) -> Form {
        let asked = params.meta.as_ref().and_then(|meta| meta.structured).map(RawValue::get);
        let asked = asked.and_then(|asked| asked.parse().ok());
        self.federation.forms().form(from.name(), from.facts(), asked)
    }

    /// Handles one message; an answer that is there at once is written to `out`.
    pub(crate) fn handle(&self, delivery: &Delivery<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Handled {
        match rpc::read(bytes) {
            Ok(Message::Request(request)) => self.request(delivery, &request, out, None),
            Ok(Message::Notification { method, params }) => {
                self.notification(delivery.from, &method, &params);
                Handled::Silent
            }
            Ok(Message::Response(response)) => {
                delivery.from.answered(&response);
                Handled::Silent
            }
            Err(Malformed { id, code, message }) => {
                frame::error(out, id.as_deref(), code, &message, None);
                Handled::Answered
            }
        }
    }

    /// Answers one request. It waits for the servers that it is about, unless they were waited for.
    pub(super) fn answer(
        &self,
        delivery: &Delivery<'_>,
        request: &Request<'_>,
        out: &mut Vec<u8>,
        operation: Option<&Arc<dyn Operation>>,
        waits: bool,
    ) -> Handled {
        let Request { id, method, params, .. } = request;
        let required = delivery.modern || method == "server/discover";
        let era = match Era::of(params.meta.as_ref(), required) {
            Ok(era) => era,
            Err(bad) => {
                frame::error(out, Some(id), bad.code, &bad.message, bad.data.as_deref());
                return Handled::Answered;
            }
        };
        if let Some(info) = params.client_info.or(params.meta.as_ref().and_then(|meta| meta.client_info)) {
            delivery.from.introduce(info);
        }
        // A call is refused where it is recorded.
        if method != "tools/call" && delivery.from.is_in_flight(id) {
            let (code, message) = Refused::DuplicateId.error();
            return refuse(out, id, code, message);
        }
        if let Err(message) = input_is_whole(params) {
            return refuse(out, id, code::INVALID_PARAMS, message);
        }
        let asked = ClientRequest { delivery, request, era, operation };
        match (&**method, era) {
            // What needs no server is answered before any of them is known.
            ("initialize" | "ping" | "logging/setLevel", _) => {}
            // A client of the older era has settled down by its first request after the handshake.
            (_, Era::Legacy) | ("server/discover" | "tools/list", Era::Modern) => {
                self.meet(|| caller(asked));
            }
            (_, Era::Modern) => self.federation.settle(),
        }
        // One use of what servers offer, however often it is looked at.
        if waits && method.ends_with("/list") {
            self.federation.revive();
        }
        if waits && let Some(held) = self.held(asked, out) {
            return held;
        }
        match (&**method, era) {
            ("tools/call", _) => return self.call(asked, out),
            _ if let Some(why) = self.circle(params) => {
                return refuse(out, id, code::INVALID_REQUEST, &format!("{method}: {why}"));
            }
            ("subscriptions/listen", Era::Modern) => return self.listen(asked, out),
            _ => {}
        }
        if let Some(handled) = self.federated(asked, out) {
            return handled;
        }
        match self.plain(era, delivery, request) {
            Ok(result) => frame::result(out, id, &result),
            Err((code, message)) => return refuse(out, id, code, &message),
        }
        Handled::Answered
    }

    /// Methods that are answered from memory.
    fn plain(&self, era: Era, from: &Delivery<'_>, request: &Request<'_>) -> Result<String, (i32, String)> {
        let Request { method, params, .. } = request;
        let invalid = |message: String| (code::INVALID_PARAMS, message);
        match (&**method, era) {
            ("initialize", Era::Legacy) => {
                let asked = params.protocol_version.and_then(rpc::text);
                let asked =
                    asked.ok_or_else(|| invalid("initialize: `protocolVersion` must be a string".into()))?;
                from.from.set_initialized();
                from.from.set_capabilities(params.capabilities.map_or("{}", RawValue::get));
                self.federation.joined(from.from);
                let version = era::negotiate(&asked);
                from.from.settle_on(version);
                Ok(catalogue::initialize(version, self.instructions(from.from, params)))
            }
            ("ping", Era::Legacy) => Ok("{}".into()),
            ("logging/setLevel", Era::Legacy) => match params.level.and_then(rpc::text) {
                Some(level) if LEVELS.contains(&&*level) => {
                    self.set_level(from.from, &level);
                    Ok("{}".into())
                }
                _ => Err(invalid(format!("logging/setLevel: `level` must be one of {}", LEVELS.join(", ")))),
            },
            ("server/discover", Era::Modern) => {
                let extensions = self.federation.extensions();
                Ok(catalogue::discover(&extensions, self.instructions(from.from, params)))
            }
            ("tools/list", _) => {
                let whole = self.federation.composer.is_whole();
                let profile = self.federation.profile(from.from.name(), from.from.facts());
                let form = self.form(from.from, params);
                page(&self.catalogue.tools(self.house.registry(), whole, profile, form), era, request)
            }
            ("resources/list", _) => page(&self.goods().resources, era, request),
            ("resources/templates/list", _) => page(&self.goods().templates, era, request),
            ("prompts/list", _) => page(&self.goods().prompts, era, request),
            _ => Err((code::METHOD_NOT_FOUND, format!("method not found: {method}"))),
        }
    }

    /// Why a request goes no further that came through other houses, if it does not.
    pub(super) fn circle(&self, params: &Params<'_>) -> Option<String> {
        self.federation.lineage.refusal(params.meta.as_ref()?.lineage)
    }

    /// The instructions for a client's model, about us and the servers beyond us.
    fn instructions(&self, from: &Conversation, params: &Params<'_>) -> Option<String> {
        let own = catalogue::instructions(from.facts());
        self.federation.instructions(&self.form(from, params).worded(&own))
    }

    /// Makes sure that the servers are known; and the first client brings servers to life that were never
    /// met.
    pub(super) fn meet(&self, client: impl FnOnce() -> Caller) {
        self.federation.settle();
        if !self.met.load(Ordering::Relaxed) && !self.met.swap(true, Ordering::Relaxed) {
            self.federation.wake(&client());
        }
    }

    /// The same beside us, when the handshake of a client of the older era is over: it is not kept
    /// waiting for it.
    fn meet_later(&self, from: &Arc<Conversation>) {
        let first = !self.met.swap(true, Ordering::Relaxed);
        let (federation, capabilities) = (self.federation.clone(), from.capabilities());
        let caller = Caller { client: Some(from.clone()), capabilities, ..Caller::default() };
        tokio::task::spawn_blocking(move || {
            if first {
                federation.wake(&caller);
            }
            federation.roster.meet_client(&caller);
        });
    }

    fn notification(&self, from: &Arc<Conversation>, method: &str, params: &Params<'_>) {
        match method {
            "notifications/cancelled" => {
                if let Some(wanted) = params.request_id.and_then(|id| from.cancel(id.get())) {
                    self.listen_no_more(from, wanted);
                }
            }
            "notifications/initialized" => {
                from.set_initialized();
                self.meet_later(from);
            }
            "notifications/roots/list_changed" => self.federation.subscriptions.roots_changed(from),
            _ => {}
        }
    }
}

/// Answers with an error.
pub(super) fn refuse(out: &mut Vec<u8>, id: &str, code: i32, message: &str) -> Handled {
    frame::error(out, Some(id), code, message, None);
    Handled::Answered
}

/// Registers a call as in flight; or refuses it.
pub(super) fn seat(
    delivery: &Delivery<'_>,
    id: &str,
    cancel: &CancellationToken,
    out: &mut Vec<u8>,
) -> Result<CallSeat, Handled> {
    delivery.from.seat(id, cancel).map_err(|refused| {
        let (code, message) = refused.error();
        refuse(out, id, code, message)
    })
}

/// Gives a call its place in the client's table, and its work to whoever carries it.
pub(super) fn seated<F: Future<Output = Vec<u8>> + Send + 'static>(
    delivery: &Delivery<'_>,
    id: &str,
    cancel: &CancellationToken,
    out: &mut Vec<u8>,
    work: impl FnOnce(String) -> F,
) -> Handled {
    match seat(delivery, id, cancel, out) {
        Ok(seat) => {
            let work = Box::pin(work(id.to_owned()));
            Handled::Running(Running { work, seat: Some(seat), turn: Turn::none(), sequel: None })
        }
        Err(refused) => refused,
    }
}

/// The client of a request, for servers beyond us.
pub(super) fn caller(ClientRequest { delivery, request, era, operation }: ClientRequest<'_>) -> Caller {
    let params = &request.params;
    let meta = params.meta.as_ref();
    let capabilities = match (era, meta.and_then(|meta| meta.client_capabilities)) {
        (Era::Modern, Some(declared)) => declared.get().into(),
        _ => delivery.from.capabilities(),
    };
    let level = match era {
        Era::Modern => meta.and_then(|meta| meta.log_level).and_then(rpc::text).map(Into::into),
        Era::Legacy => delivery.from.level(),
    };
    Caller {
        era,
        client: Some(delivery.from.clone()),
        capabilities,
        meta: meta.and_then(|_| Members::of(request.raw)?.get("_meta").map(ToOwned::to_owned)),
        input: params.input_responses.map(ToOwned::to_owned),
        state: params.request_state.and_then(rpc::text).map(Into::into),
        token: meta.and_then(|meta| meta.progress_token).map(|token| token.get().to_owned()),
        level,
        outbox: delivery.outbox.cloned(),
        pulse: None,
        operation: operation.cloned(),
        began: OnceLock::new(),
    }
}

/// Answers a client sends along must be what their name says.
fn input_is_whole(params: &Params<'_>) -> Result<(), &'static str> {
    let Some(input) = params.input_responses else { return Ok(()) };
    let members = Members::of(input.get());
    if members.is_some_and(|members| members.0.iter().all(|(_, answer)| answer.get().starts_with('{'))) {
        return Ok(());
    }
    Err("`inputResponses` must be an object of objects")
}

fn page(pages: &Pages, era: Era, request: &Request<'_>) -> Result<String, (i32, String)> {
    let cursor = request.params.cursor.filter(|raw| raw.get() != "null");
    let cursor = cursor.map(|raw| rpc::text(raw).unwrap_or_default());
    let page = pages.page(era, cursor.as_deref()).map(str::to_owned);
    page.ok_or_else(|| {
        (code::INVALID_PARAMS, format!("{}: unknown cursor; start again without one", request.method))
    })
}
