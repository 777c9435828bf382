//! A server's definition of a tool against what clients accept. Several clients refuse a whole list for
//! one wrong entry, so an entry is repaired where that is certain, and left out where it is not.

use serde_json::{Map, Value};

/// A part of a definition that a client can do without, and when it is right.
type Optional = (&'static str, fn(&Value) -> bool);

const OPTIONAL: &[Optional] = &[
    ("title", Value::is_string),
    ("description", Value::is_string),
    ("annotations", Value::is_object),
    ("execution", Value::is_object),
    ("icons", is_list_of_objects),
    ("_meta", Value::is_object),
];

/// The hints that are true or false.
const HINTS: &[&str] = &["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// A definition that every client accepts.
#[derive(Debug)]
pub(super) struct Accepted {
    /// All of it.
    pub(super) definition: Map<String, Value>,
    /// The repairs, for people; empty for one that is as it came.
    pub(super) repairs: Vec<String>,
}

/// Repairs a definition, or says why it cannot be listed.
pub(super) fn accepted(json: &str) -> Result<Accepted, String> {
    let definition: Value =
        serde_json::from_str(json).map_err(|error| format!("its definition cannot be read: {error}"))?;
    let Value::Object(mut definition) = definition else { return Err("its definition is no object".into()) };
    let mut repairs = Vec::new();
    // Who reads the first of two members and who reads the last would see different tools.
    let members = crate::wire::object::Members::of(json).map_or(0, |members| members.0.len());
    if members != definition.len() {
        repairs.push("a member stood in it twice".into());
    }
    for (name, right) in OPTIONAL {
        if definition.get(*name).is_some_and(|value| !right(value)) {
            definition.shift_remove(*name);
            repairs.push(format!("`{name}` was of the wrong type and is left out"));
        }
    }
    if let Some(Value::Object(annotations)) = definition.get_mut("annotations") {
        let before = annotations.len();
        annotations.retain(|name, value| {
            let flag = HINTS.contains(&name.as_str());
            (value.is_boolean() || !flag) && (value.is_string() || name != "title")
        });
        if annotations.len() != before {
            repairs.push("a hint in `annotations` was of the wrong type and is left out".into());
        }
    }
    let input = definition.get_mut("inputSchema").ok_or("its definition has no `inputSchema`")?;
    let input = input.as_object_mut().ok_or("its `inputSchema` is no object")?;
    make_object_schema(input, true, "inputSchema", &mut repairs)?;
    if let Some(output) = definition.get_mut("outputSchema") {
        let mut told = Vec::new();
        let made = match output.as_object_mut() {
            Some(output) => make_object_schema(output, false, "outputSchema", &mut told),
            None => Err("it is no object".into()),
        };
        match made {
            Ok(()) => repairs.append(&mut told),
            Err(_) => {
                definition.shift_remove("outputSchema");
                repairs.push("`outputSchema` does not describe an object and is left out".into());
            }
        }
    }
    Ok(Accepted { definition, repairs })
}

/// Makes sure that a schema says that it describes an object, and how. Without a type, the arguments
/// of a call are an object anyway; other data is only if the schema names its members.
fn make_object_schema(
    schema: &mut Map<String, Value>,
    arguments: bool,
    name: &str,
    repairs: &mut Vec<String>,
) -> Result<(), String> {
    let typed = match schema.get("type") {
        Some(Value::String(word)) if word == "object" => true,
        None | Some(Value::Null) if arguments || schema.contains_key("properties") => false,
        Some(Value::Array(words)) if words.iter().any(|word| word == "object") => false,
        Some(other) => return Err(format!("its `{name}` is of type {other}, where only an object can be")),
        None => return Err(format!("its `{name}` does not describe an object")),
    };
    if !typed {
        schema.insert("type".into(), "object".into());
        repairs.push(format!("`{name}` has no \"type\": \"object\" of its own"));
    }
    if schema.get("required").is_some_and(|required| !is_list_of_words(required)) {
        schema.shift_remove("required");
        repairs.push(format!("`required` of `{name}` was no list of names and is left out"));
    }
    match schema.get_mut("properties") {
        None => {}
        Some(Value::Object(properties)) => {
            for (property, described) in properties {
                let schema = match described {
                    Value::Object(_) => continue,
                    Value::Bool(false) => serde_json::json!({ "not": {} }),
                    Value::Bool(true) | Value::Null => Value::Object(Map::new()),
                    _ => return Err(format!("`{property}` in its `{name}` is no schema")),
                };
                *described = schema;
                repairs.push(format!("`{property}` in `{name}` was described by no object"));
            }
        }
        Some(Value::Null) => {
            schema.shift_remove("properties");
            repairs.push(format!("`properties` of `{name}` was null"));
        }
        Some(_) => return Err(format!("`properties` of its `{name}` is no object")),
    }
    Ok(())
}

fn is_list_of_words(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

fn is_list_of_objects(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(|entry| entry["src"].is_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn repaired(definition: &str) -> (Value, usize) {
        let accepted = accepted(definition).unwrap_or_else(|why| panic!("{definition}: {why}"));
        (Value::Object(accepted.definition), accepted.repairs.len())
    }

    #[test]
    fn what_is_right_is_left_as_it_is() {
        let whole = json!({"name": "a", "title": "A", "description": "Does it.",
            "inputSchema": {"type": "object", "properties": {"x": {}}, "required": ["x"], "anyOf": [{}]},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "other": 1},
            "execution": {"taskSupport": "optional"}, "icons": [{"src": "x"}], "_meta": {}, "more": 1});
        assert_eq!(repaired(&whole.to_string()), (whole, 0));
    }

    #[test]
    fn what_is_certain_is_repaired() {
        let cases = [
            (r#"{"inputSchema":{}}"#, json!({"inputSchema": {"type": "object"}})),
            (r#"{"inputSchema":{"type":["object","null"]}}"#, json!({"inputSchema": {"type": "object"}})),
            (
                r#"{"inputSchema":{"type":"object","properties":{"a":true,"b":false},"required":null}}"#,
                json!({"inputSchema": {"type": "object", "properties": {"a": {}, "b": {"not": {}}}}}),
            ),
            (
                r#"{"inputSchema":{"type":"object","properties":null},"outputSchema":{"properties":{}}}"#,
                json!({"inputSchema": {"type": "object"}, "outputSchema": {"properties": {}, "type": "object"}}),
            ),
            (
                r#"{"description":[],"title":null,"inputSchema":{"type":"object"},"outputSchema":{},"icons":[1]}"#,
                json!({"inputSchema": {"type": "object"}}),
            ),
            (
                r#"{"inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"annotations":{"readOnlyHint":"yes","title":"T"}}"#,
                json!({"inputSchema": {"type": "object"}, "annotations": {"title": "T"}}),
            ),
            (
                r#"{"inputSchema":{"type":"object"},"inputSchema":{"type":"object"},"_meta":null}"#,
                json!({"inputSchema": {"type": "object"}}),
            ),
        ];
        for (definition, expect) in cases {
            let (made, repairs) = repaired(definition);
            assert_eq!(made, expect, "{definition}");
            assert!(repairs > 0, "{definition}");
        }
    }

    #[test]
    fn what_is_not_is_refused() {
        for definition in [
            "[]",
            "{}",
            r#"{"inputSchema":null}"#,
            r#"{"inputSchema":{"type":"string"}}"#,
            r#"{"inputSchema":{"type":"object","properties":[]}}"#,
            r#"{"inputSchema":{"type":"object","properties":{"a":"text"}}}"#,
            r#"{"inputSchema":{"type":"object"},"description":"\ud800"}"#,
        ] {
            assert!(accepted(definition).is_err(), "{definition}");
        }
    }
}
