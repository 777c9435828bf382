//! Arguments given as `key=value` words, turned into the JSON a tool's schema asks for.

use std::{
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use serde_json::{Map, Number, Value, value::RawValue};
use tectum::{
    Call, Fault, FaultKind, SessionId,
    core::{Provider, Snapshot, ToolInfo, nearest},
    native::signature,
};

/// The largest value taken from a file or from standard input, in bytes.
const MOST: u64 = 64 << 20;

/// A tool and who offers it.
pub(crate) fn tool<'s>(
    snapshot: &'s Snapshot,
    name: &str,
) -> Result<(&'s ToolInfo, &'s Arc<dyn Provider>), Fault> {
    let provider = snapshot.find(name)?;
    let info = snapshot.tool(name).ok_or_else(|| Fault::internal(format!("{name} has no description")))?;
    Ok((info, provider))
}

/// The arguments of a call, from `key=value` words or from one piece of JSON.
pub(crate) fn arguments(
    (info, provider): (&ToolInfo, &Arc<dyn Provider>),
    pairs: &[String],
    json: Option<&str>,
) -> Result<Map<String, Value>, Fault> {
    let Some(json) = json else { return from_pairs(info, &**provider, pairs) };
    let text = fetched(json).map_err(|fault| {
        fault.hint("give the arguments as JSON, or as @FILE with a file that can be read")
    })?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(args)) => Ok(args),
        Ok(_) => Err(Fault::invalid("--args must be a JSON object").hint(takes(info))),
        Err(error) => Err(Fault::invalid(format!("--args is not JSON: {error}")).hint(takes(info))),
    }
}

/// The same in the form a call carries.
pub(crate) fn raw(args: Map<String, Value>) -> Result<Box<RawValue>, Fault> {
    serde_json::value::to_raw_value(&args)
        .map_err(|error| Fault::internal(format!("the arguments are not JSON: {error}")))
}

fn from_pairs(
    info: &ToolInfo,
    provider: &dyn Provider,
    pairs: &[String],
) -> Result<Map<String, Value>, Fault> {
    let mut args = Map::new();
    let mut wrong = Vec::new();
    for pair in pairs {
        match from_pair(info, pair) {
            Ok((key, _)) if args.contains_key(key) => wrong.push(
                Fault::invalid(format!("`{key}` is given twice"))
                    .hint("give it once; lists are written as JSON"),
            ),
            Ok((key, value)) => drop(args.insert(key.to_owned(), value)),
            Err(fault) => wrong.push(fault),
        }
    }
    if wrong.is_empty() {
        return Ok(args);
    }
    wrong.extend(refused(info, provider, args)?);
    Err(together(info, pairs, wrong))
}

/// The objection of the tool itself to arguments that its schema takes.
fn refused(
    info: &ToolInfo,
    provider: &dyn Provider,
    args: Map<String, Value>,
) -> Result<Option<Fault>, Fault> {
    let Some(args) = filled(info, args) else { return Ok(None) };
    let call = Call::new(SessionId::new("cli"), &*info.name, raw(args)?);
    let fault = provider.prepare(&call).err().filter(|fault| fault.kind == FaultKind::InvalidInput);
    Ok(fault.map(|fault| match fault.message.strip_prefix(&format!("{}: ", info.name)) {
        Some(mistakes) => Fault::invalid(mistakes),
        None => fault,
    }))
}

/// Stands for a required argument that was left out; a call is never made with it.
pub(crate) const LEFT_OUT: &str = "\u{2026}";

/// The arguments with stand-ins for the required ones that are missing; none where one has no
/// stand-in.
pub(crate) fn filled(info: &ToolInfo, mut args: Map<String, Value>) -> Option<Map<String, Value>> {
    let schema = &info.input_schema;
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let property = &schema["properties"][name];
        let value = match property["type"].as_str() {
            _ if args.contains_key(name) => continue,
            Some("string") => property["enum"].get(0).cloned().unwrap_or_else(|| LEFT_OUT.into()),
            Some("integer" | "number") => 1.into(),
            Some("boolean") => false.into(),
            _ => return None,
        };
        args.insert(name.to_owned(), value);
    }
    Some(args)
}

fn from_pair<'p>(info: &ToolInfo, pair: &'p str) -> Result<(&'p str, Value), Fault> {
    let Some((key, text)) = pair.split_once('=') else {
        return Err(Fault::invalid(format!("`{pair}` is not an argument: write key=value")).hint(takes(info)));
    };
    let schema = info.input_schema["properties"].get(key).ok_or_else(|| unknown(info, key))?;
    let fetched = fetched(text).map_err(|fault| {
        fault.hint(format!("@FILE takes the value from a file; to pass the text itself, write {key}=@{text}"))
    })?;
    Ok((key, coerced(key, &fetched, &Kinds::of(schema, &info.input_schema))?))
}

