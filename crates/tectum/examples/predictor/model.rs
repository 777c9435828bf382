//! The model that is learned from copies: counts of which tool follows which, a running surprise,
//! failures. Bounded whatever comes: a tool or a follower too many makes the rarest give way.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Tools that are known at once: an agent has some hundreds at most.
const MOST_TOOLS: usize = 512;
/// Followers that are counted for each: beyond the usual ones they are noise.
const MOST_NEXT: usize = 64;
/// Characters of a name that count; names of tools have 64 at most.
const MOST_NAME: usize = 128;
/// The count of a follower that was never seen, so that nothing is impossible.
const SMOOTHING: f64 = 0.5;
/// The share of the latest call in the running surprise: about the last ten calls decide.
const SHARE: f64 = 0.1;
/// Lines of each kind in what is told.
const MOST_TOLD: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Model {
    tools: BTreeMap<String, Tool>,
    /// The tool of the latest call.
    last: Option<String>,
    /// Mean surprise of the latest calls, in bits.
    surprise: f64,
    /// Calls that could be surprising: all but the first of a run.
    steps: u64,
    unsaved: u64,
}

#[derive(Debug, Default)]
struct Tool {
    calls: u64,
    failures: u64,
    next: BTreeMap<String, u64>,
}

impl Model {
    /// Learns from one copy. What is asked of us is no habit of the agent's.
    pub(crate) fn learn(&mut self, tool: &str, result: Option<&Value>) {
        if tool == "bootstrap_session" || tool.ends_with("__bootstrap_session") {
            return;
        }
        let tool: String = tool.chars().take(MOST_NAME).collect();
        self.unsaved += 1;
        match result {
            None => self.begins(tool),
            Some(result) => {
                let failed = result.get("error_type").is_some() || result["isError"] == true;
                self.tool(&tool).failures += u64::from(failed);
            }
        }
    }

    fn begins(&mut self, tool: String) {
        if let Some(last) = self.last.replace(tool.clone()) {
            let bits = -self.probability(&last, &tool).log2();
            self.surprise =
                if self.steps == 0 { bits } else { self.surprise + SHARE * (bits - self.surprise) };
            self.steps += 1;
            let next = &mut self.tool(&last).next;
            if !next.contains_key(&tool) && next.len() >= MOST_NEXT {
                forget_rarest(next, |count| *count);
            }
            *next.entry(tool.clone()).or_default() += 1;
        }
        self.tool(&tool).calls += 1;
    }

    /// The probability of one tool after another, by what was seen. All that is known and one unknown
    /// share what was never seen.
    fn probability(&self, last: &str, tool: &str) -> f64 {
        let next = self.tools.get(last).map(|tool| &tool.next);
        let seen = next.and_then(|next| next.get(tool)).copied().unwrap_or(0) as f64;
        let all = next.map_or(0, |next| next.values().sum::<u64>()) as f64;
        (seen + SMOOTHING) / (all + SMOOTHING * (self.tools.len() + 1) as f64)
    }

    fn tool(&mut self, name: &str) -> &mut Tool {
        if !self.tools.contains_key(name) && self.tools.len() >= MOST_TOOLS {
            forget_rarest(&mut self.tools, |tool| tool.calls);
        }
        self.tools.entry(name.to_owned()).or_default()
    }

    /// The summary for an agent.
    pub(crate) fn learned(&self) -> Value {
        let likely = self.last.as_ref().map_or_else(Vec::new, |last| self.likely(last));
        let mut habits: Vec<(u64, Value)> = Vec::new();
        for (name, tool) in &self.tools {
            for (then, seen) in &tool.next {
                let probability = rounded(self.probability(name, then));
                let line = json!({"after": name, "then": then, "probability": probability, "seen": seen});
                habits.push((*seen, line));
            }
        }
        habits.sort_by_key(|(seen, _)| std::cmp::Reverse(*seen));
        let mut failures: Vec<(&String, &Tool)> =
            self.tools.iter().filter(|(_, tool)| tool.failures > 0).collect();
        failures.sort_by_key(|(_, tool)| std::cmp::Reverse(tool.failures));
        let failures = failures
            .iter()
            .take(MOST_TOLD)
            .map(|(name, tool)| json!({"tool": name, "calls": tool.calls, "failures": tool.failures}));
        json!({
            "calls": self.tools.values().map(|tool| tool.calls).sum::<u64>(),
            "tools": self.tools.len(),
            "surprise_bits": rounded(self.surprise),
            "last_tool": self.last,
            "likely_next": likely,
            "habits": habits.into_iter().take(MOST_TOLD).map(|(_, line)| line).collect::<Vec<_>>(),
            "failures": failures.collect::<Vec<_>>(),
        })
    }

