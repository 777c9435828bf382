//! Changes to a JSON file of another program by inserting and cutting pieces of its text: every other byte
//! stays, comments included, and what was inserted can be cut again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// The indentation of a file that shows none.
const USUAL_INDENT: &str = "  ";

/// A piece of text that was put into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insertion {
    /// The names that lead to the object or list it was put into.
    pub inside: Vec<String>,
    /// The piece.
    pub text: String,
}

/// A part of a text, by its bytes.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// Puts an item in front of the list that these names lead to, with everything on the way that is not
/// there yet. The error is what stands in the way.
pub(super) fn put_item(text: &str, path: &[&str], item: &Value) -> Result<(String, Insertion), String> {
    let plain = plain(text);
    let mut held = whole(&plain)?;
    for (depth, name) in path.iter().enumerate() {
        match member(&plain, held, name)? {
            Some(inner) => held = inner,
            None => {
                let value =
                    path[depth + 1..].iter().rev().fold(Value::Array(vec![item.clone()]), |inner, name| {
                        Value::Object([((*name).to_owned(), inner)].into_iter().collect())
                    });
                return Ok(insert(text, &plain, held, &path[..depth], Some(name), &value));
            }
        }
    }
    items(&plain, held)?;
    Ok(insert(text, &plain, held, path, None, item))
}

/// Puts a member in front of the outermost object, unless there is one of that name.
pub(super) fn put_member(
    text: &str,
    name: &str,
    value: &Value,
) -> Result<Option<(String, Insertion)>, String> {
    let plain = plain(text);
    let held = whole(&plain)?;
    let absent = member(&plain, held, name)?.is_none();
    Ok(absent.then(|| insert(text, &plain, held, &[], Some(name), value)))
}

/// The items of the list that these names lead to; none if there is no such list.
pub(super) fn items_at(text: &str, path: &[&str]) -> Result<Vec<Value>, String> {
    let plain = plain(text);
    let Some(list) = find(&plain, path)? else { return Ok(Vec::new()) };
    let values = items(&plain, list)?.into_iter().map(|item| serde_json::from_str(item.of(&plain)));
    values.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Cuts a piece out again; `None` if it does not stand there any more as it was put.
pub(super) fn take_back(text: &str, insertion: &Insertion) -> Option<String> {
    let path: Vec<&str> = insertion.inside.iter().map(String::as_str).collect();
    let blank = plain(text);
    let span = find(&blank, &path).ok()??;
    let at = span.start + span.of(text).find(&insertion.text)?;
    let mut cut = Span { start: at, end: at + insertion.text.len() };
    // It was alone when it was put, and something was written behind it since.
    let rest = &blank[cut.end..];
    if !insertion.text.trim_end().ends_with(',') && rest.trim_start().starts_with(',') {
        cut.end += rest.find(',')? + 1;
    }
    let left = cut.cut_from(text);
    find(&plain(&left), &path).is_ok().then_some(left)
}

/// Cuts the items of a list that are `ours`, with their commas.
pub(super) fn take_items(text: &str, path: &[&str], ours: impl Fn(&Value) -> bool) -> Result<String, String> {
    let mut text = text.to_owned();
    loop {
        let plain = plain(&text);
        let Some(list) = find(&plain, path)? else { return Ok(text) };
        let all = items(&plain, list)?;
        let mine = |span: &&Span| serde_json::from_str(span.of(&plain)).is_ok_and(|item: Value| ours(&item));
        let Some(mut cut) = all.iter().find(mine).copied() else { return Ok(text) };
        let before = plain[list.start + 1..cut.start].trim_end();
        let after = &plain[cut.end..];
        if after.trim_start().starts_with(',') {
            cut.end += after.find(',').map_or(0, |at| at + 1);
            cut.start = list.start + 1 + before.len();
        } else {
            cut.start = list.start + 1 + before.strip_suffix(',').unwrap_or(before).trim_end().len();
        }
        text = cut.cut_from(&text);
    }
}

impl Span {
    fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    fn cut_from(self, text: &str) -> String {
        format!("{}{}", &text[..self.start], &text[self.end..])
    }
}

fn insert(
    text: &str,
    plain: &str,
    held: Span,
    inside: &[&str],
    name: Option<&str>,
    value: &Value,
) -> (String, Insertion) {
    let (indent, line) = (indentation(text), if text.contains("\r\n") { "\r\n" } else { "\n" });
    let depth = inside.len() + 1;
    let deeper = format!("{line}{}", indent.repeat(depth));
    let name = name.map(|name| format!("{}: ", Value::from(name))).unwrap_or_default();
    let mut piece = format!("{deeper}{name}{}", pretty(value, &indent).replace('\n', &deeper));
    let at = held.start + 1;
    let empty = plain[at..held.end - 1].trim().is_empty();
    let breaks = text[at..].trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
    match (empty, breaks) {
        (true, true) => {}
        (true, false) => piece.push_str(&format!("{line}{}", indent.repeat(depth - 1))),
        (false, true) => piece.push(','),
        (false, false) => piece.push_str(&format!(",{deeper}")),
    }
    let changed = format!("{}{piece}{}", &text[..at], &text[at..]);
    (changed, Insertion { inside: inside.iter().map(|name| (*name).to_owned()).collect(), text: piece })
}

fn pretty(value: &Value, indent: &str) -> String {
    let mut out = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    // Writing a value to memory does not fail.
    let _ = value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, form));
    String::from_utf8(out).unwrap_or_default()
}

