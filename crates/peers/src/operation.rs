//! The seam for telemetry: requests of clients and requests to servers, each from its beginning to its
//! end. Telemetry itself is elsewhere; without it a request does no work here.

use std::{fmt, sync::Arc};

use tectum_core::{Call, Outcome};

/// The telemetry of a house: it measures requests.
pub trait Telemetry: fmt::Debug + Send + Sync {
    /// True if somebody gets the figures; a request is not measured for nobody.
    fn is_wanted(&self) -> bool;
    /// A request of a client begins. Nobody waits here.
    fn begin(&self, request: RequestBegun<'_>) -> Arc<dyn Operation>;
    /// Adds figures about the state of the house.
    fn look(&self, looks: Looks);
    /// The figures in the text format of Prometheus, if they may be asked for. It may wait for the disk.
    fn page(&self) -> Option<String>;
    /// Sends what is left and ends. It waits for whoever it is sent to, some seconds at most.
    fn stop(&self);
}

/// The state of a house that is looked up when figures are wanted.
pub struct Looks {
    /// The servers that somebody needs, each with true if it is connected.
    pub servers: Box<dyn Fn() -> Vec<(String, bool)> + Send + Sync>,
    /// The bytes of the journal.
    pub journal: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl fmt::Debug for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Looks")
    }
}

/// A request that is being measured. One that is dropped before its end was cancelled.
pub trait Operation: fmt::Debug + Send + Sync {
    /// The request is this call.
    fn calls(&self, call: &Call);
    /// The call ended with this outcome.
    fn called(&self, outcome: &Outcome);
    /// A request to a server begins that this one causes.
    fn begin(&self, request: RequestBegun<'_>) -> Arc<dyn Operation>;
    /// The trace context for what this request causes.
    fn context(&self) -> TraceContext;
    /// The request ended. Only the first time counts.
    fn end(&self, ending: Ending);
}

/// A request at its beginning.
#[derive(Debug)]
pub struct RequestBegun<'r> {
    /// Its method.
    pub method: &'r str,
    /// The prompt or the resource that it is about; the tool, where it goes to a server.
    pub subject: Option<&'r str>,
    /// Its id as JSON.
    pub id: Option<&'r str>,
    /// The session that its transport names.
    pub session: Option<&'r str>,
    /// The version of the protocol.
    pub version: Option<&'r str>,
    /// True for a pipe, false for the network.
    pub pipe: bool,
    /// The server that it goes to.
    pub server: Option<&'r str>,
    /// The trace context that it came with.
    pub context: TraceContext,
}

/// The ending of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a result.
    Result,
    /// With a result in which a tool says that it failed.
    ToolFailed,
    /// With an error of the protocol.
    Error(i64),
    /// With the connection.
    Lost,
    /// Nobody waited for it any more.
    Cancelled,
}

/// A trace context as W3C and MCP write it: in headers, and in `_meta` under the same names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// `traceparent`
    pub parent: Option<String>,
    /// `tracestate`
    pub state: Option<String>,
    /// `baggage`
    pub baggage: Option<String>,
}

/// The names of its parts.
pub(crate) const TRACE_FIELDS: [&str; 3] = ["traceparent", "tracestate", "baggage"];

impl TraceContext {
    /// The context that a program is started in by whoever measures programs.
    pub fn of_environment() -> Self {
        Self::read(|name| std::env::var(name.to_uppercase()).ok().filter(|value| !value.is_empty()))
    }

    /// A context from whoever knows its parts by their names.
    pub(crate) fn read(part: impl Fn(&str) -> Option<String>) -> Self {
        let [parent, state, baggage] = TRACE_FIELDS.map(part);
        Self { parent, state, baggage }
    }

    /// The parts there are, by name.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let values = [&self.parent, &self.state, &self.baggage];
        TRACE_FIELDS.into_iter().zip(values).filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}
