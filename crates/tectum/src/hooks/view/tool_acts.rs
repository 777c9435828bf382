//! What can be done with tools: tried by hand, switched on and off, and judged by the rules without a call.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::to_raw_value};
use tectum_core::{Call, Client, Fault, Outcome, Payload, SessionId};
use utoipa::ToSchema;

use super::{
    super::{approver::Approver, body::Posted, hooked::Hooks, refusal::Refusal, sign_ins::SessionFacts},
    call, command,
    query::name,
    records,
};
use crate::rulebook;

/// The door of calls from the console, and the name of who calls there.
const CONSOLE: &str = "console";

/// A call.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct Arguments {
    /// The arguments of the tool.
    #[serde(default)]
    #[schema(value_type = std::collections::HashMap<String, Value>)]
    arguments: Map<String, Value>,
}

/// A switch.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct SwitchWanted {
    /// Whether the tool is offered.
    on: bool,
}

/// A call that is not made.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct WhatIf {
    /// The tool.
    tool: String,
    /// Its arguments.
    #[serde(default)]
    #[schema(value_type = std::collections::HashMap<String, Value>)]
    arguments: Map<String, Value>,
}

/// Calls a tool by hand, through the same rules and into the same record as every call
#[utoipa::path(post, path = "/api/console/tools/{name}/call", params(("name" = String, Path, description = "The tool")),
    request_body = Arguments, security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "The call, whole; one that failed says so", body = Value),
        (status = 404, description = "There is no such tool", body = super::super::refusal::Refused),
        (status = 409, description = "The journal cannot be read", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn call(
    State(hooks): State<Hooks>,
    approver: Approver,
    tool: Result<Path<String>, PathRejection>,
    Posted(Arguments { arguments }): Posted<Arguments>,
) -> Result<Json<Value>, Refusal> {
    let tool = name(tool)?;
    hooks.house().registry().snapshot().find(&tool)?;
    let args = to_raw_value(&arguments).map_err(|error| Fault::invalid(error.to_string()))?;
    let session = approver.session.as_ref().map_or(CONSOLE, |SessionFacts { id, .. }| id);
    let client = Client { door: CONSOLE, name: CONSOLE.into(), version: env!("CARGO_PKG_VERSION").into() };
    let session = SessionId::new(&*format!("{CONSOLE}-{session}"));
    let call = Call { client: Some(Arc::new(client)), ..Call::new(session, tool.as_str(), args) };
    let outcome = hooks.house().call(call).await;
    Ok(Json(match call::found(&hooks, outcome.call.to_string()).await {
        Ok(told) => told,
        // Without a journal there is only what it said.
        Err(_) => said(&tool, &outcome),
    }))
}

fn said(tool: &str, outcome: &Outcome) -> Value {
    let (sent, structured) = match &outcome.result {
        Ok(Payload::Native(reply)) => {
            (call::text(&reply.text), serde_json::from_str(&reply.structured).unwrap_or_default())
        }
        Ok(Payload::Peer(reply)) => call::of_server(&reply.json),
        Err(fault) => (call::text(&fault.text()), Value::Null),
    };
    let fault = outcome.result.as_ref().err();
    json!({
        "call": outcome.call.to_string(),
        "tool": tool,
        "ok": !outcome.failed(),
        "fault": fault.map(|fault| json!({ "kind": fault.kind, "message": fault.message, "hint": fault.hint })),
        "took_ms": outcome.took.as_secs_f64() * 1000.0,
        "sent": sent,
        "structured": structured,
    })
}

/// Offers one of our own tools, or leaves it out, by a line in the user's settings
#[utoipa::path(post, path = "/api/console/tools/{name}/switch", params(("name" = String, Path, description = "The tool")),
    request_body = SwitchWanted, security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "The change of the settings", body = Value),
        (status = 404, description = "No tool of our own is called that", body = super::super::refusal::Refused),
        (status = 409, description = "It cannot be done there", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn switch(
    State(hooks): State<Hooks>,
    _: Approver,
    tool: Result<Path<String>, PathRejection>,
    Posted(SwitchWanted { on }): Posted<SwitchWanted>,
) -> Result<Json<Value>, Refusal> {
    let tool = name(tool)?;
    if !tectum_core::Provider::tools(hooks.native()).iter().any(|info| *info.name == *tool) {
        let fault = Fault::not_found(format!("no tool of Tectum's own is called `{tool}`"));
        return Err(fault.hint("tools of a server are left out in its own settings").into());
    }
    let (_, config) = records::setup(&hooks).await?;
    let switching = tokio::task::spawn_blocking(move || rulebook::switch_tool(&config, &tool, on));
    let diff = switching.await.map_err(|_| Fault::internal("the settings could not be changed"))?;
    let diff = diff.map_err(|why| Fault::conflict(why).hint("change `[tools] exclude` by hand"))?;
    Ok(Json(json!({ "diff": diff })))
}

/// Says what the rules would say of a call, without making it
#[utoipa::path(post, path = "/api/console/policy/test", request_body = WhatIf,
    responses(
        (status = 200, description = "What `tectum policy test` says", body = Value),
        (status = 404, description = "There is no such tool", body = super::super::refusal::Refused),
        (status = 409, description = "The settings cannot be read", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn what_if(
    State(hooks): State<Hooks>,
    Posted(WhatIf { tool, arguments }): Posted<WhatIf>,
) -> Result<Json<Value>, Refusal> {
    let arguments = format!("--args={}", Value::Object(arguments));
    let said = command::run(&hooks, &["policy", "test", &arguments, "--", &tool]).await?;
    let steps = said["steps"].as_array().cloned().unwrap_or_default();
    let rule =
        steps.iter().rfind(|step| step["station"].as_str().is_some_and(|at| at.starts_with("permission")));
    let layer =
        |step: &Value| json!({ "layer": step["station"], "says": step["finding"], "passed": step["passed"] });
    Ok(Json(json!({
        "verdict": said["decision"],
        "tool": said["tool"],
        "subject": said["subject"],
        "rule": rule.and_then(|step| step["finding"].as_str()).map(call::rule),
        "layers": steps.iter().map(layer).collect::<Vec<_>>(),
        "explanation": said["advice"],
    })))
}
