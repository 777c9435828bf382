//! Reads Rust just well enough for the rules: code without comments and literals, whole words,
//! attributes. It is not a parser and judges nothing.

/// The text with every comment and every string or character literal blanked out. Line numbers stay the same.
pub fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(first) = rest.chars().next() {
        let blank = comment(rest).or_else(|| literal(rest, in_word));
        let (taken, after) = rest.split_at(blank.unwrap_or(first.len_utf8()));
        if blank.is_some() {
            code.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            code.push(first);
        }
        in_word = blank.is_none() && is_word(first);
        rest = after;
    }
    code
}

/// The offset of a phrase as whole words: not as part of a longer name on either side.
pub fn find_words(code: &str, phrase: &str) -> Option<usize> {
    let stands_alone = |&(at, _): &(usize, &str)| {
        let before = code[..at].chars().next_back();
        let after = code[at + phrase.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    code.match_indices(phrase).find(stands_alone).map(|(at, _)| at)
}

/// Each attribute of blanked code with the line it starts on, brackets included.
pub fn attributes(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices('#') {
        let body = code[at + 1..].trim_start_matches('!');
        if body.starts_with('[') {
            found.push((line_of(code, at), &body[..closing_bracket(body)]));
        }
    }
    found
}

pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if !rest.starts_with("/*") {
        return None;
    }
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    Some(rest.len())
}

fn literal(rest: &str, in_word: bool) -> Option<usize> {
    if let Some(body) = rest.strip_prefix('"') {
        return Some(1 + quoted(body, '"'));
    }
    if let Some(body) = rest.strip_prefix('\'') {
        // A lifetime also starts with a quote, but no quote closes it after one character.
        let mut chars = body.chars();
        let is_char = chars.next()? == '\\' || chars.next() == Some('\'');
        return is_char.then(|| 1 + quoted(body, '\''));
    }
    if in_word {
        return None;
    }
    let body = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inner = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let left = inner.find(&end).map_or("", |at| &inner[at + end.len()..]);
    Some(rest.len() - left.len())
}

/// The length of a literal's body with its closing quote.
fn quoted(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    body.len()
}

fn closing_bracket(body: &str) -> usize {
    let mut depth = 0;
    for (at, c) in body.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    body.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(code_only(text), expect);
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        check("a // b\nc", "a     \nc");
        check("a /* b /* c */ d */ e", "a                   e");
        check(r#"f("x\"y", 1)"#, "f(      , 1)");
        check("r#\"a\"b\"# c", "         c");
        check("br\"a\\\" c", "       c");
        check("'\\'' 'x' '\"' z", "             z");
        check("\"a\nb\"", "  \n  ");
    }

    #[test]
    fn what_only_looks_like_a_literal_stays() {
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check("r#type for_r", "r#type for_r");
    }

    #[test]
    fn unfinished_text_ends_quietly() {
        check("/* a", "    ");
        check("\"é", "  ");
        check("r#\"a", "    ");
        check("'", "'");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(find_words("files::read_file", "files::read"), None);
        assert_eq!(find_words("files::read_file files::read", "files::read"), Some(17));
        assert_eq!(find_words("crate::files::read::Read", "files::read"), Some(7));
    }

    #[test]
    fn attributes_are_whole_and_know_their_line() {
        let code = "#![a]\n#[b(\n    c[1],\n)]\nfn f() {}";
        assert_eq!(attributes(code), [(1, "[a]"), (2, "[b(\n    c[1],\n)]")]);
    }
}
