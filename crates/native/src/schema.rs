//! Schemas as clients get them: every model reads every byte of a tools list, so members without
//! information are left out.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a tool's arguments. It leaves out that an argument may be null, that unknown ones are
/// refused and that a number is not negative: an absent argument needs no null, and the rest is checked.
pub(crate) fn input<T: JsonSchema>() -> Map<String, Value> {
    let mut map = output::<T>();
    shorten(&mut map);
    // Some clients insist on it, even of a tool that takes nothing.
    map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    map
}

/// The schema of a tool's output. It has no description of the whole: the tool's own says that.
pub(crate) fn result<T: JsonSchema>() -> Value {
    let mut map = output::<T>();
    map.remove("description");
    Value::Object(map)
}

/// The schema of a type (2020-12, which is what a schema without `$schema` means in MCP).
fn output<T: JsonSchema>() -> Map<String, Value> {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let mut map = std::mem::take(schema.ensure_object());
    map.remove("title");
    map.remove("$schema");
    lean(&mut map);
    map
}

/// Removes from an input schema what a writer of arguments does not need.
fn shorten(map: &mut Map<String, Value>) {
    if map.get("additionalProperties").is_some_and(Value::is_boolean) {
        map.remove("additionalProperties");
    }
    // Everybody expects the project itself and zero as defaults.
    let nothing =
        [("minimum", 0.into()), ("default", 0.into()), ("default", ".".into()), ("description", "".into())];
    for (key, nothing) in nothing {
        if map.get(key) == Some(&nothing) {
            map.remove(key);
        }
    }
    if let Some(words) = map.get("oneOf").and_then(words) {
        map.remove("oneOf");
        map.insert("type".into(), "string".into());
        map.insert("enum".into(), words);
    }
    if let Some(Value::Array(kinds)) = map.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = &kinds[..] {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            map.remove("anyOf");
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    }
    within(map, shorten);
}

/// Removes what carries no information: widths of numbers, empty defaults, and the meaning of each
/// word in a list if the list has a description.
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
    within(map, lean);
}

/// Applies `work` to every schema inside of this one. Below `properties` the keys are names of arguments.
fn within(map: &mut Map<String, Value>, work: fn(&mut Map<String, Value>)) {
    for (key, value) in map.iter_mut() {
        match value {
            Value::Object(inner) if matches!(key.as_str(), "properties" | "$defs") => {
                inner.values_mut().for_each(|value| below(value, work));
            }
            _ => below(value, work),
        }
    }
}

fn below(value: &mut Value, work: fn(&mut Map<String, Value>)) {
    match value {
        Value::Object(map) => work(map),
        Value::Array(list) => list.iter_mut().for_each(|value| below(value, work)),
        _ => {}
    }
}

/// The words of a choice, if it is only between words.
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
        let schema = |kind: Value| {
            json!({
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["one", "other"], "description": "One or the other."},
                    "format": kind,
                },
            })
        };
        let input = schema(json!({"type": "integer", "description": "How many."}));
        assert_eq!(Value::Object(super::input::<Args>()), input);
        let mut output =
            schema(json!({"type": ["integer", "null"], "minimum": 0, "description": "How many."}));
        output["additionalProperties"] = false.into();
        assert_eq!(Value::Object(super::output::<Args>()), output);
    }
}
