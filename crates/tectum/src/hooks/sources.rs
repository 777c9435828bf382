//! What the house tells of itself as events: questions for a person, its servers when their state changes, and
//! the board of its tracks.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};
use tectum_approval::{Desk, DeskEvent, OpenQuestion, QuestionKind};
use tectum_attend::Attention;
use tectum_peers::federation::Federation;
use tokio::{
    sync::{broadcast::error::RecvError, watch},
    task::AbortHandle,
};

use super::events::Bus;

/// The interval at which the states of servers are compared while somebody listens.
const LOOK: Duration = Duration::from_secs(1);

/// A task that ends with whoever holds this.
#[derive(Debug)]
pub(super) struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells what happens to questions, beginning with those that wait.
pub(super) fn questions(bus: Arc<Bus>, desk: Arc<Desk>) -> Ends {
    let (mut events, waiting) = (desk.events(), desk.questions());
    let telling = async move {
        waiting.iter().for_each(|question| asked(&bus, &desk, question));
        loop {
            match events.recv().await {
                Ok(DeskEvent::Asked(question)) => asked(&bus, &desk, &question),
                Ok(DeskEvent::Shown(id)) => bus.push("question.shown", &json!({ "id": id })),
                Ok(DeskEvent::Settled { id, how }) => {
                    bus.push("question.settled", &json!({ "id": id, "how": how }));
                }
                // Whoever reads this asks for the list again.
                Err(RecvError::Lagged(missed)) => bus.push("question.missed", &json!({ "missed": missed })),
                Err(RecvError::Closed) => return,
            }
        }
    };
    Ends(tokio::spawn(telling).abort_handle())
}

fn asked(bus: &Bus, desk: &Desk, question: &OpenQuestion) {
    bus.push("question.asked", question);
    if question.kind == QuestionKind::Ask {
        bus.push("ask_received", &json!({ "request_id": question.id, "data": question.data }));
        // The script's clock runs already. If it is over, so is the question.
        let _ = desk.shown(&question.id);
    }
}

/// Tells news. They are few, so they are told whether somebody listens or not.
pub(super) fn news(bus: Arc<Bus>, attention: Option<Attention>) -> Ends {
    let telling = async move {
        let Some(attention) = attention else { return };
        let mut news = attention.news();
        loop {
            match news.recv().await {
                Ok(news) => bus.push(
                    "attention.news",
                    &json!({
                        "id": news.id.to_string(),
                        "organ": news.organ,
                        "sentence": news.sentence,
                        "urgent": news.urgent,
                    }),
                ),
                // Whoever reads this asks for the list.
                Err(RecvError::Lagged(missed)) => bus.push("attention.missed", &json!({ "missed": missed })),
                Err(RecvError::Closed) => return,
            }
        }
    };
    Ends(tokio::spawn(telling).abort_handle())
}

/// Tells changes of servers while somebody listens.
pub(super) fn servers(bus: Arc<Bus>, federation: Arc<Federation>) -> Ends {
    let telling = async move {
        let mut changes = bus.changes();
        loop {
            // Nobody is told what happened before anybody listened.
            while !bus.is_heard() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
            let mut before = federation.status();
            while bus.is_heard() {
                tokio::time::sleep(LOOK).await;
                let now = federation.status();
                for (name, status) in &now {
                    let same = before.remove(name).is_some_and(|before| before == *status);
                    if !same {
                        bus.push("server.changed", &json!({ "name": name, "status": status }));
                    }
                }
                // Those that are left are not there any more.
                for name in before.keys() {
                    bus.push("server.changed", &json!({ "name": name, "status": Value::Null }));
                }
                before = now;
            }
        }
    };
    Ends(tokio::spawn(telling).abort_handle())
}

/// Tells changes of the board.
pub(super) fn board<S: Serialize + Send + Sync + 'static>(
    bus: Arc<Bus>,
    mut board: watch::Receiver<S>,
) -> Ends {
    let telling = async move {
        while board.changed().await.is_ok() {
            let mut state = serde_json::to_value(&*board.borrow_and_update()).unwrap_or_default();
            // The streams grow with every word of a model; they are read where they are.
            if let Some(members) = state.as_object_mut() {
                members.remove("mma_streams");
            }
            bus.push("mma.changed", &state);
        }
    };
    Ends(tokio::spawn(telling).abort_handle())
}
