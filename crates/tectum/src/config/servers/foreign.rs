//! The files of other programs, as they stand: one reader for every form they have.
//!
//! Fields nobody here knows are theirs and are passed over. What is wrong with one server is that
//! server's problem; the others of the file load.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_peers::spec::ServerName;
use toml::de::DeTable;

use super::{
    super::{
        file,
        form::{Field, Form, Written},
        place::{Lines, Origin, Problem},
        settings_text,
    },
    Entry, Source,
    contradictions::contradictions,
    entry::{Dialect, Place, Values},
    fields, json,
};

/// The largest file that is read: Claude keeps its servers beside its history.
const MAX_FILE: u64 = 64 << 20;
/// The most servers of one file; a house with more is a mistake, and each may become a process.
const MOST_SERVERS: usize = 256;
/// The names under which programs keep their servers.
const MAPS: [&str; 4] = ["mcpServers", "servers", "context_servers", "mcp_servers"];

/// The content of another program's file.
#[derive(Clone, Debug, Default)]
pub struct ForeignContent {
    /// Its servers, in order of precedence.
    pub entries: Vec<Entry>,
    /// The descriptions of the inputs it asks for, by id.
    pub inputs: BTreeMap<String, String>,
    /// Further files that were read for it.
    pub files: Vec<PathBuf>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Reads a file; `None` when there is none.
pub fn read(source: &Arc<Source>, directory: &Path) -> Result<Option<ForeignContent>, Problem> {
    match settings_text::read(&source.path, MAX_FILE) {
        Ok(text) => parse(source, text.strip_prefix('\u{feff}').unwrap_or(&text), directory).map(Some),
        Err(error) if settings_text::is_absent(&error) && !source.path.is_symlink() => Ok(None),
        Err(error) => Err(settings_text::unreadable(source.name.clone(), &error)),
    }
}

/// Reads a text: TOML by its name, JSON otherwise. `directory` is the one that is served.
pub fn parse(source: &Arc<Source>, text: &str, directory: &Path) -> Result<ForeignContent, Problem> {
    let is_toml = source.path.extension().is_some_and(|extension| extension == "toml");
    let project = directory.to_string_lossy();
    let top = if is_toml {
        from_toml(&source.name, text)?
    } else {
        json::read(&source.name, text, &|path| wanted(path, &project))?
    };
    let Form::Table(top) = top.form else {
        return Err(Problem::new(
            top.origin,
            format!("it contains {} instead of servers", top.form.described()),
        ));
    };
    let mut reading = ForeignReader { source, directory, content: ForeignContent::default() };
    reading.top(top, &project);
    Ok(reading.content)
}

/// Servers, what they ask for, and what Claude keeps for this directory; nothing else is kept.
fn wanted(path: &[String], project: &str) -> bool {
    let is_map = |name: &String| MAPS.contains(&name.as_str());
    match path {
        [first] => is_map(first) || ["inputs", "projects", "mcp"].contains(&first.as_str()),
        [first, second] if first == "projects" => second == project,
        [first, _, third] if first == "projects" => is_map(third),
        [first, second] if first == "mcp" => is_map(second) || second == "inputs",
        _ => true,
    }
}

fn from_toml(name: &Arc<str>, text: &str) -> Result<Written, Problem> {
    let lines = Lines::new(name, text);
    let (document, errors) = DeTable::parse_recoverable(text);
    if let Some(error) = errors.first() {
        let place = lines.place(error.span().map_or(0, |span| span.start));
        return Err(Problem::new(place, error.message().trim().replace('\n', "; ")));
    }
    let mut fields = file::fields(document.get_ref(), &|at| lines.place(at));
    fields.retain(|field| MAPS.contains(&field.name.as_str()));
    Ok(Written { origin: lines.place(0), form: Form::Table(fields) })
}

/// A file half read.
struct ForeignReader<'r> {
    source: &'r Arc<Source>,
    directory: &'r Path,
    content: ForeignContent,
}

