//! What a call would do, made visible before a person decides: by the tool's own planning where it has
//! a dry run, else by the argument that says it.

use serde_json::{Map, Value, value::to_raw_value};
use tectum_core::{Payload, Question, ToolInfo};

use crate::{Preview, RawJson};

/// Bytes of a diff that are kept with a question; what is left out is said.
const MOST: usize = 64 << 10;

pub(crate) async fn preview(question: &Question<'_>) -> Preview {
    let Some(tool) = question.tool else { return Preview::None };
    if let Some(server) = &tool.server {
        let definition = serde_json::value::RawValue::from_string(server.definition.to_string());
        let definition = Box::new(RawJson(definition.unwrap_or_default()));
        return Preview::Definition { server: server.server.to_string(), definition };
    }
    let Ok(args) = serde_json::from_str::<Map<String, Value>>(question.call.args.get()) else {
        return Preview::None;
    };
    if has_dry_run(tool) {
        return changes(question, args).await;
    }
    let word = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match tool.primary.as_str() {
        "command" | "script" => {
            // Where it would run is the one path that it names.
            let folder = question.grants.paths().first().map(|path| path.absolute());
            let folder = folder.map(|folder| folder.components().collect::<std::path::PathBuf>());
            let folder = folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
            Preview::Command { command: word(&tool.primary), folder }
        }
        "url" => Preview::Address { url: word("url") },
        _ => Preview::None,
    }
}

fn has_dry_run(tool: &ToolInfo) -> bool {
    tool.input_schema["properties"]["dry_run"]["type"] == "boolean"
}

/// The diff that a dry run of the call gives.
async fn changes(question: &Question<'_>, mut args: Map<String, Value>) -> Preview {
    args.insert("dry_run".into(), true.into());
    let (Some(rehearse), Ok(args)) = (question.rehearse, to_raw_value(&args)) else {
        return Preview::None;
    };
    match rehearse(args).await {
        Ok(Payload::Native(reply)) => {
            let data: Value = serde_json::from_str(&reply.structured).unwrap_or_default();
            match data["diff"].as_str().map_or_else(|| diffs(&data), ToOwned::to_owned) {
                diff if diff.is_empty() => Preview::Text { text: cut(reply.text) },
                diff => Preview::Diff { text: cut(diff) },
            }
        }
        Ok(Payload::Peer(_)) => Preview::None,
        Err(fault) => Preview::Text { text: format!("This call would fail: {}", fault.message) },
    }
}

/// The diffs of several files.
fn diffs(data: &Value) -> String {
    let lists = data.as_object().into_iter().flat_map(|data| data.values()).filter_map(Value::as_array);
    lists.flatten().filter_map(|file| file["diff"].as_str()).collect()
}

fn cut(mut text: String) -> String {
    if text.len() > MOST {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(MOST));
        text.push_str(&format!("\n... ({} of {whole} bytes are not shown)", whole - text.len()));
    }
    text
}
