//! `tools/call`: from a request to a call of the house, and from its outcome to an answer.

use std::{
    borrow::Cow,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde_json::value::RawValue;
use tectum_core::{Call, CallId, Companion, Progress, ProgressNote, efferent::is_copied};
use tokio_util::sync::CancellationToken;

use super::{
    answer, closing,
    endpoint::{Delivery, Endpoint, Handled, caller},
    running::{Running, Sequel},
    turns::Turn,
};
use crate::{
    federation::CALL_TOOL,
    wire::{
        era::Era,
        object::Members,
        rpc::{Params, Request, code},
    },
};

impl Endpoint {
    /// Runs a tool. What ends at once is answered on this thread; the rest is handed back.
    pub(super) fn call(
        &self,
        delivery: &Delivery<'_>,
        request: &Request<'_>,
        era: Era,
        out: &mut Vec<u8>,
    ) -> Handled {
        let Request { id, params, .. } = request;
        let Some(name) = params.name.as_deref() else {
            answer::error(out, Some(id), code::INVALID_PARAMS, "tools/call: `name` must be a string", None);
            return Handled::Answered;
        };
        let snapshot = self.house.registry().snapshot();
        // The call is of the tool inside: rules, records and observers see that one.
        let inner = (name == CALL_TOOL && snapshot.tool(CALL_TOOL).is_some())
            .then(|| params.arguments.and_then(|raw| Members::of(raw.get())).unwrap_or_default());
        let (name, arguments) = match &inner {
            None => (Cow::Borrowed(name), params.arguments),
            Some(inner) => (inner.text("name").unwrap_or_default().into(), inner.get("arguments")),
        };
        let name = &*name;
        if name.is_empty() && inner.is_some() {
            let message = format!("{CALL_TOOL}: `name` is missing: give the tool's name and its `arguments`");
            answer::error(out, Some(id), code::INVALID_PARAMS, &message, None);
            return Handled::Answered;
        }
        let Some(tool) = snapshot.tool(name) else {
            let why = self.federation.as_ref().and_then(|federation| federation.why_absent(name));
            let why = why.map(|why| format!(": {why}"));
            let hint = || snapshot.find(name).err().and_then(|fault| fault.hint);
            let more = why.or_else(|| hint().map(|hint| format!(" ({hint})"))).unwrap_or_default();
            answer::error(out, Some(id), code::INVALID_PARAMS, &format!("Unknown tool: {name}{more}"), None);
            return Handled::Answered;
        };
        // A copy may come back to a house that its call passed through: it is not copied again.
        if let Some(why) = self.circle(params).filter(|_| is_copied(name)) {
            answer::error(out, Some(id), code::INVALID_REQUEST, &format!("{name}: {why}"), None);
            return Handled::Answered;
        }
        let args = match arguments {
            Some(raw) if raw.get() != "null" => raw.to_owned(),
            _ => RawValue::from_string("{}".into()).unwrap_or_default(),
        };
        let approval = match self.approval(delivery, request, era, &tool.name, &args) {
            Ok(approval) => approval,
            Err(why) => {
                answer::error(out, Some(id), code::INVALID_PARAMS, &why, None);
                return Handled::Answered;
            }
        };
        let cancel = CancellationToken::new();
        // Nothing of a call begins before it has its place.
        let seat = match delivery.from.seat(id, &cancel) {
            Ok(seat) => seat,
            Err(refused) => {
                let (code, message) = refused.error();
                answer::error(out, Some(id), code, message, None);
                return Handled::Answered;
            }
        };
        let (progress, caller, turn) = match &tool.server {
            None => (progress(delivery, params), None, delivery.turns.take()),
            Some(_) => (
                Progress::none(),
                Some(Arc::new(approval.first_try(caller(delivery, request, era)))),
                Turn::none(),
            ),
        };
        let companion = caller.clone().map_or(Companion::none(), |caller| Companion::of(caller));
        let sequel = self.federation.clone().zip(caller);
        let sequel = sequel.map(|(federation, caller)| Sequel { federation, caller });
        let call = Call {
            id: CallId::fresh(),
            session: delivery.from.session.clone(),
            tool: tool.name.clone(),
            args,
            cancel,
            progress,
            asker: approval.asker.clone(),
            companion,
        };
        if let Some(federation) = &self.federation {
            federation.lineage.keep(call.id, params.meta.as_ref().and_then(|meta| meta.lineage));
        }
        drop(snapshot);
        let mut running = self.house.call(call);
        if turn.is_taken()
            && let Poll::Ready(outcome) = Pin::new(&mut running).poll(&mut Context::from_waker(Waker::noop()))
        {
            if let Some(question) = approval.question() {
                answer::result(out, id, question.get());
                return Handled::Answered;
            }
            let more = closing::texts(&self.house, delivery.from, &outcome);
            answer::outcome(out, id, era, &outcome, &more);
            return Handled::Answered;
        }
        let (house, from, id) = (self.house.clone(), delivery.from.clone(), (*id).to_owned());
        let work = Box::pin(async move {
            let mut outcome = running.await;
            approval.carry_on(&mut outcome);
            let mut out = Vec::new();
            if let Some(question) = approval.question() {
                answer::result(&mut out, &id, question.get());
                return out;
            }
            let more = closing::texts(&house, &from, &outcome);
            answer::outcome(&mut out, &id, era, &outcome, &more);
            out
        });
        Handled::Running(Running { work, seat: Some(seat), turn, sequel })
    }
}

/// Progress goes to the client only if it asked for it, with its own token.
fn progress(delivery: &Delivery<'_>, params: &Params<'_>) -> Progress {
    let token = params.meta.as_ref().and_then(|meta| meta.progress_token);
    let (Some(token), Some(outbox)) = (token, delivery.outbox) else { return Progress::none() };
    let (token, outbox) = (token.get().to_owned(), outbox.clone());
    Progress::to(move |ProgressNote { done, total, message }| {
        let total = total.map_or(String::new(), |total| format!(r#","total":{total}"#));
        let message = serde_json::Value::from(message);
        let params = format!(r#"{{"progressToken":{token},"progress":{done}{total},"message":{message}}}"#);
        outbox.offer(answer::notification("notifications/progress", &params));
    })
}
