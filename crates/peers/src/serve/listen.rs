//! `subscriptions/listen`: a client of the newer era says what it wants to hear of, and hears first
//! what it will be told of. That is said when the servers concerned have agreed or refused, so that
//! from then on no change is missed.

use std::sync::Arc;

use futures_util::future::join_all;

use super::{
    answer,
    conversation::Conversation,
    endpoint::{Delivery, Endpoint, Handled, caller},
    federated::{knows_tasks, needs_tasks},
    listeners::Wanted,
    outbox::Outbox,
    watching::watched,
};
use crate::{
    federation::{Caller, Federation, TASKS},
    wire::{
        era::Era,
        rpc::{Request, code},
    },
};

/// Room for the first message of a subscription.
const ACKNOWLEDGEMENT: usize = 4096;

/// A subscription that servers have a part in and that is not acknowledged yet.
pub(crate) struct Opening {
    federation: Arc<Federation>,
    client: Arc<Conversation>,
    caller: Caller,
    id: String,
    wanted: Wanted,
}

impl Endpoint {
    /// Begins a subscription. One that is about nothing of servers is acknowledged at once.
    pub(super) fn listen(
        &self,
        delivery: &Delivery<'_>,
        request: &Request<'_>,
        out: &mut Vec<u8>,
    ) -> Handled {
        let wanted = match request.params.notifications.map(|raw| serde_json::from_str::<Wanted>(raw.get())) {
            None => Wanted::default(),
            Some(Ok(wanted)) => wanted,
            Some(Err(error)) => {
                let message = format!("subscriptions/listen: `notifications`: {error}");
                answer::error(out, Some(request.id), code::INVALID_PARAMS, &message, None);
                return Handled::Answered;
            }
        };
        if !wanted.task_ids.is_empty() && !knows_tasks(request) {
            let message = format!("subscriptions/listen: the client must declare the extension {TASKS}");
            answer::error(out, Some(request.id), code::MISSING_CAPABILITY, &message, Some(&needs_tasks()));
            return Handled::Answered;
        }
        let client = delivery.from;
        if !client.listen(request.id, wanted.clone()) {
            let message = "subscriptions/listen: too many subscriptions: end some of them first";
            answer::error(out, Some(request.id), code::INTERNAL, message, None);
            return Handled::Answered;
        }
        let servers = !wanted.resource_subscriptions.is_empty() || !wanted.task_ids.is_empty();
        match self.federation.clone().filter(|_| servers) {
            None => {
                // Without servers nobody tells of resources and tasks.
                let agreed = Wanted { resource_subscriptions: Vec::new(), task_ids: Vec::new(), ..wanted };
                let say = |message: Vec<u8>| out.extend_from_slice(&message);
                client.acknowledge(request.id, agreed, Vec::new(), say);
                Handled::Listening(None)
            }
            Some(federation) => {
                let caller = caller(delivery, request, Era::Modern);
                let (client, id) = (client.clone(), request.id.to_owned());
                Handled::Listening(Some(Box::new(Opening { federation, client, caller, id, wanted })))
            }
        }
    }

    /// A client listens no longer: servers need not tell of what nobody else wants to hear.
    pub(super) fn listen_no_more(&self, client: &Arc<Conversation>, wanted: Wanted) {
        if let Some(federation) =
            self.federation.clone().filter(|_| !wanted.resource_subscriptions.is_empty())
        {
            let client = client.clone();
            tokio::spawn(async move { let_go(&federation, &client, &wanted.resource_subscriptions).await });
        }
    }
}

impl Opening {
    /// Waits until the servers have agreed or refused, each as long as it may take to agree to any
    /// subscription, and says what was agreed to.
    pub(crate) async fn acknowledge(self, outbox: Outbox) {
        let Self { federation, client, caller, id, wanted } = self;
        let watched = join_all(wanted.resource_subscriptions.iter().map(async |uri| {
            if federation.own_resource(uri).is_some() {
                return true;
            }
            let sources = federation.goods().resource(uri);
            !sources.is_empty() && watched(&federation, &caller, &sources).await.is_ok()
        }));
        let followed = federation.follow_tasks(&caller, &wanted.task_ids);
        let (watched, (tasks, following)) = tokio::join!(watched, followed);
        let all = wanted.resource_subscriptions.iter().zip(watched);
        let uris: Vec<String> = all.filter(|(_, agreed)| *agreed).map(|(uri, _)| uri.clone()).collect();
        let agreed = Wanted { resource_subscriptions: uris.clone(), task_ids: tasks, ..wanted };
        // A place first: once the first word is said, the others follow it at once.
        let Ok(place) = outbox.reserve(ACKNOWLEDGEMENT).await else { return };
        let mut place = Some(place);
        let heard = client.acknowledge(&id, agreed, following, |message| match place.take() {
            Some(place) => place.send(message),
            None => drop(outbox.offer(message)),
        });
        if !heard {
            let_go(&federation, &client, &uris).await;
        }
    }
}

/// Servers are told that a client listens for these no longer, as far as it does not by another
/// subscription.
async fn let_go(federation: &Federation, client: &Conversation, uris: &[String]) {
    for uri in uris.iter().filter(|uri| !client.wants_resource(uri)) {
        for source in federation.goods().resource(uri) {
            federation.watch_no_more(client.key(), &source).await;
        }
    }
}
