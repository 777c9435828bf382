//! The vocabulary of the house and the walk of a call through it.
//!
//! Nothing here speaks MCP or HTTP, parses a language or opens a file: tools, peers and edges
//! bring that and meet here. The walk is [`Tectum::call`]; every station on it has a file of its own.

pub mod anchors;
pub mod approval;
pub mod call;
pub mod directives;
pub mod effects;
mod execute;
pub mod fault;
pub mod gate;
mod ids;
pub mod journal;
mod judgement;
mod nearest;
pub mod provider;
pub mod registry;
pub mod rules;
mod ruling;
pub mod step;
pub mod tap;
pub mod tectum;
pub mod tool;
mod walking;

pub use anchors::{Anchor, Anchors};
pub use approval::{Approved, Approver, Asking, Asks, Consent, Noted, Question, Rehearsal, Rehearse};
pub use call::{Call, Client, NativeReply, Outcome, Payload, PeerReply, Progress, ProgressNote};
pub use directives::{Directive, Role};
pub use effects::{Closing, Effects, Note, Tally};
pub use fault::{Fault, FaultKind};
pub use gate::{Gate, Verdict};
pub use ids::{CallId, SessionId, ToolName};
pub use journal::{Asked, Recorder, Recording, Seen, Trail};
pub use judgement::Judgement;
pub use nearest::nearest;
pub use provider::{Done, OutputSchema, Prepared, Provider, Running, ServerTool, ToolInfo, Work};
pub use registry::{Registry, Snapshot};
pub use rules::{Origin, Rule, Rules};
pub use step::{Checks, Step};
pub use tap::{Tap, TapWatcher, Tapped};
pub use tectum::Tectum;
/// The crate below, for those who hold its handles.
pub use tectum_security as security;
pub use tool::{Card, Ctx, Effect, Grants, Part, Reply, Subject, Text, Tool, ToolRole, Wants, World};
pub use walking::Walking;
