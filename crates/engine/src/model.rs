//! The seam to a model: a prompt in, an answer out, its text on the way. Whatever speaks to a
//! server stands behind it.

use std::{fmt, ops::AddAssign, sync::Arc};

use serde::Serialize;
use serde_json::Value;
use tectum_core::{Fault, ToolInfo, ToolName};

use crate::{Message, ToolCall};

/// Something that answers prompts.
pub trait Model: Send + Sync {
    /// Answers. `said` gets the text piece by piece, as it comes; the answer has all of it again.
    /// Whoever drops the future does not want the answer any more.
    fn answer(
        &self,
        prompt: Prompt<'_>,
        said: &mut (dyn FnMut(&str) + Send),
    ) -> impl Future<Output = Result<Answer, Fault>> + Send;
}

/// One model for several conversations.
impl<M: Model> Model for Arc<M> {
    fn answer(
        &self,
        prompt: Prompt<'_>,
        said: &mut (dyn FnMut(&str) + Send),
    ) -> impl Future<Output = Result<Answer, Fault>> + Send {
        (**self).answer(prompt, said)
    }
}

/// A question to a model.
#[derive(Clone, Debug)]
pub struct Prompt<'p> {
    /// Another model than the usual one.
    pub model: Option<&'p str>,
    /// The messages, in order.
    pub messages: Vec<&'p Message>,
    /// The tools it may call.
    pub tools: &'p [Offer],
    /// False when it is to answer without calling any.
    pub may_call: bool,
}

/// A tool as a model is told of it.
#[derive(Clone)]
pub struct Offer {
    /// Its name.
    pub name: ToolName,
    /// Its description.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Arc<Value>,
}

impl Offer {
    /// The offer of this tool to a model.
    pub fn of(info: &ToolInfo) -> Self {
        Self {
            name: info.name.clone(),
            description: info.description.clone(),
            schema: info.input_schema.clone(),
        }
    }
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Offer").field(&self.name).finish()
    }
}

/// The answer of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// The calls it makes, in order.
    pub calls: Vec<ToolCall>,
    /// Its cost.
    pub usage: Usage,
    /// Why it ended.
    pub finish: Finish,
}

impl Answer {
    /// An answer without calls.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer that makes calls.
    pub fn calls(calls: Vec<ToolCall>) -> Self {
        Self { calls, finish: Finish::Calls, ..Self::default() }
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// It was complete.
    #[default]
    Stop,
    /// It makes calls.
    Calls,
    /// It reached the model's limit.
    Length,
    /// The server held it back.
    Filtered,
}

/// The cost of answers, as the model's server counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens of prompts.
    pub prompt: u64,
    /// Tokens of answers.
    pub completion: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
    }
}
