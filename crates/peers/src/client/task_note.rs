//! The report of a server about a task, under the id that clients know the task by.

use serde_json::value::RawValue;

use crate::{
    link::Room,
    wire::{Members, OWN_META, Object, SUBSCRIPTION, quoted, raw},
};

/// The extension that both sides must declare.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A server's note on a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskNote {
    /// The id that clients know the task by.
    pub(crate) id: String,
    /// The client that hears of it without having asked: whose call began the task, where the
    /// server told of it unasked.
    pub(crate) owner: Option<u64>,
    /// The notification's parameters under that id, but for `_meta`.
    params: String,
    /// The part of its metadata that is passed on.
    meta: String,
    /// The room that it takes until the last client has it.
    _room: Room,
}

impl TaskNote {
    /// The notification's method.
    pub(crate) const METHOD: &'static str = "notifications/tasks";

    /// A note with these parameters, under the id that clients know the task by.
    pub(crate) fn new(id: &str, owner: Option<u64>, members: Members<'_>, room: Room) -> Self {
        let owner = owner.filter(|_| !Self::is_subscribed(&members));
        let meta = meta(&members);
        let meta = Object::new().all(&meta.keep(|name| !name.starts_with(OWN_META))).end();
        let params = members.keep(|name| name != "_meta").replaced("taskId", &quoted(id));
        Self { id: id.to_owned(), owner, params, meta, _room: room }
    }

    /// True for one that a subscription of ours asked for.
    pub(crate) fn is_subscribed(members: &Members<'_>) -> bool {
        meta(members).get(SUBSCRIPTION).is_some()
    }

    /// Its parameters for a subscription, or for a client that did not ask.
    pub(crate) fn params(&self, subscription: Option<&str>) -> String {
        let mut meta = Object::new();
        meta.all(&Members::of(&self.meta).unwrap_or_default());
        if let Some(id) = subscription {
            meta.raw(SUBSCRIPTION, id);
        }
        let (mut params, meta) = (Object::new(), meta.end());
        params.all(&Members::of(&self.params).unwrap_or_default());
        if meta != "{}" {
            params.raw("_meta", &meta);
        }
        params.end()
    }
}

/// A result about a task, under the id that clients know the task by.
pub(crate) fn named_task(result: Box<RawValue>, id: &str) -> Box<RawValue> {
    match Members::of(result.get()).filter(|members| members.text("taskId").is_some_and(|own| own != id)) {
        Some(members) => raw(members.replaced("taskId", &quoted(id))),
        None => result,
    }
}

/// A message's metadata.
fn meta<'m>(members: &Members<'m>) -> Members<'m> {
    members.object("_meta").unwrap_or_default()
}
