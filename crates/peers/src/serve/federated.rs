//! The methods that only federated servers can answer: resources, prompts, completion.

use std::sync::Arc;

use serde_json::value::RawValue;
use tectum_core::Fault;
use tokio_util::sync::CancellationToken;

use super::{ClientRequest, Endpoint, Handled, caller, refuse, seated};
use crate::{
    client::{Caller, TASKS, named_task},
    federation::{Federation, Goods, Order, RESULTS, SESSIONS, Source, to_modern},
    link::error_parts,
    peer::Failure,
    wire::{Era, Members, Object, Request, code, frame, quoted, raw, rpc},
};

/// A request of a client's, and the servers that may answer it.
struct Forwarded {
    sources: Vec<Source>,
    method: &'static str,
    params: Vec<(&'static str, Box<RawValue>)>,
    /// The parameter that carries the server's own name.
    named: Named,
}

enum Named {
    Name,
    Uri,
    /// Part of a reference, which was rewritten already.
    Inside,
    /// A task, by the id that the client knows it by.
    Task(String),
}

impl Endpoint {
    /// Handles a request for the servers beyond us; `None` for every other one.
    pub(super) fn federated(&self, asked: ClientRequest<'_>, out: &mut Vec<u8>) -> Option<Handled> {
        let ClientRequest { delivery, request, era, .. } = asked;
        if request.method == "resources/subscribe" && delivery.from.watches_enough() {
            let message = "resources/subscribe: too many subscriptions: unsubscribe from some first";
            return Some(refuse(out, request.id, code::INTERNAL, message));
        }
        let own = self.own_resource(asked, out).or_else(|| self.kept_result(asked, out));
        if let Some(handled) = own.or_else(|| self.session_page(asked, out)) {
            return Some(handled);
        }
        let forwarded = match (&*request.method, era) {
            ("resources/read", _) => self.resource(request, era),
            ("prompts/get", _) => self.prompt(request),
            ("completion/complete", _) => self.completion(request),
            ("tasks/get", Era::Modern) => self.task(request, "tasks/get"),
            ("tasks/update", Era::Modern) => self.task(request, "tasks/update"),
            ("tasks/cancel", Era::Modern) => self.task(request, "tasks/cancel"),
            ("resources/subscribe", Era::Legacy) => return Some(self.subscribe(asked, true, out)),
            ("resources/unsubscribe", Era::Legacy) => return Some(self.subscribe(asked, false, out)),
            _ => return None,
        };
        let forwarded = match forwarded {
            Ok(forwarded) => forwarded,
            Err((code, message)) => {
                let data = match code {
                    // Tasks are the one capability that is asked for here.
                    code::MISSING_CAPABILITY => Some(needs_tasks()),
                    _ => request.params.uri.map(|uri| Object::new().raw("uri", uri.get()).end()),
                };
                frame::error(out, Some(request.id), code, &message, data.as_deref());
                return Some(Handled::Answered);
            }
        };
        let (federation, caller) = (self.federation.clone(), caller(asked));
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        Some(seated(delivery, request.id, &cancel, out, |id| {
            Box::pin(async move {
                let mut out = Vec::new();
                tokio::select! {
                    done = first_that_has_it(&federation, forwarded, &caller) => written(&mut out, &id, done),
                    () = cancelled.cancelled() => {}
                }
                out
            })
        }))
    }

    /// A resource of our own is read and watched without anybody else.
    fn own_resource(&self, asked: ClientRequest<'_>, out: &mut Vec<u8>) -> Option<Handled> {
        let ClientRequest { delivery, request, era, .. } = asked;
        let uri = request.params.uri.and_then(rpc::text)?;
        let read = self.federation.composer.own_resource(&uri)?;
        match (&*request.method, era) {
            ("resources/read", _) => answered(out, request.id, era, read),
            // An anchor may be watched before it is there.
            ("resources/subscribe" | "resources/unsubscribe", Era::Legacy) => {
                delivery.from.watch(&uri, request.method == "resources/subscribe");
                frame::result(out, request.id, "{}");
            }
            _ => return None,
        }
        Some(Handled::Answered)
    }

