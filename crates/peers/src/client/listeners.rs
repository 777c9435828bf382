//! The subscriptions of one client of the newer era. Before a subscription is acknowledged nothing is
//! sent on it; what changes meanwhile is kept, and follows the acknowledgement.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::{Notice, TaskNote};
use crate::wire::{Object, SUBSCRIPTION, frame};

/// Changes that are kept for a subscription until it is acknowledged. Equal ones are kept once, so
/// this is more than nearly everybody listens for; beyond it the oldest are let go.
const MOST_HELD: usize = 1024;

/// The most resources and tasks of one client's subscriptions, counting each subscription too.
pub(super) const MOST_WANTED: usize = 4096;

/// A server tells of tasks. Letting go of this ends that.
pub(crate) type Following = AbortOnDropHandle<()>;

/// The changes a client listens for.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Wanted {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) tools_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) resources_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resource_subscriptions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) task_ids: Vec<String>,
}

/// The subscriptions of one client, by the ids of their requests.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<HashMap<String, Subscription>>);

#[derive(Debug)]
struct Subscription {
    wanted: Wanted,
    /// Notices from before it was acknowledged; `None` from then on.
    held: Option<VecDeque<Notice>>,
    /// The tasks at servers for it alone; they end with it.
    following: Vec<Following>,
}

impl Listeners {
    /// Begins a subscription that is not acknowledged yet. False when the client has too many.
    pub(crate) fn begin(&self, id: &str, wanted: Wanted) -> bool {
        let mut listeners = self.0.lock();
        let names = listeners.values().map(|listener| listener.wanted.names()).sum::<usize>();
        if names + wanted.names() > MOST_WANTED {
            return false;
        }
        let listener = Subscription { wanted, held: Some(VecDeque::new()), following: Vec::new() };
        listeners.insert(id.to_owned(), listener);
        true
    }

    /// Sends the acknowledgement, then what was kept meanwhile, and nothing else in between. False when
    /// the subscription has ended.
    pub(crate) fn acknowledge(
        &self,
        id: &str,
        agreed: Wanted,
        following: Vec<Following>,
        mut say: impl FnMut(Vec<u8>),
    ) -> bool {
        let mut listeners = self.0.lock();
        let Some(listener) = listeners.get_mut(id) else { return false };
        say(acknowledged(id, &agreed));
        (listener.wanted, listener.following) = (agreed, following);
        let held = listener.held.take().unwrap_or_default();
        held.iter().filter_map(|notice| listener.wanted.message(id, notice)).for_each(say);
        true
    }

    /// Ends a subscription; gives back what it was about.
    pub(super) fn end(&self, id: &str) -> Option<Wanted> {
        self.0.lock().remove(id).map(|listener| listener.wanted)
    }

    /// True when a subscription is about this resource.
    pub(super) fn want_resource(&self, uri: &str) -> bool {
        self.0
            .lock()
            .values()
            .any(|listener| listener.wanted.resource_subscriptions.iter().any(|one| one == uri))
    }

    /// True when a subscription is about this task.
    pub(super) fn want_task(&self, id: &str) -> bool {
        self.0.lock().values().any(|listener| listener.wanted.task_ids.iter().any(|one| one == id))
    }

    /// The notifications to send for a notice.
    pub(super) fn tell(&self, notice: &Notice) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        for (id, listener) in self.0.lock().iter_mut() {
            let Some(message) = listener.wanted.message(id, notice) else { continue };
            match &mut listener.held {
                None => messages.push(message),
                Some(held) if held.contains(notice) => {}
                Some(held) => {
                    if held.len() >= MOST_HELD {
                        held.pop_front();
                    }
                    held.push_back(notice.clone());
                }
            }
        }
        messages
    }
}

impl Wanted {
    /// The number of resources and tasks it names, and one for the subscription itself.
    fn names(&self) -> usize {
        1 + self.resource_subscriptions.len() + self.task_ids.len()
    }

    /// The notification on the subscription with this id; none for a notice that it is not about.
    fn message(&self, id: &str, notice: &Notice) -> Option<Vec<u8>> {
        let list = |wanted: bool, method: &str| {
            let params = || Object::new().raw("_meta", &meta(id)).end();
            wanted.then(|| frame::notification(method, &params()))
        };
        match notice {
            Notice::Tools => list(self.tools_list_changed, "notifications/tools/list_changed"),
            Notice::Prompts => list(self.prompts_list_changed, "notifications/prompts/list_changed"),
            Notice::Resources => list(self.resources_list_changed, "notifications/resources/list_changed"),
            Notice::Updated { names, .. } => {
                let uri = names.iter().find(|name| self.resource_subscriptions.contains(name))?;
                let params = Object::new().text("uri", uri).raw("_meta", &meta(id)).end();
                Some(frame::notification("notifications/resources/updated", &params))
            }
            Notice::Task(note) => {
                let params = self.task_ids.contains(&note.id).then(|| note.params(Some(id)))?;
                Some(frame::notification(TaskNote::METHOD, &params))
            }
            Notice::ElicitationDone { .. } => None,
        }
    }
}

