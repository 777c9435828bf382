//! The merged set-up, written out with the place every value came from.

use serde_json::{Map, json};

use super::{
    Config,
    keys::{self, Key, Shape},
    merged::{Merged, Setting},
    servers::{self, Entry, Survey, holding},
    value::{Item, Value, quoted},
};

/// The column where the comments begin, if the value leaves room.
const COMMENTS: usize = 44;
/// The keys of the workspace that are patterns of names.
const PATTERNS: &[&str] = &["read_only", "deny", "open"];

/// As TOML that reads back to the same set-up, as far as one file can say what two owners said. What
/// tables of servers say together is told by the survey of the same settings.
pub fn toml(config: &Config, survey: &Survey) -> String {
    let (mut text, merged) = (String::new(), config.merged());
    let entry = |key: &Key| {
        let remark = remark(config, key).map(|remark| format!("# {remark}\n"));
        entry(merged, key) + &remark.unwrap_or_default()
    };
    for key in keys::of_section("") {
        text.push_str(&entry(key));
    }
    for section in keys::sections() {
        let present = keys::of_section(section).filter(|key| key.stands_for.is_none());
        let entries: String = present.map(entry).collect();
        if !entries.is_empty() {
            text.push_str(&format!("\n[{section}]\n{entries}"));
        }
    }
    for held in holding::tables(merged, survey) {
        for origin in &held.elsewhere {
            text.push_str(&line(&format!("\n# [servers.{}] is also in", held.entry.name), origin));
        }
        text.push_str(&table(&held.entry));
    }
    text
}

/// The rules alone, as TOML for a place without the files that they come from: what may be called, and which
/// names are closed.
pub fn rules(config: &Config) -> String {
    let merged = config.merged();
    let named = |section: &str, key: &Key| section == "permissions" || PATTERNS.contains(&key.name);
    let mut text = String::new();
    for section in ["permissions", "workspace"] {
        let keys = keys::of_section(section).filter(|key| key.stands_for.is_none() && named(section, key));
        let entries: String = keys.map(|key| entry(merged, key)).collect();
        text.push_str(&format!("[{section}]\n{entries}\n"));
    }
    text
}

/// One table of a server. Values that may be secret are left out; their names are told.
fn table(server: &Entry) -> String {
    let mut text = line(&format!("\n[servers.{}]", server.name), &server.origin);
    for key in servers::keys::KEYS {
        let Some((value, origin)) = server.values.get(key) else { continue };
        text.push_str(&match &without_secrets(key, value) {
            Value::Table(_) => {
                let names = servers::spoken::text(&server.names(key).join(", "));
                line(&format!("# {} (values are not shown): {names}", key.name), origin)
            }
            Value::List(items) if items.is_empty() => line(&format!("{} = []", key.name), origin),
            Value::List(items) => list(key, items),
            value => line(&format!("{} = {}", key.name, scalar(key, value)), origin),
        });
    }
    text
}

/// The value as it may be shown: an address may hold a password, a command a token.
fn without_secrets(key: &Key, value: &Value) -> Value {
    match value {
        Value::Word(url) if *key == servers::keys::URL => Value::Word(servers::spoken::address(url)),
        Value::List(items) if *key == servers::keys::COMMAND || *key == servers::keys::ARGS => {
            let words: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
            let words = servers::spoken::redacted(&words).into_iter();
            Value::List(words.zip(items).map(|(text, item)| Item { text, ..item.clone() }).collect())
        }
        value => value.clone(),
    }
}

/// As JSON: for every key its value and where it came from.
pub fn json(config: &Config, survey: &Survey) -> serde_json::Value {
    let (mut tables, merged) = (Map::new(), config.merged());
    for key in keys::KEYS.iter().filter(|key| key.stands_for.is_none()) {
        let mut shown = match merged.get(key) {
            // An empty list says something where its absence says something else.
            None if matches!(key.shape, Shape::List { .. }) && key.unset.is_empty() => {
                json!({ "value": [], "origins": [] })
            }
            None if matches!(key.shape, Shape::List { .. }) => json!({ "value": null, "origins": [] }),
            None => json!({ "value": null, "origin": "default" }),
            Some(Setting { value: Value::List(items), .. }) => json!({
                "value": items.iter().map(|item| &item.text).collect::<Vec<_>>(),
                "origins": items.iter().map(|item| item.origin.to_string()).collect::<Vec<_>>(),
            }),
            Some(Setting { value, origin, .. }) => {
                json!({ "value": plain_json(value), "origin": origin.to_string() })
            }
        };
        if let Some(remark) = remark(config, key) {
            shown["remark"] = remark.into();
        }
        let table = match key.section {
            "" => &mut tables,
            section => match tables.entry(section).or_insert_with(|| json!({})) {
                serde_json::Value::Object(table) => table,
                _ => continue,
            },
        };
        table.insert(key.name.into(), shown);
    }
    let servers = holding::tables(merged, survey).into_iter();
    let servers = servers.map(|held| (held.entry.name.to_string(), table_json(&held.entry)));
    let table = tables.entry(servers::keys::TABLE).or_insert_with(|| json!({}));
    if let Some(table) = table.as_object_mut() {
        table.extend(servers);
    }
    tables.into()
}

