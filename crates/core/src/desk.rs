//! Questions waiting for a human. Silence is never consent.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{CallId, Fault, FaultKind, ToolName};

/// How long a question that a person sees waits for its answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a question may wait until a person sees it, behind others.
const LONGEST: Duration = Duration::from_secs(15 * 60);

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

/// A question on its way to a person. Everybody who shows questions gets one; the first answer wins.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// Names it, for the answer.
    pub id: AskId,
    /// What is asked.
    pub question: Question,
    shown: watch::Sender<bool>,
    settled: CancellationToken,
}

impl Inquiry {
    /// A person sees it from now on: the time for an answer begins when the first does.
    pub fn shown(&self) {
        self.shown.send_replace(true);
    }

    /// Cancelled when no answer is wanted any more: somebody answered, nobody did in time, or the
    /// call was cancelled.
    pub fn settled(&self) -> &CancellationToken {
        &self.settled
    }
}

/// Holds questions until somebody answers.
#[derive(Debug, Default)]
pub struct Desk {
    pending: Mutex<HashMap<AskId, oneshot::Sender<Decision>>>,
    askers: Mutex<Vec<mpsc::Sender<Inquiry>>>,
    next: AtomicU64,
}

/// Forgets a question when nobody waits for its answer any more, however that came.
struct Waiting<'a> {
    desk: &'a Desk,
    id: AskId,
    settled: CancellationToken,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.desk.pending().remove(&self.id);
        self.settled.cancel();
    }
}

impl Desk {
    /// Adds somebody who shows questions to a person.
    pub fn attach(&self, asker: mpsc::Sender<Inquiry>) {
        self.askers.lock().unwrap_or_else(PoisonError::into_inner).push(asker);
    }

    /// Asks everybody who shows questions, and waits. Nobody to ask, no answer in time, a lost answer:
    /// all are a no.
    pub async fn ask(&self, question: Question) -> Result<(), Fault> {
        let id = AskId(self.next.fetch_add(1, Ordering::Relaxed));
        let (tell, answer) = oneshot::channel();
        let (shown, mut is_shown) = watch::channel(false);
        let waiting = Waiting { desk: self, id, settled: CancellationToken::new() };
        self.pending().insert(id, tell);
        self.post(Inquiry { id, question: question.clone(), shown, settled: waiting.settled.clone() });
        let silence = async {
            let seen = timeout(LONGEST, is_shown.wait_for(|shown| *shown)).await;
            match seen.map(|seen| seen.is_ok()) {
                Ok(true) => {
                    tokio::time::sleep(PATIENCE).await;
                    late(&question)
                }
                // Everybody who could have shown it has let go of it.
                Ok(false) => nobody_to_ask(&question),
                Err(_) => unseen(&question),
            }
        };
        let decision = tokio::select! {
            biased;
            decision = answer => decision,
            fault = silence => return Err(fault),
        };
        match decision {
            Ok(Decision::Approve) => Ok(()),
            Ok(Decision::Deny(reason)) => Err(Fault::new(
                FaultKind::Permission,
                format!("{} was refused by a person: {reason}", question.tool),
            )),
            Err(_) => Err(late(&question)),
        }
    }