/// The first message of a subscription.
fn acknowledged(id: &str, agreed: &Wanted) -> Vec<u8> {
    let agreed = serde_json::to_string(agreed).unwrap_or_default();
    let params = Object::new().raw("_meta", &meta(id)).raw("notifications", &agreed).end();
    frame::notification("notifications/subscriptions/acknowledged", &params)
}

fn meta(id: &str) -> String {
    Object::new().raw(SUBSCRIPTION, id).end()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::link::Room;

    fn updated(uri: &str) -> Notice {
        Notice::Updated { names: vec![uri.to_owned()], room: Room::default() }
    }

    fn wanted(uris: &[&str]) -> Wanted {
        let resource_subscriptions = uris.iter().map(|uri| (*uri).to_owned()).collect();
        Wanted { tools_list_changed: true, resource_subscriptions, ..Wanted::default() }
    }

    fn acknowledge(listeners: &Listeners, agreed: Wanted) -> Vec<Value> {
        let mut said = Vec::new();
        let heard = listeners.acknowledge("7", agreed, Vec::new(), |bytes| {
            said.push(serde_json::from_slice(&bytes).expect("JSON"));
        });
        assert_eq!(heard, !said.is_empty());
        said
    }

    #[test]
    fn what_changes_before_the_first_word_comes_right_after_it() {
        let listeners = Listeners::default();
        listeners.begin("7", wanted(&["a", "b"]));
        for notice in [updated("b"), updated("a"), updated("a"), Notice::Tools, updated("c"), Notice::Prompts]
        {
            assert!(listeners.tell(&notice).is_empty(), "{notice:?}: nothing goes before the first word");
        }
        let said = acknowledge(&listeners, wanted(&["a"]));
        let meta = json!({"io.modelcontextprotocol/subscriptionId": 7});
        let message = |method: &str, mut params: Value| {
            params["_meta"] = meta.clone();
            json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params})
        };
        let agreed = json!({"toolsListChanged": true, "resourceSubscriptions": ["a"]});
        assert_eq!(
            said,
            [
                message("subscriptions/acknowledged", json!({"notifications": agreed})),
                message("resources/updated", json!({"uri": "a"})),
                message("tools/list_changed", json!({})),
            ]
        );
        assert_eq!(listeners.tell(&updated("a")).len(), 1);
        assert!(listeners.tell(&updated("b")).is_empty(), "that was not agreed to");
    }

    #[test]
    fn what_one_client_listens_for_is_bounded() {
        let listeners = Listeners::default();
        let many = vec!["a"; MOST_WANTED / 2];
        assert!(listeners.begin("1", wanted(&many)));
        assert!(!listeners.begin("2", wanted(&many)));
        assert!(listeners.begin("3", wanted(&["a"])));
        listeners.end("1");
        assert!(listeners.begin("2", wanted(&many)));
        let more = (0..MOST_WANTED).filter(|id| listeners.begin(&format!("n{id}"), wanted(&[]))).count();
        assert!(more < MOST_WANTED, "{more} subscriptions about nothing");
    }

    #[test]
    fn who_left_meanwhile_hears_nothing_and_what_waits_is_bounded() {
        let listeners = Listeners::default();
        let names: Vec<String> = (0..MOST_HELD + 10).map(|number| number.to_string()).collect();
        let all = wanted(&names.iter().map(String::as_str).collect::<Vec<_>>());
        listeners.begin("7", all.clone());
        names.iter().for_each(|name| drop(listeners.tell(&updated(name))));
        let said = acknowledge(&listeners, all.clone());
        assert_eq!((said.len(), &said[1]["params"]["uri"]), (MOST_HELD + 1, &json!("10")));
        listeners.begin("7", all.clone());
        assert!(listeners.want_resource("1") && !listeners.want_resource("x"));
        assert_eq!(listeners.end("7"), Some(all.clone()));
        assert!(acknowledge(&listeners, all).is_empty() && !listeners.want_resource("1"));
    }
}
