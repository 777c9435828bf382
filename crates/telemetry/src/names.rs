//! The names that OpenTelemetry gives to MCP and to calls of tools, in one place. The convention is still
//! in development, and the constants of its own crate are deprecated.

pub(crate) const METHOD: &str = "mcp.method.name";
pub(crate) const SESSION: &str = "mcp.session.id";
pub(crate) const VERSION: &str = "mcp.protocol.version";
pub(crate) const RESOURCE: &str = "mcp.resource.uri";
pub(crate) const REQUEST: &str = "jsonrpc.request.id";
pub(crate) const STATUS: &str = "rpc.response.status_code";
pub(crate) const TRANSPORT: &str = "network.transport";
pub(crate) const ERROR: &str = "error.type";
pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const TOOL: &str = "gen_ai.tool.name";
pub(crate) const PROMPT: &str = "gen_ai.prompt.name";
pub(crate) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(crate) const RESULT: &str = "gen_ai.tool.call.result";

/// The operation of a call of a tool.
pub(crate) const EXECUTE_TOOL: &str = "execute_tool";
/// The error of a tool that says that it failed.
pub(crate) const TOOL_ERROR: &str = "tool_error";
/// The name for everything of a client's own invention, so that nobody can make names without end.
pub(crate) const OTHER: &str = "_OTHER";

/// The federated server that a request goes to.
pub(crate) const SERVER: &str = "tectum.server.name";
/// The id of a call in the journal.
pub(crate) const CALL: &str = "tectum.call.id";
/// The kind of a fault of ours.
pub(crate) const FAULT: &str = "tectum.fault";

/// The durations of requests of clients.
pub(crate) const SERVER_DURATION: &str = "mcp.server.operation.duration";
/// The durations of requests to servers.
pub(crate) const CLIENT_DURATION: &str = "mcp.client.operation.duration";
/// The bounds of their buckets in seconds, as the convention has them.
pub(crate) const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// The requests of clients that are being worked on.
pub(crate) const ACTIVE: &str = "tectum.operations.active";
/// The figure that is 1 while a federated server is connected.
pub(crate) const SERVER_UP: &str = "tectum.server.up";
/// The bytes of the journal on the disk.
pub(crate) const JOURNAL_SIZE: &str = "tectum.journal.size";
/// The requests to the collector that failed.
pub(crate) const EXPORTS_FAILED: &str = "tectum.telemetry.exports.failed";

/// The methods that are told by name.
const METHODS: [&str; 20] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// The name of a method.
pub(crate) fn method(name: &str) -> &'static str {
    METHODS.iter().find(|known| **known == name).copied().unwrap_or(OTHER)
}
