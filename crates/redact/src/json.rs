//! One pass over a JSON text: values under secret names, and every decoded string.

use std::ops::Range;

use crate::{
    edits::Edit,
    literal, tokens,
    view::{Builder, View},
};

/// The text is not JSON.
#[derive(Debug)]
pub(crate) struct NotJson;

/// Members that name the content of their neighbour `value`.
const NAMING: &[&str] = &["name", "key", "variable", "header"];
const VALUES: &[&str] = &["value", "val", "values", "content"];

/// The questions about names and strings of a document.
pub(crate) trait Secrets {
    /// True if a value under this name is a secret.
    fn is_secret_name(&self, name: &str) -> bool;
    /// True if a private key begins in this text and does not end there.
    fn leaves_key_open(&self, text: &str) -> bool;
    /// Finds what to hide in a text that is inside of `depth` documents.
    fn text(&self, text: &str, depth: u8, edits: &mut Vec<Edit>);
}

/// Finds what to hide in a JSON text.
pub(crate) fn find(
    finder: &dyn Secrets,
    json: &str,
    depth: u8,
    edits: &mut Vec<Edit>,
) -> Result<(), NotJson> {
    Walk { finder, json, depth, edits, expect: Expect::Nothing, key_is_open: false }.run()
}

/// The next value that is a secret because of what came before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Nothing,
    /// The member `value` of the same object.
    Value,
    /// The next string of the same list.
    Next,
}

struct Walk<'w> {
    finder: &'w dyn Secrets,
    json: &'w str,
    depth: u8,
    edits: &'w mut Vec<Edit>,
    expect: Expect,
    /// True if a private key began in an earlier string and has not ended: a list of lines.
    key_is_open: bool,
}

impl Walk<'_> {
    fn run(mut self) -> Result<(), NotJson> {
        let mut at = 0;
        let mut name: Option<View<'_>> = None;
        while let Some(quote) = memchr::memchr(b'"', &self.json.as_bytes()[at..]) {
            let start = at + quote;
            let end = string_end(self.json, start)?;
            self.keep_expecting(at..start);
            at = end;
            let inner = start + 1..end - 1;
            let view = string(&self.json[inner.clone()])?;
            let colon = past_space(self.json, end);
            if self.json.as_bytes().get(colon) != Some(&b':') {
                let names =
                    name.take().is_some_and(|name| NAMING.contains(&name.text.to_ascii_lowercase().as_str()));
                self.value(inner, &view, names);
                continue;
            }
            // Lines of a key are values, so a name ends it.
            self.key_is_open = false;
            self.text(inner, &view);
            let expected = self.expect == Expect::Value && VALUES.contains(&&*view.text);
            if self.finder.is_secret_name(&view.text) || expected {
                at = self.secret_value(past_space(self.json, colon + 1))?;
                self.expect = Expect::Nothing;
            }
            name = Some(view);
        }
        Ok(())
    }

    /// Drops the expectation at the end of the list or object.
    fn keep_expecting(&mut self, between: Range<usize>) {
        let ends: &[u8] = if self.expect == Expect::Value { b"{}[]" } else { b"{}[]:0123456789tfn" };
        let between = &self.json.as_bytes()[between];
        if self.expect != Expect::Nothing && between.iter().any(|byte| ends.contains(byte)) {
            self.expect = Expect::Nothing;
        }
    }

    /// Handles a string that is a value.
    fn value(&mut self, inner: Range<usize>, view: &View<'_>, names_another: bool) {
        if self.expect == Expect::Next && !view.text.is_empty() && !view.text.starts_with('-') {
            self.expect = Expect::Nothing;
            return self.edits.push(Edit::inside(inner));
        }
        let is_flag = view.text.starts_with('-') && !view.text.contains(['=', ' ']);
        let is_short = view.text.len() <= 64;
        match () {
            () if names_another && is_short && self.finder.is_secret_name(&view.text) => {
                self.expect = Expect::Value
            }
            () if is_flag && is_short && self.finder.is_secret_name(view.text.trim_start_matches('-')) => {
                self.expect = Expect::Next;
            }
            () if is_header(&view.text) => self.expect = Expect::Next,
            () => {}
        }
        self.text(inner, view);
    }

    /// Handles a string with any content.
    fn text(&mut self, inner: Range<usize>, view: &View<'_>) {
        if self.key_is_open {
            self.key_is_open = !view.text.contains("-----");
            if view.text.lines().all(|line| tokens::is_key_line(line) || line.contains("-----END")) {
                return self.edits.push(Edit::inside(inner));
            }
            self.key_is_open = false;
        }
        let mut found = Vec::new();
        self.finder.text(&view.text, self.depth + 1, &mut found);
        for edit in found {
            view.source(edit.range, |range| {
                let range = inner.start + range.start..inner.start + range.end;
                self.edits.push(Edit { range, quoted: edit.quoted });
            });
        }
        self.key_is_open = self.finder.leaves_key_open(&view.text);
    }

    /// Hides the value that begins here, and returns where it ends.
    fn secret_value(&mut self, start: usize) -> Result<usize, NotJson> {
        let end = value_end(self.json, start)?;
        let value = self.json[start..end].trim_end();
        let edit = match value {
            "true" | "false" | "null" | "" | "\"\"" => return Ok(end),
            _ if value.starts_with('"') => Edit::inside(start + 1..start + value.len() - 1),
            _ => Edit { range: start..start + value.len(), quoted: Some(self.depth) },
        };
        self.edits.push(edit);
        Ok(end)
    }
}

/// True if the text is the name of a header whose value follows it in a list.
fn is_header(text: &str) -> bool {
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"]
        .iter()
        .any(|header| text.eq_ignore_ascii_case(header))
}

fn past_space(json: &str, from: usize) -> usize {
    let rest = &json.as_bytes()[from..];
    from + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
}

/// The end of the string that starts here.
fn string_end(json: &str, start: usize) -> Result<usize, NotJson> {
    let bytes = json.as_bytes();
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..).ok_or(NotJson)?).ok_or(NotJson)?;
        match bytes[at] {
            b'"' => return Ok(at + 1),
            _ => at += 2,
        }
    }
}

/// The end of the value that starts here.
fn value_end(json: &str, start: usize) -> Result<usize, NotJson> {
    let bytes = json.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at).ok_or(NotJson)? {
            b'"' => at = string_end(json, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' | b',' if depth == 0 => return Ok(at),
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// The decoded content of a JSON string.
fn string(inner: &str) -> Result<View<'_>, NotJson> {
    let mut built = Builder::default();
    let mut done = 0;
    while let Some(found) = memchr::memchr(b'\\', &inner.as_bytes()[done..]) {
        let start = done + found;
        built.copy(inner, done..start);
        let rest = &inner[start..];
        let (length, reads) = match *rest.as_bytes().get(1).ok_or(NotJson)? {
            b'"' => (2, '"'),
            b'\\' => (2, '\\'),
            b'/' => (2, '/'),
            b'n' => (2, '\n'),
            b'r' => (2, '\r'),
            b't' => (2, '\t'),
            b'b' => (2, '\u{8}'),
            b'f' => (2, '\u{c}'),
            _ => literal::unicode(rest).ok_or(NotJson)?,
        };
        built.decode(start..start + length, Some(reads));
        done = start + length;
    }
    if done == 0 {
        return Ok(View::plain(inner));
    }
    built.copy(inner, done..inner.len());
    Ok(built.view())
}
