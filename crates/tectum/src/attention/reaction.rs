//! Calls that are made by themselves when there is news, as the operator's settings say. They walk like every
//! other call: rules, approval, journal. Nothing of the news goes into them.

use std::collections::HashMap;

use serde_json::value::to_raw_value;
use tectum_attend::Attention;
use tectum_core::{Call, Client, SessionId, Tectum};
use tokio::{sync::broadcast::error::RecvError, time::Instant};

use crate::config::reactions::Reaction;

/// The session of these calls in the record.
const SESSION: &str = "attention";

/// Reacts until nobody has news any more.
pub(super) async fn react(house: Tectum, attention: Attention, reactions: Vec<Reaction>) {
    let mut news = attention.news();
    let mut last: HashMap<usize, Instant> = HashMap::new();
    loop {
        let news = match news.recv().await {
            Ok(news) => news,
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "reactions missed news");
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        for (at, reaction) in reactions.iter().enumerate() {
            let soon = last.get(&at).is_some_and(|last| last.elapsed() < reaction.every);
            if soon || !reaction.when.is_match(&news.organ) {
                continue;
            }
            last.insert(at, Instant::now());
            let Ok(args) = to_raw_value(&reaction.args) else { continue };
            let client = Client { door: "reaction", name: SESSION.into(), version: String::new() };
            let call = Call::new(SessionId::new(SESSION), reaction.call.as_str(), args);
            let call = Call { client: Some(client.into()), ..call };
            let (house, tool, id) = (house.clone(), reaction.call.clone(), news.id);
            // A call that waits for a person keeps no other reaction waiting.
            tokio::spawn(async move {
                let outcome = house.call(call).await;
                match &outcome.result {
                    Ok(_) => tracing::info!(%tool, news = %id, "called because of news"),
                    Err(fault) => tracing::warn!(%tool, news = %id, %fault, "a call because of news failed"),
                }
            });
        }
    }
}
