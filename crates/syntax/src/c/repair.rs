//! Texts of the same length that say the same to a compiler but can be read without a
//! preprocessor: directives and all branches but one are blank.

use super::{bytes, pieces, pieces::Piece, skim, token, words};
use crate::Span;

/// Conditions within conditions beyond this depth are all kept.
const DEEPEST: usize = 200;

/// The branch of each condition that stays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// The first that is not `#if 0`.
    First,
    /// The last.
    Last,
}

/// The text with its directives blank, and every branch but one. Says also whether it has branches.
pub(super) fn reading(text: &str, cpp: bool, keep: Keep) -> (Vec<u8>, bool) {
    let source = text.as_bytes();
    let mut out = source.to_vec();
    let lines = directives(source, cpp);
    let stays = staying(source, &lines, keep);
    let mut branched = false;
    let mut at = 0;
    let mut alive = true;
    for ((start, end), stays) in lines.iter().zip(&stays) {
        if !alive {
            blank(&mut out, at, *start);
            branched = true;
        }
        blank(&mut out, *start, *end);
        (at, alive) = (*end, *stays);
    }
    if !alive {
        blank(&mut out, at, source.len());
    }
    (out, branched)
}

/// The directives of a text.
fn directives(source: &[u8], cpp: bool) -> Vec<(usize, usize)> {
    static STOPS: [bool; 256] = bytes::set(b"\"'/#");
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(stop) = bytes::find(source, at, &STOPS) {
        at = match source[stop] {
            b'"' => skim::string(source, stop, cpp),
            b'\'' => skim::apostrophe(source, stop, cpp),
            b'/' => skim::comment(source, stop).unwrap_or(stop + 1),
            _ if skim::begins_line(source, stop) => {
                let end = skim::directive(source, stop);
                lines.push((stop, end));
                end
            }
            _ => stop + 1,
        };
    }
    lines
}

/// For each directive, true if the text after it stays.
fn staying(source: &[u8], lines: &[(usize, usize)], keep: Keep) -> Vec<bool> {
    // For each condition that is open: where its branches begin, to be judged at its end.
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut ignored = 0usize;
    let mut kept = vec![true; lines.len()];
    let mut parents: Vec<Option<usize>> = vec![None; lines.len()];
    let mut ends = vec![false; lines.len()];
    for (index, (start, end)) in lines.iter().enumerate() {
        parents[index] = open.last().and_then(|branches| branches.last().copied());
        match pieces::directive_parts(source, *start, *end).0 {
            b"if" | b"ifdef" | b"ifndef" if open.len() >= DEEPEST => ignored += 1,
            b"if" | b"ifdef" | b"ifndef" => open.push(vec![index]),
            b"elif" | b"else" | b"elifdef" | b"elifndef" if ignored == 0 => {
                if let Some(branches) = open.last_mut() {
                    parents[index] = branches.first().and_then(|first| parents[*first]);
                    branches.push(index);
                }
            }
            b"endif" if ignored > 0 => ignored -= 1,
            b"endif" => {
                if let Some(branches) = open.pop() {
                    choose(source, lines, &branches, keep, &mut kept);
                    parents[index] = branches.first().and_then(|first| parents[*first]);
                    ends[index] = true;
                }
            }
            _ => {}
        }
    }
    // A branch lives where it was chosen and what it stands in lives; parents come first.
    let mut alive = vec![true; lines.len()];
    let branch = |index: usize| {
        let word = pieces::directive_parts(source, lines[index].0, lines[index].1).0;
        matches!(word, b"if" | b"ifdef" | b"ifndef" | b"elif" | b"else" | b"elifdef" | b"elifndef")
    };
    for index in 0..lines.len() {
        let around = parents[index].is_none_or(|parent| alive[parent]);
        alive[index] = around && (!branch(index) || ends[index] || kept[index]);
    }
    alive
}

fn choose(source: &[u8], lines: &[(usize, usize)], branches: &[usize], keep: Keep, kept: &mut [bool]) {
    let never = |index: usize| {
        let (start, end) = lines[index];
        let (word, after) = pieces::directive_parts(source, start, end);
        matches!(word, b"if" | b"elif") && source[after..end].trim_ascii() == b"0"
    };
    let mut live = branches.iter().copied().filter(|index| !never(*index));
    let chosen = match keep {
        Keep::First => live.next(),
        Keep::Last => live.next_back(),
    };
    for index in branches {
        kept[*index] = Some(*index) == chosen;
    }
}

/// Replaces everything but line ends by blanks.
pub(super) fn blank(out: &mut [u8], start: usize, end: usize) {
    for byte in &mut out[start..end] {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// The changes that a macro can get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RepairForm {
    /// It and its arguments become blank.
    Gone,
    /// They become `int`.
    Type,
    /// They become `;`.
    Statement,
    /// Only its one argument stays.
    Unwrapped,
    /// Its arguments become blank.
    Emptied,
}

/// A change that may make a text readable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The name of the macro.
    pub(super) word: Span,
    /// The change it gets.
    pub(super) form: RepairForm,
}

