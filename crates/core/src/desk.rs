//! Questions waiting for a human. Silence is never consent.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::{mpsc, oneshot};

use crate::{CallId, Fault, FaultKind, ToolName};

/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskId(u64);

/// What a person is asked: may this one call go ahead?
#[derive(Clone, Debug)]
pub struct Question {
    /// Which call.
    pub call: CallId,
    /// Which tool.
    pub tool: ToolName,
    /// What it is about: the tool's primary argument.
    pub subject: String,
    /// The arguments as they came.
    pub args: String,
    /// The rule that asks, and where it stands.
    pub rule: String,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go ahead, this once.
    Approve,
    /// No, and why.
    Deny(String),
}

/// Holds questions until somebody answers.
#[derive(Debug, Default)]
pub struct Desk {
    pending: Mutex<HashMap<AskId, oneshot::Sender<Decision>>>,
    askers: Mutex<Vec<mpsc::Sender<(AskId, Question)>>>,
    next: AtomicU64,
}

impl Desk {
    /// Adds somebody who shows questions to a person.
    pub fn attach(&self, asker: mpsc::Sender<(AskId, Question)>) {
        self.askers.lock().unwrap_or_else(|broken| broken.into_inner()).push(asker);
    }

    /// Asks, and waits. Nobody to ask, no answer in time, a lost answer: all are a no.
    pub async fn ask(&self, question: Question) -> Result<(), Fault> {
        let id = AskId(self.next.fetch_add(1, Ordering::Relaxed));
        let (tell, answer) = oneshot::channel();
        self.pending.lock().unwrap_or_else(|broken| broken.into_inner()).insert(id, tell);
        if !self.post(id, &question) {
            self.forget(id);
            return Err(nobody_to_ask(&question));
        }
        let decision = tokio::time::timeout(PATIENCE, answer).await;
        self.forget(id);
        match decision {
            Ok(Ok(Decision::Approve)) => Ok(()),
            Ok(Ok(Decision::Deny(reason))) => Err(Fault::new(
                FaultKind::Permission,
                format!("{} was refused by a person: {reason}", question.tool),
            )),
            Ok(Err(_)) | Err(_) => Err(Fault::new(
                FaultKind::Timeout,
                format!("nobody approved {} within {} s", question.tool, PATIENCE.as_secs()),
            )),
        }
    }

    /// Answers a question; the first answer wins, a late or second one is an error.
    pub fn answer(&self, id: AskId, decision: Decision) -> Result<(), Fault> {
        let waiting = self.pending.lock().unwrap_or_else(|broken| broken.into_inner()).remove(&id);
        match waiting.map(|tell| tell.send(decision)) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(Fault::not_found("no such question is waiting")),
        }
    }

    fn post(&self, id: AskId, question: &Question) -> bool {
        let mut askers = self.askers.lock().unwrap_or_else(|broken| broken.into_inner());
        askers.retain(|asker| !asker.is_closed());
        askers.iter().any(|asker| asker.try_send((id, question.clone())).is_ok())
    }

    fn forget(&self, id: AskId) {
        self.pending.lock().unwrap_or_else(|broken| broken.into_inner()).remove(&id);
    }
}

fn nobody_to_ask(question: &Question) -> Fault {
    let allow = match question.subject.as_str() {
        "" => question.tool.to_string(),
        subject => format!("{}({subject})", question.tool),
    };
    // An ask rule beats every allow rule, so only a default gives way to one.
    let hint = match question.rule.strip_prefix("ask rule ") {
        Some(rule) => format!("a person can remove the ask rule {rule}, or narrow its pattern"),
        None => format!("a person can allow it in tectum.toml: [permissions] allow = [\"{allow}\"]"),
    };
    Fault::new(
        FaultKind::Permission,
        format!("{} needs approval ({}) and nobody is there to give it", question.tool, question.rule),
    )
    .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question {
            call: CallId::fresh(),
            tool: "shell".into(),
            subject: "ls".into(),
            args: "{}".into(),
            rule: "default".into(),
        }
    }

    #[tokio::test]
    async fn an_ask_rule_is_named_since_no_allow_rule_beats_it() {
        let rule = "ask rule `shell(*)` (tectum.toml:3)".to_owned();
        let fault = Desk::default().ask(Question { rule, ..question() }).await.expect_err("refused");
        let hint = fault.hint.expect("hint");
        assert!(hint.contains("remove the ask rule `shell(*)` (tectum.toml:3), or narrow"), "{hint}");
        assert!(!hint.contains("allow ="), "{hint}");
    }

    #[tokio::test]
    async fn nobody_to_ask_is_a_refusal_that_says_how_to_allow() {
        let fault = Desk::default().ask(question()).await.expect_err("refused");
        assert_eq!(fault.kind, FaultKind::Permission);
        assert!(fault.hint.expect("hint").contains(r#"allow = ["shell(ls)"]"#));
    }

    #[tokio::test]
    async fn the_first_answer_wins_and_the_second_is_an_error() {
        let desk = std::sync::Arc::new(Desk::default());
        let (show, mut shown) = mpsc::channel(1);
        desk.attach(show);
        let asking = tokio::spawn({
            let desk = desk.clone();
            async move { desk.ask(question()).await }
        });
        let (id, _) = shown.recv().await.expect("asked");
        desk.answer(id, Decision::Approve).expect("taken");
        assert!(desk.answer(id, Decision::Deny("late".into())).is_err());
        asking.await.expect("ends").expect("approved");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_a_refusal() {
        let desk = Desk::default();
        let (show, _kept) = mpsc::channel(1);
        desk.attach(show);
        assert_eq!(desk.ask(question()).await.expect_err("refused").kind, FaultKind::Timeout);
    }
}
