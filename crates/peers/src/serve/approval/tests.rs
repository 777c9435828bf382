//! Silence, and two people who are asked the same: the one behind the client and one at the desk.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tectum_approval::{Answer, Desk, DeskEvent, DeskSettings, OpenQuestion, Surface};
use tectum_core::{Judgement, Origin, Rules, SessionId};
use tokio::sync::broadcast;

use super::super::{Delivery, Endpoint, Handled, Running, Turns, tests::ruled};
use super::KEY;
use crate::client::{Bounds, Conversation, Queue, Unheard, queue};

/// Longer than anybody is waited for.
const AGES: Duration = Duration::from_secs(20 * 60);

/// Somebody who sees all questions.
struct AtDesk {
    _surface: Surface,
    events: broadcast::Receiver<DeskEvent>,
    desk: Arc<Desk>,
}

impl AtDesk {
    /// The next question.
    async fn asked(&mut self) -> Arc<OpenQuestion> {
        loop {
            if let DeskEvent::Asked(question) = self.events.recv().await.expect("the desk is there") {
                return question;
            }
        }
    }
}

/// A client that can be asked, and what it is sent.
struct Asked {
    _scratch: tempfile::TempDir,
    endpoint: Endpoint,
    client: Arc<Conversation>,
    delivery: crate::client::Outbox,
    sent: Queue,
}

