//! One request from its beginning to its end: a span where traces are wanted, and a duration.

use std::{collections::HashMap, fmt, sync::Arc, time::Instant};

use opentelemetry::{
    Context, KeyValue, StringValue,
    propagation::TextMapPropagator,
    trace::{SpanBuilder, SpanKind, Status, TraceContextExt, Tracer},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use parking_lot::Mutex;
use tectum_core::{Call, Outcome, Payload};
use tectum_peers::operation::{Ending, Operation, RequestBegun, TraceContext};

use crate::{names, shared::Shared};

/// The longest arguments or result that are sent. The queue of spans holds 2048, so all of them are bounded.
const MOST_CONTENT: usize = 8 * 1024;
/// The longest of any other text.
const MOST_TEXT: usize = 512;

/// A request that is being measured.
pub(crate) struct Measured {
    shared: Arc<Shared>,
    began: Instant,
    /// True for a request of a client, false for one to a server.
    of_client: bool,
    method: &'static str,
    carried: TraceContext,
    /// The context with its span, where traces are wanted.
    span: Option<Context>,
    state: Mutex<State>,
}

struct State {
    /// The labels of its duration.
    labels: Vec<KeyValue>,
    failed: bool,
    ended: bool,
}

impl Measured {
    /// A request of a client begins.
    pub(crate) fn of_client(shared: &Arc<Shared>, request: RequestBegun<'_>) -> Self {
        shared.figures.began();
        let parent = shared.tracing.as_ref().map(|_| remote(&request.context));
        Self::begin(shared, request, true, parent.as_ref())
    }

    fn begin(
        shared: &Arc<Shared>,
        request: RequestBegun<'_>,
        of_client: bool,
        parent: Option<&Context>,
    ) -> Self {
        let method = names::method(request.method);
        let tool = request.subject.filter(|_| method == "tools/call");
        let span = shared.tracing.as_ref().zip(parent).map(|(tracing, parent)| {
            let name = tool.map_or(method.into(), |tool| format!("{method} {tool}").into());
            let kind = if of_client { SpanKind::Server } else { SpanKind::Client };
            let builder = SpanBuilder { span_kind: Some(kind), name, ..SpanBuilder::default() };
            let builder = builder.with_attributes(shared.particulars(method, &request));
            parent.with_span(tracing.tracer.build_with_context(builder, parent))
        });
        let mut labels = vec![
            KeyValue::new(names::METHOD, method),
            KeyValue::new(names::TRANSPORT, if request.pipe { "pipe" } else { "tcp" }),
        ];
        labels.extend(request.version.map(|version| KeyValue::new(names::VERSION, version.to_owned())));
        labels.extend(request.server.map(|server| KeyValue::new(names::SERVER, server.to_owned())));
        if let Some(tool) = tool {
            labels.extend(of_tool(tool.to_owned().into()));
        }
        if let Some(span) = &span {
            span.span().set_attributes(labels.iter().cloned());
        }
        let state = Mutex::new(State { labels, failed: false, ended: false });
        let (shared, carried) = (shared.clone(), request.context);
        Self { shared, began: Instant::now(), of_client, method, carried, span, state }
    }

    fn note(&self, attribute: KeyValue) {
        if let Some(span) = &self.span {
            span.span().set_attribute(attribute);
        }
    }

    /// Arguments or a result, where they are wanted.
    fn content(&self, name: &'static str, text: impl FnOnce() -> String) {
        if self.shared.content && self.is_recorded() {
            let text = text();
            let shown = if text.len() > MOST_CONTENT {
                format!("[{} bytes are too long to be sent]", text.len())
            } else if text.starts_with('{') {
                self.shared.redactor.hide(text)
            } else {
                self.shared.redactor.text(&text).into_owned()
            };
            self.note(KeyValue::new(name, shown));
        }
    }

    fn is_recorded(&self) -> bool {
        self.span.as_ref().is_some_and(|span| span.span().is_recording())
    }
}

impl Operation for Measured {
    fn calls(&self, call: &Call) {
        if let Some(span) = self.span.as_ref().filter(|_| self.is_recorded()) {
            span.span().update_name(format!("{} {}", self.method, call.tool));
            span.span().set_attributes(of_tool(call.tool.clone().into()));
            self.note(KeyValue::new(names::CALL, call.id.to_string()));
            self.content(names::ARGUMENTS, || call.args.get().to_owned());
        }
        self.state.lock().labels.extend(of_tool(call.tool.clone().into()));
    }

    fn called(&self, outcome: &Outcome) {
        self.state.lock().failed = outcome.failed();
        if let (Err(fault), true) = (&outcome.result, self.is_recorded())
            && let Ok(serde_json::Value::String(kind)) = serde_json::to_value(fault.kind)
        {
            self.note(KeyValue::new(names::FAULT, kind));
        }
        self.content(names::RESULT, || match &outcome.result {
            Ok(Payload::Native(reply)) => reply.text.clone(),
            Ok(Payload::Peer(reply)) => reply.json.get().to_owned(),
            Err(fault) => fault.text(),
        });
    }

    fn begin(&self, request: RequestBegun<'_>) -> Arc<dyn Operation> {
        let request = RequestBegun { context: self.carried.clone(), ..request };
        Arc::new(Self::begin(&self.shared, request, false, self.span.as_ref()))
    }

    fn context(&self) -> TraceContext {
        let Some(span) = &self.span else { return self.carried.clone() };
        let mut fields: HashMap<String, String> = HashMap::new();
        TraceContextPropagator::new().inject_context(span, &mut fields);
        let state = fields.remove("tracestate").filter(|state| !state.is_empty());
        TraceContext { parent: fields.remove("traceparent"), state, baggage: self.carried.baggage.clone() }
    }

    fn end(&self, ending: Ending) {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.ended, true) {
            return;
        }
        let error: Option<StringValue> = match ending {
            Ending::Result if !state.failed => None,
            Ending::Result | Ending::ToolFailed => Some(names::TOOL_ERROR.into()),
            Ending::Error(code) => Some(code.to_string().into()),
            Ending::Lost => Some("connection_lost".into()),
            Ending::Cancelled => Some("cancelled".into()),
        };
        if let Some(error) = error {
            self.note(KeyValue::new(names::ERROR, error.clone()));
            state.labels.push(KeyValue::new(names::ERROR, error));
            if let Some(span) = &self.span {
                span.span().set_status(Status::error(""));
            }
        }
        if let Ending::Error(code) = ending {
            self.note(KeyValue::new(names::STATUS, code.to_string()));
        }
        if let Some(span) = &self.span {
            span.span().end();
        }
        let took = self.began.elapsed();
        if self.of_client {
            self.shared.figures.of_client(took, &state.labels);
        } else {
            self.shared.figures.to_server(took, &state.labels);
        }
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.end(Ending::Cancelled);
    }
}

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measured").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Shared {
    /// The attributes of a span beyond the labels of its duration. Clients choose these texts.
    fn particulars(&self, method: &str, request: &RequestBegun<'_>) -> Vec<KeyValue> {
        let about = match method {
            "prompts/get" => Some(names::PROMPT),
            "resources/read" => Some(names::RESOURCE),
            _ => None,
        };
        let unquoted = request.id.map(|id| id.trim_matches('"'));
        [(Some(names::REQUEST), unquoted), (Some(names::SESSION), request.session), (about, request.subject)]
            .into_iter()
            .filter_map(|(name, text)| Some((name?, text?)))
            .filter(|(_, text)| text.len() <= MOST_TEXT)
            .map(|(name, text)| KeyValue::new(name, self.redactor.text(text).into_owned()))
            .collect()
    }
}

/// A call of a tool.
fn of_tool(tool: StringValue) -> [KeyValue; 2] {
    [KeyValue::new(names::OPERATION, names::EXECUTE_TOOL), KeyValue::new(names::TOOL, tool)]
}

/// The context that a request came with, as a parent.
fn remote(context: &TraceContext) -> Context {
    let fields = [("traceparent", &context.parent), ("tracestate", &context.state)];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    let fields: HashMap<String, String> = fields.collect();
    TraceContextPropagator::new().extract_with_context(&Context::new(), &fields)
}
