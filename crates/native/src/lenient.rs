//! Adapts what a model writes to what it means: other tools' names for an argument, numbers and lists
//! as text, null for an absent argument. Only if the intent is certain; everything else stays as it
//! came and is a mistake.

use serde_json::{Map, Value};

use crate::mistakes::resolve;

/// Our names, each with the names that other tools use for the same argument. A name is read as ours
/// only if the schema has ours and not that one. Earlier rows choose first.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("include", &["glob", "globs", "file_pattern", "include_pattern"]),
    ("pattern", &["query", "regex", "regexp", "glob", "search_pattern"]),
    ("name", &["symbol", "symbol_name", "identifier", "query"]),
    ("source", &["source_path", "old_path", "from_path", "src", "from", "path"]),
    ("destination", &["destination_path", "new_path", "to_path", "dest", "dst", "to", "target"]),
    ("path", &["file_path", "filename", "file", "directory", "dir_path", "dir", "folder", "target_file"]),
    ("old_string", &["old_str", "old_text", "old", "search", "find"]),
    ("new_string", &["new_str", "new_text", "new", "replace", "replacement"]),
    ("content", &["file_text", "contents", "text"]),
    ("new_content", &["content", "new_text", "new_string", "new_str", "text"]),
    ("offset", &["start_line", "first_line", "line_start", "start", "from"]),
    ("start_line", &["offset", "first_line", "line_start", "start"]),
    ("end_line", &["last_line", "line_end", "end"]),
    ("limit", &["max_results", "head_limit", "max_lines", "num_lines"]),
    ("from", &["cursor", "next", "offset"]),
    ("context", &["context_lines"]),
    ("max_depth", &["depth"]),
    ("call_id", &["undo_id", "undo", "id"]),
    ("todos", &["items", "tasks"]),
    ("edits", &["changes"]),
];

/// The changes that were made to the arguments.
#[derive(Debug, Default)]
pub(crate) struct Adapted {
    /// True if anything was changed.
    pub(crate) changed: bool,
    /// The given name and ours, each pair once.
    renamed: Vec<(String, String)>,
}

impl Adapted {
    /// The note for the reply: `[arguments read: file_path as path]`.
    pub(crate) fn note(&self) -> Option<String> {
        let pairs: Vec<String> =
            self.renamed.iter().map(|(given, ours)| format!("{given} as {ours}")).collect();
        (!pairs.is_empty()).then(|| format!("[arguments read: {}]", pairs.join(", ")))
    }
}

/// Rewrites arguments to fit the schema, wherever it is certain what they mean.
pub(crate) fn adapt(given: &mut Value, schema: &Value) -> Adapted {
    let mut adapted = Adapted::default();
    fit(given, schema, schema, &mut adapted);
    adapted
}

fn fit(value: &mut Value, at: &Value, schema: &Value, adapted: &mut Adapted) {
    let at = resolve(schema, at);
    if let Some(better) = converted(value, at, schema) {
        *value = better;
        adapted.changed = true;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| fit(item, &at["items"], schema, adapted)),
        Value::Object(map) => {
            let Some(known) = at["properties"].as_object() else { return };
            rename(map, known, adapted);
            drop_nulls(map, at, known, adapted);
            for (name, value) in map.iter_mut() {
                if let Some(at) = known.get(name) {
                    fit(value, at, schema, adapted);
                }
            }
        }
        _ => {}
    }
}

/// Renames arguments to the names in the schema. The same name in another spelling (`oldString`) needs
/// no row.
fn rename(map: &mut Map<String, Value>, known: &Map<String, Value>, adapted: &mut Adapted) {
    if map.keys().all(|name| known.contains_key(name)) {
        return;
    }
    known.keys().for_each(|ours| take(map, known, ours, &[ours], adapted));
    SYNONYMS.iter().for_each(|(ours, names)| take(map, known, ours, names, adapted));
}

/// Renames to `ours` the first of these names that is given and not in the schema.
fn take(
    map: &mut Map<String, Value>,
    known: &Map<String, Value>,
    ours: &str,
    names: &[&str],
    adapted: &mut Adapted,
) {
    if !known.contains_key(ours) || map.contains_key(ours) {
        return;
    }
    let there = |name: &&str| {
        let mut unknown = map.keys().filter(|given| !known.contains_key(given.as_str()));
        unknown.find(|given| bare(given) == bare(name)).cloned()
    };
    let Some(given) = names.iter().find_map(there) else { return };
    let value = map.remove(&given).unwrap_or_default();
    map.insert(ours.to_owned(), value);
    adapted.changed = true;
    let pair = (given, ours.to_owned());
    if !adapted.renamed.contains(&pair) {
        adapted.renamed.push(pair);
    }
}

