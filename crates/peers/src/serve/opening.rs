//! A subscription that servers have a part in: it is acknowledged when they have agreed or refused.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::{
    client::{Caller, Conversation, Outbox, Wanted},
    federation::Federation,
};

/// Room for the first message of a subscription.
const ACKNOWLEDGEMENT: usize = 4096;

/// A subscription that servers have a part in and that is not acknowledged yet.
pub(crate) struct Opening {
    pub(super) federation: Arc<Federation>,
    pub(super) client: Arc<Conversation>,
    pub(super) caller: Caller,
    pub(super) id: String,
    pub(super) wanted: Wanted,
}

impl Opening {
    /// Waits until the servers have agreed or refused, each as long as it may take to agree to any
    /// subscription, and says what was agreed to.
    pub(crate) async fn acknowledge(self, outbox: Outbox) {
        let Self { federation, client, caller, id, wanted } = self;
        let watched = join_all(wanted.resource_subscriptions.iter().map(async |uri| {
            if federation.composer.own_resource(uri).is_some() {
                return true;
            }
            let sources = federation.composer.goods().resource(uri);
            !sources.is_empty() && federation.subscriptions.watch(&caller, uri, &sources).await.is_ok()
        }));
        let followed = federation.tasks.follow(&caller, &wanted.task_ids);
        let (watched, (tasks, following)) = tokio::join!(watched, followed);
        let all = wanted.resource_subscriptions.iter().zip(watched);
        let uris: Vec<String> = all.filter(|(_, agreed)| *agreed).map(|(uri, _)| uri.clone()).collect();
        let agreed = Wanted { resource_subscriptions: uris.clone(), task_ids: tasks, ..wanted };
        // A place first: once the first word is said, the others follow it at once.
        let Ok(place) = outbox.reserve(ACKNOWLEDGEMENT).await else { return };
        let mut place = Some(place);
        let heard = client.listeners.acknowledge(&id, agreed, following, |message| match place.take() {
            Some(place) => place.send(message),
            None => drop(outbox.offer(message)),
        });
        if !heard {
            let_go(&federation, &client, &uris).await;
        }
    }
}

/// Unsubscribes a client from these resources at the servers, but for those that another subscription of
/// its names.
pub(super) async fn let_go(federation: &Federation, client: &Conversation, uris: &[String]) {
    for uri in uris.iter().filter(|uri| !client.wants_resource(uri)) {
        let sources = federation.composer.goods().resource(uri);
        federation.subscriptions.unwatch(client.key(), uri, &sources).await;
    }
}