/// The indentation of the first line that has one.
fn indentation(text: &str) -> String {
    let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let indented = text.lines().find(|line| blank(line) > 0 && !line.trim().is_empty());
    indented.map_or(USUAL_INDENT, |line| &line[..blank(line)]).to_owned()
}

/// The text with spaces in place of comments, of commas before a closing bracket and of a mark at the
/// beginning: plain JSON, in which everything stands where it stood.
fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    bytes[..at].fill(b' ');
    let mut comma = None;
    while let Some(byte) = bytes.get(at).copied() {
        let rest = &text.as_bytes()[at..];
        let length = match byte {
            b'"' => {
                comma = None;
                string(rest)
            }
            b'/' if rest.starts_with(b"//") => {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            }
            b'/' if rest.starts_with(b"/*") => {
                rest.windows(2).skip(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4)
            }
            _ => 1,
        };
        match byte {
            b'/' => {
                bytes[at..at + length].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ')
            }
            b',' => comma = Some(at),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += length;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The length of a string from its quote on.
fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The outermost object.
fn whole(plain: &str) -> Result<Span, String> {
    let value: &RawValue = serde_json::from_str(plain).map_err(|error| format!("it is not JSON: {error}"))?;
    Ok(span(plain, value))
}

fn span(plain: &str, value: &RawValue) -> Span {
    let start = (value.get().as_ptr() as usize).saturating_sub(plain.as_ptr() as usize);
    Span { start, end: start + value.get().len() }
}

fn member(plain: &str, object: Span, name: &str) -> Result<Option<Span>, String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(object.of(plain))
        .map_err(|_| format!("`{name}` cannot be put there, because it is not an object"))?;
    Ok(members.get(name).map(|value| span(plain, value)))
}

fn items(plain: &str, list: Span) -> Result<Vec<Span>, String> {
    let all: Vec<&RawValue> =
        serde_json::from_str(list.of(plain)).map_err(|_| "hooks of an event are not a list".to_owned())?;
    Ok(all.into_iter().map(|value| span(plain, value)).collect())
}

fn find(plain: &str, path: &[&str]) -> Result<Option<Span>, String> {
    let mut held = whole(plain)?;
    for name in path {
        match member(plain, held, name)? {
            Some(inner) => held = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(held))
}

#[cfg(test)]
#[path = "splice_tests.rs"]
mod tests;
