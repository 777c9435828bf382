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

/// An address without what may be a secret in it: a password, and the values of parameters whose
/// names say so. Variables stay, since they are only names.
pub fn address(url: &str) -> String {
    let (front, query) = match url.split_once('?') {
        Some((front, query)) => (front, Some(query)),
        None => (url, None),
    };
    let mut out = match front.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find('/').unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        let (name, password) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:{}@{host}{}", masked(password), &rest[end..]))
    }) {
        Some(front) => front,
        None => front.to_owned(),
    };
    if let Some(query) = query {
        let part = |part: &str| match part.split_once('=') {
            Some((name, value)) if tectum_redact::is_suspicious_parameter(name) => {
                format!("{name}={}", masked(value))
            }
            _ => part.to_owned(),
        };
        out.push('?');
        out.push_str(&query.split('&').map(part).collect::<Vec<_>>().join("&"));
    }
    text(&out)
}

fn masked(value: &str) -> &str {
    let variable = value.starts_with("${") && value.find('}') == Some(value.len() - 1);
    if variable || value.is_empty() { value } else { "(hidden)" }
}

/// A command line as [`line`] has it, without secrets.
pub fn command(words: &[&str]) -> String {
    let words = redacted(words);
    line(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The words of a command without secrets: in a word, or in the one behind a flag that asks for one.
pub fn redacted(words: &[&str]) -> Vec<String> {
    let mut before = "";
    let mut redacted = Vec::with_capacity(words.len());
    for word in words {
        // With what stands before it a word is known for a value; a variable is only a name.
        let is_value = before.starts_with('-') && !word.starts_with('-') && !word.contains("${");
        let hides =
            is_value && tectum_redact::text(&format!("{before} x{word}x")).ends_with(tectum_redact::HIDDEN);
        redacted.push(if hides {
            tectum_redact::HIDDEN.into()
        } else {
            tectum_redact::text(word).into_owned()
        });
        before = word;
    }
    redacted
}

/// A command line on one line: quotes only where a word needs them.
pub fn line(words: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%~^${}".contains(c);
    let word = |word: &&str| {
        if !word.is_empty() && word.chars().all(plain) { (*word).to_owned() } else { quoted(word) }
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
    fn secrets_of_an_address_are_hidden_and_the_rest_stays() {
        for (given, expect) in [
            ("https://a.example/mcp?x=1#y", "https://a.example/mcp?x=1#y"),
            (
                "https://me:hunter2@a.example:8/p?api_key=hunter2&x=1&Token=hunter2",
                "https://me:(hidden)@a.example:8/p?api_key=(hidden)&x=1&Token=(hidden)",
            ),
            ("https://me:${PW}@a/?token=${T}", "https://me:${PW}@a/?token=${T}"),
            ("https://me@a/x:y@z", "https://me@a/x:y@z"),
            ("https://me:a@b:hunter2@host/", "https://me:(hidden)@host/"),
            ("not a url", "not a url"),
        ] {
            assert_eq!(address(given), expect);
        }
    }

    #[test]
    fn secrets_of_a_command_are_hidden_and_variables_stay() {
        let words = [
            "app",
            "--token",
            "hunter2",
            "--api-key=hunter2",
            "--key",
            "${KEY}",
            "-v",
            "x",
            "--token",
            "${T}",
        ];
        let shown = "app --token \"[redacted]\" \"--api-key=[redacted]\" --key ${KEY} -v x --token ${T}";
        assert_eq!(command(&words), shown);
    }

    #[test]
    fn a_line_shows_where_words_end() {
        assert_eq!(line(&["npx", "-y", "a b", "", "x\"y", "${A}"]), "npx -y \"a b\" \"\" \"x\\\"y\" ${A}");
    }
}
