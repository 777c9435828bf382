//! What clients want to be told of by servers, log messages and changes of resources, in the words
//! of the older era; and what becomes of it when they leave.

use tokio_util::sync::CancellationToken;

use super::{
    answer,
    conversation::Conversation,
    endpoint::{Delivery, Endpoint, Handled, caller, seated},
    federated::written,
};
use crate::{
    federation::{Caller, Failure, Federation, Source},
    wire::{
        era::Era,
        object::raw,
        rpc::{self, Request, code},
    },
};

impl Endpoint {
    /// A client says from which level on it wants logs; servers hear of it.
    pub(super) fn set_level(&self, client: &Conversation, level: &str) {
        client.set_level(level);
        if let Some(federation) = &self.federation {
            federation.level(client.key(), level);
        }
    }

    /// A client left.
    pub(super) fn unwatch(&self, client: &Conversation) {
        if let Some(federation) = self.federation.clone() {
            let key = client.key();
            tokio::spawn(async move { federation.unwatch(key).await });
        }
    }

    /// A client of the older era watches a resource, or does so no longer. It is answered when the
    /// server has agreed: from then on no change is missed.
    pub(super) fn subscribe(
        &self,
        delivery: &Delivery<'_>,
        request: &Request<'_>,
        on: bool,
        out: &mut Vec<u8>,
    ) -> Handled {
        let uri = request.params.uri.and_then(rpc::text).map(std::borrow::Cow::into_owned);
        let sources = uri.as_ref().map(|uri| self.goods().resource(uri)).unwrap_or_default();
        let (Some(uri), Some(federation), false) = (uri, self.federation.clone(), sources.is_empty()) else {
            let message = format!("{}: `uri` must name a resource", request.method);
            answer::error(out, Some(request.id), code::RESOURCE_NOT_FOUND, &message, None);
            return Handled::Answered;
        };
        let client = delivery.from.clone();
        // Updates may come as soon as the server knows.
        let new = client.watch(&uri, on);
        if !on {
            answer::result(out, request.id, "{}");
            tokio::spawn(async move {
                for source in &sources {
                    federation.watch_no_more(client.key(), source).await;
                }
            });
            return Handled::Answered;
        }
        let caller = caller(delivery, request, Era::Legacy);
        seated(delivery, request.id, &CancellationToken::new(), out, |id| {
            Box::pin(async move {
                let done = watched(&federation, &caller, &sources).await;
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

/// Asks one server after the other to tell of a resource's changes; the first that agrees does.
pub(super) async fn watched(
    federation: &Federation,
    caller: &Caller,
    sources: &[Source],
) -> Result<(), Failure> {
    let mut last = Ok(());
    for source in sources {
        last = federation.watch(caller, source).await;
        if last.is_ok() {
            break;
        }
    }
    last
}
