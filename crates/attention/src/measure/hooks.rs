//! Payloads of webhooks as resources: a red run ignites alone, a green one never.

use serde_json::Value;

use crate::{
    input::{AgentRhythm, Input, Reading, Task},
    settings::Settings,
    workspace::Workspace,
};

/// What became of the payloads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flips {
    /// Payloads with a conclusion or a state.
    pub kinds: usize,
    /// Of these, told alone and in the tick in which they turned red, with the path that turned.
    pub alone: usize,
    /// News of green runs.
    pub green: usize,
    /// Names of payloads that were not told alone.
    pub missed: Vec<String>,
    /// The most tokens of one sentence.
    pub most_tokens: usize,
    /// Leaves of the largest payload.
    pub leaves: usize,
}

/// Green readings before the first flip.
const GREEN: usize = 30;
/// Ticks between two flips, so that the bound of the hour never hides one.
const TICK: f64 = 700.0;

/// Lets each payload that has a conclusion or state turn from success to failure among all others.
pub fn flips(payloads: &[(String, Value)]) -> Flips {
    let mut workspace = Workspace::new(Settings::default());
    let mut found = Flips::default();
    let names: Vec<String> =
        payloads.iter().enumerate().map(|(at, (name, _))| format!("mcp:hooks{at}:{name}")).collect();
    let mut now = 0.0;
    let mut read = |red: Option<usize>, count: u64| {
        now += TICK;
        let input = |(at, (_, payload)): (usize, &(String, Value))| {
            let state = colour(payload, if red == Some(at) { "failure" } else { "success" }, count);
            Input::State(Reading::new(names[at].clone(), now, state))
        };
        let inputs = payloads.iter().enumerate().map(input).collect();
        let news = workspace.tick(now, inputs, AgentRhythm::between(count), &Task::default());
        news.iter().for_each(|news| {
            workspace.told(news.id, now);
        });
        news
    };
    let mut count = 0;
    for _ in 0..GREEN {
        count += 1;
        found.green += read(None, count).len();
    }
    for (at, (name, payload)) in payloads.iter().enumerate() {
        let mut leaves = 0;
        crate::signal::walk(payload, &mut |_, _| leaves += 1);
        found.leaves = found.leaves.max(leaves);
        let Some(path) = turning(payload, "") else { continue };
        found.kinds += 1;
        count += 1;
        let news = read(Some(at), count);
        let told = |news: &crate::News| news.organ == names[at] && turns(&news.factors.signal.path);
        found.most_tokens = found
            .most_tokens
            .max(news.iter().map(|news| crate::sentence::tokens(&news.sentence)).max().unwrap_or(0));
        if news.len() == 1 && news.iter().all(told) {
            found.alone += 1;
        } else {
            found.missed.push(format!("{name} ({path})"));
        }
        count += 1;
        found.green += read(None, count).len();
    }
    found
}

fn turns(path: &str) -> bool {
    path.ends_with("conclusion") || path.ends_with("state")
}

/// The first path that has a conclusion or state.
fn turning(state: &Value, path: &str) -> Option<String> {
    match state {
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let leaf = matches!(member, Value::String(_) | Value::Null);
            if leaf && matches!(name.as_str(), "conclusion" | "state") {
                Some(path)
            } else {
                turning(member, &path)
            }
        }),
        Value::Array(elements) => elements.iter().find_map(|element| turning(element, &format!("{path}[]"))),
        _ => None,
    }
}

/// The payload with all conclusions and states of this colour, and with times, ids and counters that
/// change in every reading.
fn colour(state: &Value, word: &str, count: u64) -> Value {
    match state {
        Value::Object(members) => {
            let member = |(name, member): (&String, &Value)| {
                let leaf = matches!(member, Value::String(_) | Value::Null);
                let value = match name.as_str() {
                    "conclusion" | "state" if leaf => word.into(),
                    "id" | "number" | "run_number" if member.is_number() => (1_000_000 + count * 37).into(),
                    name if name.ends_with("_at") && member.is_string() => {
                        format!("2024-01-{:02}T{:02}:{:02}:00Z", 1 + count % 28, count % 24, count % 60)
                            .into()
                    }
                    "sha" | "head_sha" | "node_id" => {
                        format!("{:016x}{count:x}", crate::signal::fnv1a(&count.to_le_bytes())).into()
                    }
                    _ => colour(member, word, count),
                };
                (name.clone(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(elements) => elements.iter().map(|element| colour(element, word, count)).collect(),
        other => other.clone(),
    }
}
