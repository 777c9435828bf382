//! The calls in flight, and their events for whoever listens. The house's tap is opened by the first request
//! to the hook API; before that a call does no work for it.

use std::{collections::HashMap, fmt, sync::Arc, time::SystemTime};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tectum_core::{Call, CallId, Client, Outcome, Payload, SessionId, TapWatcher, Tapped, Tectum, ToolName};
use tectum_journal::{Writer, tokens, when};
use tectum_state::Moment;

use super::{events::Bus, subject};

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

/// A call in flight, or one that just ended.
#[derive(Clone, Debug)]
pub(super) struct Flying {
    pub(super) call: CallId,
    pub(super) tool: ToolName,
    pub(super) session: SessionId,
    pub(super) client: Option<Arc<Client>>,
    pub(super) began: SystemTime,
    /// What it is about; `None` where nobody listened when it began.
    pub(super) subject: Option<String>,
}

/// The calls in flight since the tap was opened. Dropping it closes the tap.
pub(super) struct Flight {
    house: Tectum,
    calls: Arc<Mutex<HashMap<CallId, Flying>>>,
    watcher: TapWatcher,
}

impl Flight {
    /// Watches the calls of a house from now on, and tells them on this bus while somebody listens.
    pub(super) fn watching(house: &Tectum, bus: Arc<Bus>, journal: Option<Writer>) -> Self {
        let calls: Arc<Mutex<HashMap<CallId, Flying>>> = Arc::default();
        let flying = calls.clone();
        let watcher = house.tap().open(move |Tapped { call, outcome }| {
            let heard = bus.is_heard();
            let known = match outcome {
                None => {
                    let began = Flying::of(call, heard);
                    let told = heard.then(|| began.clone());
                    flying.lock().insert(call.id, began);
                    told
                }
                Some(_) => flying.lock().remove(&call.id),
            };
            if heard {
                let known = known.unwrap_or_else(|| Flying::of(call, true));
                tell(&bus, journal.as_ref(), &known, call, outcome);
            }
        });
        Self { house: house.clone(), calls, watcher }
    }

    /// All of them, the oldest first.
    pub(super) fn all(&self) -> Vec<Flying> {
        let mut all: Vec<Flying> = self.calls.lock().values().cloned().collect();
        all.sort_by_key(|call| call.began);
        all
    }

    /// What they are doing.
    pub(super) fn doing(&self) -> Doing {
        let calls = self.calls.lock();
        let known = calls.values().map(|call| Doing::of(&call.tool)).max();
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

impl Flying {
    fn of(call: &Call, heard: bool) -> Self {
        Self {
            call: call.id,
            tool: call.tool.clone(),
            session: call.session.clone(),
            client: call.client.clone(),
            began: SystemTime::now(),
            subject: heard.then(|| subject::of(call.args.get())),
        }
    }

    /// As it is told.
    pub(super) fn told(&self, journal: Option<&Writer>) -> Value {
        json!({
            "call": self.call.to_string(),
            "tool": &*self.tool,
            "session": journal.map_or_else(|| self.session.0.to_string(), |journal| journal.session(&self.session)),
            "client": self.client.as_ref().map(|client| client.name.as_str()),
            "began": when::rfc3339(Moment::micros(self.began)),
            "subject": self.subject,
        })
    }
}

/// Neither whole arguments nor results are told: the journal has them, without secrets.
fn tell(bus: &Bus, journal: Option<&Writer>, known: &Flying, call: &Call, outcome: Option<&Outcome>) {
    let mut data = known.told(journal);
    let Some(outcome) = outcome else { return bus.push("call.started", &data) };
    let fault = outcome.result.as_ref().err();
    let result = outcome.result.as_ref().ok();
    let bytes = result.map_or_else(|| fault.map_or(0, |fault| fault.message.len()), Payload::size);
    let read = match result {
        Some(Payload::Native(reply)) => reply.text.len(),
        _ => bytes,
    };
    let more = json!({
        "ok": !outcome.failed(),
        "fault": fault.map(|fault| fault.kind),
        "message": fault.map(|fault| tectum_redact::text(&fault.message)),
        "took_ms": outcome.took.as_secs_f64() * 1000.0,
        "bytes": bytes,
        "tokens_in": tokens(call.args.get().len()),
        "tokens_out": tokens(read),
        "edited": outcome.edited.is_some(),
    });
    if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
        data.extend(more);
    }
    bus.push("call.ended", &data);
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
