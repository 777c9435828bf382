//! Searching: words and filters become one question to the full text, and every hit is read from the record.

use std::{io, path::PathBuf};

use rusqlite::{Connection, params_from_iter, types::Value};

use super::{
    Index,
    row::{FAILED, call_number, fact, normal, signed},
    words::words_of,
};
use crate::{Ending, Entry, entry_at};

/// Candidates that are read from the record before a search gives up on finding more.
const MOST_READ: usize = 5_000;

/// What is looked for. All parts must hold; of several values of one part, any.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words that must all stand in the tool's name, the paths, the arguments or the result.
    pub terms: Vec<Term>,
    /// Names of tools; `*` stands for anything.
    pub tools: Vec<String>,
    /// Files and folders; a folder means everything below it.
    pub paths: Vec<String>,
    /// Sessions by their whole names.
    pub sessions: Vec<String>,
    /// Parts of the names of clients, or doors.
    pub clients: Vec<String>,
    /// `allow`, `ask` or `deny`.
    pub verdicts: Vec<String>,
    /// Calls of this tool are left out.
    pub without: Option<String>,
    /// Only calls that failed.
    pub failed: bool,
    /// Calls that began at this time or later, in microseconds since 1970.
    pub from: Option<u64>,
    /// Calls that began before this time.
    pub to: Option<u64>,
    /// The project's directory, which paths may begin with.
    pub directory: String,
    /// The oldest first, instead of the newest.
    pub oldest_first: bool,
}

/// One part of what is looked for: a word, the beginning of one (`conf*`), or a text with anything between
/// its words, which must stand there as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    words: Vec<String>,
    beginning: bool,
    /// In lower case, if more than words is meant.
    exact: Option<String>,
}

impl Term {
    /// The terms of a text: words, and texts in quotation marks.
    pub fn all(text: &str) -> Vec<Self> {
        let mut terms = Vec::new();
        for (index, part) in text.split('"').enumerate() {
            if index % 2 == 1 {
                terms.extend(Self::one(part, true));
            } else {
                terms.extend(part.split_whitespace().filter_map(|word| Self::one(word, false)));
            }
        }
        terms
    }

    fn one(text: &str, quoted: bool) -> Option<Self> {
        let beginning = !quoted && text.ends_with('*');
        let text = if beginning { text.trim_end_matches('*') } else { text.trim() };
        let words = words_of(text);
        let plain = words.len() == 1 && words.first().is_some_and(|word| *word == text.to_lowercase());
        let exact = (!plain && !text.is_empty()).then(|| text.to_lowercase());
        // What has no word in it cannot be looked up.
        (!words.is_empty()).then_some(Self { words, beginning, exact })
    }

    /// What the full text is asked for. The last word of an exact text may go on.
    fn question(&self) -> String {
        let last = self.words.len().saturating_sub(1);
        let word = |(at, word): (usize, &String)| match at == last && self.beginning {
            true => format!("\"{word}\"*"),
            false => format!("\"{word}\""),
        };
        self.words.iter().enumerate().map(word).collect::<Vec<_>>().join(" AND ")
    }

    /// The text to look for when a hit is shown.
    fn shown(&self) -> &str {
        self.exact.as_deref().or(self.words.first().map(String::as_str)).unwrap_or_default()
    }
}

/// A call that was found, and its record.
#[derive(Debug)]
pub struct Hit {
    /// The record.
    pub entry: Entry,
    /// Its place among all calls: when it began, in microseconds since 1970, or a little later where another call
    /// began in the same microsecond.
    pub at: u64,
    /// The file that it stands in.
    pub segment: PathBuf,
    /// The place there.
    pub offset: u64,
}

impl Hit {
    /// The line around the first of these terms that stands in the call: in its arguments or its result.
    pub fn excerpt(&self, terms: &[Term], most: usize) -> String {
        let texts = texts(&self.entry);
        for term in terms {
            for text in &texts {
                if let Some(at) = find(text, term.shown()) {
                    return around(text, at, most);
                }
            }
        }
        // Why a call failed tells more than what it was asked.
        let [args, result] = &texts;
        around(if self.entry.ending.failed() { result } else { args }, 0, most)
    }
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// The calls.
    pub hits: Vec<Hit>,
    /// True if there may be more.
    pub more: bool,
}

