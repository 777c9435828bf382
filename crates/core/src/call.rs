//! The messages of the house: a call on the way in, an outcome on the way out.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tectum_security::RawPath;
use tokio_util::sync::CancellationToken;

use crate::{CallId, Directive, Fault, SessionId, ToolName};

/// A request to run one tool once.
#[derive(Debug)]
pub struct Call {
    /// The id of the call, assigned by us.
    pub id: CallId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// The program that calls, where it said who it is.
    pub client: Option<Arc<Client>>,
    /// The tool to run.
    pub tool: ToolName,
    /// The arguments as they came. The provider that runs the call parses them once.
    pub args: Box<RawValue>,
    /// Cancelled when the caller leaves.
    pub cancel: CancellationToken,
    /// The receiver of progress, if the caller asked for it.
    pub progress: Progress,
    /// The most bytes of text that the caller can take.
    pub room: usize,
    /// Cancelled when the client disconnects; `None` if a disconnect cannot be detected.
    pub left: Option<CancellationToken>,
}

impl Call {
    /// A call with a new id, without cancellation and progress, for a caller that takes a text of any length.
    pub fn new(session: SessionId, tool: impl Into<ToolName>, args: Box<RawValue>) -> Self {
        Self {
            id: CallId::fresh(),
            session,
            client: None,
            tool: tool.into(),
            args,
            cancel: CancellationToken::new(),
            progress: Progress::none(),
            room: usize::MAX,
            left: None,
        }
    }
}

/// A program that calls tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// The door it came through, such as `stdio`.
    pub door: &'static str,
    /// The name it gave itself; empty if it gave none.
    pub name: String,
    /// The version it gave.
    pub version: String,
}

/// A progress note of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressNote {
    /// The progress so far; it rises with every note.
    pub done: u64,
    /// The value of `done` at the end, if known.
    pub total: Option<u64>,
    /// One line for people.
    pub message: String,
}

/// The callback through which a running tool reports progress.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(ProgressNote) + Send + Sync>>);

impl Progress {
    /// No listener.
    pub fn none() -> Self {
        Self(None)
    }

    /// Sends notes to this function, which must not block.
    pub fn to(sink: impl Fn(ProgressNote) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// True if there is a listener.
    pub fn wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Sends a note to the listener, if there is one.
    pub fn note(&self, note: ProgressNote) {
        if let Some(sink) = &self.0 {
            sink(note);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.wanted()).finish()
    }
}

/// The outcome of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The call it answers.
    pub call: CallId,
    /// The result of the tool, or the fault.
    pub result: Result<Payload, Fault>,
    /// The directives of the tool for the loop around it.
    pub directives: Vec<Directive>,
    /// The files and directories the call was allowed to touch, as it named them; none for a refusal.
    pub paths: Vec<RawPath>,
    /// The arguments that a person put in the place of the caller's own.
    pub edited: Option<Box<RawValue>>,
    /// The duration from the first station to the last.
    pub took: Duration,
}

impl Outcome {
    /// The outcome of a call that did nothing.
    pub(crate) fn fault(call: CallId, fault: Fault) -> Self {
        Self {
            call,
            result: Err(fault),
            directives: Vec::new(),
            paths: Vec::new(),
            edited: None,
            took: Duration::ZERO,
        }
    }

    /// What a model is told of a call whose arguments a person changed.
    pub fn edited_note(&self) -> Option<String> {
        let args = self.edited.as_ref()?.get();
        Some(format!("A person changed the arguments of this call before it ran. It ran with: {args}"))
    }

    /// True if the call failed, or if the tool says so in its result.
    pub fn failed(&self) -> bool {
        match &self.result {
            Err(_) => true,
            Ok(Payload::Native(_)) => false,
            Ok(Payload::Peer(reply)) => reply.failed,
        }
    }
}

/// A successful result.
#[derive(Clone, Debug)]
pub enum Payload {
    /// The result of one of our own tools.
    Native(NativeReply),
    /// The result of a peer.
    Peer(PeerReply),
}

impl Payload {
    /// The size of the result in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Native(reply) => reply.text.len() + reply.structured.len(),
            Self::Peer(reply) => reply.json.get().len(),
        }
    }
}

/// The result of a peer, in the peer's own format.
#[derive(Clone, Debug)]
pub struct PeerReply {
    /// The result as the peer wrote it: forwarded byte for byte.
    pub json: Box<RawValue>,
    /// True if the peer's tool says that it failed.
    pub failed: bool,
}

/// The result of a native tool: text as the model reads it, and the same as data.
#[derive(Clone, Debug)]
pub struct NativeReply {
    /// The text for the model.
    pub text: String,
    /// The data for programs: JSON that fits the tool's output schema.
    pub structured: String,
}
