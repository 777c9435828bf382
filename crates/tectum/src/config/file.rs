//! One `tectum.toml`, read into checked values; every mistake is reported, none is guessed away.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use toml::de::{DeTable, DeValue};

use super::{
    accept::Base,
    compose,
    form::{Field, Form, Written},
    keys::{self, Each, FromProject, Key, Merge, Shape},
    merged::{FileLayer, Setting},
    place::{Lines, Origin, Problem},
    reactions,
    servers::{self, Place, Source},
    value::Value,
};
use crate::state;

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The operator's own, or one named on the command line.
    Operator,
    /// The project's: whoever wrote the repository wrote it.
    Project,
}

/// A file of settings and its text.
#[derive(Debug)]
pub struct File<'f> {
    /// Its name for people.
    pub name: Arc<str>,
    /// Its content.
    pub text: &'f str,
    /// Whose it is.
    pub owner: Owner,
    /// Its path.
    pub path: &'f Path,
}

impl File<'_> {
    /// Reads all of it. Mistakes are added to `problems` in the order they stand.
    pub fn read(&self, base: Base<'_>, problems: &mut Vec<Problem>) -> FileLayer {
        let (document, errors) = DeTable::parse_recoverable(self.text);
        let mut reading = SettingsReader {
            file: self,
            lines: Lines::new(&self.name, self.text),
            base,
            content: FileLayer::default(),
            written: HashMap::new(),
            problems: Vec::new(),
        };
        for error in errors {
            reading.problems.push(broken(&error, self.text, &reading.lines));
        }
        reading.document(document.get_ref());
        // The parser sorts tables by name; people read from the top.
        reading.problems.sort_by_key(|problem| match problem.origin {
            Origin::File { line, column, .. } => (line, column),
            _ => (0, 0),
        });
        problems.extend(reading.problems);
        reading.content
    }

    fn source(&self) -> Source {
        let place = match self.owner {
            Owner::Operator => Place::Yours,
            Owner::Project => Place::Project,
        };
        Source::ours(self.path, self.name.clone(), place)
    }
}

/// The parser's error, with the key it is about.
fn broken(error: &toml::de::Error, text: &str, lines: &Lines<'_>) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let place = lines.place(span.start);
    let message = error.message().trim().replace('\n', "; ");
    match text.get(span).filter(|key| message == "duplicate key" && !key.is_empty()) {
        Some(key) => Problem::new(place, format!("duplicate key `{}`", key.trim())).hint("keep one of them"),
        None => Problem::new(place, message),
    }
}

/// A value of a TOML document, with the places of all it holds.
pub(super) fn written(value: &toml::Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> Origin) -> Written {
    let form = match value.get_ref() {
        DeValue::String(text) => Form::Text(text.clone().into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Form::Number(number),
            Err(_) => Form::Other("number that is too large"),
        },
        DeValue::Boolean(flag) => Form::Flag(*flag),
        DeValue::Array(list) => Form::List(list.iter().map(|one| written(one, place)).collect()),
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Form::Fraction(number),
            Err(_) => Form::Other("fraction"),
        },
        DeValue::Datetime(_) => Form::Other("date"),
        DeValue::Table(table) => Form::Table(fields(table, place)),
    };
    Written { origin: place(value.span().start), form }
}

pub(super) fn fields(table: &DeTable<'_>, place: &dyn Fn(usize) -> Origin) -> Vec<Field> {
    let field =
        |(name, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| Field {
            name: name.get_ref().to_string(),
            origin: place(name.span().start),
            value: written(value, place),
        };
    table.iter().map(field).collect()
}

/// A file half read.
struct SettingsReader<'f> {
    file: &'f File<'f>,
    lines: Lines<'f>,
    base: Base<'f>,
    content: FileLayer,
    /// The keys that were set so far, by the name that was used.
    written: HashMap<String, &'static Key>,
    problems: Vec<Problem>,
}

