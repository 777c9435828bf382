//! Changes to a `tectum.toml` that leave everything else as its author wrote it: comments, order,
//! spelling. Files of other programs are never changed.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::{
    super::{
        accept::Base,
        file::{File, Owner},
        keys::Shape,
        place::{Origin, Problem, Problems},
        settings_text, show,
        value::Value,
    },
    Entry,
    ends::{MARK, with_ends_of},
    entry::Dialect,
    keys,
};

/// The largest file that is changed; a larger one is not read, either.
const MAX_FILE: u64 = 1 << 20;
/// The mode of a file that is made: values of variables may stand in it.
const MODE: u32 = 0o600;
/// The text in place of a value that may be secret.
const HIDDEN: &str = "(hidden)";

/// A file with changes that are not written yet.
#[derive(Debug)]
pub struct Draft {
    /// Its path.
    pub path: PathBuf,
    /// Its name for people.
    pub name: Arc<str>,
    owner: Owner,
    before: String,
    document: DocumentMut,
}

impl Draft {
    /// Opens a file, or begins one.
    pub fn open(path: &Path, name: Arc<str>, owner: Owner) -> Result<Self, Problems> {
        let place = |offset, text: &str| Origin::in_file(&name, text, offset);
        let before = match settings_text::read(path, MAX_FILE) {
            Ok(text) => text,
            Err(error) if settings_text::is_absent(&error) && !path.is_symlink() => String::new(),
            Err(error) => {
                return Err(Problems(vec![settings_text::unreadable(name.clone(), &error)]));
            }
        };
        let document = before.parse::<DocumentMut>().map_err(|error| {
            let at = place(error.span().map_or(0, |span| span.start), &before);
            Problems(vec![Problem::new(at, error.message().trim().replace('\n', "; "))])
        })?;
        Ok(Self { path: path.to_owned(), name, owner, before, document })
    }

    /// True if it has a table of this server.
    pub fn has(&self, server: &str) -> bool {
        self.servers().is_some_and(|servers| servers.contains_key(server))
    }

    /// Adds the table of a server, or replaces it.
    pub fn put(&mut self, entry: &Entry) {
        let mut table = Table::new();
        // Variables that are handed on stand beside those with a value of their own, if any have.
        let handed_on = (!entry.forward.is_empty()).then_some(Value::Table(Vec::new()));
        for key in keys::KEYS {
            let none = handed_on.as_ref().filter(|_| **key == keys::ENV);
            if let Some(said) = entry.values.get(key).map(|(said, _)| said).or(none) {
                table.insert(key.name, written(entry, key, said));
            }
        }
        if let Some(servers) = self.servers_mut() {
            servers.insert(entry.name.as_str(), Item::Table(table));
        }
    }

    /// Removes the table of a server. A remark right above it goes with it, others stay.
    pub fn remove(&mut self, server: &str) -> bool {
        let Some(servers) = self.document.get_mut(keys::TABLE).and_then(Item::as_table_like_mut) else {
            return false;
        };
        let Some(removed) = servers.remove(server) else { return false };
        if servers.is_empty() && self.document[keys::TABLE].as_table().is_none_or(Table::is_implicit) {
            self.document.remove(keys::TABLE);
        }
        if let Some(table) = removed.as_table()
            && let Some(text) = table.decor().prefix().and_then(|prefix| prefix.as_str())
            && let Some(end) = text.rfind("\n\n")
        {
            let stays = text[..=end].to_owned();
            self.hand_on(&stays, table.position());
        }
        true
    }

    /// Says whether a server is used; `None` takes the word back, and the table with it when
    /// nothing else stands there.
    pub fn enable(&mut self, server: &str, enabled: Option<bool>) {
        let Some(servers) = self.servers_mut() else { return };
        if servers.get(server).is_none() {
            servers.insert(server, Item::Table(Table::new()));
        }
        let Some(table) = servers.get_mut(server).and_then(Item::as_table_like_mut) else { return };
        match (enabled, table.get_mut(keys::ENABLED.name)) {
            // The value alone is exchanged, so that a remark behind it stays.
            (Some(enabled), Some(held)) if held.is_value() => {
                if let Some(held) = held.as_value_mut() {
                    let decor = held.decor().clone();
                    *held = enabled.into();
                    *held.decor_mut() = decor;
                }
            }
            (Some(enabled), _) => drop(table.insert(keys::ENABLED.name, value(enabled))),
            (None, _) => drop(table.remove(keys::ENABLED.name)),
        }
        if table.is_empty() {
            self.remove(server);
        }
    }

