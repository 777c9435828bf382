//! How a call, or a program, asks at the desk and waits for the end of its question.

use std::{
    future::{Future, pending},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use tectum_core::{Approved, Approver, Asking, Consent, Fault, FaultKind, Question};
use tokio::{sync::oneshot, time::timeout};

use crate::{
    Answer, Desk, OpenQuestion, Preview, QuestionKind, RuleFact,
    facts::{Facts, edited_key},
    preview::preview,
    register::{Adopted, End, Register},
};

/// How long an answer waits for the call that asked, or for its repetition.
const KEPT: Duration = Duration::from_secs(10 * 60);
/// Questions that may wait at once; a further one is refused.
const MOST_WAITING: usize = 20_000;

/// The way in which one call asks.
#[derive(Debug, Default)]
pub struct Way {
    /// True if the client of the call shows the question to its own person.
    pub at_client: bool,
    /// A question of an earlier try that this one belongs to.
    pub earlier: Option<Arc<str>>,
    /// How long the call waits.
    pub wait: Wait,
}

/// How long a call waits for its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// As long as the question does.
    #[default]
    ToTheEnd,
    /// This long. Then it ends, and the answer waits for the same call to be repeated.
    For(Duration),
    /// As long as the question does, if a person sees it within this time; else as with `For`.
    UntilSeen(Duration),
    /// Not at all: the answer comes with the client's next try, which names the question.
    NextTry,
}

/// A question that is about no call.
#[derive(Clone, Debug)]
pub struct PersonQuestion {
    /// What it is about.
    pub kind: QuestionKind,
    /// The session or track it belongs to.
    pub session: String,
    /// The program that asks.
    pub client: String,
    /// The question in one line.
    pub subject: String,
    /// What one needs to decide.
    pub preview: Preview,
    /// What the answer may change: the proposal itself.
    pub arguments: Value,
    /// Whatever else should be shown.
    pub data: Value,
}

/// Takes a question back when nobody waits for its answer any more, for whatever reason.
struct Waiting<'a> {
    register: &'a Register,
    /// Its id; `None` if it goes on without its call.
    id: Option<Arc<str>>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            let _ = self.register.settle(id, End::Withdrawn);
        }
    }
}

/// When a call ends before its question.
struct Hold {
    time: Duration,
    /// True if it does not end once a person sees the question.
    unseen: bool,
    key: [u8; 32],
}

/// How a wait ended: with the question, or before it.
enum Waited {
    End(End),
    Parked(Arc<str>),
}

impl Approver for Desk {
    fn ask<'a>(&'a self, question: &'a Question<'a>, before: Option<Consent>) -> Asking<'a> {
        Box::pin(self.consent(question, before, Way::default(), |_| async { None }))
    }

    fn ended(&self, tool: &str, subject: &str, failed: bool) {
        if failed {
            self.memory.count(tool, subject, |before| before.failed += 1);
        }
    }
}

