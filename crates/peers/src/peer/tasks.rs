//! The server that works on each task: a server may answer a call with a task, and the client asks for
//! it later by nothing but its id. What servers tell of tasks goes to whom they belong.
//!
//! A task keeps its server's id, unless another server's task has it: then it gets one that names
//! its server, so that no server can stand in for another.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use serde_json::value::RawValue;

use super::early::{Early, TaskPlace};
use crate::{
    client::{TaskNote, named_task},
    link::Room,
    spec::ServerName,
    wire::Members,
};

/// Tasks that are remembered; the oldest are forgotten first.
const MOST: usize = 10_000;
/// The longest id of a task that is remembered.
const MOST_ID: usize = 1024;

/// The tasks of all servers.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<TaskTable>);

#[derive(Debug, Default)]
struct TaskTable {
    by_id: HashMap<String, Task>,
    by_place: HashMap<TaskPlace, String>,
    order: VecDeque<String>,
    /// Notes on tasks that nobody knows yet.
    early: Early,
}

#[derive(Debug)]
struct Task {
    place: TaskPlace,
    owner: Option<u64>,
    /// The answer that names it has not gone out yet.
    secret: bool,
}

impl Tasks {
    /// Remembers the task that a result stands for, if it is one, and whose it is. Gives the result
    /// back, with the id that clients know the task by, and that id. What its server tells of a
    /// task with an owner waits until [`Tasks::answered`].
    pub(crate) fn note(
        &self,
        result: Box<RawValue>,
        server: &ServerName,
        owner: Option<u64>,
    ) -> (Box<RawValue>, Option<String>) {
        // Nearly no result is one, and the word is looked for faster than the members.
        if !result.get().contains("\"taskId\"") {
            return (result, None);
        }
        let Some(members) = Members::of(result.get()) else { return (result, None) };
        let (Some("task"), Some(own)) = (members.text("resultType").as_deref(), members.text("taskId"))
        else {
            return (result, None);
        };
        if own.len() > MOST_ID {
            return (result, None);
        }
        let place = TaskPlace { server: server.clone(), own: own.into() };
        let id = self.0.lock().keep(place.clone(), owner);
        (named_task(result, &id), Some(id))
    }

    /// The answer that names a task has gone out; gives back what was told of it before.
    pub(crate) fn answered(&self, id: &str) -> Vec<TaskNote> {
        let mut known = self.0.lock();
        let Some(task) = known.by_id.get_mut(id) else { return Vec::new() };
        task.secret = false;
        let (place, owner) = (task.place.clone(), task.owner);
        let early = known.early.take(&place);
        drop(known);
        early
            .iter()
            .filter_map(|params| Some(TaskNote::new(id, owner, Members::of(params)?, Room::default())))
            .collect()
    }

    /// The server that works on a task.
    pub(crate) fn place(&self, id: &str) -> Option<TaskPlace> {
        self.0.lock().by_id.get(id).map(|task| task.place.clone())
    }

    /// The note for clients on a task of this server. `None` before the answer has gone out that names the
    /// task; unless a subscription asked for it, the note is kept until then.
    pub(crate) fn told(&self, server: ServerName, params: &str, room: Room) -> Option<TaskNote> {
        let members = Members::of(params)?;
        let place = TaskPlace { server, own: members.text("taskId")?.into() };
        let mut known = self.0.lock();
        let task = known.by_place.get(&place).and_then(|id| Some((id.clone(), known.by_id.get(id)?)));
        match task.map(|(id, task)| (id, task.owner, task.secret)) {
            Some((id, owner, false)) => Some(TaskNote::new(&id, owner, members, room)),
            _ => {
                if !TaskNote::is_subscribed(&members) {
                    known.early.keep(place, params);
                }
                None
            }
        }
    }
}

