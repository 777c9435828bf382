//! A rule that asks, put to the person in front of the client whose call it is, and to nobody
//! behind another client.
//!
//! A client of the older era is asked on the stream of its call, which waits. One of the newer era
//! gets the question as its result: the question waits here, and the client's next try brings the
//! answer. That try is judged anew, and goes ahead only if the same rule asks about the same call.
//! The first answer counts, whether it comes from there or from somebody at the desk. Where the
//! server of an approved call asks something itself, the try that answers it goes on with that call.

mod form;
pub(super) mod open;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tectum_core::{
    Asker, Decision, Fault, FaultKind, Inquiry, Outcome, Payload, PeerReply, Question, Tectum, ToolName,
};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use self::open::{Brought, OpenQuestion, PendingAnswer};
use super::{ClientRequest, Delivery, Endpoint};
use crate::{
    client::{Caller, shows_forms},
    federation::{Shelf, asking_result, input_required},
    wire::{Era, Members, Object, raw, rpc::text},
};

/// The name of our question among those that a client is asked.
const KEY: &str = "tectum_approval";

/// How the person behind one call is asked.
#[derive(Debug, Default)]
pub(super) struct Approval {
    /// The way to that person.
    pub(super) asker: Asker,
    /// The result that asks a modern client, when it had to be asked.
    question: Arc<OnceLock<Box<RawValue>>>,
    /// Set for a try that answers us.
    resumed: Option<Resumed>,
}

/// A try that answers an earlier question.
#[derive(Debug)]
struct Resumed {
    /// The part of it that the server beyond us sees.
    brought: Brought,
    /// The question, once it is known that a person agreed.
    approved: Arc<OnceLock<Question>>,
    shelf: Arc<Shelf<OpenQuestion>>,
    digest: blake3::Hash,
}

impl Approval {
    /// The answer in the place of an outcome, if the client has to be asked first.
    pub(super) fn question(&self) -> Option<&RawValue> {
        self.question.get().map(|question| &**question)
    }

    /// The caller as the server beyond us should see it: our question is between us and the client.
    pub(super) fn first_try(&self, caller: Caller) -> Caller {
        match self.resumed.as_ref().map(|resumed| resumed.brought.clone()) {
            Some(Brought { input, state }) => Caller { input, state, ..caller },
            None => caller,
        }
    }

    /// A server that asks in the middle of a call that a person agreed to: the try that answers it
    /// belongs to the same call, so it comes with a handle of ours for what the server wants to see.
    pub(super) fn carry_on(&self, outcome: &mut Outcome) {
        let Some(Resumed { approved, shelf, digest, .. }) = &self.resumed else { return };
        let (Some(question), Ok(Payload::Peer(PeerReply { json: result, .. }))) =
            (approved.get(), &mut outcome.result)
        else {
            return;
        };
        let Some(input) = input_required(result) else { return };
        let brought = Brought { input: None, state: input.state };
        let open = OpenQuestion { question: question.clone(), answer: PendingAnswer::Yes, brought };
        // Without a place for it the person is asked again.
        let Ok(state) = shelf.park(open, *digest) else { return };
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
        if era == Era::Legacy {
            return Ok(self.on_the_stream(delivery));
        }
        let params = &request.params;
        let brought = Brought {
            input: params.input_responses.map(ToOwned::to_owned),
            state: params.request_state.and_then(text).map(Into::into),
        };
        if let Some(state) = brought.state.as_deref().filter(|state| self.open_questions.is_ours(state)) {
            let digest = digest(tool, args.get());
            let open = self.open_questions.take(state, &digest)?;
            return Ok(self.answered(open, brought.input, digest));
        }
        let declared = params.meta.as_ref().and_then(|meta| meta.client_capabilities);
        let forms = declared.is_some_and(|declared| shows_forms(declared.get()));
        Ok(if forms { self.with_the_next_try(brought) } else { Approval::default() })
    }

    /// A client of the older era is asked while its call waits.
    fn on_the_stream(&self, delivery: &Delivery<'_>) -> Approval {
        if !delivery.from.can_show_forms(delivery.outbox) {
            return Approval::default();
        }
        let (house, client) = (self.house.clone(), delivery.from.clone());
        let outbox = delivery.outbox.cloned();
        let asker = Asker::to(move |question| {
            let (house, client, outbox) = (house.clone(), client.clone(), outbox.clone());
            Box::pin(async move {
                let show = |inquiry: Inquiry| async move {
                    let params = form::params(&inquiry.question);
                    let sent = || inquiry.shown();
                    let answer = client.ask_and_note(outbox, "elicitation/create", &params, sent).await;
                    Some(match answer {
                        Ok(answer) => form::decision(&inquiry.question, &answer),
                        Err(error) => form::failed(&inquiry.question, &error),
                    })
                };
                house.desk().ask_also(question, show).await
            })
        });
        Approval { asker, ..Approval::default() }
    }

