//! What a replay looked like: totals over time, who won, and what was told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::outages::Version;
use crate::{
    input::{AgentRhythm, Input, Reading, Seconds, Task},
    news::News,
    settings::{OrganConfig, Settings},
    workspace::Workspace,
};

/// A replay as a picture needs it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
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

/// Replays the versions, reading all resources in each period. The agent is in a call half of the time.
pub fn replay(versions: &[Version], period: Seconds, settings: &Settings) -> Trace {
    let (Some(first), Some(last)) = (versions.first(), versions.last()) else { return Trace::default() };
    let mut workspace = Workspace::new(settings.clone());
    let mut trace = Trace { span: (first.at, last.at), ..Trace::default() };
    let mut states = BTreeMap::new();
    let (mut next, mut now, mut round) = (0, first.at, 0);
    while now <= last.at + period {
        while let Some(version) = versions.get(next).filter(|version| version.at <= now) {
            match &version.state {
                Some(state) => {
                    if states.insert(&version.uri, state).is_none() {
                        let poll_stale_after = 3.0 * period;
                        workspace.register(OrganConfig {
                            poll_stale_after,
                            ..OrganConfig::resource(&version.uri, &version.uri)
                        });
                    }
                }
                None => drop(states.remove(&version.uri)),
            }
            next += 1;
        }
        let read = |(uri, state): (&&String, &&serde_json::Value)| {
            Input::State(Reading::new(uri.as_str(), now, (*state).clone()))
        };
        let inputs = states.iter().map(read).collect();
        let in_call = round % 2 == 1;
        round += 1;
        for news in workspace.tick(now, inputs, AgentRhythm { round, in_call }, &Task::default()) {
            workspace.told(news.id, now);
            trace.news.push(news);
        }
        for (organ, total) in workspace.speaking() {
            trace.totals.entry(organ.to_owned()).or_default().push((now, total));
        }
        now += period;
    }
    trace.changes = workspace.counters().changes;
    trace.readings = workspace.counters().readings;
    trace
}