    /// Adds a file to `[federation] read`; `usual` is what is read where nothing is said, and is
    /// written out with it. False when it is there already.
    pub fn read_also(&mut self, usual: &[String], file: &str) -> bool {
        let federation = self.document.entry("federation").or_insert_with(|| Item::Table(Table::new()));
        let Some(federation) = federation.as_table_like_mut() else { return false };
        if federation.get("read").and_then(Item::as_array).is_none() {
            let list: Array = usual.iter().map(String::as_str).collect();
            federation.insert("read", value(list));
        }
        let Some(list) = federation.get_mut("read").and_then(Item::as_array_mut) else { return false };
        if list.iter().any(|held| held.as_str() == Some(file)) {
            return false;
        }
        push(list, file);
        true
    }

    /// Adds a text to a list of texts. False when it is there already.
    pub fn list_also(&mut self, section: &str, key: &str, text: &str) -> Result<bool, String> {
        let other = || format!("`{section}.{key}` of {} is no list", self.name);
        let table = self.document.entry(section).or_insert_with(|| Item::Table(Table::new()));
        let table = table.as_table_like_mut().ok_or_else(other)?;
        let list = table.entry(key).or_insert_with(|| value(Array::new()));
        let list = list.as_array_mut().ok_or_else(other)?;
        if list.iter().any(|held| held.as_str() == Some(text)) {
            return Ok(false);
        }
        push(list, text);
        Ok(true)
    }

    /// Takes a text out of a list of texts. False when it is not there.
    pub fn unlist(&mut self, section: &str, key: &str, text: &str) -> bool {
        let table = self.document.get_mut(section).and_then(Item::as_table_like_mut);
        let list = table.and_then(|table| table.get_mut(key)).and_then(Item::as_array_mut);
        let Some(list) = list else { return false };
        let before = list.len();
        list.retain(|held| held.as_str() != Some(text));
        list.len() < before
    }

    /// The change, as people read it. Values that may be secret are hidden.
    pub fn diff(&self) -> String {
        let (before, after) = (hidden(&self.before), hidden(&self.text()));
        let diff = similar::TextDiff::from_lines(&before, &after);
        diff.unified_diff().header(&self.name, &self.name).to_string()
    }

    /// True if anything changed.
    pub fn is_changed(&self) -> bool {
        self.text() != self.before
    }

    /// Checks the new text as if it were read; nothing that would be refused is written.
    pub fn check(&self, base: Base<'_>) -> Result<(), Problems> {
        let text = self.text();
        let text = text.strip_prefix(MARK).unwrap_or(&text);
        let file = File { name: self.name.clone(), text, owner: self.owner, path: &self.path };
        let mut problems = Vec::new();
        let content = file.read(base, &mut problems);
        problems.extend(super::double_plain(&content.servers));
        if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
    }

    /// Writes it as a whole.
    pub fn save(&self) -> io::Result<()> {
        tectum_state::replace_with_mode(&self.path, self.text().as_bytes(), MODE)
    }

    /// The new text. A first table that went leaves no empty line behind.
    fn text(&self) -> String {
        let text = self.document.to_string();
        let text = if self.before.starts_with('\n') { text.as_str() } else { text.trim_start_matches('\n') };
        with_ends_of(&self.before, text)
    }

    fn servers(&self) -> Option<&dyn TableLike> {
        self.document.get(keys::TABLE)?.as_table_like()
    }

    /// The tables of servers; `None` where something else has their name, which no set-up loads.
    fn servers_mut(&mut self) -> Option<&mut dyn TableLike> {
        self.document.entry(keys::TABLE).or_insert_with(no_servers).as_table_like_mut()
    }

    /// Puts a remark before the table that follows a place, or at the end.
    fn hand_on(&mut self, remark: &str, after: Option<isize>) {
        let mut next: Option<(isize, &mut Table)> = None;
        let mut waiting: Vec<&mut Table> = Vec::new();
        for (_, item) in self.document.iter_mut() {
            waiting.extend(item.as_table_mut());
        }
        while let Some(table) = waiting.pop() {
            let position = table.position().filter(|at| after.is_some_and(|after| *at > after));
            if table.is_implicit() {
                waiting.extend(table.iter_mut().filter_map(|(_, item)| item.as_table_mut()));
            } else if let Some(position) = position
                && next.as_ref().is_none_or(|(nearest, _)| position < *nearest)
            {
                next = Some((position, table));
            }
        }
        match next {
            Some((_, table)) => {
                let own = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
                let joined = format!("{remark}{own}");
                table.decor_mut().set_prefix(joined);
            }
            None => {
                let own = self.document.trailing().as_str().unwrap_or_default().to_owned();
                self.document.set_trailing(format!("{remark}{own}"));
            }
        }
    }
}

