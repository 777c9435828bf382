//! `subscriptions/listen`: a client of the newer era says what it wants to hear of, and hears first
//! what it will be told of. That is said when the servers concerned have agreed or refused, so that
//! from then on no change is missed.

use std::sync::Arc;

use super::{
    ClientRequest, Endpoint, Handled, Opening, caller,
    federated::{knows_tasks, needs_tasks},
    opening::let_go,
    refuse,
};
use crate::{
    client::{Conversation, TASKS, Wanted},
    wire::{code, frame},
};

impl Endpoint {
    /// Begins a subscription. One that is about nothing of servers is acknowledged at once.
    pub(super) fn listen(&self, asked: ClientRequest<'_>, out: &mut Vec<u8>) -> Handled {
        let ClientRequest { delivery, request, .. } = asked;
        let wanted = match request.params.notifications.map(|raw| serde_json::from_str::<Wanted>(raw.get())) {
            None => Wanted::default(),
            Some(Ok(wanted)) => wanted,
            Some(Err(error)) => {
                let message = format!("subscriptions/listen: `notifications`: {error}");
                return refuse(out, request.id, code::INVALID_PARAMS, &message);
            }
        };
        if !wanted.task_ids.is_empty() && !knows_tasks(request) {
            let message = format!("subscriptions/listen: the client must declare the extension {TASKS}");
            frame::error(out, Some(request.id), code::MISSING_CAPABILITY, &message, Some(&needs_tasks()));
            return Handled::Answered;
        }
        let client = delivery.from;
        if !client.listeners.begin(request.id, wanted.clone()) {
            let message = "subscriptions/listen: too many subscriptions: end some of them first";
            return refuse(out, request.id, code::INTERNAL, message);
        }
        let servers = !wanted.resource_subscriptions.is_empty() || !wanted.task_ids.is_empty();
        if !servers {
            let say = |message: Vec<u8>| out.extend_from_slice(&message);
            client.listeners.acknowledge(request.id, wanted, Vec::new(), say);
            return Handled::Listening(None);
        }
        let (federation, caller) = (self.federation.clone(), caller(asked));
        let (client, id) = (client.clone(), request.id.to_owned());
        Handled::Listening(Some(Box::new(Opening { federation, client, caller, id, wanted })))
    }

    /// A client ended a subscription: its resources are unsubscribed from at the servers.
    pub(super) fn listen_no_more(&self, client: &Arc<Conversation>, wanted: Wanted) {
        if !wanted.resource_subscriptions.is_empty() {
            let (federation, client) = (self.federation.clone(), client.clone());
            tokio::spawn(async move { let_go(&federation, &client, &wanted.resource_subscriptions).await });
        }
    }
}
