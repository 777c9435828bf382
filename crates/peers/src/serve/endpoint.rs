//! The methods of an MCP server, for both eras and every transport.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde_json::value::RawValue;
use tectum_core::{Call, CallId, Progress, ProgressNote, Tectum};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    answer,
    catalogue::{self, Catalogue},
    conversation::{Conversation, Wanted, acknowledged},
};
use crate::wire::{
    era::{self, Era},
    rpc::{self, Malformed, Message, Params, Request, code},
};

/// What is done with a message.
pub(crate) enum Handled {
    /// The answer was written.
    Answered,
    /// The answer comes when this ends; an empty one is not sent.
    Running(Pin<Box<dyn Future<Output = Vec<u8>> + Send>>),
    /// A subscription began; its first message was written.
    Listening,
    /// No answer is due.
    Silent,
}

/// Tectum as an MCP server, whatever carries the messages.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) house: Tectum,
    catalogue: Catalogue,
}

/// One message's surroundings.
pub(crate) struct Delivery<'d> {
    /// Who sent it.
    pub(crate) from: &'d Arc<Conversation>,
    /// Where progress goes.
    pub(crate) outbox: Option<&'d mpsc::Sender<Vec<u8>>>,
    /// Set by a transport that knows the request to be of the newer era.
    pub(crate) modern: bool,
}

impl Endpoint {
    /// A server for this house.
    pub(crate) fn new(house: Tectum) -> Self {
        Self { house, catalogue: Catalogue::default() }
    }

