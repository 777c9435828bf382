//! Anything that offers tools: the native set, and each peer.

use std::{borrow::Cow, fmt, pin::Pin, sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    Call, Ctx, Directive, Effect, Fault, Payload, ToolName, ToolRole, Wants, World, directives::Skipped,
};

/// Something that offers tools.
pub trait Provider: Send + Sync {
    /// What it offers now. Never waits.
    fn tools(&self) -> Arc<[ToolInfo]>;
    /// Parses the call's arguments once and says what it will need.
    fn prepare(&self, call: &Call) -> Result<Prepared, Fault>;
}

/// What is known about a tool without calling it.
#[derive(Clone, Debug)]
pub struct ToolInfo {
    /// Its name.
    pub name: ToolName,
    /// Its name for people.
    pub title: String,
    /// What the model reads.
    pub description: String,
    /// JSON Schema (2020-12) of its arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured result.
    pub output_schema: Option<OutputSchema>,
    /// What it does to the world.
    pub effect: Effect,
    /// Which world.
    pub world: World,
    /// Whether a second identical call changes nothing more.
    pub idempotent: bool,
    /// The argument permission rules are matched against.
    pub primary: String,
    /// What it is used for beside calls of it.
    pub role: ToolRole,
    /// Whose it is, for a tool of a federated server.
    pub server: Option<ServerTool>,
    /// False for a tool that is left out of the list and found by searching.
    pub listed: bool,
    /// False for a tool whose calls no watcher sees.
    pub observed: bool,
}

/// JSON Schema of a structured result. Few ask for it, so that our own are made when somebody does.
#[derive(Clone, Debug)]
pub enum OutputSchema {
    /// As a server gave it.
    Given(Arc<Value>),
    /// Of a type of ours.
    Derived(fn() -> Value),
}

impl OutputSchema {
    /// The schema itself.
    pub fn value(&self) -> Cow<'_, Value> {
        match self {
            Self::Given(schema) => Cow::Borrowed(schema),
            Self::Derived(derive) => Cow::Owned(derive()),
        }
    }
}

/// What is known about a federated tool beyond its name.
#[derive(Clone, Debug)]
pub struct ServerTool {
    /// The server.
    pub server: Arc<str>,
    /// The whole definition as the server wrote it, under our name.
    pub definition: Arc<str>,
    /// True when the server has not confirmed it since it was last away.
    pub stale: bool,
    /// Whether the server says that it only reads. Nothing that protects goes by it.
    pub reads: bool,
}

/// Work that has begun.
pub type Running = Pin<Box<dyn Future<Output = Result<Done, Fault>> + Send>>;

/// The work of a prepared call, waiting for its capabilities.
pub type Work = Box<dyn FnOnce(Ctx) -> Running + Send>;

/// What a provider gives back.
#[derive(Debug)]
pub struct Done {
    /// The result.
    pub payload: Payload,
    /// What the tool asks of the loop.
    pub directives: Vec<Directive>,
    /// What it asked in vain.
    pub skipped: Vec<Skipped>,
}

impl Done {
    /// A result that asks for nothing.
    pub fn new(payload: Payload) -> Self {
        Self { payload, directives: Vec::new(), skipped: Vec::new() }
    }
}

/// A call whose arguments were parsed.
pub struct Prepared {
    /// What it needs.
    pub wants: Wants,
    /// What it does to the world.
    pub effect: Effect,
    /// Which world.
    pub world: World,
    /// How long it may take.
    pub deadline: Duration,
    /// How many bytes of text it may give.
    pub max_output: usize,
    /// The work itself.
    pub work: Work,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("wants", &self.wants)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