impl ForeignReader<'_> {
    fn top(&mut self, mut top: Vec<Field>, project: &str) {
        // What Claude keeps for this very directory goes before what it keeps for all.
        if let Some(Form::Table(projects)) = take(&mut top, "projects")
            && let Some(Form::Table(fields)) =
                projects.into_iter().find(|field| field.name == project).map(|field| field.value.form)
        {
            self.maps(fields);
        }
        if let Some(Form::Table(fields)) = take(&mut top, "mcp") {
            self.maps(fields);
        }
        self.maps(top);
    }

    fn maps(&mut self, mut fields: Vec<Field>) {
        if let Some(Form::List(inputs)) = take(&mut fields, "inputs") {
            inputs.into_iter().for_each(|input| self.input(input));
        }
        for map in MAPS {
            match take(&mut fields, map) {
                Some(Form::Table(servers)) => {
                    for Field { name, origin, value } in servers {
                        self.server(name, origin, value);
                    }
                }
                Some(Form::List(servers)) => servers.into_iter().for_each(|server| self.listed(server)),
                Some(Form::Null) | None => {}
                Some(other) => {
                    let name = &self.source.name;
                    let got = other.described();
                    self.content
                        .notes
                        .push(format!("{name}: `{map}` is {got} instead of a table of servers"));
                }
            }
        }
    }

    fn input(&mut self, input: Written) {
        let Form::Table(mut fields) = input.form else { return };
        let id = take(&mut fields, "id");
        let words = take(&mut fields, "description");
        if let Some(Form::Text(id)) = id {
            let words = if let Some(Form::Text(words)) = words { words } else { String::new() };
            self.content.inputs.insert(id, words);
        }
    }

    /// An entry of a list, which carries its name inside.
    fn listed(&mut self, server: Written) {
        let origin = server.origin.clone();
        let name = match &server.form {
            Form::Table(fields) => fields.iter().find(|field| field.name == "name"),
            _ => None,
        };
        match name.map(|field| field.value.form.clone()) {
            Some(Form::Text(name)) => self.server(name, origin, server),
            _ => self.content.notes.push(format!(
                "{}: skipped a server without a name; give it a `name`",
                Problem::new(origin, "").to_string().trim_end_matches([':', ' '])
            )),
        }
    }

    fn server(&mut self, written: String, origin: Origin, value: Written) {
        let name = ServerName::adapted(&written);
        let place = &origin;
        if self.content.entries.len() >= MOST_SERVERS {
            if self.content.entries.len() == MOST_SERVERS
                && self.content.notes.iter().all(|note| !note.contains("more than"))
            {
                let file = &self.source.name;
                self.content
                    .notes
                    .push(format!("{file} has more than {MOST_SERVERS} servers; the rest are skipped"));
            }
            return;
        }
        if self.content.entries.iter().any(|entry| entry.name == name) {
            self.content.notes.push(format!("{place}: `{name}` is a duplicate; the first one is used"));
            return;
        }
        if name.as_str() != written {
            let shown = super::spoken::text(&written);
            self.content.notes.push(format!(
                "{place}: `{shown}` is called `{name}` here, because names consist of letters, digits, `-` and `_`"
            ));
        }
        let mut entry = Entry {
            name,
            written,
            origin,
            source: self.source.clone(),
            values: Values::default(),
            forward: Vec::new(),
            problem: None,
        };
        let mut problems = Vec::new();
        let found = match value.form {
            Form::Table(fields) => fields::translate(&mut entry, fields, self.directory, &mut problems),
            other => {
                let message = format!("`{}` must be a table, got {}", entry.name, other.described());
                problems.push(Problem::new(value.origin, message));
                fields::Found::default()
            }
        };
        self.content.files.extend(found.env_file);
        if let Some(why) = found.not_ours {
            self.content.notes.push(format!("{}: `{}` is skipped: {why}", entry.origin, entry.name));
            return;
        }
        if problems.is_empty() {
            problems.extend(contradictions(&entry));
        }
        if problems.is_empty() && !entry.is_whole() {
            let message = format!("`{}` has neither a `command` nor a `url`", entry.name);
            problems.push(Problem::new(entry.origin.clone(), message).hint("give it a `command` or a `url`"));
        }
        entry.problem = problems.into_iter().next();
        self.content.entries.push(entry);
    }
}

fn take(fields: &mut Vec<Field>, name: &str) -> Option<Form> {
    let at = fields.iter().position(|field| field.name == name)?;
    Some(fields.swap_remove(at).value.form)
}

impl Source {
    /// A file of another program. A folder such as `.cursor` is no place people start programs
    /// from: what is relative there starts beside the folder.
    pub fn foreign(path: &Path, name: Arc<str>, place: Place) -> Self {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let named = |folder: &Path, name: &str| folder.file_name().is_some_and(|own| own == name);
        let hidden = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let base = match folder.parent() {
            Some(parent) if hidden && place == Place::Project => parent,
            _ => folder,
        };
        let dialect = if named(folder, ".gemini") { Dialect::Gemini } else { Dialect::Plain };
        Self { path: path.to_owned(), name, place, ours: false, base: base.to_owned(), dialect }
    }
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