/// All mistakes as one, with what is missing beside them. A single one stays as it is.
fn together(info: &ToolInfo, pairs: &[String], mut wrong: Vec<Fault>) -> Fault {
    let schema = &info.input_schema;
    let keys: Vec<&str> = pairs.iter().map(|pair| pair.split_once('=').map_or("", |(key, _)| key)).collect();
    // A word that no argument takes may be meant for the one that seems to be missing.
    if keys.iter().all(|key| schema["properties"].get(key).is_some()) {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing = required.filter(|name| !keys.contains(name));
        wrong.extend(missing.map(|name| Fault::invalid(format!("`{name}` is missing"))));
    }
    if wrong.len() == 1
        && let Some(only) = wrong.pop()
    {
        return only;
    }
    let hint = takes(info);
    let each = wrong.into_iter().map(|fault| match fault.hint.filter(|own| *own != hint) {
        Some(own) => format!("{} ({own})", fault.message),
        None => fault.message,
    });
    Fault::invalid(each.collect::<Vec<_>>().join("; ")).hint(hint)
}

/// `@file` and `@-` stand for what they hold, `@@x` for the text `@x`, anything else for itself.
/// Files are those of the person who typed the command, found from where it was typed.
fn fetched(text: &str) -> Result<String, Fault> {
    let Some(source) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    if source.starts_with('@') {
        return Ok(source.to_owned());
    }
    let result =
        if source == "-" { bounded(io::stdin().lock()) } else { open(Path::new(source)).and_then(bounded) };
    result.map_err(|error| {
        let what = if source == "-" { "standard input" } else { source };
        Fault::invalid(format!("cannot read {what}: {error}"))
    })
}

/// A file that was named on the command line.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the person who typed the command, not an agent's path"
)]
pub(crate) fn open(path: &Path) -> io::Result<std::fs::File> {
    std::fs::File::open(path)
}

/// The content of a source, if that is no more than a value may have.
pub(crate) fn bounded(source: impl Read) -> io::Result<String> {
    let mut text = String::new();
    source.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(io::Error::other(format!("it is larger than {MOST} bytes")));
    }
    Ok(text)
}

/// The kinds of values that a schema takes at one place.
#[derive(Debug, Default)]
struct Kinds {
    string: bool,
    integer: bool,
    number: bool,
    boolean: bool,
    array: bool,
    object: bool,
    null: bool,
}

impl Kinds {
    fn of(schema: &Value, root: &Value) -> Self {
        let mut kinds = Self::default();
        kinds.collect(schema, root, 0);
        kinds
    }

    fn collect(&mut self, schema: &Value, root: &Value, depth: u8) {
        // A schema that refers to itself ends here.
        if depth > 16 {
            return;
        }
        if let Some(target) = schema["$ref"].as_str().and_then(|at| root.pointer(at.trim_start_matches('#')))
        {
            self.collect(target, root, depth + 1);
        }
        for choice in
            ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|word| schema[word].as_array()).flatten()
        {
            self.collect(choice, root, depth + 1);
        }
        if schema["const"].is_string() {
            self.string = true;
        }
        match &schema["type"] {
            Value::String(kind) => self.add(kind),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).for_each(|kind| self.add(kind)),
            _ => {}
        }
    }

    fn add(&mut self, kind: &str) {
        match kind {
            "string" => self.string = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "boolean" => self.boolean = true,
            "array" => self.array = true,
            "object" => self.object = true,
            "null" => self.null = true,
            _ => {}
        }
    }

    fn words(&self) -> String {
        let all = [
            (self.integer, "an integer"),
            (self.number, "a number"),
            (self.boolean, "true or false"),
            (self.array, "a JSON list"),
            (self.object, "a JSON object"),
            (self.null, "null"),
            (self.string, "text"),
        ];
        all.into_iter().filter_map(|(taken, word)| taken.then_some(word)).collect::<Vec<_>>().join(" or ")
    }

    fn takes(&self, number: &Number) -> bool {
        self.number || (self.integer && !number.is_f64())
    }

    /// A schema that says nothing takes anything.
    fn any(&self) -> bool {
        self.words().is_empty()
    }
}

/// Text as the value the schema asks for. Where text is one of several choices it is the last.
fn coerced(key: &str, text: &str, kinds: &Kinds) -> Result<Value, Fault> {
    let word = text.trim();
    let opens_json = word.starts_with(['[', '{']);
    match serde_json::from_str::<Value>(word) {
        Ok(Value::Bool(flag)) if kinds.boolean => return Ok(flag.into()),
        Ok(Value::Null) if kinds.null => return Ok(Value::Null),
        Ok(Value::Number(number)) if kinds.takes(&number) => return Ok(number.into()),
        Ok(list @ Value::Array(_)) if kinds.array => return Ok(list),
        Ok(object @ Value::Object(_)) if kinds.object => return Ok(object),
        Ok(value) if kinds.any() => return Ok(value),
        Err(error) if opens_json && !kinds.string && (kinds.array || kinds.object) => {
            return Err(Fault::invalid(format!("`{key}` is not JSON: {error}")));
        }
        _ => {}
    }
    if kinds.string || kinds.any() {
        return Ok(text.into());
    }
    let shown: String = word.chars().take(40).collect();
    let fault = Fault::invalid(format!("`{key}` must be {}, got `{shown}`", kinds.words()));
    Err(if kinds.array { fault.hint(format!("write {key}='[{}]'", Value::from(shown))) } else { fault })
}

