//! What people are told of a tool: what it does to the world, what the rules say, what it costs a model.

use serde_json::{Value, json};
use tectum_core::{Effect, Judgement, OutputSchema, ToolInfo, World};
use tectum_peers::federation::Profile;

/// A tool as data.
pub fn data(info: &ToolInfo, permission: Judgement) -> Value {
    json!({
        "name": &*info.name,
        "title": info.title,
        "description": info.description,
        "input_schema": &*info.input_schema,
        "output_schema": info.output_schema.as_ref().map(OutputSchema::value),
        "effect": effect(info),
        "world": match info.world {
            World::Project => "project",
            World::Open => "open",
            World::Peer(_) => "server",
        },
        "idempotent": info.idempotent,
        "primary": info.primary,
        "permission": permission.to_string(),
        "tokens": tokens(info, &Profile::All),
        "listed": info.listed,
    })
}

/// The effect of a tool; for a server's tool, as the server describes it.
pub fn effect(info: &ToolInfo) -> &'static str {
    let said = info.server.as_ref().map(|tool| {
        let definition: Value = serde_json::from_str(&tool.definition).unwrap_or_default();
        let hints = &definition["annotations"];
        match (&hints["readOnlyHint"], &hints["destructiveHint"]) {
            (Value::Bool(true), _) => Effect::Read,
            (_, Value::Bool(false)) => Effect::Add,
            _ => Effect::Change,
        }
    });
    match said.unwrap_or(info.effect) {
        Effect::Read => "read",
        Effect::Add => "add",
        Effect::Change => "change",
    }
}

/// The tokens that a model reads of a tool: its name, its description and the schema of its arguments.
pub fn tokens(info: &ToolInfo, profile: &Profile) -> usize {
    let arguments = Value::Object(profile.arguments(info)).to_string();
    let bytes = info.name.len() + info.description.len() + arguments.len();
    usize::try_from(tectum_journal::tokens(bytes)).unwrap_or(usize::MAX)
}
