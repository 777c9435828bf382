//! A text that stands in the data beside it, such as the content of a file that was read: it is written once.

use std::ops::Range;

use memchr::memmem;

/// Shorter texts are written as they are.
const LEAST: usize = 64;
/// The first bytes of a text by which it is searched, at most and at least.
const TELLING: Range<usize> = 4..32;
/// So many strings of the data may begin like the text.
const MOST_TRIES: usize = 8;

/// The bytes of JSON, between quotes, that are this text.
pub(crate) fn place(text: &str, json: &str) -> Option<Range<usize>> {
    if text.len() < LEAST || json.len() < text.len() {
        return None;
    }
    let (text, json) = (text.as_bytes(), json.as_bytes());
    let is_plain = |byte: &u8| *byte >= b' ' && !matches!(byte, b'"' | b'\\');
    let telling = text.iter().take(TELLING.end).take_while(|byte| is_plain(byte)).count();
    if telling < TELLING.start {
        return None;
    }
    let beginnings = memmem::find_iter(json, &text[..telling]).take(MOST_TRIES);
    beginnings.filter(|start| *start > 0 && json[start - 1] == b'"').find_map(|start| {
        let length = length(&json[start..], text)?;
        Some(start..start + length)
    })
}

/// The length of a string of JSON up to its quote, if it is this text.
fn length(json: &[u8], mut text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let run = memchr::memchr(b'\\', &json[at..]).unwrap_or(json.len() - at);
        if run >= text.len() {
            at += text.len();
            return (json[..at].ends_with(text) && json.get(at) == Some(&b'"')).then_some(at);
        }
        let (said, escape) = json[at..].split_at(run);
        let (byte, size) = escaped(escape)?;
        text = text.strip_prefix(said)?.strip_prefix(&[byte])?;
        at += run + size;
    }
}

/// The byte that an escape stands for, and the length of the escape; `None` for characters of several bytes.
fn escaped(escape: &[u8]) -> Option<(u8, usize)> {
    let byte = match escape.get(1)? {
        byte @ (b'"' | b'\\' | b'/') => *byte,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x08,
        b'f' => 0x0c,
        b'u' => {
            let digits = std::str::from_utf8(escape.get(2..6)?).ok()?;
            let code = u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii)?;
            return Some((code, 6));
        }
        _ => return None,
    };
    Some((byte, 2))
}

/// The text at a place of JSON.
pub(crate) fn text(json: &str, [start, end]: [usize; 2]) -> Result<String, String> {
    let quoted = start.checked_sub(1).and_then(|quote| json.get(quote..end.checked_add(1)?));
    let quoted = quoted.ok_or_else(|| format!("no text stands at {start} to {end}"))?;
    serde_json::from_str(quoted).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_a_string_of_the_data_is_found_and_read_again() {
        let long = "a line that is long enough to be found again in what stands beside it";
        for written in [
            long.to_owned(),
            format!("{long}\n\t\"quoted\" \\ and \u{1}\u{7f} ä 😀\r\n"),
            format!("{long}{}", "\n".repeat(90)),
        ] {
            for before in [serde_json::json!("x"), serde_json::json!(&long[..40]), serde_json::json!(null)] {
                let json = serde_json::json!({ "a": before, "content": written, "z": 1 }).to_string();
                let Range { start, end } = place(&written, &json).expect("found");
                assert_eq!(text(&json, [start, end]).expect("read"), written);
            }
        }
    }

    #[test]
    fn what_is_only_like_it_is_not_taken_for_it() {
        let long = "x".repeat(100);
        for other in [format!("{long}y"), format!("{long}\n"), format!("y{long}"), "x".repeat(99)] {
            let json = serde_json::json!({ "content": other }).to_string();
            assert_eq!(place(&long, &json), None, "{other}");
        }
        assert_eq!(place(&long, &format!(r#"{{"a":"{long}"#)), None);
        assert_eq!(place("short", r#"{"a":"short"}"#), None);
        for bad in [[0, 3], [4, 900], [7, 2], [usize::MAX, 0]] {
            text(r#"{"a":"bcd"}"#, bad).expect_err("no text");
        }
    }
}