    /// Handles one message, writing what can be answered at once to `out`.
    pub(crate) fn handle(&self, delivery: &Delivery<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Handled {
        match rpc::read(bytes) {
            Ok(Message::Request(request)) => self.request(delivery, &request, out),
            Ok(Message::Notification { method, params, .. }) => {
                notification(delivery.from, &method, &params);
                Handled::Silent
            }
            Ok(Message::Response(_)) => Handled::Silent,
            Err(Malformed { id, code, message }) => {
                answer::error(out, id.as_deref(), code, &message, None);
                Handled::Answered
            }
        }
    }

    /// Handles one request that was read already.
    pub(crate) fn request(
        &self,
        delivery: &Delivery<'_>,
        request: &Request<'_>,
        out: &mut Vec<u8>,
    ) -> Handled {
        let Request { id, method, params, .. } = request;
        let required = delivery.modern || method == "server/discover";
        let era = match Era::of(params.meta.as_ref(), required) {
            Ok(era) => era,
            Err(bad) => {
                answer::error(out, Some(id), bad.code, &bad.message, bad.data.as_deref());
                return Handled::Answered;
            }
        };
        if delivery.from.is_in_flight(id) {
            let (code, message) = super::conversation::Refused::DuplicateId.error();
            answer::error(out, Some(id), code, message, None);
            return Handled::Answered;
        }
        match (&**method, era) {
            ("tools/call", _) => return self.call(delivery, request, era, out),
            ("subscriptions/listen", Era::Modern) => return listen(delivery, request, out),
            _ => {}
        }
        match self.plain(era, delivery, method, params) {
            Ok(result) => answer::result(out, id, &result),
            Err((code, message)) => answer::error(out, Some(id), code, &message, None),
        }
        Handled::Answered
    }

    /// Methods that are answered from memory.
    fn plain(
        &self,
        era: Era,
        from: &Delivery<'_>,
        method: &str,
        params: &Params<'_>,
    ) -> Result<String, (i32, String)> {
        let invalid = |message: String| (code::INVALID_PARAMS, message);
        match (method, era) {
            ("initialize", Era::Legacy) => {
                let asked = params.protocol_version.and_then(rpc::text);
                let asked =
                    asked.ok_or_else(|| invalid("initialize: `protocolVersion` must be a string".into()))?;
                from.from.set_initialized();
                Ok(catalogue::initialize(era::negotiate(&asked)))
            }
            ("ping", Era::Legacy) => Ok("{}".into()),
            ("logging/setLevel", Era::Legacy) => {
                const LEVELS: &[&str] =
                    &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
                match params.level.and_then(rpc::text) {
                    Some(level) if LEVELS.contains(&&*level) => Ok("{}".into()),
                    _ => Err(invalid(format!(
                        "logging/setLevel: `level` must be one of {}",
                        LEVELS.join(", ")
                    ))),
                }
            }
            ("server/discover", Era::Modern) => Ok(catalogue::discover()),
            ("tools/list", _) => {
                let cursor = params
                    .cursor
                    .filter(|raw| raw.get() != "null")
                    .map(|raw| rpc::text(raw).unwrap_or_default());
                let lists = self.catalogue.lists(self.house.registry());
                let page = lists.tools(era, cursor.as_deref());
                page.map(str::to_owned)
                    .ok_or_else(|| invalid("tools/list: unknown cursor; start again without one".into()))
            }
            ("resources/list", _) => Ok(catalogue::empty_list(era, "resources")),
            ("resources/templates/list", _) => Ok(catalogue::empty_list(era, "resourceTemplates")),
            ("prompts/list", _) => Ok(catalogue::empty_list(era, "prompts")),
            ("resources/read", _) | ("resources/subscribe" | "resources/unsubscribe", Era::Legacy) => {
                let uri = params
                    .uri
                    .and_then(rpc::text)
                    .ok_or_else(|| invalid(format!("{method}: `uri` must be a string")))?;
                let code = if era == Era::Modern { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
                Err((code, format!("no such resource: {uri}")))
            }
            ("prompts/get", _) => {
                let name = params
                    .name
                    .as_deref()
                    .ok_or_else(|| invalid("prompts/get: `name` must be a string".into()))?;
                Err(invalid(format!("no such prompt: {name}")))
            }
            ("completion/complete", _) => {
                Err(invalid("nothing to complete: there are no prompts or templates".into()))
            }
            _ => Err((code::METHOD_NOT_FOUND, format!("method not found: {method}"))),
        }
    }

    /// Runs a tool. What ends at once is answered on this thread; the rest is handed back.
    fn call(&self, delivery: &Delivery<'_>, request: &Request<'_>, era: Era, out: &mut Vec<u8>) -> Handled {
        let Request { id, params, .. } = request;
        let Some(name) = params.name.as_deref() else {
            answer::error(out, Some(id), code::INVALID_PARAMS, "tools/call: `name` must be a string", None);
            return Handled::Answered;
        };
        if self.house.registry().snapshot().tool(name).is_none() {
            answer::error(out, Some(id), code::INVALID_PARAMS, &format!("Unknown tool: {name}"), None);
            return Handled::Answered;
        }
        let args = match params.arguments {
            Some(raw) if raw.get() != "null" => raw.to_owned(),
            _ => RawValue::from_string("{}".into()).unwrap_or_default(),
        };
        let cancel = CancellationToken::new();
        let call = Call {
            id: CallId::fresh(),
            session: delivery.from.session.clone(),
            tool: name.into(),
            args,
            cancel: cancel.clone(),
            progress: progress(delivery, params),
        };
        let house = self.house.clone();
        let mut running = Box::pin(async move { house.call(call).await });
        if let Poll::Ready(outcome) = running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            answer::outcome(out, id, era, &outcome);
            return Handled::Answered;
        }
        let seat = match delivery.from.seat(id, &cancel) {
            Ok(seat) => seat,
            Err(refused) => {
                let (code, message) = refused.error();
                answer::error(out, Some(id), code, message, None);
                return Handled::Answered;
            }
        };
        let id = (*id).to_owned();
        Handled::Running(Box::pin(async move {
            let outcome = running.await;
            let mut out = Vec::new();
            answer::outcome(&mut out, &id, era, &outcome);
            drop(seat);
            out
        }))
    }
}

fn notification(from: &Conversation, method: &str, params: &Params<'_>) {
    match method {
        "notifications/cancelled" => {
            if let Some(id) = params.request_id {
                from.cancel(id.get());
            }
        }
        "notifications/initialized" => from.set_initialized(),
        _ => {}
    }
}

fn listen(delivery: &Delivery<'_>, request: &Request<'_>, out: &mut Vec<u8>) -> Handled {
    let wanted = match request.params.notifications.map(|raw| serde_json::from_str::<Wanted>(raw.get())) {
        None => Wanted::default(),
        Some(Ok(wanted)) => wanted,
        Some(Err(error)) => {
            let message = format!("subscriptions/listen: `notifications`: {error}");
            answer::error(out, Some(request.id), code::INVALID_PARAMS, &message, None);
            return Handled::Answered;
        }
    };
    delivery.from.listen(request.id, wanted);
    out.extend_from_slice(&acknowledged(request.id, wanted));
    Handled::Listening
}

/// Progress goes to the client only if it asked for it, with its own token.
fn progress(delivery: &Delivery<'_>, params: &Params<'_>) -> Progress {
    let token = params.meta.as_ref().and_then(|meta| meta.progress_token);
    let (Some(token), Some(outbox)) = (token, delivery.outbox) else { return Progress::none() };
    let (token, outbox) = (token.get().to_owned(), outbox.clone());
    let to = delivery.from.clone();
    Progress::to(move |ProgressNote { done, total, message }| {
        let total = total.map_or(String::new(), |total| format!(r#","total":{total}"#));
        let message = serde_json::Value::from(message);
        let params = format!(r#"{{"progressToken":{token},"progress":{done}{total},"message":{message}}}"#);
        to.try_send(&outbox, answer::notification("notifications/progress", &params));
    })
}