    /// A result that was too large to be passed on is read here, in ranges.
    fn kept_result(&self, asked: ClientRequest<'_>, out: &mut Vec<u8>) -> Option<Handled> {
        let ClientRequest { delivery, request, era, .. } = asked;
        let uri = request.params.uri.filter(|_| request.method == "resources/read").and_then(rpc::text)?;
        if !uri.starts_with(RESULTS) {
            return None;
        }
        let (federation, uri) = (self.federation.clone(), uri.into_owned());
        Some(seated(delivery, request.id, &CancellationToken::new(), out, |id| {
            Box::pin(async move {
                let mut out = Vec::new();
                let kept = federation.kept(uri).await.map_err(|error| error.to_string());
                answered(&mut out, &id, era, kept);
                out
            })
        }))
    }

    /// The record of a session is read from the disk.
    fn session_page(&self, asked: ClientRequest<'_>, out: &mut Vec<u8>) -> Option<Handled> {
        let ClientRequest { delivery, request, era, .. } = asked;
        let uri = request.params.uri.filter(|_| request.method == "resources/read").and_then(rpc::text)?;
        if !uri.starts_with(SESSIONS) {
            return None;
        }
        let (federation, uri, client) =
            (self.federation.clone(), uri.into_owned(), delivery.from.session.clone());
        Some(seated(delivery, request.id, &CancellationToken::new(), out, |id| {
            Box::pin(async move {
                let mut out = Vec::new();
                let page = federation.session_page(&uri, &client).await;
                let page = page
                    .unwrap_or_else(|| Err(format!("no such resource: {uri}; no calls are recorded here")));
                answered(&mut out, &id, era, page);
                out
            })
        }))
    }

    /// The resources and prompts there are.
    pub(super) fn goods(&self) -> Arc<Goods> {
        self.federation.composer.goods()
    }

