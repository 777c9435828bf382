//! What goes through the house: a call on the way in, an outcome on the way out.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tectum_security::RawPath;
use tokio_util::sync::CancellationToken;

use crate::{Asker, CallId, Directive, Fault, SessionId, ToolName};

/// A request to run one tool once.
#[derive(Debug)]
pub struct Call {
    /// Its name, given by us.
    pub id: CallId,
    /// The conversation.
    pub session: SessionId,
    /// Which tool.
    pub tool: ToolName,
    /// The arguments as they came. They are parsed once, by whoever runs the call.
    pub args: Box<RawValue>,
    /// Cancelled when the caller leaves.
    pub cancel: CancellationToken,
    /// Where progress goes, if the caller asked for it.
    pub progress: Progress,
    /// The most bytes of text that its caller can take.
    pub room: usize,
    /// Who is asked where a rule wants a person's consent to this call.
    pub asker: Asker,
}

impl Call {
    /// A call with a fresh name, nobody to cancel it and nobody to watch its progress, for a caller
    /// that takes a text of any length.
    pub fn new(session: SessionId, tool: impl Into<ToolName>, args: Box<RawValue>) -> Self {
        Self {
            id: CallId::fresh(),
            session,
            tool: tool.into(),
            args,
            cancel: CancellationToken::new(),
            progress: Progress::none(),
            room: usize::MAX,
            asker: Asker::none(),
        }
    }
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressNote {
    /// Rises with every note.
    pub done: u64,
    /// Where it ends, if known.
    pub total: Option<u64>,
    /// One line for people.
    pub message: String,
}

/// The way a running tool tells how far it has come.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(ProgressNote) + Send + Sync>>);

impl Progress {
    /// Nobody asked.
    pub fn none() -> Self {
        Self(None)
    }

    /// Notes go to this function, which must not block.
    pub fn to(sink: impl Fn(ProgressNote) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// True when somebody listens.
    pub fn wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Sends a note, if anybody listens.
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

/// What came of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The call it answers.
    pub call: CallId,
    /// What the tool gave, or why it did not.
    pub result: Result<Payload, Fault>,
    /// What the tool asks of the loop around it.
    pub directives: Vec<Directive>,
    /// The files and directories it was allowed to touch, as it named them; none for a refusal.
    pub paths: Vec<RawPath>,
    /// How long it took, from the first station to the last.
    pub took: Duration,
}

impl Outcome {
    /// Whether it failed, as a call or by its tool's own word.
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
    /// From one of our own tools.
    Native(NativeReply),
    /// From a peer.
    Peer(PeerReply),
}

impl Payload {
    /// How many bytes it holds.
    pub fn size(&self) -> usize {
        match self {
            Self::Native(reply) => reply.text.len() + reply.structured.len(),
            Self::Peer(reply) => reply.json.get().len(),
        }
    }
}

/// What a peer gave, in the peer's own language.
#[derive(Clone, Debug)]
pub struct PeerReply {
    /// As the peer wrote it: forwarded byte for byte.
    pub json: Box<RawValue>,
    /// Whether the peer's tool says that it failed.
    pub failed: bool,
}

/// What a native tool gave: text as the model reads it, and the same as data.
#[derive(Clone, Debug)]
pub struct NativeReply {
    /// For the model.
    pub text: String,
    /// For programs: JSON that fits the tool's output schema.
    pub structured: String,
}
