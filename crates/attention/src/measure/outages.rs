//! Outages of many sites: which rule tells the important ones, how soon, and how often it cries wolf.

use std::collections::BTreeMap;

use serde_json::Value;

pub use super::trace::{Polling, Version};
use super::{nab::Ewma, trace::replay};
use crate::{
    input::Seconds,
    news::News,
    settings::Settings,
    signal::{Leaf, walk},
};

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

/// What a workspace told of the versions, to an agent that is never in a call.
pub fn ours(versions: &[Version], polling: Polling, settings: &Settings) -> Vec<News> {
    replay(versions, polling, settings, |_| false).news
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
