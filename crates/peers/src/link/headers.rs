//! Values that stand beside the body in the newer era: a tool's schema names arguments whose
//! values a server's intermediaries route by (`x-mcp-header`), and some values need a wrapping
//! to travel in a header at all.
//!
//! Deciding what becomes of a tool with wrong annotations is its caller's business: it is told.

use base64::Engine as _;
use serde_json::{Map, Value};

/// The key of an annotation.
const KEY: &str = "x-mcp-header";
/// The beginning of a header's name.
const PREFIX: &str = "Mcp-Param-";
/// The depth to which a schema may nest before its annotations count as unreadable.
const MOST_DEPTH: usize = 64;
/// The longest name an annotation may give: servers refuse long header names.
const MOST_NAME: usize = 128;

/// The headers of one call: what the tool's schema annotates and the arguments give.
pub(crate) fn of_call(schema: &str, arguments: &str) -> Vec<(String, String)> {
    // Nearly no tool has annotations; nothing is parsed for those without.
    if !schema.contains(KEY) {
        return Vec::new();
    }
    let (Ok(schema), Ok(arguments)) = (parsed(schema), parsed(arguments)) else { return Vec::new() };
    let Ok(annotations) = annotations(&schema) else { return Vec::new() };
    annotations
        .iter()
        .filter_map(|annotation| {
            let value = annotation.path.iter().try_fold(&arguments, |value, key| value.get(key))?;
            Some((format!("{PREFIX}{}", annotation.header), wrapped(&plain(value)?)))
        })
        .collect()
}

/// The schema of a tool's arguments, if it has annotations; empty otherwise.
pub(crate) fn annotated_schema(definition: &str) -> String {
    if !definition.contains(KEY) {
        return String::new();
    }
    let schema = crate::wire::object::Members::of(definition).and_then(|members| members.get("inputSchema"));
    schema.map(|schema| schema.get().to_owned()).unwrap_or_default()
}

/// Checks that a tool's annotations can be followed. The error is for the operator: such a tool
/// must not be offered, since its server would refuse every call.
pub(crate) fn check(schema: &str) -> Result<(), String> {
    if !schema.contains(KEY) {
        return Ok(());
    }
    annotations(&parsed(schema)?).map(drop)
}

/// A value as it may stand in a header: in Base64 where it would not survive as it is.
pub(crate) fn wrapped(value: &str) -> String {
    let visible = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let padded = value.starts_with(' ') || value.ends_with(' ');
    let looks_wrapped = value.starts_with("=?base64?") && value.ends_with("?=");
    if visible && !padded && !looks_wrapped {
        return value.to_owned();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value))
}

/// One annotated argument.
#[derive(Debug)]
struct Annotation<'s> {
    /// The names of properties that lead to it.
    path: Vec<&'s str>,
    header: &'s str,
}

fn parsed(json: &str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| format!("its input schema is no JSON: {error}"))
}

fn annotations(schema: &Value) -> Result<Vec<Annotation<'_>>, String> {
    let Some(root) = schema.as_object() else { return Ok(Vec::new()) };
    if root.contains_key(KEY) {
        return Err(format!("{KEY} stands at the root of the schema, not at a property"));
    }
    let mut found = Vec::new();
    collect(root, &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Walks the properties of properties; an annotation anywhere else has no one value to name.
fn collect<'s>(
    schema: &'s Map<String, Value>,
    path: &mut Vec<&'s str>,
    found: &mut Vec<Annotation<'s>>,
) -> Result<(), String> {
    if path.len() > MOST_DEPTH {
        return Err(format!("its schema nests deeper than {MOST_DEPTH} properties"));
    }
    for (key, value) in schema {
        match key.as_str() {
            "properties" => {}
            // Data, not schemas: a default value may have any key.
            KEY | "default" | "const" | "enum" | "examples" => continue,
            _ if annotated(value, 0) => {
                return Err(format!("{KEY} stands below `{key}`, where it names no one argument"));
            }
            _ => continue,
        }
        let Some(properties) = value.as_object() else { continue };
        for (name, property) in properties {
            let Some(property) = property.as_object() else { continue };
            path.push(name);
            if let Some(header) = property.get(KEY) {
                found.push(annotation(path, property, header, found)?);
            }
            collect(property, path, found)?;
            path.pop();
        }
    }
    Ok(())
}

