//! The calls in flight, and their events for whoever listens. The house's tap is opened by the first request
//! to the hook API; before that a call does no work for it.

use std::{collections::HashMap, fmt, sync::Arc};

use parking_lot::Mutex;
use serde_json::json;
use tectum_core::{Call, CallId, Outcome, Payload, TapWatcher, Tapped, Tectum, ToolName};
use tectum_journal::Writer;

use super::events::Bus;

/// Tools that run commands, and how that is told.
const COMMANDS: [(&str, &str); 2] =
    [("run_powershell", "running powershell..."), ("run_shell", "running shell...")];
/// Tools that wait for the network.
const FETCHES: [(&str, &str); 2] = [("fetch_url", "fetching url..."), ("web_search", "searching web...")];

/// What calls in flight are doing. Of several the last kind here is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doing {
    /// Nothing.
    Idle,
    /// Something else than what follows.
    Tool(String),
    /// A request to the network.
    Fetch(&'static str),
    /// A command.
    Command(&'static str),
}

/// The calls in flight since the tap was opened. Dropping it closes the tap.
pub(super) struct Flight {
    house: Tectum,
    calls: Arc<Mutex<HashMap<CallId, ToolName>>>,
    watcher: TapWatcher,
}

impl Flight {
    /// Watches the calls of a house from now on, and tells them on this bus while somebody listens.
    pub(super) fn watching(house: &Tectum, bus: Arc<Bus>, journal: Option<Writer>) -> Self {
        let calls: Arc<Mutex<HashMap<CallId, ToolName>>> = Arc::default();
        let flying = calls.clone();
        let watcher = house.tap().open(move |Tapped { call, outcome }| {
            match outcome {
                None => drop(flying.lock().insert(call.id, call.tool.clone())),
                Some(_) => drop(flying.lock().remove(&call.id)),
            }
            if bus.is_heard() {
                tell(&bus, journal.as_ref(), call, outcome);
            }
        });
        Self { house: house.clone(), calls, watcher }
    }

    /// What they are doing.
    pub(super) fn doing(&self) -> Doing {
        let calls = self.calls.lock();
        let known = calls.values().map(|tool| Doing::of(tool)).max();
        // Calls that began before anybody asked were not seen.
        let unknown = || Doing::Tool("a tool".into());
        known.unwrap_or_else(|| if self.house.in_flight() > 0 { unknown() } else { Doing::Idle })
    }
}

impl Doing {
    fn of(tool: &str) -> Self {
        let said = |table: &[(&str, &'static str)]| {
            table.iter().find(|(name, _)| *name == tool).map(|(_, said)| *said)
        };
        match (said(&COMMANDS), said(&FETCHES)) {
            (Some(said), _) => Self::Command(said),
            (_, Some(said)) => Self::Fetch(said),
            _ => Self::Tool(tool.to_owned()),
        }
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("idle"),
            Self::Tool(name) => write!(f, "running {name}..."),
            Self::Fetch(said) | Self::Command(said) => f.write_str(said),
        }
    }
}

/// Neither arguments nor results are told: the journal has them, without secrets.
fn tell(bus: &Bus, journal: Option<&Writer>, call: &Call, outcome: Option<&Outcome>) {
    let session =
        journal.map_or_else(|| call.session.0.to_string(), |journal| journal.session(&call.session));
    let client = call.client.as_ref().map(|client| client.name.as_str());
    let id = call.id.to_string();
    let Some(outcome) = outcome else {
        let data = json!({ "call": id, "tool": &*call.tool, "session": session, "client": client });
        return bus.push("call.started", &data);
    };
    let fault = outcome.result.as_ref().err();
    // A server's tool that failed says so in its result.
    let failed = matches!(&outcome.result, Ok(Payload::Peer(reply)) if reply.failed);
    bus.push(
        "call.ended",
        &json!({
            "call": id,
            "tool": &*call.tool,
            "session": session,
            "client": client,
            "ok": fault.is_none() && !failed,
            "fault": fault.map(|fault| fault.kind),
            "message": fault.map(|fault| tectum_redact::text(&fault.message)),
            "took_ms": outcome.took.as_secs_f64() * 1000.0,
        }),
    );
}

impl fmt::Debug for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flight").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.house.tap().close(&self.watcher);
    }
}
