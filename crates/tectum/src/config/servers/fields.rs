//! One server of another program's file, translated: its names for things become ours.

use std::path::{Path, PathBuf};

use super::{
    super::{
        accept::Base,
        form::{Field, Form, Written},
        keys::Key,
        place::{Origin, Problem},
        settings_text,
        value::{Item, Value},
    },
    Entry,
    entry::Dialect,
    keys,
    variables::is_name,
};

/// The largest file of variables that is read.
const MAX_ENV_FILE: u64 = 1 << 20;

/// The other findings about an entry.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The file its variables are in.
    pub(super) env_file: Option<PathBuf>,
    /// The reason why it is no server that could be reached from here.
    pub(super) not_ours: Option<&'static str>,
}

/// Fills in an entry. Later names for one thing do not replace earlier ones.
pub(super) fn translate(
    entry: &mut Entry,
    fields: Vec<Field>,
    directory: &Path,
    problems: &mut Vec<Problem>,
) -> Found {
    let mut found = Found::default();
    let base = Base { directory, home: None };
    let gemini = entry.source.dialect == Dialect::Gemini;
    for Field { name, value, .. } in fields {
        if matches!(value.form, Form::Null) {
            continue;
        }
        let mut set = |key: &'static Key, value: Written| put(entry, key, value, base, problems);
        match name.as_str() {
            "command" => match value.form {
                Form::Table(parts) => {
                    // Zed once kept the whole command in one table.
                    for part in parts {
                        match part.name.as_str() {
                            "path" => set(&keys::COMMAND, part.value),
                            "args" => set(&keys::ARGS, part.value),
                            "env" => set(&keys::ENV, plain(part.value)),
                            _ => {}
                        }
                    }
                }
                _ => set(&keys::COMMAND, value),
            },
            "args" => set(&keys::ARGS, value),
            "env" => add(entry, &keys::ENV, value, base, problems),
            "cwd" => set(&keys::CWD, value),
            "url" | "serverUrl" => set(&keys::URL, value),
            "httpUrl" => {
                set(&keys::URL, value.clone());
                let form = Form::Text("http".into());
                set(&keys::TYPE, Written { form, ..value });
            }
            "type" | "transport" => match &value.form {
                // Programs have types of their own besides; what the entry holds decides then.
                Form::Text(word) if known_type(word) => set(&keys::TYPE, value),
                _ => {}
            },
            "headers" | "http_headers" => add(entry, &keys::HEADERS, value, base, problems),
            "enabled" => set(&keys::ENABLED, value),
            "disabled" => match value.form {
                Form::Flag(flag) => {
                    set(&keys::ENABLED, Written { form: Form::Flag(!flag), ..value });
                }
                _ => set(&keys::ENABLED, value),
            },
            "required" => set(&keys::REQUIRED, value),
            "startup_timeout_sec" => set(&keys::START_TIMEOUT, value),
            "startup_timeout_ms" => set(&keys::START_TIMEOUT, milliseconds(value)),
            "tool_timeout_sec" => set(&keys::TIMEOUT, value),
            "timeout" if gemini => set(&keys::TIMEOUT, milliseconds(value)),
            "enabled_tools" | "includeTools" => set(&keys::INCLUDE, value),
            "disabled_tools" | "excludeTools" | "disabledTools" => set(&keys::EXCLUDE, value),
            "env_vars" => forward(entry, value, problems),
            "bearer_token_env_var" => {
                header_from(entry, "Authorization", "Bearer ", value, problems);
            }
            "env_http_headers" => {
                if let Form::Table(headers) = value.form {
                    for field in headers {
                        header_from(entry, &field.name, "", field.value, problems);
                    }
                }
            }
            "envFile" => found.env_file = env_file(entry, value, directory, problems),
            "source" => {
                if matches!(&value.form, Form::Text(word) if word == "extension") {
                    found.not_ours = Some("an extension of another editor provides it");
                }
            }
            _ => {}
        }
    }
    if gemini
        && entry.values.get(&keys::TYPE).is_none()
        && let Some(origin) = entry.values.origin(&keys::URL).cloned()
    {
        entry.values.set(&keys::TYPE, Value::Word("sse".into()), origin);
    }
    found
}

fn known_type(word: &str) -> bool {
    matches!(word, "stdio" | "http" | "sse" | "streamable-http" | "streamable_http")
}

/// Checks a value against its key and keeps it.
fn put(entry: &mut Entry, key: &'static Key, value: Written, base: Base<'_>, problems: &mut Vec<Problem>) {
    let origin = value.origin.clone();
    let from = problems.len();
    if let Some(value) = value.accept(key, base, problems) {
        entry.values.set(key, value, origin);
    }
    for problem in &mut problems[from..] {
        problem.message = problem.message.replacen("servers.NAME.", &format!("{}.", entry.name), 1);
    }
}

