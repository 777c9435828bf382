//! The screen *Policy*: the rules with their places and how often they decided, and rules that could be written.

use std::{collections::BTreeMap, io};

use axum::{Json, extract::State};
use serde_json::{Value, json};
use tectum_journal::{
    Entry,
    index::{Index, Query},
    when,
};

use super::{
    super::{hooked::Hooks, refusal::Refusal, subject},
    place::place,
    records,
};
use crate::{
    Config,
    config::{keys, value::Item},
};

/// The last calls, in which rules are counted.
const COUNTED: usize = 5000;
/// Approvals of like calls after which a rule is worth a thought.
const LIKE_CALLS: usize = 2;
/// The drafts that are shown.
const MOST_DRAFTS: usize = 20;

/// The rules, and how often they decided
#[utoipa::path(get, path = "/api/console/policy", responses(
    (status = 200, description = "The policy", body = Value),
    (status = 409, description = "The journal or the settings cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn policy(State(hooks): State<Hooks>) -> Result<Json<Value>, Refusal> {
    let counts = records::ask(&hooks, Counts::read).await?.unwrap_or_default();
    let (_, config) = records::setup(&hooks).await?;
    let report = serde_json::to_value(hooks.policy().lock().clone()).unwrap_or_default();
    let merged = config.merged();
    let mut rules: Vec<Value> = Vec::new();
    for (effect, key) in [("deny", &keys::FORBID), ("ask", &keys::ASK), ("allow", &keys::ALLOW)] {
        rules.extend(merged.list(key).iter().map(|item| counts.rule(effect, &item.text, item)));
    }
    // One that is for a project alone names it first.
    let own = format!("{}=", config.directory.display());
    let for_here =
        merged.list(&keys::ALLOW_IN).iter().filter_map(|item| Some((item.text.strip_prefix(&own)?, item)));
    rules.extend(for_here.map(|(text, item)| counts.rule("allow", text, item)));
    let default = merged.get(&keys::DEFAULT);
    Ok(Json(json!({
        "version": report["version"],
        "default": merged.word(&keys::DEFAULT),
        "default_from": default.map(|setting| place(&setting.origin)),
        "rules": rules,
        "counted": counts.calls,
        "protected": protected(&config),
        "roots": roots(&config),
        "problems": report["problems"],
        "drafts": counts.drafts(),
    })))
}

/// How often rules decided the last calls.
#[derive(Default)]
struct Counts {
    calls: usize,
    /// By what the record says of the rule: how often, and when last.
    rules: BTreeMap<String, (u64, u64)>,
    /// What people approved, by tool and subject.
    approved: BTreeMap<(String, String), usize>,
}

impl Counts {
    fn read(index: &mut Index) -> io::Result<Self> {
        let found = index.search(&Query::default(), COUNTED)?;
        let mut counts = Self { calls: found.hits.len(), ..Self::default() };
        found.hits.iter().for_each(|hit| counts.count(&hit.entry));
        Ok(counts)
    }

    fn count(&mut self, entry: &Entry) {
        if let Some(verdict) = &entry.verdict {
            let (hits, last) = self.rules.entry(verdict.rule.clone()).or_default();
            *hits += 1;
            *last = (*last).max(entry.began);
        }
        if entry.asked.as_ref().is_some_and(|asked| asked.approved) {
            let about = (entry.tool.clone(), subject::of(entry.args.get()));
            *self.approved.entry(about).or_default() += 1;
        }
    }

    fn rule(&self, effect: &str, text: &str, item: &Item) -> Value {
        // A verdict names its rule by text and place.
        let named = [format!("`{}` ({})", item.text, item.origin), format!("`{text}` ({})", item.origin)];
        let is_it = |said: &&String| named.iter().any(|named| said.contains(named));
        let said = self.rules.iter().filter(|(said, _)| is_it(said)).map(|(_, count)| *count);
        let (hits, last) = said.fold((0, 0), |(hits, last), one| (hits + one.0, last.max(one.1)));
        let mut told = place(&item.origin);
        told["effect"] = json!(effect);
        told["text"] = json!(text);
        told["hits"] = json!(hits);
        told["last_hit"] = if last > 0 { json!(when::rfc3339(last)) } else { Value::Null };
        told
    }

    /// Rules for what people approved again and again, the most frequent first.
    fn drafts(&self) -> Vec<Value> {
        let often = self.approved.iter().filter(|(_, count)| **count >= LIKE_CALLS);
        let mut often: Vec<(&(String, String), usize)> =
            often.map(|(about, count)| (about, *count)).collect();
        often.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let text = |(tool, subject): &(String, String)| match subject.as_str() {
            "" => tool.clone(),
            subject => format!("{tool}({})", globset::escape(subject)),
        };
        let told = |(about, count): &(&(String, String), usize)| json!({ "text": text(about), "from": format!("approved {count} times") });
        often.iter().take(MOST_DRAFTS).map(told).collect()
    }
}

fn protected(config: &Config) -> Vec<Value> {
    let merged = config.merged();
    let items = [("closed", &keys::DENY), ("read only", &keys::READ_ONLY)];
    let told = |how: &str, item: &Item| {
        let mut told = place(&item.origin);
        told["pattern"] = json!(item.text);
        told["how"] = json!(how);
        told
    };
    items
        .into_iter()
        .flat_map(|(how, key)| merged.list(key).iter().map(move |item| told(how, item)))
        .collect()
}

fn roots(config: &Config) -> Vec<Value> {
    let workspace = &config.workspace;
    let root = |path: &std::path::PathBuf| json!({ "path": path, "access": "read and write" });
    let tracked = |path: &std::path::PathBuf| json!({ "path": path, "access": "this file alone" });
    workspace.roots.iter().map(root).chain(workspace.tracked.iter().map(tracked)).collect()
}
