//! A replay of recorded states through a workspace: what was told, and what it looked like over time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    input::{AgentRhythm, Input, Reading, Seconds, Task},
    news::News,
    settings::{OrganConfig, Settings},
    workspace::Workspace,
};

/// A new version of a resource; none if it was removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// When it could be read.
    pub at: Seconds,
    /// Its address.
    pub uri: String,
    /// Its state.
    pub state: Option<Value>,
}

/// How the states are read in a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polling {
    /// Between two readings of all resources.
    pub period: Seconds,
    /// Whether each reading carries new times, ids and counters, with its members in another order.
    pub volatile: bool,
    /// Every how many readings one fails; 0 is never.
    pub failing: u64,
}

/// What a replay left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// From when to when.
    pub span: (Seconds, Seconds),
    /// Of each organ that ever had something to say: time and total.
    pub totals: BTreeMap<String, Vec<(Seconds, f64)>>,
    /// What was told.
    pub news: Vec<News>,
    /// Readings that changed something.
    pub changes: u64,
    /// Readings.
    pub readings: u64,
}

/// Replays the versions, reading all resources in each period. Each period is a round of the agent, which
/// is in a call where `in_call` says so.
pub fn replay(
    versions: &[Version],
    polling: Polling,
    settings: &Settings,
    in_call: impl Fn(u64) -> bool,
) -> Replayed {
    let (Some(first), Some(last)) = (versions.first(), versions.last()) else { return Replayed::default() };
    let mut workspace = Workspace::new(settings.clone());
    let mut trace = Replayed { span: (first.at, last.at), ..Replayed::default() };
    let mut states: BTreeMap<&str, &Value> = BTreeMap::new();
    let (mut next, mut now, mut round, mut polls) = (0, first.at, 0, 0);
    while now <= last.at + polling.period {
        let mut inputs = Vec::new();
        while let Some(version) = versions.get(next).filter(|version| version.at <= now) {
            match &version.state {
                Some(state) => {
                    if states.insert(&version.uri, state).is_none() {
                        let mut config = OrganConfig::resource(&version.uri, &version.uri);
                        config.poll_stale_after = 3.0 * polling.period;
                        workspace.register(config);
                    }
                }
                None => {
                    states.remove(version.uri.as_str());
                    inputs.push(Input::Gone { organ: version.uri.clone(), at: now });
                }
            }
            next += 1;
        }
        for (uri, state) in &states {
            polls += 1;
            inputs.push(poll(uri, state, now, polls, polling));
        }
        let rhythm = AgentRhythm { round, in_call: in_call(round) };
        for news in workspace.tick(now, inputs, rhythm, &Task::default()) {
            workspace.told(news.id, now);
            trace.news.push(news);
        }
        for (organ, total) in workspace.speaking() {
            trace.totals.entry(organ.to_owned()).or_default().push((now, total));
        }
        round += 1;
        now += polling.period;
    }
    trace.changes = workspace.counters().changes;
    trace.readings = workspace.counters().readings;
    trace
}

fn poll(uri: &str, state: &Value, now: Seconds, polls: u64, polling: Polling) -> Input {
    if polling.failing > 0 && (polls * 7919).is_multiple_of(polling.failing) {
        return Input::Unreadable { organ: uri.to_owned(), at: now };
    }
    let state = if polling.volatile { shake(state, now, polls) } else { state.clone() };
    Input::State(Reading::new(uri, now, state))
}

/// The same state as a server that counts and dates everything would send it.
fn shake(state: &Value, now: Seconds, count: u64) -> Value {
    let Value::Object(members) = state else { return state.clone() };
    let mut shaken = serde_json::Map::new();
    let id = crate::signal::fnv1a(&count.to_le_bytes());
    shaken.insert("request_id".to_owned(), format!("{id:016x}").into());
    for (name, member) in members.iter().rev() {
        shaken.insert(name.clone(), member.clone());
    }
    shaken.insert("fetched_at".to_owned(), now.into());
    shaken.insert("etag".to_owned(), format!("W/\"{:x}\"", id.rotate_left(17)).into());
    shaken.insert("reads".to_owned(), count.into());
    Value::Object(shaken)
}
