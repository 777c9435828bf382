//! The mistakes in a call's arguments: all of them at once, each with the field's name and the
//! expected value.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;
use tectum_core::{Fault, nearest};

/// How many mistakes are listed; the rest is only counted.
const MOST_MISTAKES: usize = 12;

/// Lists everything that is wrong with the arguments of `tool`: what the schema finds, then what the parser
/// refuses (argument and reason) of those the schema takes, or what the parser said at first.
pub(crate) fn explain(
    tool: &str,
    given: Option<Value>,
    schema: &Value,
    refused: Vec<(String, String)>,
    parser: String,
) -> Fault {
    let hint = format!("{tool} takes: {}", signature(schema));
    let Some(given) = given else {
        return Fault::invalid(format!(
            "the arguments of {tool} are nested too deeply or not JSON: {parser}"
        ))
        .hint(hint);
    };
    let mut mistakes = Vec::new();
    let mut strict = schema.clone();
    close(&mut strict);
    let mut told = Vec::new();
    if let Ok(validator) = jsonschema::validator_for(&strict) {
        for error in validator.iter_errors(&given) {
            describe(&error, schema, &given, &mut mistakes);
            told.extend(error.instance_path().to_string().split('/').nth(1).map(str::to_owned));
        }
    }
    mistakes.extend(refused.into_iter().filter(|(name, _)| !told.contains(name)).map(|(_, why)| why));
    if mistakes.is_empty() {
        mistakes.push(parser);
    }
    let more = mistakes.len().saturating_sub(MOST_MISTAKES);
    mistakes.truncate(MOST_MISTAKES);
    if more > 0 {
        mistakes.push(format!("and {more} more"));
    }
    Fault::invalid(format!("{tool}: {}", mistakes.join("; "))).hint(hint)
}

/// One line with the arguments of a tool: `path, start_line, [end_line]`.
pub fn signature(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object().filter(|map| !map.is_empty()) else {
        return "no arguments".into();
    };
    let name =
        |name: &String| if required.contains(&name.as_str()) { name.clone() } else { format!("[{name}]") };
    properties.keys().map(name).collect::<Vec<_>>().join(", ")
}

/// Makes every object of a schema accept only the names it lists. The list of tools does not say so,
/// since it would repeat it for every tool.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(close);
            if map.get("properties").is_some_and(Value::is_object)
                && map.get("type") == Some(&"object".into())
            {
                map.entry("additionalProperties").or_insert(false.into());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}

fn describe(
    error: &jsonschema::ValidationError<'_>,
    schema: &Value,
    given: &Value,
    mistakes: &mut Vec<String>,
) {
    let place = error.instance_path().to_string();
    let field = if place.is_empty() {
        "arguments".to_owned()
    } else {
        format!("`{}`", place.trim_start_matches('/').replace('/', "."))
    };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = properties_at(schema, given, &place);
            // The hint lists the arguments of the tool itself; names of nested objects are listed once.
            let mut told = place.is_empty();
            for name in unexpected {
                let advice = match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None if std::mem::replace(&mut told, true) => String::new(),
                    None => format!("; known here: {}", known.join(", ")),
                };
                mistakes.push(format!("unknown argument `{name}`{advice}"));
            }
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let parent = if place.is_empty() { String::new() } else { format!(" in {field}") };
            mistakes.push(format!("missing argument `{name}`{parent}"));
        }
        ValidationErrorKind::Type { kind } => {
            let expected: Vec<String> = match kind {
                TypeKind::Single(one) => vec![one.to_string()],
                TypeKind::Multiple(many) => many.iter().map(|one| one.to_string()).collect(),
            };
            let fraction = error.instance().is_number() && expected.iter().any(|name| name == "integer");
            let expected = if fraction { "a whole number".to_owned() } else { expected.join(" or ") };
            mistakes.push(format!("{field} must be {expected}, got {}", shown(error.instance())));
        }
        ValidationErrorKind::Enum { .. }
        | ValidationErrorKind::Constant { .. }
        | ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfNotValid { .. } => {
            let got = error.instance();
            mistakes.push(match choices(schema, schema_at(schema, given, &place)) {
                Some(known) => {
                    let text = got.as_str().map(str::to_lowercase).unwrap_or_default();
                    let near = nearest(&text, known.iter().map(String::as_str));
                    let advice = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                    let got = if got.is_string() { short(got) } else { shown(got) };
                    format!("{field} must be one of {}, got {got}{advice}", known.join(", "))
                }
                None => format!("{field} does not fit, got {}", shown(got)),
            });
        }
        _ => mistakes.push(format!("{field}: {error}")),
    }
}

/// The names in the schema at a place of the instance.
fn properties_at(schema: &Value, given: &Value, place: &str) -> Vec<String> {
    let at = schema_at(schema, given, place);
    at["properties"].as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
}

/// The values that a schema lists, if it only lists values.
fn choices(schema: &Value, at: &Value) -> Option<Vec<String>> {
    let at = resolve(schema, at);
    let spelled = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(only) = at.get("const") {
        return Some(vec![spelled(only)]);
    }
    if let Some(values) = at["enum"].as_array() {
        return Some(values.iter().map(spelled).collect());
    }
    if at["type"] == "null" {
        return Some(Vec::new());
    }
    let kinds = at["oneOf"].as_array().or(at["anyOf"].as_array())?;
    let all: Option<Vec<_>> = kinds.iter().map(|kind| choices(schema, kind)).collect();
    all.map(|all| all.concat()).filter(|all| !all.is_empty())
}

/// The part of a schema for a place of the instance (only as deep as our tools nest).
fn schema_at<'s>(schema: &'s Value, given: &Value, place: &str) -> &'s Value {
    let mut at = schema;
    let mut value = given;
    for part in place.split('/').filter(|part| !part.is_empty()) {
        let below = if value.is_array() { &at["items"] } else { &at["properties"][part] };
        at = resolve(schema, below);
        value =
            if value.is_array() { value.get(part.parse::<usize>().unwrap_or(0)) } else { value.get(part) }
                .unwrap_or(&Value::Null);
    }
    at
}

/// The target of a schema's reference, or the part itself if it is not a reference.
pub(crate) fn resolve<'s>(schema: &'s Value, at: &'s Value) -> &'s Value {
    match at["$ref"].as_str().and_then(|reference| schema.pointer(reference.trim_start_matches('#'))) {
        Some(target) => target,
        None => at,
    }
}

/// A value in an error message: its type, and the value itself when that is short.
fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".into(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let text = value.to_string();
    if text.chars().count() <= 40 { format!("{kind} {text}") } else { kind.to_owned() }
}

/// A text in an error message, cut if it is long.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
