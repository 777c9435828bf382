//! A call as an OpenTelemetry log record in OTLP/JSON, with the names of the GenAI and MCP conventions.

use serde_json::{Value, json};
use tectum_journal::{Ending, Entry, report::result_text};

/// One export request with one event, as a line of a file that collectors read.
pub(super) fn event(entry: &Entry) -> Value {
    let nanos = |micros: u64| u128::from(micros) * 1_000;
    let mut attributes = vec![
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", &entry.tool),
        text("gen_ai.tool.type", if entry.server.is_some() { "extension" } else { "function" }),
        text("gen_ai.tool.call.id", &entry.id),
        text("gen_ai.tool.call.arguments", entry.args.get()),
        text("gen_ai.tool.call.result", &result_text(&entry.ending)),
        text("gen_ai.conversation.id", &entry.session),
        text("mcp.method.name", "tools/call"),
        text("mcp.session.id", &entry.session),
        // Estimates of ours, and no model's usage.
        number("tectum.tokens_in", entry.tokens_in),
        number("tectum.tokens_out", entry.tokens_out),
        number("tectum.duration_us", entry.took),
    ];
    if let Some(transport) = transport(&entry.client.door) {
        attributes.push(text("network.transport", transport));
    }
    if let Some(server) = &entry.server {
        // A name in our settings, and no address.
        attributes.push(text("tectum.server", server));
    }
    if let Some(verdict) = &entry.verdict {
        attributes.push(text("tectum.verdict", &verdict.judgement));
        attributes.push(text("tectum.rule", &verdict.rule));
    }
    match &entry.ending {
        Ending::Fault(fault) => attributes.push(text("error.type", &fault.kind)),
        ending if ending.failed() => attributes.push(text("error.type", "tool_error")),
        _ => {}
    }
    let failed = entry.ending.failed();
    let body = json!({ "stringValue": format!("tools/call {}", entry.tool) });
    json!({ "resourceLogs": [{
        "resource": { "attributes": [
            text("service.name", "tectum"),
            text("service.version", env!("CARGO_PKG_VERSION")),
        ] },
        "scopeLogs": [{
            "scope": { "name": "tectum.journal" },
            "logRecords": [{
                "timeUnixNano": nanos(entry.began).to_string(),
                "observedTimeUnixNano": nanos(entry.began + entry.took).to_string(),
                "severityNumber": if failed { 17 } else { 9 },
                "severityText": if failed { "ERROR" } else { "INFO" },
                "eventName": "gen_ai.execute_tool",
                "body": body,
                "attributes": attributes,
            }],
        }],
    }] })
}

fn transport(door: &str) -> Option<&'static str> {
    match door {
        "stdio" => Some("pipe"),
        "http" => Some("tcp"),
        _ => None,
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Whole numbers are strings in OTLP/JSON.
fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
