//! A file of TOML or JSON as a tree whose parts know their lines. A whole file is read before
//! anything is refused, so that all mistakes are told at once.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};
use toml::de::{DeTable, DeValue};

/// The levels of a file that mean something: track, tickets, ticket, list, word.
const DEEPEST: usize = 5;

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// A part of a file.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its line, from 1.
    pub(crate) line: usize,
    pub(crate) form: Form,
}

#[derive(Debug)]
pub(crate) enum Form {
    Table(Vec<(String, Node)>),
    List(Vec<Node>),
    Text(String),
    Flag(bool),
    Other,
}

/// Reads a file. JSON begins with a brace, which TOML cannot.
pub(crate) fn parse(text: &str) -> Result<Node, Vec<Mistake>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') { json(text) } else { toml(text) }
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn toml(text: &str) -> Result<Node, Vec<Mistake>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mistake = |error: &toml::de::Error| Mistake {
            line: error.span().map_or(1, |span| line(text, span.start)),
            message: error.message().trim().replace('\n', ", "),
        };
        let mut mistakes: Vec<Mistake> = errors.iter().map(mistake).collect();
        mistakes.sort_by_key(|mistake| mistake.line);
        return Err(mistakes);
    }
    Ok(Node { line: 1, form: table(document.get_ref(), text) })
}

fn table(table: &DeTable<'_>, text: &str) -> Form {
    let mut entries: Vec<(String, Node)> = Vec::new();
    for (key, value) in table {
        let form = of_toml(value.get_ref(), text);
        entries.push((key.get_ref().to_string(), Node { line: line(text, key.span().start), form }));
    }
    entries.sort_by_key(|(_, node)| node.line);
    Form::Table(entries)
}

fn of_toml(value: &DeValue<'_>, text: &str) -> Form {
    match value {
        DeValue::String(word) => Form::Text(word.to_string()),
        DeValue::Boolean(flag) => Form::Flag(*flag),
        DeValue::Table(inner) => table(inner, text),
        DeValue::Array(array) => {
            let each = array.iter().map(|value| Node {
                line: line(text, value.span().start),
                form: of_toml(value.get_ref(), text),
            });
            Form::List(each.collect())
        }
        _ => Form::Other,
    }
}

fn json(text: &str) -> Result<Node, Vec<Mistake>> {
    let wrong =
        |error: serde_json::Error| vec![Mistake { line: error.line().max(1), message: no_place(&error) }];
    let raw: &RawValue = serde_json::from_str(text).map_err(wrong)?;
    of_json(raw, text, 0).map_err(wrong)
}

/// The message of an error without the place, which stands before it.
fn no_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.clone(), |(message, _)| message.to_owned())
}

fn of_json(raw: &RawValue, text: &str, depth: usize) -> Result<Node, serde_json::Error> {
    // A raw value is a piece of the text, so its place is the distance of the two.
    let at = raw.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
    let form = match raw.get().as_bytes().first() {
        Some(b'{' | b'[') if depth >= DEEPEST => Form::Other,
        Some(b'{') => {
            let entries = serde_json::Deserializer::from_str(raw.get()).deserialize_map(Entries)?;
            let each = entries.into_iter().map(|(key, value)| Ok((key, of_json(value, text, depth + 1)?)));
            Form::Table(each.collect::<Result<_, serde_json::Error>>()?)
        }
        Some(b'[') => {
            let each: Vec<&RawValue> = serde_json::from_str(raw.get())?;
            let each = each.into_iter().map(|value| of_json(value, text, depth + 1));
            Form::List(each.collect::<Result<_, _>>()?)
        }
        _ => match serde_json::from_str(raw.get())? {
            Value::String(word) => Form::Text(word),
            Value::Bool(flag) => Form::Flag(flag),
            _ => Form::Other,
        },
    };
    Ok(Node { line: line(text, at), form })
}

/// The entries of an object, those that stand twice too.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}