/// Some calls in the order of time.
#[derive(Debug)]
pub struct Page {
    /// The calls.
    pub entries: Vec<Entry>,
    /// What the next page begins at, in microseconds since 1970; `None` at the end.
    pub next: Option<u64>,
}

impl Index {
    /// The calls that fit, the oldest first, as many as are read at once. Terms are looked up only.
    pub fn page(&mut self, query: &Query, most: usize) -> io::Result<Page> {
        let (tools, clients) = (self.named("tools")?, self.clients()?);
        let mut page = Page { entries: Vec::new(), next: None };
        let Some(question) = query.question(&tools, &clients) else { return Ok(page) };
        let span = (signed(query.from.unwrap_or(0)), signed(query.to.unwrap_or(u64::MAX)));
        let places = self.ask(|db| places(db, &question, span, true, most))?;
        if places.len() == most {
            page.next = places.last().map(|place| place.at.cast_unsigned() + 1);
        }
        for place in places {
            page.entries.extend(entry_at(&self.journal.join(&place.segment), place.offset)?);
        }
        Ok(page)
    }

    /// The calls that fit, the newest first, at most so many.
    pub fn search(&mut self, query: &Query, most: usize) -> io::Result<Found> {
        let (tools, clients) = (self.named("tools")?, self.clients()?);
        let Some(question) = query.question(&tools, &clients) else {
            return Ok(Found { hits: Vec::new(), more: false });
        };
        let exact: Vec<&str> = query.terms.iter().filter_map(|term| term.exact.as_deref()).collect();
        let mut hits: Vec<Hit> = Vec::new();
        let (mut from, mut to) = (signed(query.from.unwrap_or(0)), signed(query.to.unwrap_or(u64::MAX)));
        let mut read = 0;
        loop {
            let wanted = (most + 1 - hits.len()) * if exact.is_empty() { 1 } else { 4 };
            let places = self.ask(|db| places(db, &question, (from, to), query.oldest_first, wanted))?;
            let last = places.len() < wanted;
            for place in places {
                read += 1;
                if query.oldest_first {
                    from = place.at + 1;
                } else {
                    to = place.at;
                }
                let segment = self.journal.join(&place.segment);
                // What the record does not have any more was not found.
                let Some(entry) = entry_at(&segment, place.offset)? else { continue };
                if !exact.is_empty() && !texts_have(&entry, &exact) {
                    continue;
                }
                if hits.len() == most {
                    return Ok(Found { hits, more: true });
                }
                hits.push(Hit { entry, at: place.at.cast_unsigned(), segment, offset: place.offset });
            }
            if last || read >= MOST_READ {
                return Ok(Found { hits, more: !last });
            }
        }
    }

    /// The call of this id.
    pub fn call(&mut self, id: &str) -> io::Result<Option<Hit>> {
        let number = call_number(id);
        let found = self.ask(|db| {
            // All calls are looked at: an index would take more of the disk than that is worth.
            let mut select = db.prepare(
                "SELECT c.at, s.name, c.offset FROM calls c CROSS JOIN segments s ON s.id = c.segment WHERE c.id = ?1",
            )?;
            let rows = select.query_map([number], Place::read)?;
            rows.collect::<rusqlite::Result<Vec<Place>>>()
        })?;
        for place in found {
            let segment = self.journal.join(&place.segment);
            if let Some(entry) = entry_at(&segment, place.offset)?.filter(|entry| entry.id == id) {
                return Ok(Some(Hit { entry, at: place.at.cast_unsigned(), segment, offset: place.offset }));
            }
        }
        Ok(None)
    }

