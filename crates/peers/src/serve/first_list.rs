//! Requests about servers that nobody has met yet: they wait until those servers have said what they
//! offer, as long as the client has patience for it, and are handled then.

use std::{pin::Pin, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{ClientRequest, Delivery, Endpoint, Handled, Running, Turn, caller, seat};
use crate::{
    client_table::ClientFacts,
    federation::{CALL_TOOL, FIND_TOOLS, SESSIONS},
    wire::{Members, Request, frame, rpc},
};

/// How long before a client gives up it is answered.
const MARGIN: Duration = Duration::from_secs(5);

/// Ends when the servers that a request waits for have been met.
type Met = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Endpoint {
    /// Takes over a request that has to wait for servers; `None` for every other one.
    pub(super) fn held(&self, asked: ClientRequest<'_>, out: &mut Vec<u8>) -> Option<Handled> {
        let ClientRequest { delivery, request, operation, .. } = asked;
        if self.federation.composer.is_whole() {
            return None;
        }
        let met = self.awaited(delivery.from.facts(), request)?;
        // Whoever is waited for is started.
        self.meet(|| caller(asked));
        let cancel = CancellationToken::new();
        let seat = match seat(delivery, request.id, &cancel, out) {
            Ok(seat) => seat,
            Err(refused) => return Some(refused),
        };
        let again = frame::request(request.id, &request.method, request.raw);
        let (endpoint, from, modern) = (self.clone(), delivery.from.clone(), delivery.modern);
        let (outbox, turns, operation) =
            (delivery.outbox.cloned(), delivery.turns.clone(), operation.cloned());
        let work = Box::pin(async move {
            if cancel.run_until_cancelled(met).await.is_none() {
                return Vec::new();
            }
            let mut out = Vec::new();
            // Its id is free for the same request again, and for nobody in between.
            drop(seat);
            let delivery =
                Delivery { from: &from, outbox: outbox.as_ref(), turns: &turns, modern, ahead: false };
            let handled = match rpc::read(&again) {
                Ok(rpc::Message::Request(request)) => {
                    endpoint.answer(&delivery, &request, &mut out, operation.as_ref(), false)
                }
                _ => Handled::Silent,
            };
            match handled {
                Handled::Running(running) => running.await,
                _ => out,
            }
        });
        Some(Handled::Running(Running { work, seat: None, turn: Turn::none(), sequel: None }))
    }

    /// The wait of a request for servers; `None` where it has none.
    fn awaited(&self, facts: &ClientFacts, request: &Request<'_>) -> Option<Met> {
        let federation = &self.federation;
        let name = request.params.name.as_deref().unwrap_or_default();
        // A call has the time of a call, whatever the client's first list has.
        let longest = ClientFacts::unknown().first_wait;
        let patience = match &*request.method {
            method if method.ends_with("/list") => facts.first_wait,
            "tools/call" if name == FIND_TOOLS => longest,
            "tools/call" => return self.awaited_by_call(facts, request, name),
            "prompts/get" if self.goods().prompt(name).is_none() => longest,
            "resources/read" | "resources/subscribe" => {
                let uri = request.params.uri.and_then(rpc::text).unwrap_or_default();
                let known = uri.starts_with(SESSIONS)
                    || federation.composer.own_resource(&uri).is_some()
                    || !self.goods().resource(&uri).is_empty();
                (!known).then_some(longest)?
            }
            "completion/complete" => longest,
            _ => return None,
        };
        let patience = federation.settings.first_wait.unwrap_or(patience);
        let federation = federation.clone();
        let is_pending = federation.roster.is_pending(patience);
        is_pending.then(|| Box::pin(async move { federation.first_offers(patience).await }) as Met)
    }

    /// The same for a call of a tool.
    fn awaited_by_call(&self, facts: &ClientFacts, request: &Request<'_>, name: &str) -> Option<Met> {
        let arguments = request.params.arguments.filter(|_| name == CALL_TOOL);
        let inner = arguments.and_then(|raw| Members::of(raw.get())?.text("name"));
        let name = inner.unwrap_or_else(|| name.to_owned());
        if self.house.registry().snapshot().tool(&name).is_some() {
            return None;
        }
        let timeout = self.federation.roster.time_until_offered(&name)?;
        let patience = facts.patience.unwrap_or(Duration::MAX).saturating_sub(MARGIN).min(timeout);
        let federation = self.federation.clone();
        Some(Box::pin(async move {
            // Why it is not there is what the call is answered with then.
            let _ = tokio::time::timeout(patience, federation.meet(&name)).await;
        }))
    }
}
