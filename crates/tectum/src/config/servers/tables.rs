//! The `[servers.NAME]` tables of a `tectum.toml`: strict, since the file is ours.

use std::sync::Arc;

use tectum_peers::spec::ServerName;

use super::{
    super::{
        accept::Base,
        form::{Field, Form, Written},
        place::{Origin, Problem},
    },
    Entry, Source,
    contradictions::contradictions,
    entry::Values,
    keys,
};

/// Reads all tables of servers; every mistake is added to `problems`.
pub(in super::super) fn table(
    written: Written,
    source: &Arc<Source>,
    base: Base<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<Entry> {
    let fields = match written.form {
        Form::Table(fields) => fields,
        other => {
            let message =
                format!("`servers` must be a table with one table per server, got {}", other.described());
            problems.push(
                Problem::new(written.origin, message).hint("write [servers.NAME] on a line of its own"),
            );
            return Vec::new();
        }
    };
    fields.into_iter().filter_map(|field| one(field, source, base, problems)).collect()
}

fn one(field: Field, source: &Arc<Source>, base: Base<'_>, problems: &mut Vec<Problem>) -> Option<Entry> {
    let name = match ServerName::parse(&field.name) {
        Ok(name) => name,
        Err(why) => {
            problems.push(Problem::new(field.origin, why).hint("rename the table"));
            return None;
        }
    };
    let Form::Table(fields) = field.value.form else {
        let message = format!("`servers.{name}` is a table, got {}", field.value.form.described());
        let hint = format!("write [servers.{name}] on a line of its own");
        problems.push(Problem::new(field.origin, message).hint(hint));
        return None;
    };
    let before = problems.len();
    let values = values(&name, fields, base, problems);
    let entry = Entry {
        written: name.to_string(),
        name,
        origin: field.origin,
        source: source.clone(),
        values,
        forward: Vec::new(),
        problem: None,
    };
    if problems.len() == before {
        problems.extend(contradictions(&entry));
        problems.extend(misplaced(&entry));
    }
    (problems.len() == before).then_some(entry)
}

fn values(name: &ServerName, fields: Vec<Field>, base: Base<'_>, problems: &mut Vec<Problem>) -> Values {
    let mut values = Values::default();
    let mut found = Vec::new();
    for field in fields {
        let Some(key) = keys::KEYS.iter().find(|key| key.name == field.name) else {
            let known: Vec<&str> = keys::KEYS.iter().map(|key| key.name).collect();
            let place = format!("key in [servers.{name}]:");
            found.push(Problem::unknown(field.origin, &place, &field.name, &known));
            continue;
        };
        let origin = field.value.origin.clone();
        if let Some(value) = field.value.accept(key, base, &mut found) {
            values.set(key, value, origin);
        }
    }
    // The table of keys does not know which server it is read for.
    for problem in &mut found {
        problem.message = problem.message.replacen("servers.NAME.", &format!("servers.{name}."), 1);
    }
    problems.append(&mut found);
    values
}

/// Keys that mean nothing beside the others.
fn misplaced(entry: &Entry) -> Vec<Problem> {
    let values = &entry.values;
    let has = |key| values.get(key).is_some();
    let said = |key: &&'static super::super::keys::Key| values.origin(key).map(|at| (at.clone(), key.name));
    let tell = |(at, key): (Origin, &str), lacks: &str, hint: &str| {
        let message = format!("`servers.{}.{key}` {lacks}", entry.name);
        Problem::new(at, message).hint(hint)
    };
    if has(&keys::COMMAND) {
        let strays = keys::OF_URLS.iter().filter_map(said);
        return strays
            .map(|stray| tell(stray, "is for a server with a `url`", "remove it, or the command"))
            .collect();
    }
    if has(&keys::URL) {
        let strays = keys::OF_COMMANDS.iter().filter_map(said);
        return strays
            .map(|stray| tell(stray, "is for a server with a `command`", "remove it, or the url"))
            .collect();
    }
    if values.is_empty() {
        let message = format!("[servers.{}] says nothing", entry.name);
        return vec![
            Problem::new(entry.origin.clone(), message).hint("give a `command` or a `url`, or remove it"),
        ];
    }
    let strays = keys::IDENTITY.iter().filter_map(said);
    let lacks = "needs a `command` or a `url` beside it";
    strays.map(|stray| tell(stray, lacks, "add the `command` or the `url`")).collect()
}

/// The second server that goes without a prefix: names could mean two things then.
pub(in super::super) fn double_plain(entries: &[Entry]) -> Option<Problem> {
    let plain = |entry: &&Entry| {
        let flag = |key| entry.values.flag(key);
        flag(&keys::PREFIX) == Some(false) && flag(&keys::ENABLED) != Some(false)
    };
    let mut plain = entries.iter().filter(plain);
    let first = plain.next()?;
    let second = plain.find(|entry| entry.name != first.name)?;
    let origin = second.values.origin(&keys::PREFIX).unwrap_or(&second.origin).clone();
    let message = format!(
        "`servers.{}` and `servers.{}` both have prefix = false, and only one server may have no prefix",
        first.name, second.name
    );
    Some(Problem::new(origin, message).hint("remove it from one of them"))
}
