//! One copy of a call, before it or after it, in the words observers are told.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, value::RawValue};

use crate::{Call, CallId, FaultKind, Outcome, Payload, Redactor, ToolName};

/// Results above this are left out of copies, and the copy says so.
const MOST_RESULT: usize = 4 * 1024 * 1024;
/// Texts above this are looked through for secrets in more than half a millisecond.
const LARGE: usize = 16 * 1024;
/// What a copy costs beside its texts.
const FRAME: usize = 256;

/// Said of a tool that failed and did not say why.
const NO_WORDS: &str = "the tool failed and gave no reason";

/// One copy, before or after a call. What it shows is made when it is first asked for, away from
/// the call, and then shared by all observers.
#[derive(Debug)]
pub struct Observation {
    /// Rises by one from copy to copy: a gap is a loss.
    pub sequence: u64,
    /// Which call.
    pub call: CallId,
    /// Which tool.
    pub tool: ToolName,
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

/// What came of a call, copied on its way out.
#[derive(Debug)]
pub(crate) enum Report {
    Native { text: Box<str>, structured: Box<str> },
    Raw(Box<str>),
    Fault { kind: FaultKind, message: Box<str>, text: Box<str> },
    TooLarge(usize),
}

impl Report {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match &outcome.result {
            Ok(Payload::Native(reply)) => match reply.text.len() + reply.structured.len() {
                size if size > MOST_RESULT => Self::TooLarge(size),
                _ => Self::Native { text: (&*reply.text).into(), structured: (&*reply.structured).into() },
            },
            Ok(Payload::Raw(raw)) if raw.get().len() > MOST_RESULT => Self::TooLarge(raw.get().len()),
            Ok(Payload::Raw(raw)) => Self::Raw(raw.get().into()),
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
            Self::Raw(raw) => match tool_error(raw) {
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
    pub(crate) fn of(call: &Call, after: Option<Report>, redactor: Arc<Redactor>) -> Self {
        Self {
            sequence: 0,
            call: call.id,
            tool: call.tool.clone(),
            args: call.args.get().into(),
            after,
            redactor,
            shown: OnceLock::new(),
            answer: OnceLock::new(),
        }
    }

    /// A copy that stands for no call, to try an observer with.
    pub fn trial(tool: &str, redactor: Redactor) -> Self {
        Self {
            sequence: 0,
            call: CallId::fresh(),
            tool: tool.into(),
            args: r#"{"trial":true}"#.into(),
            after: None,
            redactor: Arc::new(redactor),
            shown: OnceLock::new(),
            answer: OnceLock::new(),
        }
    }

    /// True for the copy after a call.
    pub fn is_after(&self) -> bool {
        self.after.is_some()
    }

    /// The arguments, an object.
    pub fn args(&self) -> &str {
        &self.shown().args
    }

    /// What came of it, an object; nothing before the call.
    pub fn result(&self) -> Option<&str> {
        self.shown().result.as_deref()
    }

    /// The same as a client of MCP gets it.
    pub fn answer(&self) -> Option<&str> {
        let answer = || Some(self.redactor.hide(self.after.as_ref()?.answer()));
        self.answer.get_or_init(answer).as_deref()
    }

    /// Makes what a large copy shows on a thread beside us, its answer too if it will be asked for:
    /// a call that comes meanwhile does not wait for it.
    pub async fn made(self: &Arc<Self>, with_answer: bool) {
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
    pub(crate) fn size(&self) -> usize {
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

/// What a server's tool said about its own failure; `None` for a success.
pub(crate) fn tool_error(raw: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Result<'r> {
        #[serde(default, rename = "isError")]
        is_error: bool,
        #[serde(default, borrow)]
        content: Option<&'r RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct Block {
        text: String,
    }
    // Most results say nothing of errors, and are not read.
    if !raw.contains(r#""isError""#) {
        return None;
    }
    let result: Result<'_> = serde_json::from_str(raw).ok()?;
    if !result.is_error {
        return None;
    }
    // What it says may be anything; that it failed is certain.
    let content =
        result.content.and_then(|content| serde_json::from_str::<Vec<&RawValue>>(content.get()).ok());
    let texts: Vec<String> = content
        .into_iter()
        .flatten()
        .filter_map(|block| serde_json::from_str::<Block>(block.get()).ok())
        .map(|block| block.text)
        .collect();
    let said = texts.join("\n");
    Some(if said.trim().is_empty() { NO_WORDS.to_owned() } else { said })
}
