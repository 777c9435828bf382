//! The screen *Servers*: every server that any file names, what it starts, how it is and what waits for a person.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use axum::{Json, extract::State};
use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_journal::when;
use tectum_peers::{
    federation::{Change, Review, ServerHistory, ServerStatus, Subject},
    visible::visible,
};
use tectum_state::Moment;

use super::{
    super::{hooked::Hooks, refusal::Refusal},
    place::place,
    records,
};
use crate::{
    config::servers::{Survey, Why, keys, spoken, survey::Server, trust::Trust},
    status,
};

/// The last lines of what a server complained.
const LOG_LINES: usize = 50;

/// The servers, and how they are
#[utoipa::path(get, path = "/api/console/servers", responses(
    (status = 200, description = "The servers", body = Value),
    (status = 409, description = "The settings cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn all(State(hooks): State<Hooks>) -> Result<Json<Value>, Refusal> {
    Ok(Json(json!({ "servers": told(&hooks).await? })))
}

/// All servers as they are told. Files are read.
pub(super) async fn told(hooks: &Hooks) -> Result<Vec<Value>, Fault> {
    let (sources, config) = records::setup(hooks).await?;
    let federation = hooks.federation();
    let (live, past) = (federation.status(), federation.histories());
    let reading = tokio::task::spawn_blocking(move || {
        let survey = Survey::read(&sources, &config);
        let traces = status::directory(&config);
        let site = Site { traces, live, past };
        let servers = survey.servers.iter().map(|server| site.told(server));
        let broken = survey.broken.iter().map(|held| {
            json!({ "name": held.name, "state": "problem", "error": held.message, "from": place(&held.origin), "tools": 0, "deaths": [], "stderr": [], "approvals": [], "trust": "not needed" })
        });
        servers.chain(broken).collect()
    });
    reading.await.map_err(|_| Fault::internal("the servers could not be read"))
}

struct Site {
    traces: Option<PathBuf>,
    live: BTreeMap<String, ServerStatus>,
    past: BTreeMap<String, ServerHistory>,
}

impl Site {
    fn told(&self, server: &Server) -> Value {
        let entry = &server.entry;
        let name = entry.name.as_str();
        let (live, past) = (self.live.get(name), self.past.get(name));
        let held = server.verdict.as_ref().err();
        let state = match held.map(|held| held.why) {
            Some(Why::Disabled) => "disabled",
            Some(Why::Untrusted) => "untrusted",
            Some(Why::Problem) => "problem",
            None => live.map_or("idle", |live| live.state),
        };
        let url = entry.values.word(&keys::URL);
        let error = held.map(|held| held.message.as_str()).or_else(|| live?.error.as_deref());
        let deaths = past.map(|past| past.deaths.as_slice()).unwrap_or_default();
        json!({
            "name": name,
            "state": state,
            "era": past.and_then(|past| past.era),
            "transport": entry.kind(),
            "command": url.is_none().then(|| spoken::command(&entry.argv())),
            "url": url.map(spoken::address),
            "env": entry.names(&keys::ENV),
            "headers": entry.names(&keys::HEADERS),
            "cwd": entry.values.word(&keys::CWD),
            "from": place(&entry.origin),
            "tools": live.map_or(0, |live| live.tools),
            "starts": live.map_or(0, |live| live.starts),
            "since": live.map(|live| when::rfc3339(live.since.saturating_mul(1_000_000))),
            "deaths": deaths.iter().map(|(at, why)| json!({ "at": when::rfc3339(Moment::micros(*at)), "why": tectum_redact::text(why) })).collect::<Vec<_>>(),
            "error": error.map(|error| visible(&tectum_redact::text(error)).into_owned()),
            "hint": held.and_then(|held| held.hint.clone()),
            "remarks": live.map(|live| live.remarks.clone()).unwrap_or_default(),
            "stderr": self.traces.as_deref().map(|traces| status::last_lines(traces, name, LOG_LINES)).unwrap_or_default(),
            "trust": match &server.trust {
                Trust::Own => "not needed",
                Trust::Given => "given",
                Trust::Asked | Trust::Changed(_) => "needed",
            },
            "trust_changes": if let Trust::Changed(changes) = &server.trust { json!(changes) } else { json!([]) },
            "approvals": self.traces.as_deref().map(|traces| approvals(traces, server)).unwrap_or_default(),
        })
    }
}

/// The definitions that wait for a person, as they were and as they are.
fn approvals(traces: &Path, server: &Server) -> Vec<Value> {
    let Ok(spec) = &server.verdict else { return Vec::new() };
    Review::read(traces, spec).changes.iter().map(approval).collect()
}

fn approval(change: &Change) -> Value {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(format!("{text}\n")),
        value => Some(format!("{value:#}\n")),
    };
    let (was, is) = (text(&change.approved), text(&change.waiting).unwrap_or_default());
    let old = was.clone().unwrap_or_default();
    let diff = similar::TextDiff::from_lines(&old, &is).unified_diff().context_radius(3).to_string();
    json!({
        "tool": if let Subject::Tool(tool) = &change.subject { Some(tool) } else { None },
        "was": was,
        "is": is,
        "diff": diff,
    })
}