/// Adds a table to what an earlier field said.
fn add(entry: &mut Entry, key: &'static Key, value: Written, base: Base<'_>, problems: &mut Vec<Problem>) {
    let earlier = entry.values.unset(key);
    put(entry, key, plain(value), base, problems);
    join(entry, key, earlier);
}

/// Adds what an earlier field said to a table; the later one's names count.
fn join(entry: &mut Entry, key: &'static Key, earlier: Option<(Value, Origin)>) {
    let Some((Value::Table(earlier), origin)) = earlier else { return };
    let mut fields = entry.values.table(key).to_vec();
    for (name, item) in earlier {
        if fields.iter().all(|(own, _)| *own != name) {
            fields.push((name, item));
        }
    }
    entry.values.set(key, Value::Table(fields), origin);
}

/// A table whose numbers and flags are texts, as several programs take them, and null is absence.
fn plain(value: Written) -> Written {
    let Form::Table(fields) = value.form else { return value };
    let fields = fields.into_iter().filter_map(|mut field| {
        field.value.form = match field.value.form {
            Form::Null => return None,
            Form::Number(number) => Form::Text(number.to_string()),
            Form::Fraction(number) => Form::Text(number.to_string()),
            Form::Flag(flag) => Form::Text(flag.to_string()),
            other => other,
        };
        Some(field)
    });
    Written { form: Form::Table(fields.collect()), ..value }
}

fn milliseconds(value: Written) -> Written {
    let form = match value.form {
        Form::Number(number) => Form::Text(format!("{number}ms")),
        other => other,
    };
    Written { form, ..value }
}

/// Variables that are passed on under their own names.
fn forward(entry: &mut Entry, value: Written, problems: &mut Vec<Problem>) {
    let Form::List(list) = value.form else {
        let message = format!("`{}.env_vars` must be a list of names", entry.name);
        problems.push(Problem::new(value.origin, message));
        return;
    };
    for one in list {
        let name = match one.form {
            Form::Text(name) => Some(name),
            Form::Table(fields) => fields
                .into_iter()
                .find(|field| field.name == "name")
                .and_then(|field| if let Form::Text(name) = field.value.form { Some(name) } else { None }),
            _ => None,
        };
        match name.filter(|name| is_name(name)) {
            Some(name) => entry.forward.push(name),
            None => {
                let message = format!("`{}.env_vars` has an entry that is not a variable name", entry.name);
                problems.push(Problem::new(one.origin, message));
            }
        }
    }
}

/// A header whose value is a variable's.
fn header_from(entry: &mut Entry, header: &str, before: &str, value: Written, problems: &mut Vec<Problem>) {
    let origin = value.origin;
    let variable = if let Form::Text(name) = value.form { Some(name) } else { None };
    let Some(variable) = variable.filter(|name| is_name(name)) else {
        let message = format!("`{}` has no variable for the header {header}", entry.name);
        problems.push(Problem::new(origin, message));
        return;
    };
    let item = Item { text: format!("{before}${{env:{variable}}}"), origin: origin.clone() };
    let mut fields = entry.values.table(&keys::HEADERS).to_vec();
    fields.retain(|(name, _)| !name.eq_ignore_ascii_case(header));
    fields.push((header.to_owned(), item));
    entry.values.set(&keys::HEADERS, Value::Table(fields), origin);
}

/// Reads the file that `envFile` names: its variables become part of the entry, so that a change
/// there is a change of the entry.
fn env_file(
    entry: &mut Entry,
    value: Written,
    directory: &Path,
    problems: &mut Vec<Problem>,
) -> Option<PathBuf> {
    let origin = value.origin;
    let Form::Text(text) = value.form else {
        problems.push(Problem::new(origin, format!("`{}.envFile` must be the name of a file", entry.name)));
        return None;
    };
    let text = text.replace("${workspaceFolder}", &directory.to_string_lossy());
    let path = entry.source.base.join(text);
    let read = match settings_text::read(&path, MAX_ENV_FILE) {
        Ok(read) => read,
        Err(error) => {
            let message = format!("`{}` takes its variables from {}: {error}", entry.name, path.display());
            problems.push(Problem::new(origin, message).hint("write that file, or remove `envFile`"));
            return Some(path);
        }
    };
    let mut fields = Vec::new();
    for line in read.lines() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, text)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
        let text = text.trim();
        let inner = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        let text = inner('"').or_else(|| inner('\'')).unwrap_or(text);
        // What such a file holds is meant as it stands.
        let text = text.replace("${", "$${");
        fields.push((name.trim().to_owned(), Item { text, origin: origin.clone() }));
    }
    let earlier = (Value::Table(fields), origin.clone());
    if entry.values.get(&keys::ENV).is_none() {
        entry.values.set(&keys::ENV, Value::Table(Vec::new()), origin);
    }
    join(entry, &keys::ENV, Some(earlier));
    Some(path)
}
