//! One call as the index keeps it: numbers, names, and words to be found by.

use std::path::Path;

use super::words::{Words, number_of};
use crate::Entry;

/// What the index keeps of one call.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) at: i64,
    pub(super) id: i64,
    /// The segment, by its place among those that are read now.
    pub(super) segment: usize,
    pub(super) offset: i64,
    /// The session and the tool, by the numbers that reading gave them.
    pub(super) session: usize,
    pub(super) tool: usize,
    pub(super) took: i64,
    pub(super) failed: bool,
    pub(super) tokens_in: i64,
    pub(super) tokens_out: i64,
    pub(super) words: String,
}

impl Row {
    /// The row of a call with the numbers of its tool and session, which stands in this segment at this
    /// offset.
    pub(super) fn of(
        entry: &Entry,
        (tool, session): (usize, usize),
        (segment, offset): (usize, u64),
        directory: &str,
        words: &mut Words,
    ) -> Self {
        words.clear();
        facts(entry, directory, words);
        words.call(entry);
        Self {
            at: signed(entry.began),
            id: call_number(&entry.id),
            segment,
            offset: signed(offset),
            session,
            tool,
            took: signed(entry.took),
            failed: entry.ending.failed(),
            tokens_in: signed(entry.tokens_in),
            tokens_out: signed(entry.tokens_out),
            words: words.text().to_owned(),
        }
    }
}

/// The words that stand for facts of a call. A filter asks for the same words.
fn facts(entry: &Entry, directory: &str, words: &mut Words) {
    words.push(&fact('s', &entry.session));
    words.push(&fact('t', &entry.tool));
    words.plain(&entry.tool);
    for client in [&entry.client.name, &entry.client.door].into_iter().filter(|name| !name.is_empty()) {
        words.push(&fact('c', client));
    }
    if let Some(verdict) = &entry.verdict {
        words.push(&fact('v', &verdict.judgement));
    }
    if entry.ending.failed() {
        words.push(FAILED);
    }
    for path in &entry.paths {
        let path = normal(path, directory);
        words.plain(&path);
        if let Some(name) = Path::new(&path).file_name().and_then(|name| name.to_str()) {
            words.push(&fact('f', name));
        }
        let mut above = path.as_str();
        loop {
            words.push(&fact('p', above));
            match above.rsplit_once('/') {
                Some((folder, _)) if !folder.is_empty() => above = folder,
                _ => break,
            }
        }
    }
}

/// The word of a call that failed.
pub(super) const FAILED: &str = "e:1";

/// The word that stands for a fact.
pub(super) fn fact(kind: char, value: &str) -> String {
    format!("{kind}:{:x}", number_of(value))
}

/// A path below the project's directory where it is inside of it, without what means nothing.
pub(super) fn normal(path: &str, directory: &str) -> String {
    let path = match path.strip_prefix(directory) {
        Some(below) if !directory.is_empty() && (below.is_empty() || below.starts_with('/')) => {
            below.trim_start_matches('/')
        }
        _ => path,
    };
    let absolute = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    match (absolute, parts.is_empty()) {
        ("", true) => ".".to_owned(),
        _ => format!("{absolute}{}", parts.join("/")),
    }
}

/// The number of a call by its id: two bytes of it, since a million calls have one. Calls that share a number
/// are told apart by their records.
pub(super) fn call_number(id: &str) -> i64 {
    (number_of(id) & 0xffff).cast_signed()
}

/// The database knows signed numbers only.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (path, expect) in [
            ("src/a.rs", "src/a.rs"),
            ("./src//a.rs", "src/a.rs"),
            ("/p/src/a.rs", "src/a.rs"),
            ("/p", "."),
            (".", "."),
            ("/pq/a", "/pq/a"),
        ] {
            assert_eq!(normal(path, "/p"), expect, "{path}");
        }
        assert_eq!(normal("/a", ""), "/a");
    }
}
