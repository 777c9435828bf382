//! Resources of our own: what stays in the model's sight, for clients that show it elsewhere.

use std::sync::{Arc, Weak};

use serde_json::value::RawValue;
use tectum_core::{Anchors, anchors::Change, directives::TODO_ANCHOR};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    Federation, Goods, Notice,
    goods::{decoded, encoded},
};
use crate::wire::object::{Object, raw};

/// The list of what is to do.
const TODO: &str = "tectum://todo";
/// What the address of an anchor begins with; its key follows.
const ANCHORS: &str = "tectum://anchors/";

/// What of ours stands in the lists.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// Resources.
    pub(super) resources: Vec<String>,
    /// Templates.
    pub(super) templates: Vec<String>,
}

impl Own {
    /// The anchors that there are; and where there are tools of our own, what they keep.
    pub(super) fn of(anchors: &Anchors, native: bool) -> Self {
        let mut own = Self::default();
        if native {
            own.resources.push(entry(
                "uri",
                TODO,
                "todo",
                "What is to do",
                "The list that todo_write keeps.",
            ));
            let template = format!("{ANCHORS}{{key}}");
            own.templates.push(entry(
                "uriTemplate",
                &template,
                "anchors",
                "Context anchors",
                "A text that tools keep in the model's sight.",
            ));
        }
        for anchor in anchors.all() {
            let title = format!("Context anchor {}", anchor.key);
            own.resources.push(entry(
                "uri",
                &address(&anchor.key),
                &anchor.key,
                &title,
                "Kept in the model's sight.",
            ));
        }
        own
    }
}

fn entry(key: &str, address: &str, name: &str, title: &str, description: &str) -> String {
    Object::new()
        .text(key, address)
        .text("name", name)
        .text("title", title)
        .text("description", description)
        .text("mimeType", "text/plain")
        .end()
}

fn address(key: &str) -> String {
    format!("{ANCHORS}{}", encoded(key))
}

impl Federation {
    /// One of our own resources as `resources/read` gives it; `None` for any other address.
    pub(crate) fn own_resource(&self, uri: &str) -> Option<Result<Box<RawValue>, String>> {
        let anchors = &self.house.effects().anchors;
        let text = match uri.strip_prefix(ANCHORS) {
            None if uri == TODO => match anchors.get(TODO_ANCHOR) {
                Some(anchor) => anchor.content,
                None => "No todos.".into(),
            },
            None => return None,
            Some(key) => match decoded(key).and_then(|key| anchors.get(&key)) {
                Some(anchor) => anchor.content,
                None => return Some(Err(format!("no such anchor: {uri}"))),
            },
        };
        let content = Object::new().text("uri", uri).text("mimeType", "text/plain").text("text", &text).end();
        Some(Ok(raw(Object::new().raw("contents", &format!("[{content}]")).end())))
    }

    /// The lists of everything but tools, made anew; tells whether clients would see a difference.
    pub(super) fn gather(&self) -> (bool, bool) {
        let own = Own::of(&self.house.effects().anchors, !self.base.load().is_empty());
        let goods = Goods::of(&self.peers.load(), own);
        let before = self.goods.load_full();
        let resources = goods.resources != before.resources || goods.templates != before.templates;
        let prompts = goods.prompts != before.prompts;
        self.goods.store(Arc::new(goods));
        (resources, prompts)
    }
}

/// Tells clients of anchors that come, change and go.
pub(super) async fn follow(federation: Weak<Federation>, mut changes: Receiver<Change>) {
    loop {
        let change = changes.recv().await;
        let Some(federation) = federation.upgrade() else { return };
        let (key, listed) = match &change {
            Ok(Change::Updated(key)) => (Some(key), false),
            Ok(Change::Set(key) | Change::Removed(key)) => (Some(key), true),
            // Some were missed; the list tells what there is.
            Err(RecvError::Lagged(_)) => (None, true),
            Err(RecvError::Closed) => return,
        };
        if listed && federation.gather().0 {
            let _ = federation.notices.send(Notice::Resources);
        }
        if let Some(key) = key {
            let todo = (&**key == TODO_ANCHOR).then(|| TODO.to_owned());
            let names = std::iter::once(address(key)).chain(todo).collect();
            federation.tell_updated(names);
        }
    }
}