impl TaskTable {
    fn keep(&mut self, place: TaskPlace, owner: Option<u64>) -> String {
        let free = |id: &String| self.by_id.get(id).is_none_or(|known| known.place == place);
        let mut id = place.own.to_string();
        if !free(&id) {
            id = format!("{}/{}", place.server, place.own);
            while !free(&id) {
                id.push('\'');
            }
        }
        self.by_place.insert(place.clone(), id.clone());
        // One that is named a second time is no secret.
        let secret = owner.is_some() && self.by_id.get(&id).is_none_or(|known| known.secret);
        if self.by_id.insert(id.clone(), Task { place, owner, secret }).is_none() {
            self.order.push_back(id.clone());
        }
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front().and_then(|oldest| self.by_id.remove(&oldest)) {
                self.by_place.remove(&oldest.place);
            }
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use tectum_core::SessionId;

    use super::*;
    use crate::client::{Conversation, Notice, Unheard};

    fn server(name: &str) -> ServerName {
        ServerName::parse(name).expect("a name")
    }

    fn noted(tasks: &Tasks, json: &str, name: &str) -> String {
        let result = RawValue::from_string(json.into()).expect("JSON");
        let (result, id) = tasks.note(result, &server(name), Some(7));
        if let Some(id) = id {
            assert!(tasks.answered(&id).is_empty(), "nothing was told before");
        }
        result.get().to_owned()
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

    #[test]
    fn what_a_server_tells_of_its_tasks_is_told_under_their_ids_here() {
        let tasks = Tasks::default();
        let task = r#"{"resultType":"task","taskId":"1"}"#;
        noted(&tasks, task, "a");
        noted(&tasks, task, "b");
        let told = |name: &str, params: &str| tasks.told(server(name), params, Room::default());
        let params =
            r#"{"taskId":"1","ttlMs":1.0,"_meta":{"io.modelcontextprotocol/subscriptionId":9,"x":1}}"#;
        let note = told("b", params).expect("known");
        assert_eq!((&*note.id, note.owner), ("b/1", None), "it was asked for");
        assert_eq!(told("b", r#"{"taskId":"1"}"#).and_then(|note| note.owner), Some(7));
        assert_eq!(note.params(None), r#"{"taskId":"b/1","ttlMs":1.0,"_meta":{"x":1}}"#);
        let subscribed = note.params(Some("\"s\""));
        assert!(subscribed.ends_with(r#""_meta":{"x":1,"io.modelcontextprotocol/subscriptionId":"s"}}"#));
        assert_eq!(
            told("a", r#"{"taskId":"1"}"#).map(|note| note.params(None)).as_deref(),
            Some(r#"{"taskId":"1"}"#)
        );
        for (name, odd) in
            [("b", r#"{"taskId":"b/1"}"#), ("c", params), ("a", r#"{"taskId":1}"#), ("a", "[]")]
        {
            assert_eq!(told(name, odd), None, "{name} {odd}");
        }
        for number in 0..MOST {
            noted(&tasks, &format!(r#"{{"resultType":"task","taskId":"{number}-"}}"#), "s");
        }
        assert_eq!(told("b", params), None, "it was forgotten");
        assert_eq!(tasks.0.lock().by_place.len(), MOST);
    }

    #[test]
    fn what_is_told_before_the_answer_went_out_waits_for_it() {
        let tasks = Tasks::default();
        let told = |name: &str, params: &str| tasks.told(server(name), params, Room::default());
        assert_eq!(told("b", r#"{"taskId":"1","v":1}"#), None, "its call has no answer yet");
        assert_eq!(told("a", r#"{"taskId":"1","v":0}"#), None, "another server's");
        let asked = r#"{"taskId":"1","_meta":{"io.modelcontextprotocol/subscriptionId":9}}"#;
        assert_eq!(told("b", asked), None, "of a subscription to what nobody knows");
        noted(&tasks, r#"{"resultType":"task","taskId":"1"}"#, "c");
        let result = RawValue::from_string(r#"{"resultType":"task","taskId":"1"}"#.into()).expect("JSON");
        let (_, id) = tasks.note(result, &server("b"), Some(7));
        assert_eq!(id.as_deref(), Some("b/1"));
        assert_eq!(told("b", r#"{"taskId":"1","v":2}"#), None, "the answer is on its way");
        let early = tasks.answered("b/1");
        let params: Vec<String> = early.iter().map(|note| note.params(None)).collect();
        assert_eq!(params, [r#"{"taskId":"b/1","v":1}"#, r#"{"taskId":"b/1","v":2}"#]);
        assert!(early.iter().all(|note| note.owner == Some(7)));
        assert!(told("b", r#"{"taskId":"1","v":3}"#).is_some());
        assert!(tasks.answered("b/1").is_empty() && tasks.answered("unknown").is_empty());
    }

    #[test]
    fn a_task_that_is_told_of_unasked_concerns_its_owner_alone() {
        let client = || Conversation::new(SessionId::new("test"), Unheard::default());
        let (tasks, owner, other) = (Tasks::default(), client(), client());
        other.set_initialized();
        let result = RawValue::from_string(r#"{"resultType":"task","taskId":"1"}"#.into()).expect("JSON");
        let (_, id) = tasks.note(result, &server("a"), Some(owner.key()));
        tasks.answered(&id.expect("a task"));
        let heard = |client: &Conversation, params: &str| -> Vec<String> {
            let notice = Notice::Task(tasks.told(server("a"), params, Room::default()).expect("known"));
            let heard = client.noticed(&notice).into_iter();
            heard.map(|message| String::from_utf8(message).expect("text")).collect()
        };
        let message = r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"1","v":1}}"#;
        assert_eq!(heard(&owner, r#"{"taskId":"1","v":1}"#), [message]);
        assert!(heard(&other, r#"{"taskId":"1","v":1}"#).is_empty());
        let asked = r#"{"taskId":"1","_meta":{"io.modelcontextprotocol/subscriptionId":1}}"#;
        assert!(heard(&owner, asked).is_empty(), "a subscription that is over");
    }
}
