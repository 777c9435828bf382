//! A JSON Schema of `tectum.toml`, from the same table that reads it.

use serde_json::{Map, Value, json};

use tectum_peers::spec::ServerName;

use super::{
    keys::{self, Each, Key, Shape},
    servers,
};

/// The schema of the whole file.
pub fn schema() -> Value {
    let mut properties = Map::new();
    for key in keys::of_section("") {
        properties.insert(key.name.into(), of_key(key));
    }
    for section in keys::sections() {
        let keys: Map<String, Value> =
            keys::of_section(section).map(|key| (key.name.into(), of_key(key))).collect();
        let table = json!({ "type": "object", "properties": keys, "additionalProperties": false });
        match section.split_once('.') {
            // It comes behind the table that it stands in.
            Some((outer, name)) => properties[outer]["properties"][name] = table,
            None => drop(properties.insert(section.into(), table)),
        }
    }
    properties["attention"]["properties"]["reaction"] = reaction();
    let of_all: Map<String, Value> =
        keys::of_section(servers::keys::TABLE).map(|key| (key.name.into(), of_key(key))).collect();
    let servers: Map<String, Value> =
        servers::keys::KEYS.iter().map(|key| (key.name.into(), of_key(key))).collect();
    properties.insert(
        servers::keys::TABLE.into(),
        json!({
            "type": "object",
            "description": "Other MCP servers, each under its name. Without command and url, a table \
                changes the entry of that name in another file.",
            "properties": of_all,
            "propertyNames": { "pattern": "^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$", "maxLength": ServerName::MOST },
            "additionalProperties": {
                "type": "object", "properties": servers, "additionalProperties": false,
            },
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tectum.toml",
        "description": "Every key is optional; an empty file is safe.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn reaction() -> Value {
    json!({
        "type": "array",
        "description": "Calls that are made by themselves when an organ has news, through the same rules as every call.",
        "items": {
            "type": "object",
            "properties": {
                "when": { "type": "string", "minLength": 1, "description": "The organs, as a glob." },
                "call": { "type": "string", "minLength": 1, "description": "The tool." },
                "args": { "type": "object", "description": "Its arguments." },
                "every": { "type": ["string", "number"], "description": "The least time between two calls; 10 minutes." },
            },
            "required": ["when", "call"],
            "additionalProperties": false,
        },
    })
}

fn of_key(key: &Key) -> Value {
    let mut schema = match &key.shape {
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Count { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Size { least } => json!({ "anyOf": [
            { "type": "integer", "minimum": least },
            { "type": "string", "pattern": "^[0-9]+ ?([kK]|kB|KiB|[mM]|MB|MiB|[gG]|GB|GiB)?$" },
        ] }),
        Shape::Choice(words) => json!({ "type": "string", "enum": words }),
        Shape::Text | Shape::Path => json!({ "type": "string", "minLength": 1 }),
        Shape::Command => json!({ "anyOf": [
            { "type": "string", "minLength": 1 },
            { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        ] }),
        Shape::Table => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::Span { least, most } => json!({ "anyOf": [
            { "type": "number", "minimum": least, "maximum": most },
            { "type": "string", "pattern": "^[0-9]+ ?(ms|s|m|min|h)?$" },
        ] }),
        Shape::Address => json!({ "type": "string", "pattern": ":[0-9]+$" }),
        Shape::List { each, empty } => {
            let mut list = json!({ "type": "array", "items": of_entry(*each) });
            if empty.is_some() {
                list["minItems"] = json!(1);
            }
            list
        }
    };
    schema["description"] = json!(key.doc);
    if let Some(default) = default_of(key) {
        schema["default"] = default;
    }
    if key.stands_for.is_some() {
        schema["deprecated"] = json!(true);
    }
    schema
}

fn of_entry(each: Each) -> Value {
    match each {
        Each::Rule => json!({ "type": "string", "pattern": r"^[^()]+(\(.*\))?$" }),
        Each::Path | Each::Pattern | Each::Host | Each::Word => json!({ "type": "string", "minLength": 1 }),
        Each::Argument => json!({ "type": "string" }),
    }
}

fn default_of(key: &Key) -> Option<Value> {
    let text = key.default;
    if text.is_empty() {
        return None;
    }
    Some(match key.shape {
        Shape::Flag | Shape::Count { .. } => serde_json::from_str(text).ok()?,
        Shape::List { .. } => json!([text]),
        _ => json!(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(toml: &str, fits: bool) {
        let validator = jsonschema::validator_for(&schema()).expect("a schema");
        let file: toml::Table = toml::from_str(toml).expect("TOML");
        let file = serde_json::to_value(file).expect("JSON");
        assert_eq!(validator.is_valid(&file), fits, "{toml}");
    }

    #[test]
    fn the_schema_takes_what_the_reader_takes() {
        check("", true);
        check("[workspace]\nroots = []", true);
        check("version = 1\n[workspace]\nroots = [\".\"]\ndeny = [\"*.pem\"]\nsymlinks = \"never\"", true);
        check("[tools]\nmax_output = \"50k\"\n[files]\nmax_file = 4096", true);
        check("[permissions]\nallow = [\"read_*\", \"edit_file(src/**)\"]", true);
        check("[http]\nlisten = \"127.0.0.1:8999\"\n[mcp]\nenabled = false", true);
        check("[servers.git_hub]\ncommand = [\"npx\", \"-y\"]\nenv = { A = \"\" }\ntimeout = \"5m\"", true);
        check("[servers.a]\nurl = \"https://x\"\ntype = \"http\"\nstart_timeout = 2.5\nprefix = false", true);
        check("[federation]\nread = []\nexposure = \"core\"", true);
        check("[run]\nmodel = \"m\"\ntiers = \"t.toml\"\nmax_rounds = 40\nconcurrency = 1", true);
    }

    #[test]
    fn the_schema_refuses_what_the_reader_refuses() {
        check("version = 2", false);
        check("rooots = 1", false);
        check("[workspace]\ndeny = []", false);
        check("[workspace]\nrots = [\".\"]", false);
        check("[files]\ndurability = \"fast\"", false);
        check("[permissions]\ndeny = [\"edit_file(x\"]", false);
        check("[servers.a__b]\ncommand = \"x\"", false);
        check("[servers.a]\ncomand = \"x\"", false);
        check("[servers.a]\ncommand = []", false);
        check("[servers.a]\nenv = { A = 1 }", false);
        check("[servers.a]\ntimeout = \"soon\"", false);
        check("[federation]\nexposure = \"some\"", false);
        check("[run]\nmax_rounds = 0", false);
        check("[run]\ntiers = \"\"", false);
    }

    #[test]
    fn every_default_fits_its_own_schema() {
        for key in keys::KEYS {
            if let Some(default) = default_of(key) {
                assert!(jsonschema::is_valid(&of_key(key), &default), "{}", key.path());
            }
        }
    }
}