fn annotation<'s>(
    path: &[&'s str],
    property: &Map<String, Value>,
    header: &'s Value,
    found: &[Annotation<'_>],
) -> Result<Annotation<'s>, String> {
    let wrong = |why: &str| format!("{KEY} of `{}` {why}", path.join("."));
    let header = header.as_str().ok_or_else(|| wrong("is no text"))?;
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if header.is_empty() || header.len() > MOST_NAME || !header.chars().all(token) {
        return Err(wrong("cannot stand in a header's name"));
    }
    if found.iter().any(|other| other.header.eq_ignore_ascii_case(header)) {
        return Err(wrong(&format!("names `{header}`, which another argument has")));
    }
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(Annotation { path: path.to_vec(), header }),
        _ => Err(wrong("stands at what is neither a string, an integer nor a boolean")),
    }
}

/// True when an annotation stands anywhere below.
fn annotated(value: &Value, depth: usize) -> bool {
    // Too deep to be seen through counts as annotated: it is refused, not overlooked.
    if depth > MOST_DEPTH {
        return true;
    }
    match value {
        Value::Array(items) => items.iter().any(|item| annotated(item, depth + 1)),
        Value::Object(members) => members.iter().any(|(key, value)| match key.as_str() {
            KEY => true,
            "default" | "const" | "enum" | "examples" => false,
            _ => annotated(value, depth + 1),
        }),
        _ => false,
    }
}

/// A value as text; only what is one word of JSON has such a form.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(schema: &str, why: &str) {
        let error = check(schema).expect_err(schema);
        assert!(error.contains(why), "{schema}: {error}");
        assert!(of_call(schema, r#"{"a":"x"}"#).is_empty());
    }

    #[test]
    fn annotated_arguments_become_headers() {
        let schema = r#"{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "count":{"type":"integer","x-mcp-header":"Count"},
            "dry":{"type":"boolean","x-mcp-header":"Dry"},
            "deep":{"type":"object","properties":{"id":{"type":"string","x-mcp-header":"Deep-Id"}}},
            "plain":{"type":"string","default":{"x-mcp-header":1}}}}"#;
        check(schema).expect("valid");
        let headers = |arguments: &str| {
            let headers = of_call(schema, arguments);
            headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
        };
        assert_eq!(
            headers(r#"{"region":"eu west","count":7,"dry":false,"deep":{"id":"a"},"plain":"x"}"#),
            [
                "Mcp-Param-Region: eu west",
                "Mcp-Param-Count: 7",
                "Mcp-Param-Dry: false",
                "Mcp-Param-Deep-Id: a"
            ]
        );
        assert_eq!(headers(r#"{"region":null,"count":[1],"deep":"no"}"#), [""; 0]);
        assert_eq!(headers("nonsense"), [""; 0]);
        assert_eq!(headers(r#"{"region":"Zürich"}"#), ["Mcp-Param-Region: =?base64?WsO8cmljaA==?="]);
    }

    #[test]
    fn values_that_would_not_survive_are_wrapped() {
        for same in ["", "plain", "a b", "=?base64?", "~!@#"] {
            assert_eq!(wrapped(same), same);
        }
        for (value, expect) in [
            (" a", "=?base64?IGE=?="),
            ("a ", "=?base64?YSA=?="),
            ("a\tb", "=?base64?YQli?="),
            ("a\r\nX: y", "=?base64?YQ0KWDogeQ==?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(wrapped(value), expect);
        }
    }

    #[test]
    fn annotations_that_cannot_be_followed_are_refused() {
        let property = |inner: &str| format!(r#"{{"properties":{{"a":{{{inner}}}}}}}"#);
        refused(r#"{"x-mcp-header":"A"}"#, "root");
        refused(&property(r#""type":"string","x-mcp-header":5"#), "no text");
        refused(&property(r#""type":"string","x-mcp-header":"""#), "cannot stand");
        refused(&property(r#""type":"string","x-mcp-header":"a b""#), "cannot stand");
        refused(&property(r#""type":"string","x-mcp-header":"a\r\nb""#), "cannot stand");
        refused(&property(r#""type":"number","x-mcp-header":"A""#), "neither");
        refused(&property(r#""type":"array","x-mcp-header":"A""#), "neither");
        refused(&property(r#""x-mcp-header":"A""#), "neither");
        refused(&property(r#""items":{"x-mcp-header":"A"}"#), "below `items`");
        refused(&property(r#""anyOf":[{"type":"string","x-mcp-header":"A"}]"#), "below `anyOf`");
        refused(r#"{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}"#, "below `$defs`");
        let twice = r#"{"properties":{"a":{"type":"string","x-mcp-header":"X"},
            "b":{"type":"string","x-mcp-header":"x"}}}"#;
        refused(twice, "another argument");
        check(r#"{"properties":{"x":{"type":"string"}}}"#).expect("no annotation, no mistake");
    }
}
