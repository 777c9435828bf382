//! Which server works on which task: a server may answer a call with a task, and the client asks
//! for it later by nothing but its id.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use serde_json::value::RawValue;

use crate::{spec::ServerName, wire::object::Members};

/// The extension that both sides must declare.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Tasks that are remembered; the oldest are forgotten first.
const MOST: usize = 10_000;

/// The tasks of all servers.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<String, ServerName>,
    order: VecDeque<String>,
}

impl Tasks {
    /// Remembers the task that a result stands for, if it is one.
    pub(crate) fn note(&self, result: &RawValue, server: &ServerName) {
        // Nearly no result is one, and the word is looked for faster than the members.
        if !result.get().contains("\"taskId\"") {
            return;
        }
        let Some(members) = Members::of(result.get()) else { return };
        let (Some("task"), Some(id)) = (members.text("resultType").as_deref(), members.text("taskId")) else {
            return;
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.by_id.insert(id.clone(), server.clone()).is_none() {
            known.order.push_back(id);
        }
        while known.order.len() > MOST {
            if let Some(oldest) = known.order.pop_front() {
                known.by_id.remove(&oldest);
            }
        }
    }

    /// The server that works on a task.
    pub(crate) fn server(&self, id: &str) -> Option<ServerName> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_id.get(id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_by_their_ids_and_the_oldest_forgotten() {
        let (tasks, server) = (Tasks::default(), ServerName::parse("s").expect("a name"));
        let note = |json: &str| tasks.note(&RawValue::from_string(json.into()).expect("JSON"), &server);
        note(r#"{"resultType":"complete","taskId":"no"}"#);
        note(r#"{"resultType":"task","taskId":"first","status":"working"}"#);
        assert_eq!(tasks.server("first"), Some(server.clone()));
        assert_eq!(tasks.server("no"), None);
        for number in 0..MOST {
            note(&format!(r#"{{"resultType":"task","taskId":"{number}"}}"#));
        }
        assert_eq!(tasks.server("first"), None);
        assert_eq!(tasks.server("0"), Some(server));
    }
}
