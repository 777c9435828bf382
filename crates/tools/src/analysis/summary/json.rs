//! JSON: the top-level keys with their types. Values are counted as they pass, never kept, so
//! the size of the file does not matter. Comments and trailing commas are forgiven.

use std::fmt;

use serde::{
    Deserialize, Deserializer as _,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Deserializer, Error, value::RawValue};

use super::sheet::{Sheet, Unreadable, count, cut};

/// Each top-level key with its type, or what the whole is when it is not an object.
pub fn summarise(text: &str) -> Result<String, Unreadable> {
    read(text).or_else(|broken| match relaxed(text) {
        Some(plain) => read(&plain),
        None => Err(broken),
    })
}

fn read(text: &str) -> Result<String, Unreadable> {
    summary(text).map_err(|error| {
        let said = error.to_string();
        let message = said.split(" at line ").next().unwrap_or(&said).to_owned();
        Unreadable { message, line: Some(error.line().max(1)), column: Some(error.column().max(1)) }
    })
}

fn summary(text: &str) -> Result<String, Error> {
    let mut input = Deserializer::from_str(text);
    let whole = <&RawValue>::deserialize(&mut input)?;
    input.end()?;
    let mut sheet = Sheet::new();
    // The first item of an array tells most about the others.
    let mut first = None;
    let parts = each_part(whole, |key, value| match key {
        Some("") => sheet.line(0, &format!("\"\": {}", shape(value))),
        Some(key) => sheet.line(0, &format!("{}: {}", cut(key), shape(value))),
        None => first = first.take().or_else(|| Some(shape(value))),
    })?;
    match (whole.get().as_bytes().first(), first) {
        (Some(b'{'), _) if parts > 0 => {}
        (Some(b'{'), _) => sheet.line(0, "empty object"),
        (_, Some(first)) => sheet.line(0, &format!("{}, the first: {first}", shape(whole))),
        (_, None) => sheet.line(0, &shape(whole)),
    }
    Ok(sheet.finish())
}

/// A value in a word or two.
fn shape(value: &RawValue) -> String {
    let parts = |noun| count(each_part(value, |_, _| {}).unwrap_or(0), noun);
    match value.get().as_bytes().first() {
        Some(b'{') => format!("object of {}", parts("key")),
        Some(b'[') => format!("array of {}", parts("item")),
        Some(b'"') => "string".to_owned(),
        Some(b't' | b'f') => "boolean".to_owned(),
        Some(b'n') => "null".to_owned(),
        _ => "number".to_owned(),
    }
}

/// Shows the members of an object with their keys, or the items of an array, and counts them.
fn each_part(value: &RawValue, show: impl FnMut(Option<&str>, &RawValue)) -> Result<usize, Error> {
    if !value.get().starts_with(['{', '[']) {
        return Ok(0);
    }
    Deserializer::from_str(value.get()).deserialize_any(PartsVisitor(show))
}

struct PartsVisitor<F>(F);

impl<'de, F: FnMut(Option<&str>, &RawValue)> Visitor<'de> for PartsVisitor<F> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<usize, A::Error> {
        let mut length = 0;
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            (self.0)(Some(&key), value);
            length += 1;
        }
        Ok(length)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<usize, A::Error> {
        let mut length = 0;
        while let Some(item) = items.next_element::<&RawValue>()? {
            (self.0)(None, item);
            length += 1;
        }
        Ok(length)
    }
}

/// The same text with blanks in place of comments and of commas before a closing bracket, so
/// that every place in it stays the same; `None` when it has neither.
fn relaxed(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let mut changed = false;
    // The last comma after a value, with nothing but blanks behind it so far.
    let mut comma = None;
    let mut before = b'[';
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                string_end(bytes, at)
            }
            (b'/', Some(b'/')) => memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |n| at + n),
            (b'/', Some(b'*')) => {
                memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |n| at + n + 4)
            }
            _ => at + 1,
        };
        match byte {
            b'/' if end > at + 1 => {
                changed = true;
                plain[at..end]
                    .iter_mut()
                    .filter(|byte| !matches!(byte, b'\n' | b'\r'))
                    .for_each(|byte| *byte = b' ');
            }
            b',' => comma = Some(at).filter(|_| !b"[{,".contains(&before)),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    changed = true;
                    plain[comma] = b' ';
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => comma = None,
        }
        let skipped = byte.is_ascii_whitespace() || (*byte == b'/' && end > at + 1);
        if !skipped {
            before = *byte;
        }
        at = end;
    }
    // Whole characters were replaced, so what is left is text.
    changed.then(|| String::from_utf8(plain).ok()).flatten()
}

/// The end of a string that starts here, its closing quote included.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(summarise(text), Ok(expect.to_owned()), "{text}");
    }

    #[test]
    fn keys_have_types_and_lengths() {
        check(
            r#"{"name": "x", "on": true, "n": -1.5e3, "no": null, "list": [1, [2, 3], {}], "map": {"a": {"b": 1}}, "": ""}"#,
            "name: string\non: boolean\nn: number\nno: null\nlist: array of 3 items\nmap: object of 1 key\n\"\": string\n",
        );
        check("{}", "empty object\n");
        check("[]", "array of 0 items\n");
        check("[{\"a\": 1}, 2]\n", "array of 2 items, the first: object of 1 key\n");
        check("\"words\"", "string\n");
        check("12", "number\n");
        check("null", "null\n");
        check("{\"a\\n\u{e9}\": 1}", "a \u{e9}: number\n");
    }

    #[test]
    fn comments_and_trailing_commas_are_forgiven() {
        check("// words\n{\n  /* more \" words */ \"a\": 1, // last\n}\n", "a: number\n");
        check("{\"url\": \"http://x/*y*/\", \"b\": [1, 2, ], }", "url: string\nb: array of 2 items\n");
        check("{\"q\": \"\\\"//\", \"b\": 1 /* closed */}", "q: string\nb: number\n");
        for broken in ["{\"a\": 1,,}", "{\"a\": 1 /* open", "[1 / 2]", "{,}"] {
            assert!(summarise(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn what_is_broken_is_placed() {
        let check = |text: &str, line, column, words: &str| {
            let broken = summarise(text).expect_err("broken");
            assert_eq!((broken.line, broken.column), (Some(line), Some(column)), "{text:?}: {broken}");
            assert!(broken.message.contains(words), "{broken}");
        };
        check("", 1, 1, "EOF");
        check("{\"a\": 1", 1, 7, "EOF");
        check("{\n  \"a\" 1}", 2, 7, "expected `:`");
        check("// c\n{\n  \"a\": nope}", 3, 9, "expected ident");
        check("{} {}", 1, 4, "trailing characters");
    }
}
