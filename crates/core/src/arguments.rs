//! Turning a call's JSON into a tool's typed arguments.
//!
//! The good case is one pass of serde. Only when that fails is the schema asked what is wrong
//! (`mistakes.rs`).

use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};

use crate::{
    Fault,
    mistakes::{explain, resolve},
};

/// Parses the arguments of `tool`.
pub fn parse<T: DeserializeOwned>(tool: &str, raw: &RawValue, schema: &Value) -> Result<T, Fault> {
    let mut json = serde_json::Deserializer::from_str(raw.get());
    let error = match serde_path_to_error::deserialize(&mut json) {
        Ok(args) => return Ok(args),
        Err(error) => error,
    };
    // Some models write every number with a point, and null for what they leave out.
    let mut given = serde_json::from_str::<Value>(raw.get()).ok();
    if let Some(given) = &mut given
        && write_whole(given) | drop_nulls(given, schema, schema)
        && let Ok(args) = T::deserialize(&*given)
    {
        return Ok(args);
    }
    let said = error.inner().to_string();
    // Where in the text it stopped helps nobody who wrote no text.
    let said = said.rfind(" at line ").map_or(said.as_str(), |end| &said[..end]);
    let parser = match error.path().to_string().as_str() {
        "." => said.to_owned(),
        field if said.starts_with("invalid type: floating point") && !said.ends_with("string") => {
            format!("`{field}` must be a whole number, and none so large")
        }
        field => format!("`{field}`: {said}"),
    };
    Err(explain(tool, given, schema, &parser))
}

/// Takes away each null that stands for an argument which need not be given; true when there was
/// one. What it means to leave one out is said in one place, the tool's own type.
fn drop_nulls(value: &mut Value, at: &Value, schema: &Value) -> bool {
    let at = resolve(schema, at);
    match value {
        Value::Array(items) => {
            items.iter_mut().fold(false, |any, item| drop_nulls(item, &at["items"], schema) | any)
        }
        Value::Object(map) => {
            let required =
                |name: &str| at["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
            let before = map.len();
            map.retain(|name, value| {
                !value.is_null() || required(name) || at["properties"].get(name).is_none()
            });
            let below = |any, (name, value): (&String, &mut Value)| {
                drop_nulls(value, &at["properties"][name.as_str()], schema) | any
            };
            let dropped = before > map.len();
            map.iter_mut().fold(dropped, below)
        }
        _ => false,
    }
}

/// Writes each number like `1.0` as `1`; true when there was one.
fn write_whole(value: &mut Value) -> bool {
    /// Up to here every whole number has its own floating-point form.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let Some(float) = number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < EXACT) else {
                return false;
            };
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
            let whole = float as i64;
            *value = whole.into();
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| write_whole(item) | any),
        Value::Object(map) => map.values_mut().fold(false, |any, item| write_whole(item) | any),
        _ => false,
    }
}

/// The nearest known name, if one is near enough to be meant; letter case makes no difference. One
/// that shares no letter is not, however short both are.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known
        .into_iter()
        .map(|near| (strsim::damerau_levenshtein(&name.to_lowercase(), &near.to_lowercase()), near))
        .filter(|(distance, near)| {
            let longer = near.len().max(name.len());
            *distance <= (longer / 3).max(1) && *distance < longer
        })
        .min()
        .map(|(_, near)| near)
        .or(None)
}

/// One line saying what a tool takes: `path, start_line, [end_line]`.
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

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only their parsing is looked at")]
    struct Args {
        path: String,
        start_line: Option<u64>,
        edits: Vec<Edit>,
        case: Option<Case>,
        #[serde(default)]
        exact: bool,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Case {
        /// As it stands.
        Sensitive,
        /// Either way.
        Insensitive,
        Smart,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its parsing is looked at")]
    struct Edit {
        old: String,
        #[serde(default)]
        all: bool,
    }

    fn parsed(json: &str) -> Result<Args, Fault> {
        let schema = schemars::generate::SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<Args>();
        let raw = RawValue::from_string(json.into()).expect("JSON");
        parse("edit", &raw, schema.as_value())
    }

    fn check(json: &str, expect: &[&str]) {
        let fault = parsed(json).expect_err("refused");
        assert!(!fault.message.contains("column"), "{}", fault.message);
        for part in expect {
            assert!(fault.message.contains(part), "`{part}` not in `{}`", fault.message);
        }
        assert_eq!(fault.hint.as_deref(), Some("edit takes: path, [start_line], edits, [case], [exact]"));
    }

    #[test]
    fn all_mistakes_are_named_at_once() {
        check(
            r#"{"pth":"a","start_line":"5","edits":[{"odl":"x"}]}"#,
            &[
                "unknown argument `pth`; did you mean `path`?",
                "missing argument `path`",
                "`start_line` must be",
                r#"got string "5""#,
                "unknown argument `odl`; did you mean `old`?",
                "missing argument `old` in `edits.0`",
            ],
        );
    }

    #[test]
    fn a_name_that_shares_nothing_is_not_the_one_that_was_meant() {
        assert_eq!(nearest("s", ["d"]), None);
        assert_eq!(nearest("", ["d"]), None);
        assert_eq!(nearest("ab", ["ac", "xy"]), Some("ac"));
    }

    #[test]
    fn a_choice_is_told_with_all_its_values() {
        let all = "`case` must be one of ";
        check(r#"{"path":"a","edits":[],"case":"Foo"}"#, &[all, "sensitive", "smart", r#", got "Foo""#]);
        check(r#"{"path":"a","edits":[],"case":"Smrt"}"#, &[all, "; did you mean `smart`?"]);
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let args = parsed(r#"{"path":"a","edits":[],"start_line":3.0}"#).expect("fits");
        assert_eq!(args.start_line, Some(3));
        for number in ["1.5", "1e30"] {
            let json = format!(r#"{{"path":"a","edits":[],"start_line":{number}}}"#);
            check(&json, &["`start_line` must be a whole number"]);
        }
    }

    #[test]
    fn null_is_what_was_left_out() {
        let args = parsed(r#"{"path":"a","edits":[{"old":"x","all":null}],"exact":null,"case":null}"#)
            .expect("fits");
        assert!(!args.exact && !args.edits[0].all);
        check(
            r#"{"path":null,"edits":[{"old":null,"all":null}],"exact":null}"#,
            &["`path` must be string, got null", "`edits.0.old` must be string"],
        );
        check(r#"{"path":"a","edits":[],"strange":null}"#, &["unknown argument `strange`"]);
        let fault = parsed(r#"{"path":"a","edits":[],"exact":null,"odd":1}"#).expect_err("refused");
        assert_eq!(fault.message, "edit: unknown argument `odd`", "what null means is no mistake");
    }

    #[test]
    fn what_is_known_is_said_once() {
        let fault = parsed(r#"{"path":"a","edits":[{"old":"x","one":1,"two":2}],"three":3,"four":4}"#)
            .expect_err("refused");
        assert_eq!(fault.text().matches("known here").count(), 1, "{}", fault.text());
        assert_eq!(fault.text().matches("start_line").count(), 1, "{}", fault.text());
    }

    #[test]
    fn what_is_no_object_or_too_deep_is_said_plainly() {
        check("[]", &["must be object, got array []"]);
        let deep = format!(r#"{{"path":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        check(&deep, &["nested too deeply"]);
    }
}
