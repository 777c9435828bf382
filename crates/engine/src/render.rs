//! What a model reads of an outcome: a native tool's text, the texts of a federated result with its
//! other parts named, a fault's message with its advice.

use serde_json::Value;
use tectum_core::{Outcome, Payload};

/// The text of an outcome, and whether the call failed.
pub fn outcome(outcome: &Outcome) -> (String, bool) {
    let text = match &outcome.result {
        Ok(Payload::Native(reply)) => reply.text.clone(),
        Ok(Payload::Peer(reply)) => result(reply.json.get()),
        Err(fault) => fault.text(),
    };
    let text = match outcome.edited_note() {
        Some(note) => format!("{text}\n\n{note}"),
        None => text,
    };
    (text, outcome.failed())
}

/// The text of a federated result. One without content has its data instead.
fn result(raw: &str) -> String {
    let Ok(result) = serde_json::from_str::<Value>(raw) else { return raw.to_owned() };
    let parts = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    if parts.is_empty() {
        return match &result["structuredContent"] {
            Value::Null => "(no content)".to_owned(),
            data => data.to_string(),
        };
    }
    parts.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn part(part: &Value) -> String {
    let word = |value: &Value, name: &str| value[name].as_str().unwrap_or("unknown").to_owned();
    match part["type"].as_str() {
        Some("text") => part["text"].as_str().unwrap_or_default().to_owned(),
        Some(kind @ ("image" | "audio")) => {
            format!("[{kind}: {}, {} bytes]", word(part, "mimeType"), decoded(&part["data"]))
        }
        Some("resource") => {
            let resource = &part["resource"];
            match resource["text"].as_str() {
                Some(text) => format!("[resource: {}]\n{text}", word(resource, "uri")),
                None => {
                    format!("[resource: {}, {} bytes]", word(resource, "uri"), decoded(&resource["blob"]))
                }
            }
        }
        Some("resource_link") => format!("[link: {} at {}]", word(part, "name"), word(part, "uri")),
        Some(kind) => format!("[{kind}]"),
        None => part.to_string(),
    }
}

/// The number of bytes that a base64 text stands for.
fn decoded(data: &Value) -> usize {
    data.as_str().map_or(0, |text| text.trim_end_matches('=').len() * 3 / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expect: &str) {
        assert_eq!(result(raw), expect, "{raw}");
    }

    #[test]
    fn texts_are_joined_and_everything_else_is_named() {
        check(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#, "a\nb");
        check(
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"audio","data":"AA=="}]}"#,
            "[image: image/png, 3 bytes]\n[audio: unknown, 1 bytes]",
        );
        check(
            r#"{"content":[{"type":"resource","resource":{"uri":"f://a","text":"t"}},
                {"type":"resource","resource":{"uri":"f://b","blob":"AAAA"}},
                {"type":"resource_link","name":"n","uri":"f://c"},{"type":"hologram"}]}"#,
            "[resource: f://a]\nt\n[resource: f://b, 3 bytes]\n[link: n at f://c]\n[hologram]",
        );
    }

    #[test]
    fn data_stands_in_for_content_that_is_not_there() {
        check(r#"{"content":[],"structuredContent":{"a":1}}"#, r#"{"a":1}"#);
        check(r#"{"structuredContent":[1]}"#, "[1]");
        check("{}", "(no content)");
        check("nonsense", "nonsense");
    }
}
