//! JSON: the top-level keys with their types. Values are counted as they pass, never kept, so
//! the size of the file does not matter. Comments and trailing commas are forgiven.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Sheet, Unreadable, count, cut};

/// Each top-level key with its type, or what the whole is when it is no object.
pub fn summarise(text: &str) -> Result<String, Unreadable> {
    read(text).or_else(|broken| match relaxed(text) {
        Some(plain) => read(&plain),
        None => Err(broken),
    })
}

fn read(text: &str) -> Result<String, Unreadable> {
    let mut sheet = Sheet::new();
    let mut input = serde_json::Deserializer::from_str(text);
    let read = Top(&mut sheet).deserialize(&mut input).and_then(|()| input.end());
    match read {
        Ok(()) => Ok(sheet.finish()),
        Err(error) => {
            let said = error.to_string();
            let message = said.split(" at line ").next().unwrap_or(&said).to_owned();
            Err(Unreadable { message, line: Some(error.line().max(1)), column: Some(error.column().max(1)) })
        }
    }
}

/// What stands at the top.
struct Top<'s>(&'s mut Sheet);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = 0;
        while let Some(key) = map.next_key::<String>()? {
            let shape = map.next_value_seed(Shape)?;
            self.0
                .line(0, &format!("{}: {shape}", if key.is_empty() { "\"\"".to_owned() } else { cut(&key) }));
            keys += 1;
        }
        if keys == 0 {
            self.0.line(0, "empty object");
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        // What the first item is tells most about the others.
        let Some(first) = items.next_element_seed(Shape)? else {
            self.0.line(0, "array of 0 items");
            return Ok(());
        };
        let length = 1 + rest(&mut items)?;
        self.0.line(0, &format!("array of {}, the first: {first}", count(length, "item")));
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        Shape.visit_bool(value).map(|shape: String| self.0.line(0, &shape))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        Shape.visit_i64(value).map(|shape: String| self.0.line(0, &shape))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        Shape.visit_u64(value).map(|shape: String| self.0.line(0, &shape))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        Shape.visit_f64(value).map(|shape: String| self.0.line(0, &shape))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        Shape.visit_str(value).map(|shape: String| self.0.line(0, &shape))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Shape.visit_unit().map(|shape: String| self.0.line(0, &shape))
    }
}

/// A value in a word or two.
struct Shape;

impl<'de> DeserializeSeed<'de> for Shape {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<String, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Shape {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut keys = 0;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            keys += 1;
        }
        Ok(format!("object of {}", count(keys, "key")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
        Ok(format!("array of {}", count(rest(&mut items)?, "item")))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<String, E> {
        Ok("boolean".to_owned())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<String, E> {
        Ok("number".to_owned())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<String, E> {
        Ok("number".to_owned())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<String, E> {
        Ok("number".to_owned())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<String, E> {
        Ok("string".to_owned())
    }

    fn visit_unit<E: Error>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }
}

fn rest<'de, A: SeqAccess<'de>>(items: &mut A) -> Result<usize, A::Error> {
    let mut length = 0;
    while items.next_element::<IgnoredAny>()?.is_some() {
        length += 1;
    }
    Ok(length)
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
