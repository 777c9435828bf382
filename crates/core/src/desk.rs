//! Questions that wait for a person's answer. Silence is never consent.

use std::{
    collections::HashMap,
    fmt,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{CallId, Fault, FaultKind, ToolName};

/// How long a question waits for its answer once a person sees it.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a question may wait behind others until a person sees it.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// The id of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskId(u64);

/// The question to a person: may this one call run?
#[derive(Clone, Debug)]
pub struct Question {
    /// The id of the call.
    pub call: CallId,
    /// The tool of the call.
    pub tool: ToolName,
    /// The subject of the call: the tool's primary argument.
    pub subject: String,
    /// The arguments as they came.
    pub args: String,
    /// The rule that asks, and the place where it is written.
    pub rule: String,
    /// Who answered: `desk` for somebody who is shown all questions, `client` for the person behind
    /// the call.
    pub by: Arc<OnceLock<&'static str>>,
}

impl Question {
    /// Tells a person how to allow the call without being asked again.
    pub fn how_to_allow(&self) -> String {
        // An ask rule beats every allow rule, so only a default gives way to one.
        if self.rule.starts_with("ask rule ") || self.rule.starts_with("deny rule ") {
            return format!("a person can remove the {}, or narrow its pattern", self.rule);
        }
        let allow = match self.subject.as_str() {
            "" => self.tool.to_string(),
            subject => format!("{}({})", self.tool, globset::escape(subject)),
        };
        // Escapes of JSON are escapes of TOML.
        let allow = serde_json::Value::from(allow);
        format!("a person can allow it in ~/.config/tectum/tectum.toml: [permissions] allow = [{allow}]")
    }
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call may run, this once.
    Approve,
    /// The call may not run, and why.
    Deny(String),
}

/// A question on its way to a person. Everybody who shows questions gets one; the first answer wins.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The id to answer with.
    pub id: AskId,
    /// The question.
    pub question: Question,
    shown: watch::Sender<bool>,
    settled: CancellationToken,
}

impl Inquiry {
    /// Notes that a person sees it now: the timeout for the answer starts when the first person does.
    pub fn shown(&self) {
        self.shown.send_replace(true);
    }

    /// Cancelled when no answer is needed any more: somebody answered, the timeout passed, or the call
    /// was cancelled.
    pub fn settled(&self) -> &CancellationToken {
        &self.settled
    }
}

/// The future of one question about a call: without a fault the call may run.
pub type Asking = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send>>;

/// The way to the person behind one call, who is asked about this call and no other. The caller
/// supplies it with the call and asks the [`Desk`] there, in whichever way reaches that person.
#[derive(Clone, Default)]
pub struct Asker(Option<Arc<dyn Fn(Question) -> Asking + Send + Sync>>);

impl Asker {
    /// Nobody behind the call can be asked; those who show all questions still are.
    pub fn none() -> Self {
        Self(None)
    }

    /// Sends questions to this function. Dropping the future it returns withdraws the question.
    pub fn to(ask: impl Fn(Question) -> Asking + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(ask)))
    }

    /// Asks in this way, or only at the desk if there is none.
    pub(crate) async fn ask(&self, desk: &Desk, question: Question) -> Result<(), Fault> {
        match &self.0 {
            Some(ask) => ask(question).await,
            None => desk.ask(question).await,
        }
    }
}

impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Asker").field(&self.0.is_some()).finish()
    }
}

/// Holds questions until somebody answers.
#[derive(Debug, Default)]
pub struct Desk {
    pending: Mutex<HashMap<AskId, oneshot::Sender<Decision>>>,
    askers: Mutex<Vec<mpsc::Sender<Inquiry>>>,
    next: AtomicU64,
}

/// Removes a question when nobody waits for its answer any more, for whatever reason.
struct Waiting<'a> {
    desk: &'a Desk,
    id: AskId,
    settled: CancellationToken,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.desk.pending.lock().remove(&self.id);
        self.settled.cancel();
    }
}

impl Desk {
    /// Adds the queue of somebody who shows questions to a person.
    pub fn attach(&self, asker: mpsc::Sender<Inquiry>) {
        self.askers.lock().push(asker);
    }

    /// Asks everybody who shows questions, and waits. If there is nobody to ask, no answer in time or
    /// a lost answer, the call is refused.
    pub async fn ask(&self, question: Question) -> Result<(), Fault> {
        self.ask_also(question, |_| std::future::ready(None)).await
    }

    /// Like `ask`, and asks one more person, who sees this question and no other. `show` ends with
    /// their answer, or with `None` if they cannot be asked; it is dropped when no answer is needed
    /// any more.
    pub async fn ask_also<F: Future<Output = Option<Decision>>>(
        &self,
        question: Question,
        show: impl FnOnce(Inquiry) -> F,
    ) -> Result<(), Fault> {
        let id = AskId(self.next.fetch_add(1, Ordering::Relaxed));
        let (tell, answer) = oneshot::channel();
        let (shown, mut is_shown) = watch::channel(false);
        let waiting = Waiting { desk: self, id, settled: CancellationToken::new() };
        self.pending.lock().insert(id, tell);
        let inquiry = Inquiry { id, question: question.clone(), shown, settled: waiting.settled.clone() };
        self.post(&inquiry);
        let also = async {
            let decision = show(inquiry).await;
            match decision {
                Some(decision) => decision,
                None => std::future::pending().await,
            }
        };
        let silence = async {
            let seen = timeout(LONGEST, is_shown.wait_for(|shown| *shown)).await;
            match seen.map(|seen| seen.is_ok()) {
                Ok(true) => {
                    tokio::time::sleep(PATIENCE).await;
                    late(&question)
                }
                // Everybody who could have shown the question has dropped it.
                Ok(false) => nobody_to_ask(&question),
                Err(_) => unseen(&question),
            }
        };
        let decision = tokio::select! {
            biased;
            decision = answer => decision.inspect(|_| _ = question.by.set("desk")),
            decision = also => {
                let _ = question.by.set("client");
                Ok(decision)
            }
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
        let waiting = self.pending.lock().remove(&id);
        match waiting.map(|tell| tell.send(decision)) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(Fault::not_found("no such question is waiting")),
        }
    }

    fn post(&self, inquiry: &Inquiry) {
        let mut askers = self.askers.lock();
        askers.retain(|asker| !asker.is_closed());
        for asker in askers.iter() {
            // A full queue does not take it; if all queues are full, nobody is asked.
            let _ = asker.try_send(inquiry.clone());
        }
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
    Fault::new(
        FaultKind::Permission,
        format!("{} needs approval ({}) and nobody is there to give it", question.tool, question.rule),
    )
    .hint(question.how_to_allow())
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
