//! A rule that asks, put to the person in front of the client whose call it is, and to nobody
//! behind another client.
//!
//! A client of the older era is asked on the stream of its call, which waits. One of the newer era
//! gets the question as its result: the question waits at the desk, and the client's next try brings the
//! answer. That try is judged anew, and goes ahead only if nothing changed that the person saw. A client
//! that cannot ask waits for somebody at the desk, as long as it has patience; then it is told to repeat
//! the call. Signs of life keep a call waiting once somebody sees its question, and not for a house that
//! nobody looks at. The first answer counts, wherever it comes from. Where the server of an approved call asks
//! something itself, the try that answers it goes on with that call.

mod form;
pub(super) mod open;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tectum_approval::{Answer, Desk, OpenQuestion, Wait, Way};
use tectum_core::{
    Approved, Approver, Asking, Consent, Fault, Outcome, Payload, PeerReply, Question, ToolName,
};

use self::open::{Brought, NextTry, PendingAnswer};
use super::{ClientRequest, Delivery, Endpoint};
use crate::{
    client::{Caller, Conversation, Outbox, shows_forms},
    federation::{Shelf, asking_result, input_required},
    wire::{Era, Members, Object, raw, rpc::text},
};

/// How long a call waits for somebody to see its question where its client has endless patience.
const UNSEEN: Duration = Duration::from_secs(45);
/// The name of our question among those that a client is asked.
const KEY: &str = "tectum_approval";

/// How the person behind one call is asked.
#[derive(Debug, Default)]
pub(super) struct Approval {
    /// Who asks; the house's own desk if absent.
    pub(super) approver: Option<Arc<dyn Approver>>,
    /// The same for a modern client, which is asked with its result.
    modern: Option<Arc<WithNextTry>>,
}

impl Approval {
    /// The answer in the place of an outcome, if the client has to be asked first.
    pub(super) fn question(&self) -> Option<&RawValue> {
        self.modern.as_ref()?.told.get().map(|question| &**question)
    }

    /// The caller as the server beyond us should see it: our question is between us and the client.
    pub(super) fn first_try(&self, caller: Caller) -> Caller {
        match self.modern.as_ref().filter(|modern| modern.resumed) {
            Some(modern) => {
                let Brought { input, state } = modern.brought.clone();
                Caller { input, state, ..caller }
            }
            None => caller,
        }
    }

    /// A server that asks in the middle of a call that a person agreed to: the try that answers it
    /// belongs to the same call, so it comes with a handle of ours for what the server wants to see.
    pub(super) fn carry_on(&self, outcome: &mut Outcome) {
        let Some(modern) = &self.modern else { return };
        let (Some(agreed), Ok(Payload::Peer(PeerReply { json: result, .. }))) =
            (modern.agreed.get(), &mut outcome.result)
        else {
            return;
        };
        let Some(input) = input_required(result) else { return };
        let brought = Brought { input: None, state: input.state };
        let next = NextTry { answer: PendingAnswer::Yes(agreed.clone()), brought };
        // Without a place for it the person is asked again.
        let Ok(state) = modern.shelf.park(next, modern.digest) else { return };
        let members = Members::of(result.get()).unwrap_or_default();
        let others = members.keep(|name| name != "requestState");
        *result = raw(Object::new().all(&others).text("requestState", &state).end());
    }
}

