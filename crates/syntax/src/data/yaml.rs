//! YAML: the top-level keys of each document, told by their indentation alone. This is no
//! parser: it finds no mistakes, and what it cannot make sense of it passes over.

use super::{DataFormat, count, lines, span_of};
use crate::{Entry, Kind, Problem, Span};

/// The top-level keys of every document, with what they hold.
pub struct Yaml;

impl DataFormat for Yaml {
    const KIND: Kind = Kind::Key;

    fn read(text: &str, show: &mut dyn FnMut(Entry)) -> Result<(), Problem> {
        let documents = documents(text);
        let several = documents.len() > 1;
        let level = usize::from(several);
        for (number, document) in (1..).zip(&documents) {
            let unnamed = |level, line| Entry { level, line, whole: document.start, ..Entry::default() };
            if several {
                show(unnamed(0, format!("document {number}:")));
            }
            if document.items > 0 {
                show(unnamed(level, format!("list of {}", count(document.items, "item"))));
            }
            for entry in &document.entries {
                let (name, line) = (span_of(text, entry.key), format!("{}: {}", entry.key, entry.shape()));
                show(Entry { level, line, name, whole: entry.start });
            }
            if document.items == 0 && document.entries.is_empty() && document.scalar {
                show(unnamed(level, "scalar".to_owned()));
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Document<'t> {
    start: Span,
    entries: Vec<YamlEntry<'t>>,
    /// Items of a list that is the whole document.
    items: usize,
    /// True when there is something, whatever it is.
    scalar: bool,
    /// True when an explicit mark began it, so that it counts even if it is empty.
    marked: bool,
}

struct YamlEntry<'t> {
    start: Span,
    key: &'t str,
    /// The text behind the colon.
    value: &'t str,
    /// The indentation of the first line below it.
    indent: Option<usize>,
    /// Lines at that indentation that begin an item.
    items: usize,
    /// Lines at that indentation that begin a key.
    keys: usize,
}

impl YamlEntry<'_> {
    fn shape(&self) -> String {
        match self.value.chars().next() {
            Some('|' | '>') => "text".to_owned(),
            Some('[') => "list".to_owned(),
            Some('{') => "map".to_owned(),
            Some('*') => "alias".to_owned(),
            Some(_) => "scalar".to_owned(),
            None if self.items > 0 => format!("list of {}", count(self.items, "item")),
            None if self.keys > 0 => format!("map of {}", count(self.keys, "key")),
            None if self.indent.is_some() => "scalar".to_owned(),
            None => "empty".to_owned(),
        }
    }

    /// Takes in a line that lies below the key.
    fn below(&mut self, indent: usize, words: &str) {
        if !self.value.is_empty() {
            return;
        }
        if *self.indent.get_or_insert(indent) == indent {
            self.items += usize::from(is_item(words));
            self.keys += usize::from(!is_item(words) && key(words).is_some());
        }
    }
}

fn documents(text: &str) -> Vec<Document<'_>> {
    let mut documents = vec![Document::default()];
    for line in lines(text).map(str::trim_end) {
        let words = line.trim_start_matches([' ', '\t']);
        let (indent, start) = (line.len() - words.len(), span_of(text, &line[..0]));
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        if indent == 0 && (line == "---" || line.starts_with("--- ") || line == "...") {
            let used = documents.last().is_some_and(|last| last.marked || last.scalar);
            if used {
                documents.push(Document { start, ..Document::default() });
            }
            if let Some(last) = documents.last_mut() {
                last.marked = line != "...";
                last.scalar |= line.starts_with("--- ");
            }
            continue;
        }
        // A directive belongs to the document that follows.
        if indent == 0 && line.starts_with('%') {
            continue;
        }
        if let Some(document) = documents.last_mut() {
            document.take(start, indent, words);
        }
    }
    // A mark at the very end begins nothing.
    if documents.len() > 1 && documents.last().is_some_and(|last| !last.scalar) {
        documents.pop();
    }
    documents
}