    fn likely(&self, last: &str) -> Vec<Value> {
        let next = self.tools.get(last).into_iter().flat_map(|tool| tool.next.keys());
        let mut next: Vec<(&String, f64)> = next.map(|then| (then, self.probability(last, then))).collect();
        next.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let told = next.into_iter().take(MOST_TOLD);
        told.map(|(then, probability)| json!({"tool": then, "probability": rounded(probability)})).collect()
    }

    /// Copies since the state was last taken.
    pub(crate) fn unsaved(&self) -> u64 {
        self.unsaved
    }

    /// The part that outlives this process.
    pub(crate) fn kept(&mut self) -> Value {
        self.unsaved = 0;
        let one = |tool: &Tool| json!({"calls": tool.calls, "failures": tool.failures, "next": tool.next});
        let tools: BTreeMap<&String, Value> =
            self.tools.iter().map(|(name, tool)| (name, one(tool))).collect();
        json!({"version": 1, "surprise": self.surprise, "steps": self.steps, "tools": tools})
    }

    /// The model that was kept so. What does not fit is left out, and every bound holds.
    pub(crate) fn from_kept(kept: &Value) -> Self {
        let mut model = Self {
            surprise: kept["surprise"].as_f64().filter(|bits| bits.is_finite()).unwrap_or(0.0),
            steps: kept["steps"].as_u64().unwrap_or(0),
            ..Self::default()
        };
        for (name, tool) in kept["tools"].as_object().into_iter().flatten().take(MOST_TOOLS) {
            let count = |key: &str| tool[key].as_u64().unwrap_or(0);
            let next = tool["next"].as_object().into_iter().flatten().take(MOST_NEXT);
            let next = next.filter_map(|(then, seen)| Some((then.clone(), seen.as_u64()?))).collect();
            let tool = Tool { calls: count("calls"), failures: count("failures"), next };
            model.tools.insert(name.clone(), tool);
        }
        model
    }
}

fn forget_rarest<V>(all: &mut BTreeMap<String, V>, count: impl Fn(&V) -> u64) {
    let rarest = all.iter().min_by_key(|(_, value)| count(value)).map(|(name, _)| name.clone());
    if let Some(name) = rarest {
        all.remove(&name);
    }
}

/// Three digits are all that is meant.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(model: &mut Model, tools: &[&str]) {
        for tool in tools {
            model.learn(tool, None);
            model.learn(tool, Some(&json!({})));
        }
    }

    #[test]
    fn a_pattern_becomes_less_surprising_and_a_break_of_it_more() {
        let mut model = Model::default();
        calls(&mut model, &["read", "edit", "test"]);
        let first = model.surprise;
        for _ in 0..30 {
            calls(&mut model, &["read", "edit", "test"]);
        }
        let used = model.surprise;
        assert!(used < first && used < 0.5, "{used} after {first}");
        assert_eq!(model.learned()["likely_next"][0]["tool"], "read");
        calls(&mut model, &["delete", "delete"]);
        assert!(model.surprise > used);
    }

    #[test]
    fn failures_are_counted_and_our_own_tool_is_not() {
        let mut model = Model::default();
        model.learn("x", Some(&json!({"error": "no", "error_type": "NotFound"})));
        model.learn("y", Some(&json!({"isError": true})));
        model.learn("y", Some(&json!({"error": "only a word"})));
        model.learn("p__bootstrap_session", None);
        let learned = model.learned();
        let failures: Vec<u64> = ["x", "y"].map(|name| model.tools[name].failures).into();
        assert_eq!((failures, &learned["tools"]), (vec![1, 1], &json!(2)));
    }

    #[test]
    fn memory_is_bounded_whatever_comes() {
        let mut model = Model::default();
        for number in 0..3000_u32 {
            model.learn("often", None);
            model.learn(&format!("{number}{}", "x".repeat(1000)), None);
        }
        assert!(model.tools.len() <= MOST_TOOLS && model.tools.contains_key("often"));
        assert!(model.tools.values().all(|tool| tool.next.len() <= MOST_NEXT));
        assert!(model.tools.keys().all(|name| name.len() <= MOST_NAME));
        assert!(model.surprise.is_finite());
    }

    #[test]
    fn what_was_kept_is_known_again_and_nonsense_is_left_out() {
        let mut model = Model::default();
        calls(&mut model, &["a", "b", "a", "b"]);
        let kept = model.kept();
        let mut again = Model::from_kept(&kept);
        assert_eq!((again.kept(), again.unsaved()), (kept, 0));
        for odd in
            [json!(null), json!([]), json!({"tools": {"a": 3, "b": {"next": {"c": "x"}}}, "surprise": "x"})]
        {
            assert!(Model::from_kept(&odd).learned().is_object());
        }
    }
}