impl Endpoint {
    /// How the person behind a call is asked; or why a try that brings an answer is none.
    pub(super) fn approval(
        &self,
        ClientRequest { delivery, request, era, .. }: ClientRequest<'_>,
        tool: &ToolName,
        args: &RawValue,
    ) -> Result<Approval, String> {
        let params = &request.params;
        let hears_progress = params.meta.as_ref().is_some_and(|meta| meta.progress_token.is_some());
        if era == Era::Legacy {
            if delivery.from.can_show_forms(delivery.outbox) && self.desk.asks_at_clients() {
                let (client, outbox) = (delivery.from.clone(), delivery.outbox.cloned());
                let approver = OnTheStream { desk: self.desk.clone(), client, outbox };
                return Ok(Approval { approver: Some(Arc::new(approver)), modern: None });
            }
            return Ok(self.at_the_desk(delivery, hears_progress));
        }
        let brought = Brought {
            input: params.input_responses.map(ToOwned::to_owned),
            state: params.request_state.and_then(text).map(Into::into),
        };
        let digest = || digest(tool, args.get());
        if let Some(state) = brought.state.as_deref().filter(|state| self.next_tries.is_ours(state)) {
            let digest = digest();
            let next = self.next_tries.take(state, &digest)?;
            return Ok(self.answered(next, brought.input, digest));
        }
        let declared = params.meta.as_ref().and_then(|meta| meta.client_capabilities);
        let forms = declared.is_some_and(|declared| shows_forms(declared.get()));
        if !forms || !self.desk.asks_at_clients() {
            return Ok(self.at_the_desk(delivery, hears_progress));
        }
        Ok(self.with_next_try(brought, None, digest(), false))
    }

    /// A client that cannot ask waits for somebody at the desk, and the call ends before its patience does.
    /// Where signs of life make it wait longer, that is so only until somebody sees the question.
    fn at_the_desk(&self, delivery: &Delivery<'_>, hears_progress: bool) -> Approval {
        let facts = delivery.from.facts();
        let lives = hears_progress && delivery.outbox.is_some() && facts.progress;
        // The rest is for the way back.
        let hold = facts.patience.map_or(UNSEEN, |patience| patience * 3 / 4);
        let waits_longer = lives || facts.patience.is_none();
        let approver = delivery
            .from
            .approver(waits_longer, || Arc::new(AtTheDesk { desk: self.desk.clone(), hold, waits_longer }));
        Approval { approver: Some(approver), modern: None }
    }

    fn with_next_try(
        &self,
        brought: Brought,
        earlier: Option<Resumed>,
        digest: blake3::Hash,
        resumed: bool,
    ) -> Approval {
        let modern = Arc::new(WithNextTry {
            desk: self.desk.clone(),
            shelf: self.next_tries.clone(),
            digest,
            brought,
            resumed,
            earlier: Mutex::new(earlier),
            told: OnceLock::new(),
            agreed: OnceLock::new(),
        });
        Approval { approver: Some(modern.clone()), modern: Some(modern) }
    }

    /// The try that brings an answer: it counts if nobody answered before, and nothing changed.
    fn answered(&self, next: NextTry, input: Option<Box<RawValue>>, digest: blake3::Hash) -> Approval {
        let NextTry { answer, brought } = next;
        let (earlier, brought) = match answer {
            PendingAnswer::Open(posted) => {
                // Whoever was faster is heard; so is that nobody answered in time.
                let answer = answer_in(&posted.question, input.as_deref());
                let _ = self.desk.answer(&posted.question.id, answer, "client");
                (Resumed::Question(posted), brought)
            }
            PendingAnswer::Yes(consent) => (Resumed::Consent(consent), Brought { input, ..brought }),
        };
        self.with_next_try(brought, Some(earlier), digest, true)
    }
}

/// What a later try of a call brings along.
#[derive(Debug)]
enum Resumed {
    /// It brought the answer to this question.
    Question(open::Posted),
    /// A person agreed to it before.
    Consent(Consent),
}

/// A client of the older era is asked while its call waits.
#[derive(Debug)]
struct OnTheStream {
    desk: Arc<Desk>,
    client: Arc<Conversation>,
    outbox: Option<Outbox>,
}

impl Approver for OnTheStream {
    fn ask<'a>(&'a self, question: &'a Question<'a>, before: Option<Consent>) -> Asking<'a> {
        let show = async move |open: Arc<OpenQuestion>| {
            let sent = || drop(self.desk.shown(&open.id));
            let params = form::params(&open);
            let answer =
                self.client.ask_and_note(self.outbox.clone(), "elicitation/create", &params, sent).await;
            Some(match answer {
                Ok(answer) => form::answer(&open, &answer),
                Err(error) => form::failed(&open, &error),
            })
        };
        let way = Way { at_client: true, ..Way::default() };
        Box::pin(self.desk.consent(question, before, way, show))
    }
}