/// Every key with its value, without the places where they were written and without the servers.
pub fn flat(config: &Config) -> serde_json::Value {
    let keys = keys::KEYS.iter().filter(|key| key.stands_for.is_none());
    let value = |key: &Key| config.merged().get(key).map(|setting| plain_json(&setting.value));
    let mut flat: Map<_, _> = keys.map(|key| (key.path(), json!(value(key)))).collect();
    flat.insert("directory".into(), json!(config.directory));
    flat.into()
}

/// The part of the project's file that the value does not show.
fn remark(config: &Config, key: &Key) -> Option<String> {
    if *key == keys::ALLOW && !config.permissions.consent.suffices() {
        return Some(
            "rules in the project's tectum.toml have no effect until you approve them: `tectum trust`".into(),
        );
    }
    let theirs = config.of_project().get(key)?;
    let narrows = *key == keys::INCLUDE_TOOLS && config.merged().get(key) != Some(theirs);
    narrows.then(|| format!("and of these only {} ({})", plainly(key, &theirs.value), theirs.origin))
}

fn table_json(server: &Entry) -> serde_json::Value {
    let mut table = Map::new();
    for key in servers::keys::KEYS {
        let Some((value, origin)) = server.values.get(key) else { continue };
        let value = plain_json(&without_secrets(key, value));
        table.insert(key.name.into(), json!({ "value": value, "origin": origin.to_string() }));
    }
    table.into()
}

fn entry(merged: &Merged, key: &Key) -> String {
    match merged.get(key) {
        Some(Setting { value: Value::List(items), .. }) if !items.is_empty() => list(key, items),
        // An empty list says something where its absence says something else.
        Some(Setting { value: Value::List(_), origin, .. }) if !key.unset.is_empty() => {
            line(&format!("{} = []", key.name), origin)
        }
        Some(Setting { value: Value::List(_), .. }) | None => match key.unset {
            "" => format!("# {} is not set\n", key.name),
            words => format!("# {} is not set: {words}\n", key.name),
        },
        Some(Setting { value: value @ Value::Table(_), origin, .. }) => {
            line(&format!("# {} (values are not shown): {}", key.name, plainly(key, value)), origin)
        }
        Some(Setting { value, origin, .. }) => {
            line(&format!("{} = {}", key.name, scalar(key, value)), origin)
        }
    }
}

fn list(key: &Key, items: &[Item]) -> String {
    if let [only] = items {
        return line(&format!("{} = [{}]", key.name, quoted(&only.text)), &only.origin);
    }
    let entries = items.iter().map(|item| line(&format!("  {},", quoted(&item.text)), &item.origin));
    format!("{} = [\n{}]\n", key.name, entries.collect::<String>())
}

fn line(text: &str, origin: &impl std::fmt::Display) -> String {
    let origin = servers::spoken::text(&origin.to_string());
    format!("{text:<width$}  # {origin}\n", width = COMMENTS - 2)
}

fn scalar(key: &Key, value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Number(bytes) if matches!(key.shape, Shape::Size { .. }) => size(*bytes),
        Value::Number(time) if matches!(key.shape, Shape::Span { .. }) => span(*time),
        Value::Number(number) => number.to_string(),
        Value::Word(word) => quoted(word),
        Value::List(_) | Value::Table(_) => String::new(),
    }
}

/// A value that is no secret, as people write it.
pub fn plainly(key: &Key, value: &Value) -> String {
    match value {
        Value::List(items) => items.iter().map(|item| quoted(&item.text)).collect::<Vec<_>>().join(", "),
        Value::Table(fields) => fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
        value => scalar(key, value).trim_matches('"').to_owned(),
    }
}

/// A value as JSON; of a table, the names.
pub fn plain_json(value: &Value) -> serde_json::Value {
    match value {
        Value::List(items) => json!(items.iter().map(|item| &item.text).collect::<Vec<_>>()),
        Value::Table(fields) => json!(fields.iter().map(|(name, _)| name).collect::<Vec<_>>()),
        value => scalar_json(value),
    }
}

fn scalar_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Flag(flag) => json!(flag),
        Value::Number(number) => json!(number),
        Value::Word(word) => json!(word),
        Value::List(_) | Value::Table(_) => json!(null),
    }
}

/// Bytes in the largest unit that divides them.
fn size(bytes: u64) -> String {
    for (unit, suffix) in [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")] {
        if bytes.is_multiple_of(unit) {
            return format!("\"{}{suffix}\"", bytes / unit);
        }
    }
    bytes.to_string()
}

/// A time in the largest unit that divides it.
pub(super) fn span(milliseconds: u64) -> String {
    for (unit, suffix) in [(3_600_000, "h"), (60_000, "m"), (1000, "s")] {
        if milliseconds.is_multiple_of(unit) {
            return format!("\"{}{suffix}\"", milliseconds / unit);
        }
    }
    format!("\"{milliseconds}ms\"")
}
