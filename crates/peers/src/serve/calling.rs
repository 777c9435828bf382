//! `tools/call`: from a request to a call of the house, and from its outcome to an answer.

use std::{
    borrow::Cow,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde_json::value::RawValue;
use tectum_attend::{GET_ATTENTION, ReaderKey};
use tectum_core::{Call, CallId, Fault, FaultKind, Outcome, OutputSchema, Progress, ProgressNote, ToolInfo};
use tokio_util::sync::CancellationToken;

use super::{
    ClientRequest, Delivery, Endpoint, Handled, Running, Turn, answer, approval::Approval, caller, refuse,
    running::Sequel,
};
use crate::{
    client::{Caller, NewsReader, Part, Pulse},
    federation::CALL_TOOL,
    wire::{Members, Params, Request, code, frame, rpc},
};

impl Endpoint {
    /// Runs a tool. What ends at once is answered on this thread; the rest is handed back.
    pub(super) fn call(&self, asked: ClientRequest<'_>, out: &mut Vec<u8>) -> Handled {
        let ClientRequest { delivery, request, era, operation } = asked;
        let Request { id, params, .. } = request;
        let Some(name) = params.name.as_deref() else {
            return refuse(out, id, code::INVALID_PARAMS, "tools/call: `name` must be a string");
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
            return refuse(out, id, code::INVALID_PARAMS, &message);
        }
        let form = self.form(delivery.from, params);
        let Some(tool) = snapshot.tool(name).or_else(|| snapshot.tool(form.meant(name)?)) else {
            let why = self.federation.why_absent(name).map(|why| format!(": {why}"));
            let hint = || snapshot.find(name).err().and_then(|fault| fault.hint);
            let more = why.or_else(|| hint().map(|hint| format!(" ({hint})"))).unwrap_or_default();
            let fault = Fault::not_found(format!("Unknown tool: {name}{more}"));
            return self.refuse_call(asked, name, arguments, (code::INVALID_PARAMS, fault), out);
        };
        // A copy may come back to a house that its call passed through: it is not copied again.
        if let Some(why) = self.circle(params).filter(|_| tool.observed) {
            let fault = Fault::conflict(format!("{name}: {why}"));
            return self.refuse_call(asked, name, arguments, (code::INVALID_REQUEST, fault), out);
        }
        let args = owned(arguments);
        let approval = match self.approval(asked, &tool.name, &args) {
            Ok(approval) => approval,
            Err(why) => {
                let fault = Fault::new(FaultKind::Permission, why);
                return self.refuse_call(asked, name, arguments, (code::INVALID_PARAMS, fault), out);
            }
        };
        let cancel = CancellationToken::new();
        // Nothing of a call begins before it has its place.
        let seat = match delivery.from.seat(id, &cancel) {
            Ok(seat) => seat,
            Err(refused) => {
                let (code, message) = refused.error();
                return self.refuse_call(asked, name, arguments, (code, Fault::conflict(message)), out);
            }
        };
        let token = params.meta.as_ref().and_then(|meta| meta.progress_token);
        let pulse = token.zip(delivery.outbox);
        let pulse = pulse.map(|(token, outbox)| Arc::new(Pulse::new(token.get(), outbox.clone())));
        let (progress, caller, turn) = match &tool.server {
            None => (progress(pulse.as_ref()), None, delivery.turns.take()),
            Some(_) => {
                let caller = approval.first_try(caller(asked));
                let caller = Caller { pulse: pulse.clone(), ..caller };
                (Progress::none(), Some(Arc::new(caller)), Turn::none())
            }
        };
        let call_id = CallId::fresh();
        let sequel = caller.map(|caller| Sequel::begin(self.federation.clone(), call_id, caller));
        let call = Call {
            id: call_id,
            session: delivery.from.session.clone(),
            client: Some(delivery.from.client()),
            tool: tool.name.clone(),
            args,
            cancel,
            progress,
            room: form.room(),
            left: delivery.from.left.clone(),
        };
        operation.iter().for_each(|operation| operation.calls(&call));
        self.federation.lineage.keep(call.id, params.meta.as_ref().and_then(|meta| meta.lineage));
        let part = self.part(delivery, params, tool);
        let closed = tool.output_schema.as_ref().filter(|_| tool.server.is_some()).is_some_and(is_closed);
        let (house, waited, ahead) = (self.house.clone(), self.federation.waited.clone(), delivery.ahead);
        let operation = operation.cloned();
        // A question that its client is asked first stands in the place of the outcome.
        let write = move |out: &mut Vec<u8>, id: &str, approval: &Approval, outcome: &Outcome| {
            if let Some(question) = approval.question() {
                return frame::result(out, id, question.get());
            }
            operation.iter().for_each(|operation| operation.called(outcome));
            let part = part.map(|part| part.close(&house, outcome, &form, ahead, &waited));
            answer::outcome(out, id, era, &form, outcome, &part.unwrap_or_default(), closed);
        };
        let mut running = self.house.call_asking(snapshot, call, approval.approver.clone());
        if turn.is_taken()
            && let Poll::Ready(outcome) = Pin::new(&mut running).poll(&mut Context::from_waker(Waker::noop()))
        {
            write(out, id, &approval, &outcome);
            return Handled::Answered;
        }
        let id = (*id).to_owned();
        let work = Box::pin(async move {
            let mut outcome = match &pulse {
                Some(pulse) => pulse.beside(running).await,
                None => running.await,
            };
            approval.carry_on(&mut outcome);
            let mut out = Vec::new();
            write(&mut out, &id, &approval, &outcome);
            out
        });
        Handled::Running(Running { work, seat: Some(seat), turn, sequel })
    }

    /// Refuses a call that cannot walk with an error of the protocol, when it is on record.
    fn refuse_call(
        &self,
        ClientRequest { delivery, request, .. }: ClientRequest<'_>,
        tool: &str,
        arguments: Option<&RawValue>,
        (code, fault): (i32, Fault),
        out: &mut Vec<u8>,
    ) -> Handled {
        let call = Call::new(delivery.from.session.clone(), tool, owned(arguments));
        let call = Call { client: Some(delivery.from.client()), ..call };
        let message = fault.message.clone();
        let mut recorded = self.house.refuse(call, fault);
        if Pin::new(&mut recorded).poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return refuse(out, request.id, code, &message);
        }
        let id = request.id.to_owned();
        let work = Box::pin(async move {
            let mut out = Vec::new();
            recorded.await;
            refuse(&mut out, &id, code, &message);
            out
        });
        Handled::Running(Running { work, seat: None, turn: Turn::none(), sequel: None })
    }

    /// The call as a part of its round, where rounds end with something.
    fn part(&self, delivery: &Delivery<'_>, params: &Params<'_>, tool: &ToolInfo) -> Option<Part> {
        let attention = self.federation.attention();
        if attention.is_none() && !self.house.effects().closing().any() {
            return None;
        }
        let thread = params.meta.as_ref().and_then(|meta| meta.thread).and_then(rpc::text);
        let thread = thread.as_deref().unwrap_or_default();
        let news = attention.map(|attention| NewsReader {
            attention: attention.clone(),
            key: ReaderKey::new(&delivery.from.session.0, thread),
            client: delivery.from.name().to_owned(),
            asks: tool.server.is_none() && *tool.name == *GET_ATTENTION,
        });
        Some(Part::begin(delivery.from.seen(thread), news))
    }
}

/// True if a server's schema takes no members beside its own.
fn is_closed(schema: &OutputSchema) -> bool {
    matches!(schema, OutputSchema::Given(schema) if schema["additionalProperties"] == false || schema["unevaluatedProperties"] == false)
}

/// The arguments as a call keeps them; none are an empty object.
fn owned(arguments: Option<&RawValue>) -> Box<RawValue> {
    match arguments {
        Some(raw) if raw.get() != "null" => raw.to_owned(),
        _ => RawValue::from_string("{}".into()).unwrap_or_default(),
    }
}

/// Progress goes to the client only if it asked for it, with its own token.
fn progress(pulse: Option<&Arc<Pulse>>) -> Progress {
    let Some(pulse) = pulse.cloned() else { return Progress::none() };
    Progress::to(move |ProgressNote { done, total, message }| {
        let total = total.map_or(String::new(), |total| format!(r#","total":{total}"#));
        let message = serde_json::Value::from(message);
        pulse.tell(&format!(r#"{{"progress":{done}{total},"message":{message}}}"#));
    })
}
