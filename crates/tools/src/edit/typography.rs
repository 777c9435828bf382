//! Writing new quotes and dashes in the style of the place they come to. Where that style is not
//! clear it says so, and guesses nothing.

use std::ops::Range;

use super::view::fold;

/// A quote or a dash as it is read: the plain character, and what stands around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// A quote before a word, or after one.
    Quote { plain: char, opens: bool },
    /// A dash, and whether there are blanks before and after it.
    Dash { before: bool, after: bool },
}

/// The part of the new text that changes, with its quotes and dashes written as the file writes
/// those of the old text; `there` gives what the file has for an offset of the old text. `None`
/// where the file's style does not say how one is written.
pub(super) fn fitted(
    old: &str,
    new: &str,
    part: Range<usize>,
    there: impl Fn(usize) -> Option<char>,
) -> Option<String> {
    let written: Vec<(Mark, char)> =
        marks(old).into_iter().filter_map(|(at, mark)| Some((mark, there(at)?))).collect();
    let mut text = String::with_capacity(part.len());
    let mut copied = part.start;
    for (at, mark) in marks(new).into_iter().filter(|(at, _)| part.contains(at)) {
        let Some(given) = new[at..].chars().next() else { break };
        text.push_str(&new[copied..at]);
        text.push(style(mark, given, &written)?);
        copied = at + given.len_utf8();
    }
    text.push_str(&new[copied..part.end]);
    Some(text)
}

/// The form of such a mark at the place.
fn style(mark: Mark, given: char, written: &[(Mark, char)]) -> Option<char> {
    if written.iter().any(|(other, _)| *other == mark) {
        return only(mark, written);
    }
    match mark {
        // Hyphens and dashes stand beside each other in every style.
        Mark::Dash { .. } => Some(given),
        Mark::Quote { plain, opens } => {
            let other = Mark::Quote { plain, opens: !opens };
            partner(plain, only(other, written)?, opens)
        }
    }
}

/// The one way in which these marks are written; none where there are several.
fn only(mark: Mark, written: &[(Mark, char)]) -> Option<char> {
    let mut alike = written.iter().filter(|(other, _)| *other == mark).map(|(_, c)| *c);
    let first = alike.next()?;
    alike.all(|other| other == first).then_some(first)
}

/// The other quote of a pair, where only one is in sight. A single one may be an apostrophe,
/// which has no partner.
fn partner(plain: char, other: char, opens: bool) -> Option<char> {
    match (plain, other, opens) {
        (_, other, _) if other == plain => Some(plain),
        ('"', '\u{201d}', true) => Some('\u{201c}'),
        ('"', '\u{201c}', false) => Some('\u{201d}'),
        ('\'', '\u{2018}', false) => Some('\u{2019}'),
        _ => None,
    }
}

/// The quotes and dashes of a text, with their offsets.
fn marks(text: &str) -> Vec<(usize, Mark)> {
    let mut marks = Vec::new();
    let mut before = None;
    // A quote right after one that opens opens too.
    let mut opened = true;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        match fold(c) {
            plain @ ('"' | '\'') => {
                let opens = match before.map(fold) {
                    None => true,
                    Some('"' | '\'') => opened,
                    Some(c) => c.is_whitespace() || "([{<-/=:".contains(c),
                };
                opened = opens;
                marks.push((at, Mark::Quote { plain, opens }));
            }
            '-' => {
                let after = blank(chars.peek().map(|(_, c)| *c));
                marks.push((at, Mark::Dash { before: blank(before), after }));
            }
            _ => {}
        }
        before = Some(c);
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the whole new text beside an old one that the file writes like `file`.
    fn check(file: &str, old: &str, new: &str, expect: Option<&str>) {
        let there = |at: usize| file.chars().nth(old[..at].chars().count());
        assert_eq!(fitted(old, new, 0..new.len(), there).as_deref(), expect, "{new}");
    }

    #[test]
    fn new_marks_are_written_like_those_of_the_place() {
        let file = "say \u{201c}hello\u{201d} \u{2014} it\u{2019}s";
        let old = "say \"hello\" - it's";
        let check = |new, expect| check(file, old, new, expect);
        check("say \"bye\"", Some("say \u{201c}bye\u{201d}"));
        check("(\"a\" - don't, well-known)", Some("(\u{201c}a\u{201d} \u{2014} don\u{2019}t, well-known)"));
        check("plain words", Some("plain words"));
        // An apostrophe says nothing about how single quotes open.
        check("a 'b'", None);
        check("\"a 'b'\"", None);
    }

    #[test]
    fn a_pair_is_completed_and_an_unclear_style_is_not_guessed() {
        check("hello\u{201d} now", "hello\" now", "\"bye\"", Some("\u{201c}bye\u{201d}"));
        check("\u{201d}hej\u{201d}", "\"hej\"", "\"nej\"", Some("\u{201d}nej\u{201d}"));
        check("\u{201e}so\u{201c} \u{2013}", "\"so\" -", "\"ja\" -", Some("\u{201e}ja\u{201c} \u{2013}"));
        // Both styles stand there.
        check("\u{201c}a\u{201d} \"b\"", "\"a\" \"b\"", "\"c\"", None);
        // No quote stands there.
        check("a \u{2014} b", "a - b", "a \"b\"", None);
        // The other way round: a plain file stays plain.
        check("\"a\" - b", "\u{201c}a\u{201d} \u{2014} b", "\u{201c}c\u{201d} \u{2014} d", Some("\"c\" - d"));
    }
}