fn unknown(info: &ToolInfo, key: &str) -> Fault {
    let known = info.input_schema["properties"].as_object();
    let near = known.and_then(|known| nearest(key, known.keys().map(String::as_str)));
    let fault = Fault::invalid(format!("{} has no argument `{key}`", info.name));
    match near {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint(takes(info)),
    }
}

fn takes(info: &ToolInfo) -> String {
    format!("{} takes: {}", info.name, signature(&info.input_schema))
}

/// The purpose of a tool, and its arguments one by one.
pub(crate) fn manual(info: &ToolInfo) -> String {
    let schema = &*info.input_schema;
    let mut text =
        format!("{}\n\nUsage: tectum call {} [KEY=VALUE]...\n", info.description.trim(), info.name);
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else {
        return text + "\nIt takes no arguments.\n";
    };
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let widest = properties.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    text.push_str("\nArguments:\n");
    for (name, property) in properties {
        let kinds = Kinds::of(property, schema);
        let kind = if kinds.any() { "any JSON".into() } else { kinds.words() };
        let needed = if required(name) { ", required" } else { "" };
        text.push_str(&format!("  {name:<widest$}  {kind}{needed}\n"));
        for line in property["description"].as_str().unwrap_or_default().lines() {
            text.push_str(&format!("  {:<widest$}    {}\n", "", line.trim()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, text: &str, expect: Value) {
        assert_eq!(
            coerced("k", text, &Kinds::of(&schema, &schema)).expect(text),
            expect,
            "{text} for {schema}"
        );
    }

    fn refuse(schema: Value, text: &str, expect: &str) {
        let fault = coerced("k", text, &Kinds::of(&schema, &schema)).expect_err(text);
        assert_eq!(fault.message, expect);
    }

    #[test]
    fn the_schema_decides_what_a_word_is() {
        check(json!({ "type": "string" }), "5", json!("5"));
        check(json!({ "type": "string" }), " [x] ", json!(" [x] "));
        check(json!({ "type": "integer" }), "-5", json!(-5));
        check(json!({ "type": "number" }), "1.5", json!(1.5));
        check(json!({ "type": "boolean" }), "true", json!(true));
        check(json!({ "type": ["integer", "null"] }), "null", json!(null));
        check(json!({ "type": ["string", "null"] }), "text", json!("text"));
        check(json!({ "type": "array" }), r#"["a"]"#, json!(["a"]));
        check(json!({ "type": "object" }), r#"{"a":1}"#, json!({ "a": 1 }));
        check(json!({ "oneOf": [{ "const": "fast" }, { "const": "slow" }] }), "fast", json!("fast"));
        check(json!({ "anyOf": [{ "type": "array" }, { "type": "string" }] }), "[1", json!("[1"));
        check(json!({}), "7", json!(7));
        check(json!({}), "word", json!("word"));
    }

    #[test]
    fn references_are_followed_and_loops_end() {
        let root = json!({ "$defs": { "n": { "type": "integer" }, "loop": { "$ref": "#/$defs/loop" } } });
        let kinds = |at: &str| Kinds::of(&json!({ "anyOf": [{ "$ref": at }, { "type": "null" }] }), &root);
        assert!(kinds("#/$defs/n").integer);
        assert!(kinds("#/$defs/loop").null);
    }

    #[test]
    fn what_does_not_fit_is_told_what_would() {
        refuse(json!({ "type": "integer" }), "abc", "`k` must be an integer, got `abc`");
        refuse(json!({ "type": "integer" }), "1.5", "`k` must be an integer, got `1.5`");
        refuse(json!({ "type": "boolean" }), "yes", "`k` must be true or false, got `yes`");
        refuse(json!({ "type": "array" }), "a", "`k` must be a JSON list, got `a`");
        assert!(coerced("k", "[1", &Kinds::of(&json!({ "type": "array" }), &json!({}))).is_err());
    }

    #[test]
    fn an_at_sign_can_be_meant() {
        assert_eq!(fetched("@@x").expect("text"), "@x");
        assert_eq!(fetched("a@b").expect("text"), "a@b");
        assert!(
            fetched("@/nowhere/at/all")
                .expect_err("refused")
                .message
                .starts_with("cannot read /nowhere/at/all")
        );
    }
}