    /// The calls of a session in the order they began, one after the other; an error ends them.
    pub fn calls_of(&mut self, session: &str) -> io::Result<impl Iterator<Item = io::Result<Entry>> + use<>> {
        let question = format!("\"{}\"", fact('s', session));
        let places = self.ask(|db| places(db, &question, (0, i64::MAX), true, usize::MAX >> 1))?;
        let journal = self.journal.clone();
        let entry = move |place: Place| entry_at(&journal.join(&place.segment), place.offset).transpose();
        Ok(places.into_iter().filter_map(entry))
    }

    /// All names in a table.
    fn named(&mut self, table: &'static str) -> io::Result<Vec<String>> {
        self.ask(|db| {
            let mut select = db.prepare(&format!("SELECT name FROM {table}"))?;
            let rows = select.query_map([], |row| row.get(0))?;
            rows.collect()
        })
    }

    /// All names of clients, and all doors.
    fn clients(&mut self) -> io::Result<Vec<String>> {
        self.ask(|db| {
            let mut select = db.prepare("SELECT client FROM sessions UNION SELECT door FROM sessions")?;
            let rows = select.query_map([], |row| row.get(0))?;
            rows.collect()
        })
    }
}

impl Query {
    /// The question to the full text; empty if every call fits, `None` if none can.
    fn question(&self, tools: &[String], clients: &[String]) -> Option<String> {
        let mut parts: Vec<String> = self.terms.iter().map(Term::question).collect();
        let mut any = |facts: Vec<String>| {
            let facts: Vec<String> = facts.iter().map(|fact| format!("\"{fact}\"")).collect();
            parts.push(format!("({})", facts.join(" OR ")));
        };
        if !self.tools.is_empty() {
            let fits = |tool: &&String| self.tools.iter().any(|wanted| fits(wanted, tool));
            let facts: Vec<String> = tools.iter().filter(fits).map(|tool| fact('t', tool)).collect();
            (!facts.is_empty()).then(|| any(facts))?;
        }
        if !self.clients.is_empty() {
            let fits = |client: &&String| {
                let client = client.to_lowercase();
                !client.is_empty()
                    && self.clients.iter().any(|wanted| client.contains(&wanted.to_lowercase()))
            };
            let facts: Vec<String> = clients.iter().filter(fits).map(|client| fact('c', client)).collect();
            (!facts.is_empty()).then(|| any(facts))?;
        }
        if !self.paths.is_empty() {
            let facts = self.paths.iter().flat_map(|path| {
                let path = normal(path, &self.directory);
                let name = (!path.contains('/')).then(|| fact('f', &path));
                std::iter::once(fact('p', &path)).chain(name)
            });
            any(facts.collect());
        }
        for (kind, values) in [('s', &self.sessions), ('v', &self.verdicts)] {
            if !values.is_empty() {
                any(values.iter().map(|value| fact(kind, value)).collect());
            }
        }
        if self.failed {
            parts.push(format!("\"{FAILED}\""));
        }
        let wanted = parts.join(" AND ");
        // The full text leaves something out of something, never of everything.
        let without = self.without.as_ref().filter(|_| !wanted.is_empty());
        Some(match without {
            Some(tool) => format!("({wanted}) NOT \"{}\"", fact('t', tool)),
            None => wanted,
        })
    }
}

/// Where a call stands.
#[derive(Debug)]
struct Place {
    at: i64,
    segment: String,
    offset: u64,
}

impl Place {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let offset = row.get::<_, i64>(2)?.cast_unsigned();
        Ok(Self { at: row.get(0)?, segment: row.get(1)?, offset })
    }
}

