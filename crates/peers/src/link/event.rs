//! What comes back for one request.

use serde_json::value::RawValue;

use super::{Question, error_parts};
use crate::{
    operation::Ending,
    wire::{Loss, tool_result},
};

/// Something that came for a request.
#[derive(Debug)]
pub(crate) enum Event {
    /// A notification: progress, a log line.
    Note {
        /// Its method.
        method: String,
        /// Its parameters as they were written.
        params: Box<RawValue>,
    },
    /// A question of the server's.
    Question(Question),
    /// The answer: the last event.
    Answer(Result<Box<RawValue>, Box<RawValue>>),
    /// There will be none: also the last.
    Lost(Loss),
}

impl Event {
    /// The room that it takes while it waits; an answer waits for nobody.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Note { method, params } => size_of::<Self>() + method.len() + params.get().len(),
            Self::Question(question) => question.size(),
            Self::Answer(_) | Self::Lost(_) => 0,
        }
    }

    /// The ending of its request, for the last one.
    pub(super) fn ending(&self) -> Ending {
        match self {
            Self::Answer(Ok(result)) if tool_result::is_error(result.get()) => Ending::ToolFailed,
            Self::Answer(Err(error)) => Ending::Error(error_parts(error).0),
            Self::Lost(_) => Ending::Lost,
            Self::Answer(Ok(_)) | Self::Note { .. } | Self::Question(_) => Ending::Result,
        }
    }
}
