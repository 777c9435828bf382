//! Text of others on a person's screen: what cannot be seen, or changes what is seen, is escaped.

/// The text with control, direction and invisible characters written out.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' => out.push(c),
            // Letters that show nothing, which no table of categories tells.
            '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}' | '\u{17b4}' | '\u{17b5}' => {
                out.extend(c.escape_unicode());
            }
            _ => out.extend(c.escape_debug()),
        }
    }
    out
}

/// The text in quotes, so that its spaces and its end are seen.
pub fn quoted(words: &str) -> String {
    format!("\"{}\"", text(words).replace('"', "\\\""))
}

/// A command line on one line: quotes only where a word needs them.
pub fn line(words: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%~^${}".contains(c);
    let word = |word: &&str| match !word.is_empty() && word.chars().all(plain) {
        true => (*word).to_owned(),
        false => quoted(word),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (given, expect) in [
            ("plain ü 漢 \"x\"", "plain ü 漢 \"x\""),
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\tc", "a\\nb\\tc"),
            ("rm\u{202e}x", "rm\\u{202e}x"),
            ("a\u{200b}b\u{2066}", "a\\u{200b}b\\u{2066}"),
            ("a\u{e0041}", "a\\u{e0041}"),
            ("a\u{3164}\u{2800}", "a\\u{3164}\\u{2800}"),
            ("a\u{a0}b", "a\\u{a0}b"),
            ("a\\b", "a\\\\b"),
            ("e\u{fe0f}", "e\\u{fe0f}"),
        ] {
            assert_eq!(text(given), expect);
        }
    }

    #[test]
    fn a_line_shows_where_words_end() {
        assert_eq!(line(&["npx", "-y", "a b", "", "x\"y", "${A}"]), "npx -y \"a b\" \"\" \"x\\\"y\" ${A}");
    }
}