/// A client that cannot ask.
#[derive(Debug)]
struct AtTheDesk {
    desk: Arc<Desk>,
    /// How long a call waits.
    hold: Duration,
    /// True if that holds only as long as nobody sees the question.
    waits_longer: bool,
}

impl Approver for AtTheDesk {
    fn ask<'a>(&'a self, question: &'a Question<'a>, before: Option<Consent>) -> Asking<'a> {
        let hold = self.desk.settings().hold.unwrap_or(self.hold);
        let wait = if self.waits_longer { Wait::UntilSeen(hold) } else { Wait::For(hold) };
        let way = Way { wait, ..Way::default() };
        Box::pin(self.desk.consent(question, before, way, async |_| None))
    }
}

/// A client of the newer era is asked with its result, and answers with its next try.
#[derive(Debug)]
struct WithNextTry {
    desk: Arc<Desk>,
    shelf: Arc<Shelf<NextTry>>,
    digest: blake3::Hash,
    /// The part of the try that the server beyond us sees.
    brought: Brought,
    /// True for a try that belongs to an earlier one.
    resumed: bool,
    earlier: Mutex<Option<Resumed>>,
    /// The result that asks the client.
    told: OnceLock<Box<RawValue>>,
    /// The consent that the call runs with.
    agreed: OnceLock<Consent>,
}

impl Approver for WithNextTry {
    fn ask<'a>(&'a self, question: &'a Question<'a>, before: Option<Consent>) -> Asking<'a> {
        Box::pin(async move {
            let earlier = self.earlier.lock().take();
            let posted = match earlier {
                Some(Resumed::Consent(consent)) => {
                    let _ = question.noted.by.set("client".into());
                    return Ok(Approved::Agreed(consent));
                }
                Some(Resumed::Question(posted)) => Some(posted),
                None => None,
            };
            let failed = OnceLock::new();
            let show = async |open: Arc<OpenQuestion>| {
                if let Err(fault) = self.begin(open) {
                    let _ = failed.set(fault);
                }
                None
            };
            let way = Way {
                at_client: true,
                earlier: posted.as_ref().map(|posted| posted.question.id.clone()),
                wait: Wait::NextTry,
            };
            let ruling = self.desk.consent(question, before.clone(), way, show).await;
            if let (Ok(Approved::Run), Some(agreed)) = (&ruling, before) {
                let _ = self.agreed.set(agreed);
            }
            match failed.into_inner() {
                Some(fault) => Err(fault),
                None => ruling,
            }
        })
    }
}

impl WithNextTry {
    /// Keeps a question for the next try, and makes the result that asks the client.
    fn begin(&self, open: Arc<OpenQuestion>) -> Result<(), Fault> {
        let asked =
            Object::new().text("method", "elicitation/create").raw("params", &form::params(&open)).end();
        // It reaches its person with the result, which is on its way.
        let _ = self.desk.shown(&open.id);
        let answer = PendingAnswer::Open(open::Posted { desk: self.desk.clone(), question: open });
        let state = self.shelf.park(NextTry { answer, brought: self.brought.clone() }, self.digest)?;
        let _ = self.told.set(asking_result(&Object::new().raw(KEY, &asked).end(), &state));
        Ok(())
    }
}

/// The answer among those that a client brings.
fn answer_in(question: &OpenQuestion, input: Option<&RawValue>) -> Answer {
    let given = input.and_then(|input| Members::of(input.get()));
    match given.as_ref().and_then(|given| given.get(KEY)) {
        Some(answer) => form::answer(question, answer),
        None => Answer::no("the client tried again without an answer"),
    }
}

/// The digest of what a try that answers must repeat.
fn digest(tool: &str, args: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tool.as_bytes()).update(&[0]).update(args.as_bytes());
    hasher.finalize()
}