impl Desk {
    /// Asks about a call. `show` is the call's own client: it ends with the answer of the person there,
    /// or with `None` if they cannot be asked, and is dropped when no answer is needed any more.
    pub async fn consent<F: Future<Output = Option<Answer>> + Send>(
        &self,
        question: &Question<'_>,
        before: Option<Consent>,
        way: Way,
        show: impl FnOnce(Arc<OpenQuestion>) -> F + Send,
    ) -> Result<Approved, Fault> {
        let (call, asks) = (question.call, question.asks);
        if self.memory.covers(&call.session.0, &call.tool, &asks.subjects) {
            let _ = question.noted.by.set("session".into());
            return Ok(Approved::Run);
        }
        let facts = Facts::of(question).await;
        if before.is_some_and(|before| facts.covered_by(&before)) {
            return Ok(Approved::Run);
        }
        let earlier = match &way.earlier {
            Some(id) => Some(self.register.adopt(id).ok_or_else(|| forgotten(&call.tool))?),
            None => self.register.adopt_same(&facts.key),
        };
        let (open, end) = match earlier {
            Some(Adopted::Ended(open, end)) => return self.ruling(question, &open, end),
            Some(Adopted::Waiting(open, end)) if open.binding == facts.binding => (open, end),
            stale => {
                if let Some(Adopted::Waiting(open, _)) = stale {
                    // What the person sees there is no longer true.
                    let _ = self.register.settle(&open.id, End::Withdrawn);
                }
                if !way.at_client && !self.is_seen() {
                    return Err(asks.nobody_to_ask(&call.tool));
                }
                let open = Arc::new(self.about_call(question, &facts, way.at_client).await);
                self.open(open)?
            }
        };
        let _ = question.noted.id.set(open.id.clone());
        let key = facts.key;
        let hold = match way.wait {
            Wait::ToTheEnd => None,
            Wait::For(time) => Some(Hold { time, unseen: false, key }),
            Wait::UntilSeen(time) => Some(Hold { time, unseen: true, key }),
            Wait::NextTry => {
                self.park(&open, None);
                show(open.clone()).await;
                return Err(open.pending(&open.id));
            }
        };
        match self.wait(&open, end, hold, show).await {
            Waited::End(end) => self.ruling(question, &open, end),
            Waited::Parked(id) => Err(open.pending(&id)),
        }
    }

    /// Takes back a question whose answer was to come with a next try.
    pub fn withdraw(&self, id: &str) {
        self.register.forget(id);
    }

    /// Asks a person something that is about no call. A no is a fault; a yes gives their response, else
    /// what they made of the proposal, else the proposal.
    pub async fn ask_person(&self, what: PersonQuestion) -> Result<Value, Fault> {
        let PersonQuestion { kind, session, client, subject, preview, arguments, data } = what;
        let given = serde_json::value::to_raw_value(&arguments).unwrap_or_default();
        let open = OpenQuestion {
            session,
            client,
            subject,
            preview,
            data,
            arguments: given,
            patience: self.patience(),
            ..OpenQuestion::blank(kind)
        };
        if !self.is_seen() {
            return Err(open.refusal(End::Nobody));
        }
        let (open, end) = self.open(Arc::new(open))?;
        match self.wait(&open, end, None, |_| async { None }).await {
            Waited::End(End::Yes { response, edited, .. }) => {
                let edited = edited.and_then(|edited| serde_json::from_str(edited.get()).ok());
                Ok(response.or(edited).unwrap_or(arguments))
            }
            Waited::End(end) => Err(open.refusal(end)),
            Waited::Parked(_) => Err(open.refusal(End::Withdrawn)),
        }
    }

    /// What the end of a question means for its call.
    fn ruling(&self, question: &Question<'_>, open: &OpenQuestion, end: End) -> Result<Approved, Fault> {
        let _ = question.noted.id.set(open.id.clone());
        match end {
            End::Yes { by, edited, .. } => {
                let _ = question.noted.by.set(by);
                let key = edited.as_ref().map(|edited| edited_key(question, edited.get()));
                Ok(Approved::Agreed(Consent { covers: key.unwrap_or(open.binding), edited }))
            }
            end => {
                if let End::No { by, .. } = &end {
                    let _ = question.noted.by.set(by.clone());
                }
                Err(open.refusal(end))
            }
        }
    }

    fn open(&self, open: Arc<OpenQuestion>) -> Result<(Arc<OpenQuestion>, oneshot::Receiver<End>), Fault> {
        if self.register.count() >= MOST_WAITING {
            return Err(Fault::conflict("too many questions wait for a person already")
                .hint("wait until some of them are answered"));
        }
        let end = self.register.open(open.clone());
        Ok((open, end))
    }