    /// A client of the newer era is asked with its result, and answers with its next try.
    fn with_the_next_try(&self, brought: Brought) -> Approval {
        let asked = Arc::new(OnceLock::new());
        let (house, shelf, told) = (self.house.clone(), self.open_questions.clone(), asked.clone());
        let asker = Asker::to(move |question| {
            let fault = match begin(&house, &shelf, question, brought.clone()) {
                Ok((result, fault)) => {
                    let _ = told.set(result);
                    fault
                }
                Err(fault) => fault,
            };
            Box::pin(std::future::ready(Err(fault)))
        });
        Approval { asker, question: asked, resumed: None }
    }

    /// The try that brings an answer: it counts if the same is asked again, and nobody answered
    /// before.
    fn answered(&self, open: OpenQuestion, input: Option<Box<RawValue>>, digest: blake3::Hash) -> Approval {
        let OpenQuestion { question: before, answer, brought } = open;
        let (decision, brought) = match &answer {
            PendingAnswer::Open { .. } => (decision(&before, input.as_deref()), brought),
            PendingAnswer::Yes => (Decision::Approve, Brought { input, ..brought }),
        };
        let approved = Arc::new(OnceLock::new());
        let (once, agreed) = (Mutex::new(Some((decision, answer))), approved.clone());
        let asker = Asker::to(move |question| {
            let once = once.lock().take();
            let same = (&question.rule, &question.subject) == (&before.rule, &before.subject);
            let (agreed, by) = (agreed.clone(), before.by.clone());
            Box::pin(async move {
                let Some((decision, answer)) = once.filter(|_| same) else {
                    let message = format!("{}: the answer was to another question", question.tool);
                    let hint = "the rules changed since: call again, and the person is asked again";
                    return Err(Fault::new(FaultKind::Permission, message).hint(hint));
                };
                if let PendingAnswer::Open { decide, settled } = answer {
                    // Whoever was faster is heard; so is that nobody answered in time.
                    let _ = decide.send(decision);
                    let settled = settled.await;
                    let _ = by.get().map(|by| question.by.set(by));
                    settled.unwrap_or_else(|_| Err(Fault::internal("the question was lost")))?;
                }
                let _ = agreed.set(question);
                Ok(())
            })
        });
        let resumed = Resumed { brought, approved, shelf: self.open_questions.clone(), digest };
        Approval { asker, question: Arc::default(), resumed: Some(resumed) }
    }
}

/// Puts a question to the desk, where it waits for the next try: the result that asks the client, and
/// how this try ends.
fn begin(
    house: &Tectum,
    shelf: &Shelf<OpenQuestion>,
    question: Question,
    brought: Brought,
) -> Result<(Box<RawValue>, Fault), Fault> {
    let asked =
        Object::new().text("method", "elicitation/create").raw("params", &form::params(&question)).end();
    let fault = Fault::new(
        FaultKind::Permission,
        format!("{} waits for a person's answer at its client ({})", question.tool, question.rule),
    );
    let (decide, decided) = oneshot::channel();
    let (house, put) = (house.clone(), question.clone());
    let settled = AbortOnDropHandle::new(tokio::spawn(async move {
        let show = |inquiry: Inquiry| async move {
            inquiry.shown();
            decided.await.ok()
        };
        house.desk().ask_also(put, show).await
    }));
    let digest = digest(&question.tool, &question.args);
    let answer = PendingAnswer::Open { decide, settled };
    let state = shelf.park(OpenQuestion { question, answer, brought }, digest)?;
    Ok((asking_result(&Object::new().raw(KEY, &asked).end(), &state), fault))
}

/// The decision in a client's answers.
fn decision(question: &Question, input: Option<&RawValue>) -> Decision {
    let given = input.and_then(|input| Members::of(input.get()));
    match given.as_ref().and_then(|given| given.get(KEY)) {
        Some(answer) => form::decision(question, answer),
        None => Decision::Deny("the client tried again without an answer".into()),
    }
}

/// The digest of what a try that answers must repeat.
fn digest(tool: &str, args: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tool.as_bytes()).update(&[0]).update(args.as_bytes());
    hasher.finalize()
}
