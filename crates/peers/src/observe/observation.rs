//! One copy of a call, before it or after it, in the words observers are told.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tectum_core::{CallId, FaultKind, Outcome, Payload, ToolName};
use tectum_redact::Redactor;

use crate::wire::tool_result::error_text;

/// Results above this are left out of copies, and the copy says so.
const MOST_RESULT: usize = 4 * 1024 * 1024;
/// Texts above this are looked through for secrets in more than half a millisecond.
const LARGE: usize = 16 * 1024;
/// The bytes of a copy beside its texts.
const FRAME: usize = 256;

/// One copy, before or after a call. What it shows is made when it is first asked for, away from
/// the call, and then shared by all observers.
#[derive(Debug)]
pub(super) struct Observation {
    /// Rises by one from copy to copy: a gap is a loss.
    pub(super) sequence: u64,
    /// The call.
    pub(super) call: CallId,
    /// The tool.
    pub(super) tool: ToolName,
    args: Box<str>,
    after: Option<Report>,
    redactor: Arc<Redactor>,
    shown: OnceLock<Shown>,
    answer: OnceLock<Option<String>>,
}

#[derive(Debug)]
struct Shown {
    args: String,
    result: Option<String>,
}

/// The outcome of a call, copied on its way out.
#[derive(Debug)]
pub(super) enum Report {
    Native { text: Box<str>, structured: Box<str> },
    Raw(Box<str>),
    Fault { kind: FaultKind, message: Box<str>, text: Box<str> },
    TooLarge(usize),
}

impl Report {
    pub(super) fn of(outcome: &Outcome) -> Self {
        match &outcome.result {
            Ok(Payload::Native(reply)) => match reply.text.len() + reply.structured.len() {
                size if size > MOST_RESULT => Self::TooLarge(size),
                _ => Self::Native { text: (&*reply.text).into(), structured: (&*reply.structured).into() },
            },
            Ok(Payload::Peer(reply)) => match reply.json.get() {
                raw if raw.len() > MOST_RESULT => Self::TooLarge(raw.len()),
                raw => Self::Raw(raw.into()),
            },
            Err(fault) => {
                Self::Fault { kind: fault.kind, message: (&*fault.message).into(), text: fault.text().into() }
            }
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Native { text, structured } => text.len() + structured.len(),
            Self::Raw(raw) => raw.len(),
            Self::Fault { message, text, .. } => message.len() + text.len(),
            Self::TooLarge(_) => 0,
        }
    }

    /// As `observe` is told: an object, whatever the tool gave.
    fn result(&self) -> String {
        match self {
            Self::Native { structured, .. } => object(structured),
            Self::Raw(raw) => match error_text(raw) {
                Some(error) => {
                    format!(r#"{{"error":{},"error_type":"ToolError","result":{raw}}}"#, Value::from(error))
                }
                None => object(raw),
            },
            Self::Fault { kind: FaultKind::Cancelled, .. } => {
                r#"{"error":"cancelled","error_type":"Cancelled"}"#.into()
            }
            Self::Fault { kind, message, .. } => {
                format!(r#"{{"error":{},"error_type":"{kind:?}"}}"#, Value::from(&**message))
            }
            Self::TooLarge(size) => format!(r#"{{"omitted":"a result of {size} bytes is not copied"}}"#),
        }
    }

    /// As a client of MCP gets it.
    fn answer(&self) -> String {
        let said = |text: &str, wrong: bool| {
            format!(r#""content":[{{"type":"text","text":{}}}],"isError":{wrong}"#, Value::from(text))
        };
        match self {
            Self::Native { text, structured } => {
                format!(r#"{{{},"structuredContent":{}}}"#, said(text, false), object(structured))
            }
            Self::Raw(raw) => object(raw),
            Self::Fault { text, .. } => format!("{{{}}}", said(text, true)),
            Self::TooLarge(size) => {
                format!("{{{}}}", said(&format!("a result of {size} bytes is not copied"), false))
            }
        }
    }
}

impl Observation {
    pub(super) fn new(
        call: CallId,
        tool: ToolName,
        args: &str,
        after: Option<Report>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let (shown, answer) = (OnceLock::new(), OnceLock::new());
        Self { sequence: 0, call, tool, args: args.into(), after, redactor, shown, answer }
    }

    /// True for the copy after a call.
    pub(super) fn is_after(&self) -> bool {
        self.after.is_some()
    }

    /// The arguments, an object.
    pub(super) fn args(&self) -> &str {
        &self.shown().args
    }

    /// The outcome, an object; nothing before the call.
    pub(super) fn result(&self) -> Option<&str> {
        self.shown().result.as_deref()
    }

    /// The same as a client of MCP gets it.
    pub(super) fn answer(&self) -> Option<&str> {
        let answer = || Some(self.redactor.hide(self.after.as_ref()?.answer()));
        self.answer.get_or_init(answer).as_deref()
    }

    /// Makes what a large copy shows on a thread beside us, its answer too if it will be asked for:
    /// a call that comes meanwhile does not wait for it.
    pub(super) async fn made(self: &Arc<Self>, with_answer: bool) {
        if self.size() <= 2 * LARGE {
            return;
        }
        let copy = self.clone();
        let making = tokio::task::spawn_blocking(move || {
            copy.shown();
            if with_answer {
                copy.answer();
            }
        });
        // It fails only if it panicked, and then it is made when it is asked for.
        let _ = making.await;
    }

    /// About how many bytes it holds, with what it will show.
    pub(super) fn size(&self) -> usize {
        FRAME + 2 * (self.args.len() + self.after.as_ref().map_or(0, Report::size))
    }

    fn shown(&self) -> &Shown {
        self.shown.get_or_init(|| {
            let hide = |json: String| self.redactor.hide(json);
            Shown {
                args: hide(object(&self.args)),
                result: self.after.as_ref().map(|after| hide(after.result())),
            }
        })
    }
}

/// JSON as an object: what is none is the value of one.
fn object(json: &str) -> String {
    match json.trim_start() {
        "" => r#"{"value":null}"#.into(),
        text if text.starts_with('{') => json.into(),
        _ => format!(r#"{{"value":{json}}}"#),
    }
}