/// Changes of macros in a stretch of the text, the likeliest first.
pub(super) fn changes(text: &[u8], from: usize, to: usize, cpp: bool) -> Vec<Change> {
    // Comments and strings of the stretch are blank here, so that only code is looked at.
    let mut code = text[from..to].to_vec();
    let mut strings = Vec::new();
    pieces::apart(&text[from..to], cpp, |piece, start, end| {
        blank(&mut code, start, end);
        if piece == Piece::Quoted {
            strings.push((start, end));
        }
    });
    let mut changes = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let end = bytes::word_end(&code, at);
        if end == at {
            at += 1;
            continue;
        }
        for form in forms(&code, at, end, &strings, cpp) {
            changes.push(Change { word: Span::new(from + at, from + end), form });
        }
        at = end;
    }
    changes
}

/// The changes that the word at a place may get.
fn forms(code: &[u8], start: usize, end: usize, strings: &[(usize, usize)], cpp: bool) -> Vec<RepairForm> {
    let word = &code[start..end];
    let mut forms = Vec::new();
    if word[0].is_ascii_digit() || words::key(word, cpp).is_some() {
        return forms;
    }
    let loud = bytes::is_loud(word) || word.starts_with(b"__") || bytes::ends_loud(word);
    let arguments = arguments(code, end, cpp);
    let after = arguments.map_or(end, |(_, close)| close);
    // A macro that is not loud may open a block, stand at the very left, or make a type; anything
    // else would forgive a call that lacks its semicolon.
    let rest = &code[after..];
    let block = rest.trim_ascii_start().starts_with(b"{");
    let left = start == 0 || code[start - 1] == b'\n';
    let beginning = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
    let typed = beginning.is_some_and(|byte| bytes::in_word(*byte) || *byte == b'*');
    let line = skim::begins_line(code, start);
    let beside = strings.iter().any(|(from, to)| {
        *from >= end && code[end..*from].trim_ascii().is_empty()
            || *to <= start && code[*to..start].trim_ascii().is_empty()
    });
    let plain =
        |(open, close): (usize, usize)| code[open + 1..close - 1].iter().all(|byte| bytes::in_word(*byte));
    if loud && arguments.is_some_and(plain) {
        forms.push(RepairForm::Unwrapped);
    }
    if loud || beside || arguments.is_some() && (block || left) {
        forms.push(RepairForm::Gone);
    }
    if loud || arguments.is_some() && typed {
        forms.push(RepairForm::Type);
    }
    let with_type = |(open, close): (usize, usize)| {
        let inside = code[open + 1..close - 1].trim_ascii_end();
        inside.ends_with(b"*") || inside.split(|byte| !bytes::in_word(*byte)).any(is_type_word)
    };
    if arguments.is_some_and(|place| loud || with_type(place)) {
        forms.push(RepairForm::Emptied);
    }
    if arguments.is_some() && line && loud {
        forms.push(RepairForm::Statement);
    }
    forms
}

fn is_type_word(word: &[u8]) -> bool {
    use words::Key;
    matches!(
        words::key(word, true),
        Some(Key::Primitive | Key::Struct | Key::Union | Key::Enum | Key::Qualifier)
    )
}

/// Blanks every macro that stands alone on its line, with its arguments.
pub(super) fn without_lonely_macros(text: &[u8], cpp: bool) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut at = 0;
    while at < text.len() {
        let line_end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
        let start = at + text[at..line_end].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let end = bytes::word_end(&text[..line_end], start);
        if bytes::is_loud(&text[start..end]) {
            let after = arguments(&text[..line_end], end, cpp).map_or(end, |(_, close)| close);
            if text[after..line_end].trim_ascii().is_empty() {
                blank(&mut out, start, after);
            }
        }
        at = line_end + 1;
    }
    out
}

/// The parentheses after a word, on its line.
fn arguments(code: &[u8], end: usize, cpp: bool) -> Option<(usize, usize)> {
    let open = end + code[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if code.get(open) != Some(&b'(') {
        return None;
    }
    let close = token::group_end(code, open, cpp);
    (code[close - 1] == b')' && close > open + 1).then_some((open, close))
}

/// Does to one word what a change says; false where it does not fit.
pub(super) fn apply(out: &mut [u8], word: Span, form: RepairForm, cpp: bool) -> bool {
    let (start, end) = (word.start as usize, word.end as usize);
    let arguments = arguments(out, end, cpp);
    let all = arguments.map_or(end, |(_, close)| close);
    match (form, arguments) {
        (RepairForm::Gone, _) => blank(out, start, all),
        (RepairForm::Type, _) if all - start >= 3 => {
            blank(out, start, all);
            out[start..start + 3].copy_from_slice(b"int");
        }
        (RepairForm::Statement, Some(_)) => {
            blank(out, start, all);
            out[start] = b';';
        }
        (RepairForm::Unwrapped, Some((open, close))) => {
            blank(out, start, open + 1);
            blank(out, close - 1, close);
        }
        (RepairForm::Emptied, Some((open, close))) => blank(out, open + 1, close - 1),
        _ => return false,
    }
    true
}
