//! The facts that can be known of a client.

use std::time::Duration;

/// The part of a result with text and structured content that a model is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelReads {
    /// The text alone.
    Text,
    /// The structured content alone.
    Structured,
    /// One after the other.
    Both,
    /// Nobody looked.
    Unknown,
}

/// The ways in which a model learns of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolsShown {
    /// All definitions at once.
    All,
    /// The names; definitions on demand.
    Names,
    /// By searching for them.
    Search,
}

/// The facts about one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientFacts {
    /// The name in `clientInfo`; one that ends in `*` stands for all that begin so.
    pub name: &'static str,
    /// The first version that this holds for, and the first that it holds for no longer.
    pub versions: (Option<&'static str>, Option<&'static str>),
    /// The name people use.
    pub title: &'static str,
    /// The part of a result that its model is given.
    pub model_reads: ModelReads,
    /// True if it is a coding agent: the lean set of tools is meant for those.
    pub coding: bool,
    /// The longest reply that reaches its model whole, in characters, less a margin.
    pub reply_chars: usize,
    /// True if it honours `anthropic/maxResultSizeChars`.
    pub big_replies: bool,
    /// The time its first list of tools may take.
    pub first_wait: Duration,
    /// The way its model learns of tools.
    pub tools: ToolsShown,
    /// Tools of ours that it is listed under another name, with that name: it has one of its own of the
    /// same name, and leaves out ours with it.
    pub renamed: &'static [(&'static str, &'static str)],
    /// True if it can ask its person a question for a server.
    pub elicitation: bool,
    /// True if it reads a list again when it is told that it changed.
    pub list_changed: bool,
    /// The time it waits for a silent call; `None` where no end was seen.
    pub patience: Option<Duration>,
    /// True if notes of progress make it wait longer.
    pub progress: bool,
    /// The origin of the facts.
    pub source: &'static str,
}
