//! Which server works on which task: a server may answer a call with a task, and the client asks
//! for it later by nothing but its id.
//!
//! A task keeps its server's id, unless another server's task has it: then it gets one that names
//! its server, so that no server can stand in for another.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::value::RawValue;

use crate::{
    spec::ServerName,
    wire::object::{Members, Object, raw},
};

/// The extension that both sides must declare.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Tasks that are remembered; the oldest are forgotten first.
const MOST: usize = 10_000;

/// The tasks of all servers.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<String, Place>,
    order: VecDeque<String>,
}

/// Where a task is worked on, and its id there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The server.
    pub(crate) server: ServerName,
    /// The server's id for it.
    pub(crate) own: Arc<str>,
}

impl Tasks {
    /// Remembers the task that a result stands for, if it is one. Gives the result back, with the
    /// id that clients know the task by.
    pub(crate) fn note(&self, result: Box<RawValue>, server: &ServerName) -> Box<RawValue> {
        // Nearly no result is one, and the word is looked for faster than the members.
        if !result.get().contains("\"taskId\"") {
            return result;
        }
        let Some(members) = Members::of(result.get()) else { return result };
        let (Some("task"), Some(own)) = (members.text("resultType").as_deref(), members.text("taskId"))
        else {
            return result;
        };
        let place = Place { server: server.clone(), own: own.into() };
        let id = self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(place.clone());
        if id == *place.own { result } else { named(result, &id) }
    }

    /// Where a task is worked on.
    pub(crate) fn place(&self, id: &str) -> Option<Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_id.get(id).cloned()
    }
}

impl Known {
    fn keep(&mut self, place: Place) -> String {
        let free = |id: &String| self.by_id.get(id).is_none_or(|known| *known == place);
        let mut id = place.own.to_string();
        if !free(&id) {
            id = format!("{}/{}", place.server, place.own);
            while !free(&id) {
                id.push('\'');
            }
        }
        if self.by_id.insert(id.clone(), place).is_none() {
            self.order.push_back(id.clone());
        }
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.by_id.remove(&oldest);
            }
        }
        id
    }
}

/// A result about a task, under the id that clients know the task by.
pub(crate) fn named(result: Box<RawValue>, id: &str) -> Box<RawValue> {
    let Some(members) = Members::of(result.get()) else { return result };
    let mut object = Object::new();
    for (name, value) in &members.0 {
        match &**name {
            "taskId" => object.text("taskId", id),
            name => object.raw(name, value.get()),
        };
    }
    raw(object.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> ServerName {
        ServerName::parse(name).expect("a name")
    }

    fn noted(tasks: &Tasks, json: &str, name: &str) -> String {
        let result = RawValue::from_string(json.into()).expect("JSON");
        tasks.note(result, &server(name)).get().to_owned()
    }

    #[test]
    fn tasks_are_found_by_their_ids_and_the_oldest_forgotten() {
        let tasks = Tasks::default();
        let found = |id: &str| tasks.place(id).map(|place| (place.server.to_string(), place.own.to_string()));
        noted(&tasks, r#"{"resultType":"complete","taskId":"no"}"#, "s");
        let task = r#"{"resultType":"task","taskId":"first","status":"working"}"#;
        assert_eq!(noted(&tasks, task, "s"), task, "byte for byte");
        assert_eq!(found("first"), Some(("s".into(), "first".into())));
        assert_eq!(found("no"), None);
        for number in 0..MOST {
            noted(&tasks, &format!(r#"{{"resultType":"task","taskId":"{number}"}}"#), "s");
        }
        assert_eq!(found("first"), None);
        assert_eq!(found("0"), Some(("s".into(), "0".into())));
    }

    #[test]
    fn no_server_stands_in_for_another() {
        let tasks = Tasks::default();
        let task = r#"{"resultType":"task","taskId":"1","x":1.0}"#;
        assert_eq!(noted(&tasks, task, "a"), task);
        assert_eq!(noted(&tasks, r#"{"resultType":"task","taskId":"b/1"}"#, "c").len(), 36);
        assert_eq!(noted(&tasks, task, "b"), r#"{"resultType":"task","taskId":"b/1'","x":1.0}"#);
        assert_eq!(noted(&tasks, task, "a"), task, "its own id stays the same");
        let found = |id: &str| tasks.place(id).map(|place| (place.server.to_string(), place.own.to_string()));
        assert_eq!(found("1"), Some(("a".into(), "1".into())));
        assert_eq!(found("b/1'"), Some(("b".into(), "1".into())));
        assert_eq!(found("b/1"), Some(("c".into(), "b/1".into())));
    }
}