/// Adds an entry to a list. One with an entry on each line gets one more line, and the remark
/// behind the last entry stays there.
fn push(list: &mut Array, text: &str) {
    let comma = list.trailing_comma();
    let before = match (comma, list.iter().last()) {
        (true, _) => list.trailing().as_str().unwrap_or_default().to_owned(),
        (false, last) => last.and_then(|last| last.decor().suffix()?.as_str()).unwrap_or_default().to_owned(),
    };
    let prefix = list.iter().last().and_then(|last| last.decor().prefix()?.as_str()).unwrap_or_default();
    let indent = prefix.rsplit_once('\n').map_or("", |(_, indent)| indent).to_owned();
    list.push(text);
    if !before.contains('\n') {
        return;
    }
    let last = list.len() - 1;
    if let Some(earlier) = list.get_mut(last.saturating_sub(1)).filter(|_| !comma) {
        earlier.decor_mut().set_suffix("");
    }
    if let Some(fresh) = list.get_mut(last) {
        fresh.decor_mut().set_prefix(format!("{before}{indent}"));
    }
    list.set_trailing("\n");
}

/// The parent of the servers' tables, which needs no line of its own.
fn no_servers() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// A value as the file would have it.
fn written(entry: &Entry, key: &super::super::keys::Key, said: &Value) -> Item {
    match said {
        Value::Flag(flag) => value(*flag),
        Value::Word(word) => value(plain(entry, word)),
        Value::Number(time) if matches!(key.shape, Shape::Span { .. }) => {
            value(show::span(*time).trim_matches('"'))
        }
        Value::Number(number) => value(i64::try_from(*number).unwrap_or(i64::MAX)),
        Value::List(items) => {
            let mut texts: Vec<String> = items.iter().map(|item| plain(entry, &item.text)).collect();
            if *key == keys::COMMAND {
                texts[0] = whole(entry, &texts[0]);
                if let [command] = texts.as_slice() {
                    return value(command);
                }
            }
            value(texts.iter().map(String::as_str).collect::<Array>())
        }
        Value::Table(fields) => {
            let mut table = InlineTable::new();
            for (name, item) in fields {
                table.insert(name, plain(entry, &item.text).into());
            }
            for name in entry.forward.iter().filter(|_| *key == keys::ENV) {
                if !table.contains_key(name) {
                    table.insert(name, format!("${{{name}}}").into());
                }
            }
            value(table)
        }
    }
}

/// The text in the way every file of ours has it: Gemini's `$NAME` becomes `${NAME}`.
fn plain(entry: &Entry, text: &str) -> String {
    if entry.source.dialect != Dialect::Gemini {
        return text.to_owned();
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        out.push_str(&rest[..at]);
        if super::variables::is_name(&after[..end]) {
            out.push_str(&format!("${{{}}}", &after[..end]));
        } else {
            out.push_str(&rest[at..at + 1 + end]);
        }
        rest = &after[end..];
    }
    out + rest
}

/// A relative path means another place in another file, so it is written out.
fn whole(entry: &Entry, command: &str) -> String {
    let relative = command.contains('/') && !command.starts_with(['/', '~', '$']);
    if relative && !entry.source.ours {
        entry.source.base.join(command).components().collect::<PathBuf>().display().to_string()
    } else {
        command.to_owned()
    }
}

/// The text with every value of an environment or a header hidden.
fn hidden(text: &str) -> String {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return String::new() };
    if let Some(servers) = document.get_mut(keys::TABLE).and_then(Item::as_table_like_mut) {
        for (_, server) in servers.iter_mut() {
            let Some(server) = server.as_table_like_mut() else { continue };
            if let Some(url) = server.get_mut(keys::URL.name)
                && let Some(word) = url.as_str().map(super::spoken::address)
            {
                *url = value(word);
            }
            for key in keys::SECRET {
                let Some(fields) = server.get_mut(key.name).and_then(Item::as_table_like_mut) else {
                    continue;
                };
                for (_, field) in fields.iter_mut() {
                    *field = value(HIDDEN);
                }
            }
        }
    }
    document.to_string()
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