/// The places of calls that fit, in the order of time.
fn places(
    db: &Connection,
    question: &str,
    (from, to): (i64, i64),
    oldest_first: bool,
    most: usize,
) -> rusqlite::Result<Vec<Place>> {
    let order = if oldest_first { "ASC" } else { "DESC" };
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let (sql, values) = if question.is_empty() {
        let sql = format!(
            "SELECT c.at, s.name, c.offset FROM calls c JOIN segments s ON s.id = c.segment
             WHERE c.at >= ?1 AND c.at < ?2 ORDER BY c.at {order} LIMIT ?3"
        );
        (sql, vec![Value::Integer(from), Value::Integer(to), Value::Integer(most)])
    } else {
        let sql = format!(
            "SELECT c.at, s.name, c.offset FROM texts CROSS JOIN calls c ON c.at = texts.rowid
             CROSS JOIN segments s ON s.id = c.segment
             WHERE texts MATCH ?4 AND texts.rowid >= ?1 AND texts.rowid < ?2 ORDER BY texts.rowid {order} LIMIT ?3"
        );
        let question = Value::Text(question.to_owned());
        (sql, vec![Value::Integer(from), Value::Integer(to), Value::Integer(most), question])
    };
    let mut select = db.prepare(&sql)?;
    let rows = select.query_map(params_from_iter(values), Place::read)?;
    rows.collect()
}

/// Whether a name is what was asked for; `*` stands for anything.
fn fits(wanted: &str, name: &str) -> bool {
    let mut parts = wanted.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// What a call says, as people read it: its arguments first.
fn texts(entry: &Entry) -> [String; 2] {
    let result = match &entry.ending {
        Ending::Native { text, .. } => text.clone(),
        Ending::Peer { json, .. } => unescaped(json.get()),
        Ending::Fault(fault) => fault.message.clone(),
        Ending::Omitted { .. } => String::new(),
    };
    [unescaped(entry.args.get()), result]
}

/// JSON on lines as they were meant, for finding texts in it.
fn unescaped(json: &str) -> String {
    json.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\")
}

fn texts_have(entry: &Entry, exact: &[&str]) -> bool {
    let mut all = texts(entry).join("\n");
    for more in std::iter::once(&entry.tool).chain(&entry.paths) {
        all.push('\n');
        all.push_str(more);
    }
    let all = all.to_lowercase();
    exact.iter().all(|text| all.contains(text))
}

/// Where a text stands, whatever its case.
fn find(text: &str, wanted: &str) -> Option<usize> {
    let lower = text.to_lowercase();
    // In some scripts another case has another length: then the place is about right.
    lower.find(wanted).map(|at| text.floor_char_boundary(at.min(text.len())))
}

/// The line around a place, at most so many characters of it.
fn around(text: &str, at: usize, most: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let before: Vec<char> = text[start..at].chars().collect();
    let keep = before.len().min(most / 3);
    let cut = before.len() > keep;
    let mut line: String = before[before.len() - keep..].iter().collect();
    line.extend(text[at..end].chars().take(most - keep));
    let more = text[at..end].chars().count() > most - keep;
    format!("{}{}{}", if cut { "…" } else { "" }, line.trim(), if more { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_words_beginnings_and_texts() {
        let terms = Term::all(r#"Read conf* "two words" a.rs ..."#);
        let questions: Vec<String> = terms.iter().map(Term::question).collect();
        assert_eq!(questions, ["\"read\"", "\"conf\"*", "\"two\" AND \"words\"", "\"a\" AND \"rs\""]);
        let exact: Vec<Option<&str>> = terms.iter().map(|term| term.exact.as_deref()).collect();
        assert_eq!(exact, [None, None, Some("two words"), Some("a.rs")]);
    }

    #[test]
    fn stars_stand_for_anything() {
        for (wanted, name, expect) in [
            ("read_file", "read_file", true),
            ("read", "read_file", false),
            ("py_*", "py_find", true),
            ("*file*", "read_file", true),
            ("*", "x", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
        ] {
            assert_eq!(fits(wanted, name), expect, "{wanted} {name}");
        }
    }

    #[test]
    fn an_excerpt_is_one_line_around_the_find() {
        let text = format!("first\n{}needle{}\nlast", "a ".repeat(50), " b".repeat(50));
        let at = find(&text, "needle").expect("there");
        let line = around(&text, at, 30);
        assert!(line.starts_with('…') && line.ends_with('…') && line.contains("needle"), "{line}");
        assert_eq!(around("one\ntwo", 4, 30), "two");
    }
}
