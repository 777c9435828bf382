//! Outages of many sites: which rule tells the important ones, how soon, and how often it cries wolf.

use std::collections::BTreeMap;

use serde_json::Value;

use super::nab::Ewma;
use crate::{
    input::{AgentRhythm, Input, Reading, Seconds, Task},
    news::News,
    settings::{OrganConfig, Settings},
    signal::{Leaf, walk},
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

/// An outage that somebody should have heard of.
#[derive(Clone, Debug, PartialEq)]
pub struct Important {
    /// Whose.
    pub uri: String,
    /// Its start and end.
    pub from: Seconds,
    /// Its end.
    pub to: Seconds,
}

/// Somebody was told something.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// When.
    pub at: Seconds,
    /// About what.
    pub uri: String,
    /// What it cost the model.
    pub tokens: usize,
}

/// What a rule reached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Alerts for no important outage, an hour.
    pub false_per_hour: f64,
    /// All alerts an hour.
    pub alerts_per_hour: f64,
    /// Important outages that were told in their first hour, of all.
    pub recall: (usize, usize),
    /// The median time from the change to the alert.
    pub delay: Seconds,
    /// Tokens an hour.
    pub tokens_per_hour: f64,
    /// The most tokens of one alert.
    pub most_tokens: usize,
}

/// An alert within the first hour of an important outage and before its end is its hit, further ones
/// there are free, and all others are false. Nothing counts before `from`.
pub fn judge(alerts: &[Alert], important: &[Important], from: Seconds, to: Seconds) -> Verdict {
    let hours = ((to - from) / 3600.0).max(1e-9);
    let alerts: Vec<&Alert> = alerts.iter().filter(|alert| alert.at >= from && alert.at <= to).collect();
    let covers = |one: &Important, alert: &Alert| {
        one.uri == alert.uri && alert.at >= one.from && alert.at < one.to && alert.at - one.from <= 3600.0
    };
    let mut delays: Vec<f64> = important
        .iter()
        .filter_map(|one| alerts.iter().find(|alert| covers(one, alert)).map(|alert| alert.at - one.from))
        .collect();
    delays.sort_by(f64::total_cmp);
    let during =
        |one: &Important, alert: &Alert| one.uri == alert.uri && alert.at >= one.from && alert.at < one.to;
    let wrong = alerts.iter().filter(|alert| !important.iter().any(|one| during(one, alert))).count();
    Verdict {
        false_per_hour: wrong as f64 / hours,
        alerts_per_hour: alerts.len() as f64 / hours,
        recall: (delays.len(), important.len()),
        delay: delays.get(delays.len() / 2).copied().unwrap_or(f64::NAN),
        tokens_per_hour: alerts.iter().map(|alert| alert.tokens).sum::<usize>() as f64 / hours,
        most_tokens: alerts.iter().map(|alert| alert.tokens).max().unwrap_or(0),
    }
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

/// Replays the versions through a workspace and returns what it told.
pub fn ours(versions: &[Version], polling: Polling, settings: &Settings) -> Vec<News> {
    let mut workspace = Workspace::new(settings.clone());
    let mut states: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut told = Vec::new();
    let (Some(first), Some(last)) = (versions.first(), versions.last()) else { return told };
    let (mut next, mut now, mut tick) = (0, first.at, 0_u64);
    let mut polls = 0_u64;
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
            if polling.failing > 0 && (polls * 7919) % polling.failing == 0 {
                inputs.push(Input::Unreadable { organ: (*uri).to_owned(), at: now });
                continue;
            }
            let state = if polling.volatile { shake(state, now, polls) } else { (*state).clone() };
            inputs.push(Input::State(Reading::new(*uri, now, state)));
        }
        for news in workspace.tick(now, inputs, AgentRhythm::between(tick), &Task::default()) {
            workspace.told(news.id, now);
            told.push(news);
        }
        tick += 1;
        now += polling.period;
    }
    told
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

/// Rules to hold beside ours, each on every new version.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Any difference.
    Change,
    /// Any number of the state that crosses this value upwards.
    Threshold(f64),
    /// Any number of the state this many standard deviations from its moving mean.
    Ewma(f64),
}

/// What a rule would have told. An alert costs the tokens of the new state.
pub fn rule(versions: &[Version], rule: Rule) -> Vec<Alert> {
    let mut last: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut means: BTreeMap<(String, String), (Ewma, f64)> = BTreeMap::new();
    let mut alerts = Vec::new();
    for version in versions {
        let Some(state) = &version.state else {
            last.remove(version.uri.as_str());
            continue;
        };
        let before = last.insert(&version.uri, state);
        let mut alert = false;
        match rule {
            Rule::Change => alert = before.is_some_and(|before| before != state),
            Rule::Threshold(limit) => each_number(state, |path, value| {
                let seen = means.entry((version.uri.clone(), path.to_owned())).or_default();
                alert |= before.is_some() && value >= limit && seen.1 < limit;
                seen.1 = value;
            }),
            Rule::Ewma(limit) => each_number(state, |path, value| {
                let seen = means.entry((version.uri.clone(), path.to_owned())).or_default();
                alert |= seen.0.z(value, 3.0) >= limit;
            }),
        }
        if alert {
            let tokens = crate::sentence::tokens(&state.to_string());
            alerts.push(Alert { at: version.at, uri: version.uri.clone(), tokens });
        }
    }
    alerts
}

fn each_number(state: &Value, mut visit: impl FnMut(&str, f64)) {
    walk(state, &mut |path, leaf| {
        if let Leaf::Number(value) = leaf {
            visit(path, value);
        }
    });
}