impl Asked {
    fn new() -> Self {
        Self::able(r#"{"elicitation":{}}"#)
    }

    /// With these capabilities.
    fn able(capabilities: &str) -> Self {
        let origin = Origin { file: None, line: 0 };
        let (scratch, endpoint) =
            ruled(Rules { default: Some((Judgement::Ask, origin)), ..Rules::default() });
        let client = Conversation::new(SessionId::new("test"), Unheard::default());
        client.set_capabilities(capabilities);
        let (delivery, sent) = queue(Bounds { messages: 8, bytes: 1 << 20 }, Unheard::default(), None);
        Self { _scratch: scratch, endpoint, client, delivery, sent }
    }

    fn handle(&self, message: &Value) -> Result<Value, Running> {
        let (mut out, turns) = (Vec::new(), Turns::new(None));
        let delivery = Delivery {
            from: &self.client,
            outbox: Some(&self.delivery),
            turns: &turns,
            modern: false,
            ahead: false,
        };
        match self.endpoint.handle(&delivery, message.to_string().as_bytes(), &mut out) {
            Handled::Running(work) => Err(work),
            _ => Ok(serde_json::from_slice(&out).unwrap_or_default()),
        }
    }

    async fn modern(&self, mut params: Value) -> Value {
        params["name"] = json!("tool_0");
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
        match self.handle(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})) {
            Ok(answer) => answer["result"].clone(),
            Err(work) => serde_json::from_slice::<Value>(&work.await).expect("JSON")["result"].clone(),
        }
    }

    /// The next try with a yes.
    async fn agree(&self, asked: &Value) -> Value {
        let yes = json!({"action": "accept", "content": {"approve": true}});
        self.modern(json!({"requestState": asked["requestState"], "inputResponses": {KEY: yes}})).await
    }

    /// Begins a call in the older way; its question has been sent.
    async fn legacy(&mut self) -> (tokio::task::JoinHandle<Value>, Value) {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool_0"}});
        let Err(work) = self.handle(&call) else { panic!("it waits for a person") };
        let call = tokio::spawn(async move { serde_json::from_slice(&work.await).expect("JSON") });
        (call, self.heard().await)
    }

    async fn heard(&mut self) -> Value {
        serde_json::from_slice(&self.sent.recv().await.expect("a message").bytes).expect("JSON")
    }

    /// Somebody at the desk, who sees all questions.
    fn desk(&self) -> AtDesk {
        let desk = Desk::of(&self.endpoint.house);
        AtDesk { _surface: desk.attach(), events: desk.events(), desk }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_no_in_the_older_era_and_the_question_is_taken_back_first() {
    let mut asked = Asked::new();
    let (call, question) = asked.legacy().await;
    assert_eq!(question["method"], "elicitation/create");
    let answer = call.await.expect("ends");
    assert_eq!(answer["result"]["_meta"]["tectum/fault"], "timeout", "{answer}");
    let note = asked.heard().await;
    assert_eq!(note["method"], "notifications/cancelled");
    assert_eq!(note["params"]["requestId"], question["id"]);
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_no_in_the_newer_era_and_a_late_yes_hears_of_it() {
    let asked = Asked::new();
    let mut desk = asked.desk();
    let question = asked.modern(json!({})).await;
    assert_eq!(question["resultType"], "input_required", "{question}");
    let inquiry = desk.asked().await;
    tokio::time::sleep(AGES).await;
    assert!(inquiry.settled().is_cancelled(), "it is taken back from the desk");
    let answer = asked.agree(&question).await;
    assert_eq!(answer["_meta"]["tectum/fault"], "timeout", "{answer}");
}

#[tokio::test]
async fn a_yes_at_the_desk_counts_and_the_client_is_told_that_the_question_is_over() {
    let mut asked = Asked::new();
    let mut desk = asked.desk();
    let (call, question) = asked.legacy().await;
    let inquiry = desk.asked().await;
    desk.desk.answer(&inquiry.id, Answer::yes(), "desk").expect("waits");
    assert_eq!(call.await.expect("ends")["result"]["isError"], false);
    assert_eq!(asked.heard().await["params"]["requestId"], question["id"]);
}

#[tokio::test]
async fn the_first_answer_counts_in_the_newer_era_too() {
    let asked = Asked::new();
    let mut desk = asked.desk();
    let question = asked.modern(json!({})).await;
    let inquiry = desk.asked().await;
    desk.desk.answer(&inquiry.id, Answer::no("no"), "desk").expect("waits");
    inquiry.settled().cancelled().await;
    let answer = asked.agree(&question).await;
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(answer.to_string().contains("refused by a person: no"), "{answer}");
    let question = asked.modern(json!({})).await;
    let inquiry = desk.asked().await;
    assert_eq!(asked.agree(&question).await["isError"], false);
    assert!(inquiry.settled().is_cancelled());
}

#[tokio::test]
async fn questions_of_a_server_that_ends_are_taken_back() {
    let asked = Asked::new();
    let mut desk = asked.desk();
    asked.modern(json!({})).await;
    let inquiry = desk.asked().await;
    drop(asked);
    inquiry.settled().cancelled().await;
}

#[tokio::test]
async fn open_questions_are_bounded() {
    let asked = Asked::new();
    for _ in 0..1024 {
        assert_eq!(asked.modern(json!({})).await["resultType"], "input_required");
    }
    let answer = asked.modern(json!({})).await;
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(answer.to_string().contains("too many calls wait"), "{answer}");
}

/// A call in the older way, and whether it wants to hear of progress.
fn legacy_call(progress: bool) -> Value {
    let meta = if progress { json!({"progressToken": 1}) } else { json!({}) };
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool_0", "_meta": meta}})
}

#[tokio::test(start_paused = true)]
async fn a_client_that_can_neither_ask_nor_wait_is_told_to_repeat_the_call() {
    let asked = Asked::able("{}");
    let mut desk = asked.desk();
    let try_it = || async {
        match asked.handle(&legacy_call(false)) {
            Ok(answer) => answer["result"].clone(),
            Err(work) => serde_json::from_slice::<Value>(&work.await).expect("JSON")["result"].clone(),
        }
    };
    let pending = try_it().await;
    let question = desk.asked().await;
    assert_eq!(pending["isError"], true);
    let words = format!("pending, id {}: ", question.id);
    assert!(pending.to_string().contains(&words) && pending.to_string().contains("repeat the call"));
    desk.desk.answer(&question.id, Answer::yes(), "desk").expect("it waits for the repetition");
    assert_eq!(try_it().await["isError"], false);
    assert_eq!(try_it().await["isError"], true, "the yes is used up");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hears_progress_waits_for_whoever_sees_the_question() {
    let mut asked = Asked::able("{}");
    let mut desk = asked.desk();
    let Err(work) = asked.handle(&legacy_call(true)) else { panic!("it waits for a person") };
    let call = tokio::spawn(work);
    let question = desk.asked().await;
    desk.desk.shown(&question.id).expect("waits");
    // As long as the person may take. Not every client's patience grows with progress, so nobody waits
    // like that for a person who never came.
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert!(!call.is_finished());
    assert_eq!(asked.heard().await["method"], "notifications/progress");
    desk.desk.answer(&question.id, Answer::yes(), "desk").expect("waits");
    let answer: Value = serde_json::from_slice(&call.await.expect("ends")).expect("JSON");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let Err(work) = asked.handle(&legacy_call(true)) else { panic!("it waits for a person") };
    let answer: Value = serde_json::from_slice(&work.await).expect("JSON");
    let unseen = desk.asked().await;
    assert!(answer.to_string().contains(&format!("pending, id {}", unseen.id)), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_client_is_not_asked_where_only_the_desk_is() {
    let mut asked = Asked::new();
    let mut desk = asked.desk();
    desk.desk.configure(DeskSettings { at_clients: false, ..DeskSettings::default() });
    for era in ["legacy", "modern"] {
        let answer = match era {
            "modern" => asked.modern(json!({})).await,
            _ => match asked.handle(&legacy_call(false)) {
                Err(work) => serde_json::from_slice::<Value>(&work.await).expect("JSON")["result"].clone(),
                Ok(answer) => panic!("{answer}"),
            },
        };
        let question = desk.asked().await;
        assert!(answer.to_string().contains(&format!("pending, id {}", question.id)), "{era}: {answer}");
        desk.desk.withdraw(&question.id);
    }
    let sent = tokio::time::timeout(AGES, asked.sent.recv()).await;
    assert!(sent.is_err(), "nothing was sent to the client");
}
