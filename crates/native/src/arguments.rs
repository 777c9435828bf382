//! Parses a call's JSON into a tool's typed arguments.
//!
//! The good case is one pass of serde. Only if that fails does the schema tell what was meant
//! (`lenient.rs`), and after that what is wrong (`mistakes.rs`).

use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};
use serde_path_to_error::Segment;
use tectum_core::Fault;

use crate::{lenient, mistakes::explain};

/// Arguments that fit, and a note about those that were renamed.
#[derive(Debug)]
pub(crate) struct Parsed<T> {
    /// The arguments.
    pub(crate) args: T,
    /// The note in the reply about names that were read as others.
    pub(crate) note: Option<String>,
}

/// Parses the arguments of `tool`.
pub(crate) fn parse<T: DeserializeOwned>(
    tool: &str,
    raw: &RawValue,
    schema: &Value,
) -> Result<Parsed<T>, Fault> {
    let mut json = serde_json::Deserializer::from_str(raw.get());
    let error = match serde_path_to_error::deserialize(&mut json) {
        Ok(args) => return Ok(Parsed { args, note: None }),
        Err(error) => error,
    };
    let mut given = serde_json::from_str::<Value>(raw.get()).ok();
    let mut parser = said(&error);
    let mut refused = Vec::new();
    if let Some(given) = &mut given {
        let adapted = lenient::adapt(given, schema);
        if adapted.changed {
            match serde_path_to_error::deserialize(&*given) {
                Ok(args) => return Ok(Parsed { args, note: adapted.note() }),
                Err(error) => parser = said(&error),
            }
        }
        refused = refusals::<T>(given.clone(), schema);
    }
    Err(explain(tool, given, schema, refused, parser))
}

/// The arguments whose values the parser refuses, with what it says. It stops at the first one, so
/// each is taken out before the next is looked for.
fn refusals<T: DeserializeOwned>(mut given: Value, schema: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Some(args) = given.as_object_mut() {
        args.retain(|name, _| schema["properties"].get(name).is_some());
    }
    while let Err(error) = serde_path_to_error::deserialize::<_, T>(&given) {
        let Some(Segment::Map { key }) = error.path().iter().next() else { break };
        if given.as_object_mut().and_then(|args| args.remove(key)).is_none() {
            break;
        }
        found.push((key.clone(), said(&error)));
    }
    found
}

/// The parser's message, with the field's name.
fn said(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let said = error.inner().to_string();
    // The position in the text helps nobody: the model did not write the text.
    let said = said.rfind(" at line ").map_or(said.as_str(), |end| &said[..end]);
    match error.path().to_string().as_str() {
        "." => said.to_owned(),
        field if said.starts_with("invalid type: floating point") && !said.ends_with("string") => {
            format!("`{field}` must be a whole number in range")
        }
        field => format!("`{field}`: {said}"),
    }
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
        parse("edit", &raw, schema.as_value()).map(|parsed| parsed.args)
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
            r#"{"pth":"a","start_line":"five","edits":[{"odl":"x"}]}"#,
            &[
                "unknown argument `pth`; did you mean `path`?",
                "missing argument `path`",
                "`start_line` must be",
                r#"got string "five""#,
                "unknown argument `odl`; did you mean `old`?",
                "missing argument `old` in `edits.0`",
            ],
        );
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
