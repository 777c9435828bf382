//! Providers, which offer tools: the native set, and each peer.

use std::{borrow::Cow, fmt, pin::Pin, sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    Call, Ctx, Directive, Effect, Fault, Payload, ToolName, ToolRole, Wants, World, directives::Skipped,
};

/// A provider of tools.
pub trait Provider: Send + Sync {
    /// The tools it offers now. Never waits.
    fn tools(&self) -> Arc<[ToolInfo]>;
    /// Parses the call's arguments once and declares what the call needs.
    fn prepare(&self, call: &Call) -> Result<Prepared, Fault>;
}

/// The definition of a tool: what is known without calling it.
#[derive(Clone, Debug)]
pub struct ToolInfo {
    /// The name of the tool.
    pub name: ToolName,
    /// The name for people.
    pub title: String,
    /// The description for the model.
    pub description: String,
    /// JSON Schema (2020-12) of its arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured result.
    pub output_schema: Option<OutputSchema>,
    /// How the tool affects the world.
    pub effect: Effect,
    /// The world it touches.
    pub world: World,
    /// True if a second identical call changes nothing more.
    pub idempotent: bool,
    /// The argument permission rules are matched against.
    pub primary: String,
    /// The role of the tool apart from calls of it.
    pub role: ToolRole,
    /// The server, for a tool of a federated server.
    pub server: Option<ServerTool>,
    /// False if the tool is left out of the list and found by searching.
    pub listed: bool,
    /// False if no watcher sees its calls.
    pub observed: bool,
}

/// JSON Schema of a structured result. Few clients ask for it, so ours is derived only on request.
#[derive(Clone, Debug)]
pub enum OutputSchema {
    /// A schema as a server gave it.
    Given(Arc<Value>),
    /// A schema derived from a type of ours.
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

/// The definition of a federated tool, beyond its name.
#[derive(Clone, Debug)]
pub struct ServerTool {
    /// The name of the server.
    pub server: Arc<str>,
    /// The whole definition as the server wrote it, under our name.
    pub definition: Arc<str>,
    /// True if the server has not confirmed it since it was last away.
    pub stale: bool,
    /// True if the server says that the tool only reads. No protection relies on it.
    pub reads: bool,
}

/// The future of work that has begun.
pub type Running = Pin<Box<dyn Future<Output = Result<Done, Fault>> + Send>>;

/// The work of a prepared call, which needs its capabilities to begin.
pub type Work = Box<dyn FnOnce(Ctx) -> Running + Send>;

/// The result of a provider.
#[derive(Debug)]
pub struct Done {
    /// The result.
    pub payload: Payload,
    /// The directives of the tool for the loop.
    pub directives: Vec<Directive>,
    /// The directives that were left out.
    pub skipped: Vec<Skipped>,
}

impl Done {
    /// A result without directives.
    pub fn new(payload: Payload) -> Self {
        Self { payload, directives: Vec::new(), skipped: Vec::new() }
    }
}

/// A call whose arguments were parsed.
pub struct Prepared {
    /// The subject and the paths it needs.
    pub wants: Wants,
    /// How the call affects the world.
    pub effect: Effect,
    /// The world it touches.
    pub world: World,
    /// The deadline of the call.
    pub deadline: Duration,
    /// The most bytes of text it may return.
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
