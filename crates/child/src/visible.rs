//! Text of strangers made visible: what would act on a terminal, hide from a reader or turn the
//! reading direction is shown as its number instead.

use std::{borrow::Cow, fmt::Write as _};

use serde_json::Value;

/// The text with every character escaped that a person would not see as it is. Line breaks and
/// tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(hides) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hides(c) {
            let _ = write!(shown, "{}", c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same on one line: line breaks and tabs are escaped too.
pub fn on_one_line(text: &str) -> String {
    visible(text).replace('\r', "\\r").replace('\n', "\\n").replace('\t', "\\t")
}

/// Makes every text in a value visible, keys too; true when something had to change.
pub fn make_visible(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match visible(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(shown) => {
                *text = shown;
                true
            }
        },
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| make_visible(item) | changed),
        Value::Object(members) => {
            let mut changed =
                members.values_mut().fold(false, |changed, member| make_visible(member) | changed);
            if members.keys().any(|key| key.chars().any(hides)) {
                let renamed = std::mem::take(members)
                    .into_iter()
                    .map(|(key, value)| (visible(&key).into_owned(), value));
                *members = renamed.collect();
                changed = true;
            }
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn hides(c: char) -> bool {
    match c {
        '\n' | '\t' | '\r' => false,
        // Joiners belong to some scripts and to many emoji, and hide nothing by themselves.
        '\u{200c}' | '\u{200d}' => false,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul and Khmer fillers.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
        | '\u{ffa0}' => true,
        // Zero-width space, direction marks, embeddings, overrides, isolates, invisible operators.
        '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tags and supplementary variation selectors can carry whole messages nobody sees.
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_hides_is_shown_and_what_people_write_stays() {
        for (given, expect) in [
            ("plain\ntext\twith ü 日本 👩‍💻", "plain\ntext\twith ü 日本 👩‍💻"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
            ("x\u{e0041}y\u{200b}", "x\\u{e0041}y\\u{200b}"),
        ] {
            assert_eq!(visible(given), expect);
        }
        assert_eq!(on_one_line("a\nb"), "a\\nb");
    }

    #[test]
    fn every_text_of_a_definition_is_looked_at() {
        let mut value = json!({ "d": "a\u{200b}", "s": { "k\u{202e}": ["\u{7}", 1.0] } });
        assert!(make_visible(&mut value));
        assert_eq!(value, json!({ "d": "a\\u{200b}", "s": { "k\\u{202e}": ["\\u{7}", 1.0] } }));
        assert!(!make_visible(&mut value));
    }
}
