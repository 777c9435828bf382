//! The recognition of observers: by the schema of a tool called `observe`, never by a server's name.

use serde_json::Value;

use crate::peer::Offer;

/// The tool that takes copies.
pub(super) const OBSERVE: &str = "observe";

/// The definition of a server's `observe`, if it takes copies. The first tool of that name decides.
pub(super) fn observe_of(offer: &Offer) -> Option<&str> {
    let tool = offer.tools.iter().find(|tool| &*tool.key == OBSERVE)?;
    takes_copies(tool.json.get()).then(|| tool.json.get())
}

/// True if a tool takes `{tool_name: string, args: object}`. Other properties are its own affair.
fn takes_copies(definition: &str) -> bool {
    let Ok(tool) = serde_json::from_str::<Value>(definition) else { return false };
    let property = |name: &str| tool.get("inputSchema")?.get("properties")?.as_object()?.get(name);
    let name_fits = property("tool_name").is_some_and(|schema| {
        schema.as_object().is_some_and(|schema| schema.get("type").is_none_or(|kind| names(kind, "string")))
    });
    name_fits && property("args").is_some_and(takes_object)
}

fn takes_object(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return *schema == Value::Bool(true) };
    if let Some(kind) = members.get("type") {
        return names(kind, "object");
    }
    let choices = |key: &str| members.get(key).and_then(Value::as_array);
    match choices("anyOf").or_else(|| choices("oneOf")) {
        Some(choices) => choices.iter().any(|choice| {
            choice.get("type").is_some_and(|kind| names(kind, "object")) || *choice == Value::Bool(true)
        }),
        None => !["properties", "anyOf", "oneOf"].iter().any(|key| members.contains_key(*key)),
    }
}

/// True if a `type` is or includes this one.
fn names(kind: &Value, wanted: &str) -> bool {
    match kind {
        Value::String(kind) => kind == wanted,
        Value::Array(kinds) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn takes(properties: &Value) -> bool {
        takes_copies(&json!({ "name": "observe", "inputSchema": { "properties": properties } }).to_string())
    }

    #[test]
    fn the_two_properties_decide() {
        let text = json!({ "type": "string" });
        for args in [
            json!({ "type": "object" }),
            json!({ "type": ["object", "null"] }),
            json!({ "anyOf": [{ "type": "null" }, { "type": "object" }] }),
            json!({ "oneOf": [{ "type": ["object"] }, { "type": "string" }] }),
            json!({}),
            json!(true),
            json!({ "description": "anything" }),
        ] {
            assert!(takes(&json!({ "tool_name": text, "args": args, "result": {} })), "{args}");
        }
        for args in [
            json!({ "type": "string" }),
            json!({ "type": ["array", "null"] }),
            json!({ "anyOf": [{ "type": "string" }] }),
            json!({ "oneOf": [{ "type": "string" }, { "type": "array" }] }),
            json!({ "oneOf": "object" }),
            json!({ "properties": {} }),
            json!(false),
            json!(3),
        ] {
            assert!(!takes(&json!({ "tool_name": text, "args": args })), "{args}");
        }
        let args = json!({ "type": "object" });
        for name in [json!({}), json!({ "type": "string" }), json!({ "type": ["string", "null"] })] {
            assert!(takes(&json!({ "tool_name": name, "args": args })), "{name}");
        }
        for name in [json!({ "type": "integer" }), json!(true), json!("string")] {
            assert!(!takes(&json!({ "tool_name": name, "args": args })), "{name}");
        }
        assert!(!takes(&json!({ "tool_name": text })));
        assert!(!takes(&json!({ "args": args })));
        assert!(!takes(&json!([])));
        assert!(!takes_copies(r#"{"name":"observe"}"#));
    }
}
