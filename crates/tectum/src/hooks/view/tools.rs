//! The screen *Tools*: what agents are offered, what the rules say, what it costs, and how it went so far.

use std::collections::HashMap;

use axum::{Json, extract::State};
use serde_json::{Value, json};
use tectum_core::{Provider as _, Snapshot, ToolInfo};
use tectum_journal::index::{CallNumbers, Index};
use tectum_peers::federation::Profile;
use tectum_state::Moment;

use super::{
    super::{hooked::Hooks, refusal::Refusal},
    call::rule,
    records,
    stats::Sum,
};
use crate::{Config, tool_facts};

/// The time that figures are about: a month.
const LOOKED_BACK: u64 = 30 * 24 * 3_600_000_000;

/// The tools, and how their calls went in the last thirty days
#[utoipa::path(get, path = "/api/console/tools", responses(
    (status = 200, description = "The tools", body = Value),
    (status = 409, description = "The journal or the settings cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn all(State(hooks): State<Hooks>) -> Result<Json<Value>, Refusal> {
    let since = Moment::micros(std::time::SystemTime::now()).saturating_sub(LOOKED_BACK);
    let figures = records::ask(&hooks, move |index| by_tool(index, since)).await?.unwrap_or_default();
    let (_, config) = records::setup(&hooks).await?;
    let snapshot = hooks.house().registry().snapshot();
    let mut tools: Vec<Value> = snapshot.tools().map(|info| told(info, &config, &figures, true)).collect();
    let native = hooks.native().tools();
    tools.extend(
        native.iter().filter(|info| is_off(info, &snapshot)).map(|info| told(info, &config, &figures, false)),
    );
    let total: usize = snapshot.tools().map(|info| tool_facts::tokens(info, &Profile::All)).sum();
    Ok(Json(json!({ "tools": tools, "tokens_total": total })))
}

fn is_off(info: &ToolInfo, snapshot: &Snapshot) -> bool {
    snapshot.tool(&info.name).is_none()
}

fn by_tool(index: &mut Index, since: u64) -> std::io::Result<HashMap<String, Sum>> {
    let names = index.tool_names()?;
    let mut calls: HashMap<i64, Vec<CallNumbers>> = HashMap::new();
    index
        .numbers(since, u64::MAX, None)?
        .into_iter()
        .for_each(|call| calls.entry(call.tool).or_default().push(call));
    Ok(calls
        .into_iter()
        .filter_map(|(tool, calls)| Some((names.get(&tool)?.clone(), Sum::of(&calls))))
        .collect())
}

fn told(info: &ToolInfo, config: &Config, figures: &HashMap<String, Sum>, on: bool) -> Value {
    let (permission, why) = config.permissions.judge(&info.name, info.world);
    let sum = figures.get(&*info.name);
    let source = info.server.as_ref().map_or("native", |tool| &tool.server);
    let definition =
        info.server.as_ref().and_then(|tool| serde_json::from_str::<Value>(&tool.definition).ok());
    let mut told = tool_facts::data(info, permission);
    let annotations = definition.map_or_else(
        || json!({ "effect": told["effect"], "idempotent": info.idempotent, "world": told["world"] }),
        |mut definition| definition["annotations"].take(),
    );
    told["schema"] = told["input_schema"].take();
    told["source"] = json!(source);
    told["annotations"] = annotations;
    told["on"] = json!(on);
    told["why_off"] = if on { Value::Null } else { json!("`[tools]` in the settings leaves it out") };
    told["calls"] = json!(sum.map_or(0, |sum| sum.calls));
    told["errors"] = json!(sum.map_or(0, |sum| sum.errors));
    told["p50_ms"] = json!(sum.and_then(|sum| sum.percentile(50)));
    told["p99_ms"] = json!(sum.and_then(|sum| sum.percentile(99)));
    told["rule"] = rule(&why)["text"].take();
    if let Some(members) = told.as_object_mut() {
        ["input_schema", "output_schema"].iter().for_each(|name| drop(members.remove(*name)));
    }
    told
}