impl SettingsReader<'_> {
    fn document(&mut self, table: &DeTable<'_>) {
        let sections = keys::sections();
        for (name, value) in table {
            let place = self.lines.place(name.span().start);
            let name = &**name.get_ref();
            match value.get_ref() {
                _ if name == servers::keys::TABLE => {
                    let source = Arc::new(self.file.source());
                    let mut written = written(value, &|offset| self.lines.place(offset));
                    if let (DeValue::Table(table), Form::Table(fields)) = (value.get_ref(), &mut written.form)
                    {
                        // What is no table is no server: the settings that hold for all of them.
                        let is_table = |field: &Field| matches!(field.value.form, Form::Table(_));
                        fields.retain(|field| is_table(field) || !is_setting_of_servers(&field.name));
                        self.settings_of_servers(table);
                    }
                    let found = servers::table(written, &source, self.base, &mut self.problems);
                    self.content.servers.extend(found);
                }
                DeValue::Table(table) if sections.contains(&name) => self.section(name, table),
                _ if sections.contains(&name) => {
                    let message = format!("`{name}` is a table, got: {}", value.get_ref().type_str());
                    self.problems.push(
                        Problem::new(place, message).hint(format!("write [{name}] on a line of its own")),
                    );
                }
                _ => match keys::of_section("").find(|key| key.name == name) {
                    Some(key) => self.setting(key, value),
                    None => self.problems.push(stray(place, name, &sections)),
                },
            }
        }
    }

    fn settings_of_servers(&mut self, table: &DeTable<'_>) {
        let settings = keys::of_section(servers::keys::TABLE);
        let found: Vec<_> = settings.filter_map(|key| Some((key, table.get(key.name)?))).collect();
        for (key, value) in found {
            if !matches!(value.get_ref(), DeValue::Table(_)) {
                self.setting(key, value);
            }
        }
    }

    fn section(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let place = self.lines.place(name.span().start);
            let name = &**name.get_ref();
            let below = format!("{section}.{name}");
            if below == reactions::TABLE {
                let written = written(value, &|offset| self.lines.place(offset));
                self.content.reactions.extend(reactions::read(
                    written,
                    self.file.owner == Owner::Project,
                    &mut self.problems,
                ));
                continue;
            }
            if let (true, DeValue::Table(table)) = (keys::sections().contains(&&*below), value.get_ref()) {
                self.section(&below, table);
                continue;
            }
            match keys::of_section(section).find(|key| key.name == name) {
                None => {
                    let known: Vec<&str> = keys::of_section(section).map(|key| key.name).collect();
                    self.problems.push(Problem::unknown(
                        place,
                        &format!("key in [{section}]:"),
                        name,
                        &known,
                    ));
                }
                Some(key) => match key.project {
                    FromProject::Refused(must_not)
                        if self.file.owner == Owner::Project && key.stands_for.is_none() =>
                    {
                        let why = format!(
                            "is ignored in a project's file, because a repository must not {must_not}"
                        );
                        self.problems.push(for_the_operator(place, key, &why, ""));
                    }
                    _ => self.setting(key, value),
                },
            }
        }
    }

    fn setting(&mut self, key: &'static Key, value: &toml::Spanned<DeValue<'_>>) {
        let written = written(value, &|offset| self.lines.place(offset));
        let origin = written.origin.clone();
        let Some(value) = written.accept(key, self.base, &mut self.problems) else { return };
        if self.file.owner == Owner::Project
            && let (Shape::List { each: Each::Path, .. }, Value::List(items)) = (&key.shape, &value)
        {
            let outside = items.iter().filter(|item| !inside(&item.text, self.base.directory));
            let why = "in a project's file names a path outside the project, which only you may allow";
            self.problems.extend(outside.map(|item| {
                for_the_operator(item.origin.clone(), key, &format!("{why}: {}", item.text), "")
            }));
        }
        let setting = Setting::new(key, value, origin.clone());
        if self.file.owner == Owner::Project && compose::loosens(&setting) {
            let why = "would weaken your protection, and a project's file may only tighten it";
            self.problems.push(for_the_operator(origin, key, why, "leave it out, or "));
            return;
        }
        // Two names for one thing: only lists may be given by both.
        let other = self.written.insert(setting.key.path(), key);
        if let Some(other) = other.filter(|_| setting.key.merge == Merge::Last) {
            let (older, newer) = if key.stands_for.is_some() { (key, other) } else { (other, key) };
            let message = format!("`{}` and `{}` are the same setting", older.path(), newer.path());
            self.problems.push(Problem::new(origin, message).hint(format!("keep `{}`", newer.path())));
            return;
        }
        self.content.settings.push(setting);
    }
}

fn is_setting_of_servers(name: &str) -> bool {
    keys::of_section(servers::keys::TABLE).any(|key| key.name == name)
}

/// A name at the top that is neither a table nor a key; perhaps its table's line is missing.
fn stray(place: Origin, name: &str, sections: &[&str]) -> Problem {
    if let Some(key) = keys::KEYS.iter().find(|key| key.name == name) {
        return Problem::new(place, format!("unknown key `{name}` outside of any table"))
            .hint(format!("it belongs below [{}]", key.section));
    }
    let top = keys::of_section("").map(|key| key.name);
    let tables = sections.iter().copied().chain([servers::keys::TABLE]);
    Problem::unknown(place, "key", name, &top.chain(tables).collect::<Vec<_>>())
}

/// The problem of a setting that only the operator may make, with the place for it.
fn for_the_operator(place: Origin, key: &Key, why: &str, instead: &str) -> Problem {
    Problem::new(place, format!("`{}` {why}", key.path())).hint(format!(
        "{instead}put it in ~/.config/tectum/tectum.toml, in {} or in a file named with --config",
        key.variable()
    ))
}

/// True for what lies in the project also when links are followed, whether it is there yet or not.
fn inside(path: &str, project: &Path) -> bool {
    let path = state::canonical(Path::new(path));
    path.strip_prefix(state::canonical(project))
        .is_ok_and(|below| !below.components().any(|part| part == std::path::Component::ParentDir))
}

/// A path the way people write it: below the served directory, or below home with `~`.
pub fn shown(path: &Path, directory: &Path, home: Option<&Path>) -> Arc<str> {
    match path.strip_prefix(directory) {
        Ok(inside) if inside.as_os_str().is_empty() => return ".".into(),
        Ok(inside) => return inside.to_string_lossy().into(),
        Err(_) => {}
    }
    if let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) {
        return PathBuf::from("~").join(inside).to_string_lossy().into();
    }
    path.to_string_lossy().into()
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