/// A name without letter case and signs, to compare spellings.
fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Removes each null of an optional argument. Only the tool's own type defines what an absent argument means.
fn drop_nulls(map: &mut Map<String, Value>, at: &Value, known: &Map<String, Value>, adapted: &mut Adapted) {
    let required =
        |name: &str| at["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let before = map.len();
    map.retain(|name, value| !value.is_null() || required(name) || !known.contains_key(name));
    adapted.changed |= before > map.len();
}

/// A value converted to the type in the schema, if it is certain which one is meant.
fn converted(value: &Value, at: &Value, schema: &Value) -> Option<Value> {
    let takes = |kind: &str| match &at["type"] {
        Value::String(one) => one == kind,
        Value::Array(all) => all.iter().any(|one| one == kind),
        _ => false,
    };
    match value {
        // Some models write every number with a decimal point.
        Value::Number(number) if number.is_f64() && !takes("number") => whole(number.as_f64()?),
        Value::String(text) if !takes("string") => {
            let text = text.trim();
            if takes("integer") {
                return text.parse::<i64>().ok().map(Value::from);
            }
            if takes("boolean") {
                return text.to_ascii_lowercase().parse::<bool>().ok().map(Value::from);
            }
            let json = serde_json::from_str::<Value>(text).ok();
            if takes("object") {
                return json.filter(Value::is_object);
            }
            let words = resolve(schema, &at["items"])["type"] == "string";
            takes("array").then(|| match json.filter(Value::is_array) {
                Some(list) => Some(list),
                None => words.then(|| Value::Array(vec![value.clone()])),
            })?
        }
        Value::Object(_) if takes("array") => Some(Value::Array(vec![value.clone()])),
        _ => None,
    }
}

/// A number like `1.0` as `1`.
fn whole(float: f64) -> Option<Value> {
    /// Every whole number up to this one has its own floating-point form.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() != 0.0 || float.abs() >= EXACT {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
    let whole = float as i64;
    Some(whole.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "pattern": {"type": "string"},
                "include": {"type": "array", "items": {"type": "string"}},
                "limit": {"type": "integer"},
                "all": {"type": "boolean"},
                "slice": {"type": "object"},
                "offset": {"type": ["integer", "string"]},
                "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
            },
            "required": ["path"],
            "$defs": {"Edit": {"type": "object", "properties": {"old_string": {"type": "string"}}}},
        })
    }

    /// The adapted arguments, and the note about them.
    #[track_caller]
    fn check(mut given: Value, expect: Value, note: &str) {
        let adapted = adapt(&mut given, &schema());
        assert_eq!(given, expect);
        assert_eq!(adapted.note().unwrap_or_default(), note);
    }

    #[test]
    fn names_of_other_tools_are_read_as_ours() {
        check(
            json!({"filePath": "a", "query": "x", "glob": "*.rs"}),
            json!({"path": "a", "pattern": "x", "include": ["*.rs"]}),
            "[arguments read: glob as include, query as pattern, filePath as path]",
        );
        check(
            json!({"path": "a", "edits": [{"old_str": "1"}, {"old_str": "2"}]}),
            json!({"path": "a", "edits": [{"old_string": "1"}, {"old_string": "2"}]}),
            "[arguments read: old_str as old_string]",
        );
        // Our name is given too, so the other one is a mistake and stays.
        let both = json!({"path": "a", "file": "b", "strange": 1});
        check(both.clone(), both, "");
    }

    #[test]
    fn certain_values_are_converted_and_others_stay() {
        check(
            json!({"path": "a", "limit": "10", "all": "True", "slice": "{\"a\":1}", "include": "[\"x\"]"}),
            json!({"path": "a", "limit": 10, "all": true, "slice": {"a": 1}, "include": ["x"]}),
            "",
        );
        check(
            json!({"path": "a", "limit": 3.0, "offset": "1:5"}),
            json!({"path": "a", "limit": 3, "offset": "1:5"}),
            "",
        );
        check(json!({"edits": {"old_string": "x"}}), json!({"edits": [{"old_string": "x"}]}), "");
        for odd in [
            json!({"limit": "ten"}),
            json!({"limit": 1.5}),
            json!({"all": "yes"}),
            json!({"slice": "[]"}),
            json!({"path": 5}),
        ] {
            check(odd.clone(), odd, "");
        }
    }

    #[test]
    fn null_is_left_out_unless_it_must_be_given() {
        check(json!({"path": null, "limit": null, "odd": null}), json!({"path": null, "odd": null}), "");
    }
}
