//! Resources of servers as attention watches them: which there are, what one is now, and when a server says
//! that one changed. No client of ours is behind it, so a server that asks back is not answered.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tectum_core::{Fault, FaultKind};

use super::{Federation, Order, Source};
use crate::{
    client::{Caller, Notice, NoticeReader},
    peer::{Failure, Peer},
    wire::{Members, quoted, raw},
};

/// The largest state that is read; of a larger one the digest counts.
const MOST_BYTES: usize = 1 << 20;
/// The time a server may say that a state holds.
const LONGEST_TTL: Duration = Duration::from_secs(3600);

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedResource {
    /// The server.
    pub server: String,
    /// Its name there.
    pub name: String,
    /// Its address there.
    pub uri: String,
    /// The requests that the server takes in a minute, where that is limited.
    pub rate: Option<u32>,
}

/// A resource as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceState {
    /// Its content: JSON as it is, other text as a string.
    pub state: Value,
    /// For how long the server says that it holds.
    pub ttl: Option<Duration>,
}

/// What servers say of changes, from now on.
#[derive(Debug)]
pub struct ResourceChanges(NoticeReader);

impl ResourceChanges {
    /// The addresses that a change is known by, when there is one.
    pub async fn next(&mut self) -> Vec<String> {
        loop {
            if let Notice::Updated { names, .. } = self.0.next().await {
                return names;
            }
        }
    }
}

impl Federation {
    /// The resources that servers list now.
    pub fn watched_resources(&self) -> Vec<WatchedResource> {
        let mut all = Vec::new();
        for (server, peer) in self.roster.peers().iter() {
            for item in &peer.offer().resources {
                let name = Members::of(item.json.get()).and_then(|members| members.text("name"));
                all.push(WatchedResource {
                    server: server.as_str().to_owned(),
                    name: name.unwrap_or_else(|| item.key.to_string()),
                    uri: item.key.to_string(),
                    rate: peer.spec.rate.map(u32::from),
                });
            }
        }
        all
    }

    /// Reads a resource. Whoever asks bounds the time.
    pub async fn read_watched(&self, resource: &WatchedResource) -> Result<ResourceState, Fault> {
        let source = self.source_of(resource)?;
        let params = vec![("uri", raw(quoted(&source.own)))];
        let name = Some(source.own.to_string());
        let order = Order { method: "resources/read", name, params, headers: Vec::new() };
        let read = self.run(&source, order, &Caller::default()).await.map_err(ours)?;
        let members = Members::of(read.get()).unwrap_or_default();
        let ttl = members.get("ttlMs").and_then(|raw| raw.get().parse::<f64>().ok());
        let ttl = ttl.filter(|ttl| ttl.is_finite() && *ttl > 0.0);
        let ttl = ttl.map(|ttl| Duration::from_millis(ttl as u64).min(LONGEST_TTL));
        Ok(ResourceState { state: content(read.get()), ttl })
    }

    /// Asks the server of a resource to say when it changes. It ends when the server has agreed.
    pub async fn subscribe_watched(&self, resource: &WatchedResource) -> Result<(), Fault> {
        let source = self.source_of(resource)?;
        self.subscriptions.watch(&Caller::default(), &resource.uri, &[source]).await.map_err(ours)
    }

    /// Ends that.
    pub async fn unsubscribe_watched(&self, resource: &WatchedResource) {
        if let Ok(source) = self.source_of(resource) {
            self.subscriptions.unwatch(Caller::default().key(), &resource.uri, &[source]).await;
        }
    }

    /// What servers say of changes from now on.
    pub fn resource_changes(&self) -> ResourceChanges {
        ResourceChanges(self.notices())
    }

    fn source_of(&self, resource: &WatchedResource) -> Result<Source, Fault> {
        let peers = self.roster.peers();
        let found = peers.iter().find(|(name, _)| name.as_str() == resource.server);
        let peer: Option<Arc<Peer>> = found.map(|(_, peer)| peer.clone());
        let peer =
            peer.ok_or_else(|| Fault::not_found(format!("there is no server `{}`", resource.server)))?;
        Ok(Source { peer, own: resource.uri.as_str().into() })
    }
}

fn ours(failure: Failure) -> Fault {
    match failure {
        Failure::Ours(fault) => fault,
        Failure::Theirs(error) => {
            let shown: String = error.get().chars().take(200).collect();
            Fault::new(FaultKind::Upstream, shown)
        }
    }
}

/// The content of a result: of several parts a list.
fn content(read: &str) -> Value {
    if read.len() > MOST_BYTES {
        return digest(read);
    }
    let read: Value = serde_json::from_str(read).unwrap_or_default();
    let parts = read["contents"].as_array().cloned().unwrap_or_default();
    let part = |part: &Value| match (part["text"].as_str(), part["blob"].as_str()) {
        (Some(text), _) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        (None, Some(blob)) => digest(blob),
        (None, None) => Value::Null,
    };
    let mut values: Vec<Value> = parts.iter().map(part).collect();
    if values.len() == 1 { values.remove(0) } else { values.into() }
}

fn digest(text: &str) -> Value {
    format!("{} bytes, blake3 {}", text.len(), blake3::hash(text.as_bytes()).to_hex()).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_is_json_where_it_is_json() {
        let part = |text: &str| json!({"contents": [{"uri": "a://b", "text": text}]}).to_string();
        assert_eq!(content(&part("{\"a\":1}")), json!({"a": 1}));
        assert_eq!(content(&part("words")), json!("words"));
        assert_eq!(content("{\"contents\":[]}"), json!([]));
        let two = json!({"contents": [{"text": "1"}, {"blob": "AA=="}]}).to_string();
        assert!(content(&two)[1].as_str().is_some_and(|digest| digest.starts_with("4 bytes")), "{two}");
        let large = content(&part(&"x".repeat(MOST_BYTES)));
        assert!(large.as_str().is_some_and(|digest| digest.len() < 120), "{large}");
        assert_eq!(content("no JSON"), json!([]));
    }
}
