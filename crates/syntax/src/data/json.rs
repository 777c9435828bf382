//! JSON: the top-level keys with their types. Values are counted as they pass, never kept, so
//! the size of the file does not matter. Comments and trailing commas are forgiven.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer as _,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Deserializer, Error, value::RawValue};

use super::{DataFormat, count, span_of};
use crate::{Entry, Kind, Problem, Span};

/// Each top-level key with its type, or what the whole is when it is not an object.
pub struct Json;

impl DataFormat for Json {
    const KIND: Kind = Kind::Key;

    fn read(text: &str, show: &mut dyn FnMut(Entry)) -> Result<(), Problem> {
        let plain;
        let (text, whole) = match whole(text) {
            Ok(whole) => (text, whole),
            Err(broken) => {
                plain = relaxed(text).ok_or_else(|| problem(text, &broken))?;
                (plain.as_str(), whole(&plain).map_err(|broken| problem(&plain, &broken))?)
            }
        };
        show_parts(text, whole, show);
        Ok(())
    }
}

fn problem(text: &str, error: &Error) -> Problem {
    let said = error.to_string();
    let message = said.split(" at line ").next().unwrap_or(&said).to_owned();
    let line: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = text.floor_char_boundary(line + error.column().saturating_sub(1));
    Problem { span: Span::at(at), message }
}

fn whole(text: &str) -> Result<&RawValue, Error> {
    let mut input = Deserializer::from_str(text);
    let whole = <&RawValue>::deserialize(&mut input)?;
    input.end()?;
    Ok(whole)
}

fn show_parts(text: &str, whole: &RawValue, show: &mut dyn FnMut(Entry)) {
    // The first item of an array tells most about the others.
    let mut first = None;
    let parts = each_part(whole, |key, value| match key {
        Some(key) => {
            let (quoted, value_at) = (span_of(text, key.get()), span_of(text, value.get()));
            let plain = serde_json::from_str::<Cow<'_, str>>(key.get()).unwrap_or(key.get().into());
            let shown = if plain.is_empty() { "\"\"" } else { &plain };
            show(Entry {
                level: 0,
                line: format!("{shown}: {}", shape(value)),
                name: Span { start: quoted.start + 1, end: quoted.end - 1 },
                whole: Span { start: quoted.start, end: value_at.end },
            });
        }
        None => first = first.take().or_else(|| Some(shape(value))),
    });
    let line = match (whole.get().as_bytes().first(), first) {
        (Some(b'{'), _) if parts > 0 => return,
        (Some(b'{'), _) => "empty object".to_owned(),
        (_, Some(first)) => format!("{}, the first: {first}", shape(whole)),
        (_, None) => shape(whole),
    };
    show(Entry { line, ..Entry::default() });
}

/// A value in a word or two.
fn shape(value: &RawValue) -> String {
    let parts = |noun| count(each_part(value, |_, _| {}), noun);
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
fn each_part<'v>(value: &'v RawValue, show: impl FnMut(Option<&'v RawValue>, &'v RawValue)) -> usize {
    if !value.get().starts_with(['{', '[']) {
        return 0;
    }
    // It was read as a whole before, so nothing can be wrong with it.
    Deserializer::from_str(value.get()).deserialize_any(PartsVisitor(show)).unwrap_or(0)
}

struct PartsVisitor<F>(F);

impl<'de, F: FnMut(Option<&'de RawValue>, &'de RawValue)> Visitor<'de> for PartsVisitor<F> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<usize, A::Error> {
        let mut length = 0;
        while let Some((key, value)) = map.next_entry()? {
            (self.0)(Some(key), value);
            length += 1;
        }
        Ok(length)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<usize, A::Error> {
        let mut length = 0;
        while let Some(item) = items.next_element()? {
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
    use crate::data::tests::{broken, outlined, told};

    fn check(text: &str, expect: &str) {
        assert_eq!(told::<Json>(text), Ok(expect.to_owned()), "{text}");
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
        check("{\"a\\n\u{e9}\": 1}", "a\n\u{e9}: number\n");
    }

    #[test]
    fn comments_and_trailing_commas_are_forgiven() {
        check("// words\n{\n  /* more \" words */ \"a\": 1, // last\n}\n", "a: number\n");
        check("{\"url\": \"http://x/*y*/\", \"b\": [1, 2, ], }", "url: string\nb: array of 2 items\n");
        check("{\"q\": \"\\\"//\", \"b\": 1 /* closed */}", "q: string\nb: number\n");
        for broken in ["{\"a\": 1,,}", "{\"a\": 1 /* open", "[1 / 2]", "{,}"] {
            assert!(told::<Json>(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn what_is_broken_is_placed() {
        let check = |text: &str, line, column, words: &str| {
            let (at_line, at_column, message) = broken::<Json>(text);
            assert_eq!((at_line, at_column), (line, column), "{text:?}: {message}");
            assert!(message.contains(words), "{message}");
        };
        check("", 1, 1, "EOF");
        check("{\"a\": 1", 1, 7, "EOF");
        check("{\n  \"a\" 1}", 2, 7, "expected `:`");
        check("// c\n{\n  \"a\": nope}", 3, 9, "expected ident");
        check("{} {}", 1, 4, "trailing characters");
    }

    #[test]
    fn an_entry_goes_from_its_key_to_the_end_of_its_value() {
        let text = "{ // words\n  \"a\": [1,\n 2], \"b\\\"\": {},\n}\n";
        assert_eq!(outlined::<Json>(text), [("a", "\"a\": [1,\n 2]"), ("b\\\"", "\"b\\\"\": {}")]);
        assert_eq!(outlined::<Json>("[1]"), []);
    }
}