    /// Waits for the end of a question, at most as long as the call can.
    async fn wait<F: Future<Output = Option<Answer>> + Send>(
        &self,
        open: &Arc<OpenQuestion>,
        mut end: oneshot::Receiver<End>,
        hold: Option<Hold>,
        show: impl FnOnce(Arc<OpenQuestion>) -> F + Send,
    ) -> Waited {
        let mut waiting = Waiting { register: &self.register, id: Some(open.id.clone()) };
        let client = async {
            match show(open.clone()).await {
                Some(answer) => drop(self.answer(&open.id, answer, "client")),
                None if open.at_client && !self.is_seen() => {
                    let _ = self.register.settle(&open.id, End::Nobody);
                }
                None => {}
            }
            pending().await
        };
        let held = async {
            match &hold {
                Some(Hold { time, unseen: true, .. }) => {
                    if timeout(*time, open.is_shown()).await.is_ok() {
                        pending().await
                    }
                }
                Some(Hold { time, .. }) => tokio::time::sleep(*time).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            end = &mut end => return Waited::End(end.unwrap_or(End::Withdrawn)),
            () = client => {}
            end = silence(open) => drop(self.register.settle(&open.id, end)),
            () = held => {
                let key = hold.as_ref().map(|hold| hold.key);
                if let Some(id) = self.park(open, key) {
                    waiting.id = None;
                    return Waited::Parked(id);
                }
            }
        }
        // Somebody settled it at the same moment, and that counts.
        Waited::End(end.await.unwrap_or(End::Withdrawn))
    }

    /// Lets a question wait without its call. It is forgotten when nobody comes back for it.
    fn park(&self, open: &Arc<OpenQuestion>, key: Option<[u8; 32]>) -> Option<Arc<str>> {
        let id = self.register.park(&open.id, key)?;
        if id == open.id {
            let (register, open) = (Arc::downgrade(&self.register), open.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = open.over.cancelled() => {}
                    end = silence(&open) => {
                        let Some(register) = register.upgrade() else { return };
                        let _ = register.settle(&open.id, end);
                    }
                }
                tokio::time::sleep(KEPT).await;
                if let Some(register) = register.upgrade() {
                    register.forget(&open.id);
                }
            });
        }
        Some(id)
    }

    async fn about_call(&self, question: &Question<'_>, facts: &Facts, at_client: bool) -> OpenQuestion {
        let Question { call, asks, .. } = question;
        let client = call.client.as_deref();
        let preview = preview(question).await;
        OpenQuestion {
            session: call.session.0.to_string(),
            client: client.map(|client| client.name.clone()).unwrap_or_default(),
            caller: client.map_or(&*call.session.0, |client| client.door).to_owned(),
            tool: call.tool.to_string(),
            subject: asks.subject.clone(),
            digest: facts.digest.to_hex().to_string(),
            rule: RuleFact {
                text: asks.rule.clone(),
                file: asks.origin.as_ref().and_then(|origin| origin.file.clone()),
                line: asks.origin.as_ref().map(|origin| origin.line).filter(|line| *line > 0),
            },
            paths: facts.paths.clone(),
            sandbox: self.settings().sandbox.clone().filter(|_| matches!(preview, Preview::Command { .. })),
            preview,
            before: self.memory.before(&call.tool, &asks.subject),
            binding: facts.binding,
            subjects: asks.subjects.clone(),
            how_to_allow: asks.how_to_allow(&call.tool),
            by_rule: asks.by_rule(),
            allow_rule: asks.allow_rule(&call.tool),
            at_client,
            arguments: call.args.clone(),
            patience: self.patience(),
            ..OpenQuestion::blank(QuestionKind::Call)
        }
    }
}

/// The answer to a question that is long over.
fn forgotten(tool: &str) -> Fault {
    let message = format!("nobody approved {tool} in time: this answer came too late");
    Fault::new(FaultKind::Timeout, message).hint("call again without it, and the person is asked again")
}

/// Ends when nobody saw the question in time, or nobody answered after that.
async fn silence(open: &OpenQuestion) -> End {
    let (patience, unseen) = open.patience;
    match timeout(unseen, open.is_shown()).await {
        Err(_) => End::Unseen,
        Ok(()) => {
            tokio::time::sleep(patience).await;
            End::Late
        }
    }
}