impl<'t> Document<'t> {
    fn take(&mut self, start: Span, indent: usize, words: &'t str) {
        self.scalar = true;
        let last = self.entries.last_mut();
        match (indent, last) {
            // A list may stand at the indentation of its key.
            (0, Some(entry)) if is_item(words) => entry.below(0, words),
            (0, None) if is_item(words) => self.items += 1,
            (0, _) => {
                if let Some((key, value)) = key(words) {
                    let value = bare(value);
                    self.entries.push(YamlEntry { start, key, value, indent: None, items: 0, keys: 0 });
                }
            }
            (_, Some(entry)) => entry.below(indent, words),
            (_, None) => {}
        }
    }
}

fn is_item(words: &str) -> bool {
    words == "-" || words.starts_with("- ") || words.starts_with("-\t")
}

/// The key and the value of a line that has one.
fn key(words: &str) -> Option<(&str, &str)> {
    if let Some(quote) = words.chars().next().filter(|c| ['"', '\''].contains(c)) {
        let end = words[1..].find(quote)? + 1;
        let value = words[end + 1..].trim_start().strip_prefix(':')?;
        return ends_word(value).then_some((&words[1..end], value));
    }
    if words.starts_with(['[', '{', '|', '>', '@', '`', '%']) {
        return None;
    }
    let colon = words.match_indices(':').map(|(at, _)| at).find(|at| ends_word(&words[at + 1..]))?;
    let name = words[..colon].trim_end();
    (!name.is_empty() && !name.contains(" #")).then_some((name, &words[colon + 1..]))
}

/// True when a blank, or nothing, follows.
fn ends_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t'])
}

/// A value without its comment, its anchor and its tag.
fn bare(value: &str) -> &str {
    let mut value = value.trim();
    while value.starts_with(['&', '!']) {
        value = value.split_once([' ', '\t']).map_or("", |(_, rest)| rest.trim_start());
    }
    if value.starts_with('#') { "" } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::{outlined, told};

    fn check(text: &str, expect: &str) {
        assert_eq!(told::<Yaml>(text), Ok(expect.to_owned()), "{text:?}");
    }

    #[test]
    fn keys_have_shapes() {
        check(
            "name: x # words\non:\n  push:\n    branches: [a]\n  pull:\njobs:\n  - a\n  - b:\n      - c\nlast:\n- x\n- y\n",
            "name: scalar\non: map of 2 keys\njobs: list of 2 items\nlast: list of 2 items\n",
        );
        check(
            "a: |\n  b: c\n  # d\ne: >-\n  x\nf: [1, 2]\ng: {a: 1}\nh:\n",
            "a: text\ne: text\nf: list\ng: map\nh: empty\n",
        );
        check("a: &anchor\n  x: 1\nb: *anchor\nc: !tag v\n", "a: map of 1 key\nb: alias\nc: scalar\n");
        check(
            "'quoted: key': 1\n\"two\" : 2\nurl: http://x:80/\nhttp://x: 1\r\n",
            "quoted: key: scalar\ntwo: scalar\nurl: scalar\nhttp://x: scalar\n",
        );
        check("key:\n  words over\n  two lines\n", "key: scalar\n");
        check("- a\n- b: 1\n  c: 2\n", "list of 2 items\n");
    }

    #[test]
    fn documents_are_told_apart() {
        check("%YAML 1.2\n---\na: 1\n", "a: scalar\n");
        check(
            "a: 1\n---\nb:\n  - x\n...\n---\n- c\n",
            "document 1:\n  a: scalar\ndocument 2:\n  b: list of 1 item\ndocument 3:\n  list of 1 item\n",
        );
        check("---\na: 1\n---\n", "a: scalar\n");
        check("---\n", "");
        check("", "");
        check("# words\n\n", "");
        check("just words\n", "scalar\n");
    }

    #[test]
    fn nonsense_is_passed_over() {
        check(":\n: x\n\t\t:\n", "scalar\n");
        check("\"open: 1\nb: 2\n", "b: scalar\n");
        check("}\n]\na: 1\n", "a: scalar\n");
    }

    #[test]
    fn an_entry_goes_on_to_the_next() {
        let text = "# words\na:\n  x: 1\n\n'b': 2\r\n---\nc:\n- d\n";
        assert_eq!(outlined::<Yaml>(text), [("a", "a:\n  x: 1"), ("b", "'b': 2"), ("c", "c:\n- d")]);
    }
}