    /// Answers a question; the first answer wins, a late or second one is an error.
    pub fn answer(&self, id: AskId, decision: Decision) -> Result<(), Fault> {
        let waiting = self.pending().remove(&id);
        match waiting.map(|tell| tell.send(decision)) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(Fault::not_found("no such question is waiting")),
        }
    }

    fn post(&self, inquiry: Inquiry) {
        let mut askers = self.askers.lock().unwrap_or_else(PoisonError::into_inner);
        askers.retain(|asker| !asker.is_closed());
        for asker in askers.iter() {
            // One that has no room shows it to nobody; if none has, nobody is asked.
            let _ = asker.try_send(inquiry.clone());
        }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<AskId, oneshot::Sender<Decision>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn late(question: &Question) -> Fault {
    let message = format!("nobody approved {} within {} s", question.tool, PATIENCE.as_secs());
    Fault::new(FaultKind::Timeout, message)
}

fn unseen(question: &Question) -> Fault {
    let message = format!(
        "nobody approved {}: other questions were in front of it for {} minutes",
        question.tool,
        LONGEST.as_secs() / 60
    );
    Fault::new(FaultKind::Timeout, message).hint("ask for fewer things at once")
}

fn nobody_to_ask(question: &Question) -> Fault {
    let allow = match question.subject.as_str() {
        "" => question.tool.to_string(),
        subject => format!("{}({subject})", question.tool),
    };
    // An ask rule beats every allow rule, so only a default gives way to one.
    let hint = match question.rule.strip_prefix("ask rule ") {
        Some(rule) => format!("a person can remove the ask rule {rule}, or narrow its pattern"),
        None => format!(
            "a person can allow it in ~/.config/tectum/tectum.toml: [permissions] allow = [\"{allow}\"]"
        ),
    };
    Fault::new(
        FaultKind::Permission,
        format!("{} needs approval ({}) and nobody is there to give it", question.tool, question.rule),
    )
    .hint(hint)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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

    /// A desk with so many who show questions, and what they are given.
    fn desk<const N: usize>() -> (Arc<Desk>, [mpsc::Receiver<Inquiry>; N]) {
        let desk = Arc::new(Desk::default());
        let shown = std::array::from_fn(|_| {
            let (show, shown) = mpsc::channel(4);
            desk.attach(show);
            shown
        });
        (desk, shown)
    }

    fn asking(desk: &Arc<Desk>) -> tokio::task::JoinHandle<Result<(), Fault>> {
        let desk = desk.clone();
        tokio::spawn(async move { desk.ask(question()).await })
    }

    #[tokio::test]
    async fn everybody_is_asked_the_first_answer_wins_and_the_others_hear_of_it() {
        let (desk, [mut one, mut other]) = desk();
        let asking = asking(&desk);
        let (first, second) = (one.recv().await.expect("asked"), other.recv().await.expect("asked"));
        assert!(!first.settled().is_cancelled() && first.id == second.id);
        desk.answer(second.id, Decision::Approve).expect("taken");
        assert!(desk.answer(first.id, Decision::Deny("late".into())).is_err());
        asking.await.expect("ends").expect("approved");
        first.settled().cancelled().await;
    }

    #[tokio::test]
    async fn a_question_whose_call_was_cancelled_is_forgotten_and_taken_back() {
        let (desk, [mut one]) = desk();
        let asking = asking(&desk);
        let inquiry = one.recv().await.expect("asked");
        inquiry.shown();
        asking.abort();
        inquiry.settled().cancelled().await;
        assert!(desk.pending().is_empty());
        assert!(desk.answer(inquiry.id, Decision::Approve).is_err(), "nobody waits for it");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_a_refusal() {
        let (desk, [mut one]) = desk();
        let asking = asking(&desk);
        let inquiry = one.recv().await.expect("asked");
        inquiry.shown();
        assert_eq!(asking.await.expect("ends").expect_err("refused").kind, FaultKind::Timeout);
        assert!(inquiry.settled().is_cancelled() && desk.pending().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_question_begins_when_it_is_shown() {
        let (desk, [mut one]) = desk();
        let (first, second) = (asking(&desk), asking(&desk));
        let inquiries = [one.recv().await.expect("asked"), one.recv().await.expect("asked")];
        inquiries[0].shown();
        tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
        desk.answer(inquiries[0].id, Decision::Approve).expect("in time");
        // The second waited behind the first all the while.
        inquiries[1].shown();
        tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
        desk.answer(inquiries[1].id, Decision::Approve).expect("in time");
        first.await.expect("ends").expect("approved");
        second.await.expect("ends").expect("approved");
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_shows_is_refused_as_well() {
        let (desk, [mut one]) = desk();
        let asked = asking(&desk);
        let inquiry = one.recv().await.expect("asked");
        assert_eq!(asked.await.expect("ends").expect_err("refused").kind, FaultKind::Timeout);
        assert!(inquiry.settled().is_cancelled());
        // Whoever had it to show lets go of it.
        let asked = asking(&desk);
        drop(one.recv().await.expect("asked"));
        assert_eq!(asked.await.expect("ends").expect_err("refused").kind, FaultKind::Permission);
    }
}