    fn resource(&self, request: &Request<'_>, era: Era) -> Result<Forwarded, (i32, String)> {
        let uri = request.params.uri.and_then(rpc::text);
        let uri =
            uri.ok_or_else(|| (code::INVALID_PARAMS, "resources/read: `uri` must be a string".into()))?;
        let missing = if era == Era::Modern { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
        let sources = self.goods().resource(&uri);
        if sources.is_empty() {
            return Err((missing, format!("no such resource: {uri}")));
        }
        Ok(Forwarded { sources, method: "resources/read", params: Vec::new(), named: Named::Uri })
    }

    fn prompt(&self, request: &Request<'_>) -> Result<Forwarded, (i32, String)> {
        let name = request.params.name.as_deref();
        let name =
            name.ok_or_else(|| (code::INVALID_PARAMS, "prompts/get: `name` must be a string".into()))?;
        let source = self.goods().prompt(name).cloned();
        let source = source.ok_or_else(|| (code::INVALID_PARAMS, format!("no such prompt: {name}")))?;
        let params = request.params.arguments.map(|raw| ("arguments", raw.to_owned())).into_iter().collect();
        Ok(Forwarded { sources: vec![source], method: "prompts/get", params, named: Named::Name })
    }

    /// A question about a task goes to the server that works on it.
    fn task(&self, request: &Request<'_>, method: &'static str) -> Result<Forwarded, (i32, String)> {
        if !knows_tasks(request) {
            return Err((
                code::MISSING_CAPABILITY,
                format!("{method}: the client must declare the extension {TASKS}"),
            ));
        }
        let id = request.params.task_id.and_then(rpc::text);
        let id = id.ok_or_else(|| (code::INVALID_PARAMS, format!("{method}: `taskId` must be a string")))?;
        let source = self.federation.tasks.source(&id);
        let source = source.ok_or_else(|| (code::INVALID_PARAMS, format!("no such task: {id}")))?;
        let named = Named::Task(id.into_owned());
        // Answers that came along are passed on like those to any other question.
        Ok(Forwarded { sources: vec![source], method, params: Vec::new(), named })
    }

    fn completion(&self, request: &Request<'_>) -> Result<Forwarded, (i32, String)> {
        let invalid = |message: &str| (code::INVALID_PARAMS, format!("completion/complete: {message}"));
        let params = Members::of(request.raw).unwrap_or_default();
        let reference = params.object("ref");
        let reference = reference.ok_or_else(|| invalid("`ref` must be an object"))?;
        let goods = self.goods();
        let found = match reference.text("type").as_deref() {
            Some("ref/prompt") => reference.text("name").map(|name| ("name", goods.prompt(&name).cloned())),
            Some("ref/resource") => reference.text("uri").map(|uri| {
                let source =
                    goods.template(&uri).cloned().or_else(|| goods.resource(&uri).into_iter().next());
                ("uri", source)
            }),
            _ => return Err(invalid("`ref.type` must be ref/prompt or ref/resource")),
        };
        let (key, source) = found.ok_or_else(|| invalid("`ref` names nothing"))?;
        let missing = || (code::INVALID_PARAMS, "nothing to complete: no such prompt or template".to_owned());
        let source = source.ok_or_else(missing)?;
        let mut passed = vec![("ref", raw(reference.replaced(key, &quoted(&source.own))))];
        for key in ["argument", "context"] {
            passed.extend(params.get(key).map(|value| (key, value.to_owned())));
        }
        let (sources, method) = (vec![source], "completion/complete");
        Ok(Forwarded { sources, method, params: passed, named: Named::Inside })
    }
}

/// True if a client declares that it knows tasks.
pub(super) fn knows_tasks(request: &Request<'_>) -> bool {
    let meta = request.params.meta.as_ref();
    let declared = meta.and_then(|meta| meta.client_capabilities).and_then(|raw| Members::of(raw.get()));
    let extensions = declared.and_then(|members| members.get("extensions"));
    extensions.and_then(|raw| Members::of(raw.get())).is_some_and(|members| members.get(TASKS).is_some())
}

/// The error data for a client that does not declare it.
pub(super) fn needs_tasks() -> String {
    let tasks = Object::new().raw(TASKS, "{}").end();
    let extensions = Object::new().raw("extensions", &tasks).end();
    Object::new().raw("requiredCapabilities", &extensions).end()
}

/// Answers with a resource of our own, or that there is none.
fn answered(out: &mut Vec<u8>, id: &str, era: Era, read: Result<Box<RawValue>, String>) {
    let missing = if era == Era::Modern { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
    match read {
        Ok(read) if era == Era::Modern => frame::result(out, id, to_modern("resources/read", read).get()),
        Ok(read) => frame::result(out, id, read.get()),
        Err(why) => frame::error(out, Some(id), missing, &why, None),
    }
}

/// Asks one server after the other; the first that has it answers.
async fn first_that_has_it(
    federation: &Federation,
    asked: Forwarded,
    caller: &Caller,
) -> Result<Box<RawValue>, Failure> {
    let mut last = Err(Fault::internal("nobody was asked").into());
    for source in &asked.sources {
        let key = match &asked.named {
            Named::Name => Some("name"),
            Named::Uri => Some("uri"),
            Named::Task(_) => Some("taskId"),
            Named::Inside => None,
        };
        let own = key.map(|key| (key, raw(quoted(&source.own))));
        let params = own.into_iter().chain(asked.params.clone()).collect();
        let name = key.map(|_| source.own.to_string());
        let order = Order { method: asked.method, name, params, headers: Vec::new() };
        last = federation.run(source, order, caller).await;
        if last.is_ok() {
            break;
        }
    }
    match &asked.named {
        Named::Task(id) => last.map(|result| named_task(result, id)),
        _ => last,
    }
}

pub(super) fn written(out: &mut Vec<u8>, id: &str, done: Result<Box<RawValue>, Failure>) {
    match done {
        Ok(result) => frame::result(out, id, result.get()),
        Err(Failure::Theirs(error)) => {
            let (code, message) = error_parts(&error);
            let data = Members::of(error.get()).and_then(|members| members.get("data"));
            let code = i32::try_from(code).unwrap_or(code::INTERNAL);
            frame::error(out, Some(id), code, &message, data.map(RawValue::get));
        }
        Err(Failure::Ours(fault)) => {
            let data = fault.hint.as_ref().map(|hint| Object::new().text("hint", hint).end());
            frame::error(out, Some(id), code::INTERNAL, &fault.message, data.as_deref());
        }
    }
}
