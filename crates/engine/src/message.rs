//! One message of a conversation, with what the loop knows about it. How it looks to a model's
//! server is the business of the client that sends it.

use serde::{Deserialize, Serialize};

/// Bytes that count as one token, as a rule of thumb for English, code and JSON.
const BYTES_PER_TOKEN: usize = 4;
/// The cost of the frame around a message.
const FRAME: usize = 4;

/// The speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The host: what the model is to be.
    System,
    /// The person, or the loop on its behalf.
    User,
    /// The model.
    Assistant,
    /// A tool, answering one call.
    Tool,
}

/// The source of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The tier's prompt.
    #[default]
    System,
    /// A person. Such a message is kept as long as the conversation lasts.
    User,
    /// The model.
    Model,
    /// A tool's result.
    Tool,
    /// A tool that asked for it with a directive.
    Injected,
    /// A summary of messages that were dropped.
    Summary,
    /// The loop itself.
    Notice,
    /// The end of a prompt: anchors. Never in a history.
    Anchors,
}

/// A call as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that its result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as text. They may be no JSON at all.
    pub arguments: String,
}

impl ToolCall {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// The facts of a message that only the loop knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The source of the message.
    pub source: Source,
    /// The iteration it was made in.
    pub iteration: u64,
    /// For a result: the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// For a result: whether the call failed.
    #[serde(default)]
    pub is_error: bool,
    /// The offset of a block about changed files. Kept as a place, since a tool's own text may hold
    /// the same words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news_at: Option<usize>,
    /// True if the content was replaced by a stub.
    #[serde(default)]
    pub stubbed: bool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The speaker.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The calls the model makes with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For a result: the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The facts that only the loop knows.
    #[serde(default)]
    pub metadata: Metadata,
}

impl Message {
    fn new(role: Role, source: Source, content: impl Into<String>) -> Self {
        let metadata = Metadata { source, ..Metadata::default() };
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None, metadata }
    }

    /// A tier's prompt.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, Source::System, content)
    }

    /// A message of a person.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, Source::User, content)
    }

    /// A message of the model, and the calls it made with it.
    pub fn assistant(content: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self { tool_calls, ..Self::new(Role::Assistant, Source::Model, content) }
    }

    /// The result of a call.
    pub fn tool(call: &ToolCall, content: impl Into<String>, is_error: bool) -> Self {
        let mut message = Self::new(Role::Tool, Source::Tool, content);
        message.tool_call_id = Some(call.id.clone());
        message.metadata.tool = Some(call.name.clone());
        message.metadata.is_error = is_error;
        message
    }

    /// A message of the loop in a person's place.
    pub fn notice(source: Source, content: impl Into<String>) -> Self {
        Self::new(Role::User, source, content)
    }

    /// The same message, made in this iteration.
    pub fn at(mut self, iteration: u64) -> Self {
        self.metadata.iteration = iteration;
        self
    }

    /// About how many tokens it takes.
    pub fn tokens(&self) -> usize {
        let calls = self.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
        tokens(self.content.len() + calls) + FRAME
    }
}

/// About how many tokens a text of so many bytes takes.
pub fn tokens(bytes: usize) -> usize {
    bytes / BYTES_PER_TOKEN + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_a_quarter_of_the_bytes_and_a_frame() {
        assert_eq!((tokens(0), tokens(3), tokens(4)), (1, 1, 2));
        assert_eq!(Message::user("12345678").tokens(), 3 + 4);
        let calls = vec![ToolCall::new("1", "read", "{\"a\":1}")];
        assert_eq!(Message::assistant("x", calls).tokens(), 12 / 4 + 1 + 4);
    }

    #[test]
    fn a_message_survives_being_written_down() {
        let call = ToolCall::new("1", "read", "{}");
        let kept = [
            Message::system("s"),
            Message::user("u").at(3),
            Message::assistant("", vec![call.clone()]),
            Message::tool(&call, "text", true),
        ];
        let text = serde_json::to_string(&kept).expect("JSON");
        assert_eq!(serde_json::from_str::<Vec<Message>>(&text).expect("messages"), kept);
    }
}
