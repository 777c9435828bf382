//! Schemas as clients get them: every byte of a tools list is read by every model, so what says
//! nothing is left out.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a type (2020-12, which is what a schema without `$schema` means in MCP).
pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let mut map = std::mem::take(schema.ensure_object());
    map.remove("title");
    map.remove("$schema");
    lean(&mut map);
    map
}

/// Leaves out what says nothing: widths of numbers, defaults that are nothing, and what a list
/// of words means where its own description tells.
fn lean(map: &mut Map<String, Value>) {
    map.remove("format");
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    if map.get("default").is_some_and(says_nothing) && !map.contains_key("properties") {
        map.remove("default");
    }
    if map.contains_key("description")
        && let Some(words) = map.get("oneOf").and_then(words)
    {
        map.remove("oneOf");
        map.insert("type".into(), "string".into());
        map.insert("enum".into(), words);
    }
    if let Some(Value::String(description)) = map.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    for (key, value) in map.iter_mut() {
        // Below `properties` the keys are names of arguments.
        let named = matches!(key.as_str(), "properties" | "$defs");
        match value {
            Value::Object(inner) if named => inner.values_mut().for_each(lean_value),
            Value::Object(_) | Value::Array(_) => lean_value(value),
            _ => {}
        }
    }
}

fn lean_value(value: &mut Value) {
    match value {
        Value::Object(map) => lean(map),
        Value::Array(list) => list.iter_mut().for_each(lean_value),
        _ => {}
    }
}

/// The words of a choice between plain words.
fn words(choices: &Value) -> Option<Value> {
    let word = |choice: &Value| match (choice["type"].as_str(), &choice["const"]) {
        (Some("string"), word @ Value::String(_)) => Some(word.clone()),
        _ => None,
    };
    choices.as_array()?.iter().map(word).collect::<Option<Vec<Value>>>().map(Value::Array)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Args {
        /// One or
        /// the other.
        #[serde(default)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        kind: Kind,
        /// How many.
        #[serde(default)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        format: Option<usize>,
    }

    #[derive(Default, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[schemars(inline)]
    enum Kind {
        /// The one.
        #[default]
        One,
        /// The other.
        Other,
    }

    #[test]
    fn nothing_is_said_twice_and_names_stay() {
        let schema = Value::Object(of::<Args>());
        let expect = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "kind": {"type": "string", "enum": ["one", "other"], "description": "One or the other."},
                "format": {"type": ["integer", "null"], "minimum": 0, "description": "How many."},
            },
        });
        assert_eq!(schema, expect);
    }
}
