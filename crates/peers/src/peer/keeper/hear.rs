//! What a server says unasked, and what it is asked to tell of.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::Keeper;
use crate::{
    link::{Ask, Link, Loose, modern_meta},
    peer::{News, Peer, What},
    wire::{
        era::Era,
        object::{Members, Object, quoted},
    },
};

impl Keeper {
    pub(super) fn watch(&mut self, uris: Vec<String>) {
        let before = std::mem::replace(&mut self.watched, uris);
        for (link, _) in self.links.values().filter(|(link, _)| link.hello().era == Era::Legacy) {
            if !link.hello().can("resources.subscribe") {
                continue;
            }
            for uri in self.watched.iter().filter(|uri| !before.contains(uri)) {
                tell(link, "resources/subscribe", "uri", uri);
            }
            for uri in before.iter().filter(|uri| !self.watched.contains(uri)) {
                tell(link, "resources/unsubscribe", "uri", uri);
            }
        }
        self.listen();
    }

    /// Asks a modern server to tell of changes; what it was asked before ends with that.
    pub(super) fn listen(&mut self) {
        self.listening = None;
        let Some((link, _)) = self.links.values().find(|(link, _)| link.hello().era == Era::Modern) else {
            for (link, _) in self.links.values().filter(|(link, _)| link.hello().can("resources.subscribe")) {
                for uri in &self.watched {
                    tell(link, "resources/subscribe", "uri", uri);
                }
            }
            return;
        };
        let mut wanted = Object::new();
        for (capability, key) in [
            ("tools.listChanged", "toolsListChanged"),
            ("prompts.listChanged", "promptsListChanged"),
            ("resources.listChanged", "resourcesListChanged"),
        ] {
            if link.hello().can(capability) {
                wanted.raw(key, "true");
            }
        }
        if !self.watched.is_empty() {
            wanted.raw("resourceSubscriptions", &serde_json::to_string(&self.watched).unwrap_or_default());
        }
        let wanted = wanted.end();
        if wanted == "{}" {
            return;
        }
        let ask = Ask { method: "subscriptions/listen", name: None, headers: Vec::new(), owner: None };
        let params = |_| {
            let mut meta = Object::new();
            modern_meta(&mut meta, "{}");
            Object::new().raw("notifications", &wanted).raw("_meta", &meta.end()).end()
        };
        self.listening = link.request(ask, params).ok();
    }
}

/// Takes what belongs to no call: changes are noted, questions of nobody's are refused.
pub(super) async fn hear(
    peer: Arc<Peer>,
    link: Arc<Link>,
    mut loose: mpsc::Receiver<Loose>,
    news: mpsc::UnboundedSender<News>,
) {
    while let Some(message) = loose.recv().await {
        match message {
            Loose::Question { id, method } if method == "ping" => {
                let _ = link.answer(&id, Ok("{}"));
            }
            Loose::Question { id, method } => {
                let why = quoted(&format!("{method}: it is not clear whose call this belongs to"));
                let _ = link.answer(&id, Err(&format!(r#"{{"code":-32601,"message":{why}}}"#)));
            }
            Loose::Note { method, params } => match &*method {
                "notifications/tools/list_changed" => peer.changed(What::Tools, &link).await,
                "notifications/resources/list_changed" => peer.changed(What::Resources, &link).await,
                "notifications/prompts/list_changed" => peer.changed(What::Prompts, &link).await,
                "notifications/resources/updated" => {
                    if let Some(uri) = Members::of(params.get()).and_then(|members| members.text("uri")) {
                        let _ = news.send(News::Updated { server: peer.spec.name.clone(), uri });
                    }
                }
                "notifications/elicitation/complete" => {
                    let _ = news.send(News::ElicitationDone { params: params.get().to_owned() });
                }
                "notifications/message" => {
                    peer.stderr.push(params.get().as_bytes());
                    peer.stderr.push(b"\n");
                }
                _ => tracing::debug!(server = %peer.spec.name, method, "a notification nobody waits for"),
            },
        }
    }
}

pub(super) fn set_level(link: &Arc<Link>, level: &str) {
    if link.hello().era == Era::Legacy && link.hello().can("logging") {
        tell(link, "logging/setLevel", "level", level);
    }
}

/// A request whose answer changes nothing for us.
fn tell(link: &Arc<Link>, method: &'static str, key: &'static str, value: &str) {
    let ask = Ask { method, name: None, headers: Vec::new(), owner: None };
    if let Ok(exchange) = link.request(ask, |_| Object::new().text(key, value).end()) {
        tokio::spawn(async move { drop(exchange.answer().await) });
    }
}
