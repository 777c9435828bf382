//! Subscriptions of the older era, to resources and to log messages, and their end when a client leaves.

use tokio_util::sync::CancellationToken;

use super::{ClientRequest, Endpoint, Handled, caller, federated::written, refuse, seated};
use crate::{
    client::Conversation,
    wire::{code, frame, raw, rpc},
};

impl Endpoint {
    /// A client says from which level on it wants logs; servers hear of it.
    pub(super) fn set_level(&self, client: &Conversation, level: &str) {
        client.set_level(level);
        self.federation.subscriptions.levels.set(client.key(), Some(level));
    }

    /// A client left.
    pub(super) fn unwatch(&self, client: &Conversation) {
        let (federation, key) = (self.federation.clone(), client.key());
        tokio::spawn(async move { federation.subscriptions.leave(key).await });
    }

    /// A client of the older era watches a resource, or does so no longer. It is answered when the
    /// server has agreed: from then on no change is missed.
    pub(super) fn subscribe(&self, asked: ClientRequest<'_>, on: bool, out: &mut Vec<u8>) -> Handled {
        let ClientRequest { delivery, request, .. } = asked;
        let uri = request.params.uri.and_then(rpc::text).map(std::borrow::Cow::into_owned);
        let sources = uri.as_ref().map(|uri| self.goods().resource(uri)).unwrap_or_default();
        let Some(uri) = uri.filter(|_| !sources.is_empty()) else {
            let message = format!("{}: `uri` must name a resource", request.method);
            return refuse(out, request.id, code::RESOURCE_NOT_FOUND, &message);
        };
        let (federation, client) = (self.federation.clone(), delivery.from.clone());
        // Updates may come as soon as the server knows.
        let new = client.watch(&uri, on);
        if !on {
            frame::result(out, request.id, "{}");
            tokio::spawn(async move {
                federation.subscriptions.unwatch(client.key(), &uri, &sources).await;
            });
            return Handled::Answered;
        }
        let caller = caller(asked);
        seated(delivery, request.id, &CancellationToken::new(), out, |id| {
            Box::pin(async move {
                let done = federation.subscriptions.watch(&caller, &uri, &sources).await;
                if done.is_err() && new {
                    client.watch(&uri, false);
                }
                let mut out = Vec::new();
                written(&mut out, &id, done.map(|()| raw("{}".into())));
                out
            })
        })
    }
}
