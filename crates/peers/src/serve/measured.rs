//! Requests as telemetry sees them: what is known when one begins, and how it ended.

use std::sync::Arc;

use hyper::header::HeaderMap;

use super::{Delivery, Endpoint, Handled, Running};
use crate::{
    operation::{Ending, Operation, RequestBegun, TraceContext},
    wire::{
        MODERN, Request, frame,
        rpc::{self, Meta},
    },
};

impl Endpoint {
    /// Handles one request that was read already, and measures it where that is wanted. A transport that
    /// has headers gives them.
    pub(crate) fn request(
        &self,
        delivery: &Delivery<'_>,
        request: &Request<'_>,
        out: &mut Vec<u8>,
        headers: Option<&HeaderMap>,
    ) -> Handled {
        let telemetry = self.federation.settings.telemetry.as_ref();
        let Some(telemetry) = telemetry.filter(|telemetry| telemetry.is_wanted()) else {
            return self.answer(delivery, request, out, None, true);
        };
        let header = |name: &str| headers?.get(name)?.to_str().ok();
        let params = &request.params;
        let subject = match &*request.method {
            "prompts/get" => params.name.clone(),
            "resources/read" => params.uri.and_then(rpc::text),
            _ => None,
        };
        let modern = params.meta.as_ref().is_some_and(|meta| meta.protocol_version.is_some());
        let operation = telemetry.begin(RequestBegun {
            method: &request.method,
            subject: subject.as_deref(),
            id: Some(request.id),
            session: header("mcp-session-id"),
            version: if modern { Some(MODERN) } else { delivery.from.version() },
            pipe: headers.is_none(),
            server: None,
            context: context(params.meta.as_ref(), header),
        });
        let start = out.len();
        match self.answer(delivery, request, out, Some(&operation), true) {
            Handled::Running(running) => Handled::Running(followed(running, operation)),
            handled => {
                operation.end(ending(&out[start..]));
                handled
            }
        }
    }
}

/// The context of a request. What the message says counts before what stands beside it.
fn context<'h>(meta: Option<&Meta<'_>>, header: impl Fn(&str) -> Option<&'h str>) -> TraceContext {
    let own = meta.map(Meta::trace_context).unwrap_or_default();
    if own.parent.is_some() {
        return own;
    }
    TraceContext::read(|name| header(name).map(str::to_owned))
}

/// The same answer, whose end is noted.
fn followed(Running { work, seat, turn, sequel }: Running, operation: Arc<dyn Operation>) -> Running {
    let work = Box::pin(async move {
        let answer = work.await;
        let ending = if answer.is_empty() { Ending::Cancelled } else { ending(&answer) };
        operation.end(ending);
        answer
    });
    Running { work, seat, turn, sequel }
}

fn ending(answer: &[u8]) -> Ending {
    frame::error_code(answer).map_or(Ending::Result, |code| Ending::Error(code.into()))
}
