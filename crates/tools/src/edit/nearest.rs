//! Saying why a text was not found: the place it resembles most and the first line that
//! differs, at a cost that grows with the file and not with the search.

use std::{collections::HashMap, fmt::Write};

use memchr::memmem;
use tectum_core::Fault;

use super::search::EditSearch;
use crate::text::{TextFile, body, split};

/// Lines of the search text that are looked up; a place that shares none of these is not near.
const SEARCHED_LINES: usize = 256;
/// The number of lines too many or too few that are tolerated when the nearest place is looked for.
const BESIDE: usize = 16;
/// Words of a line that are looked up: one bit each.
const WORDS: usize = 64;
/// Characters shown of a line, around the first difference.
const SHOWN: usize = 100;

/// The answer to a text that is nowhere in the file.
pub(super) fn not_found(name: &str, file: &TextFile, search: &EditSearch<'_>) -> Fault {
    let mut message = format!("old_string was not found in {name}; nothing was changed.");
    let mut hint = "read the file again and copy old_string from it, without line numbers".to_owned();
    if let Some(line) = already_there(file, search) {
        hint = format!("new_string already stands at line {line}: the edit may have been made before");
    }
    let old: Vec<&str> = split(search.old).into_iter().map(body).collect();
    let Some(first) = by_lines(file, &old).or_else(|| by_words(file, &old)) else {
        message.push_str(" Nothing in the file resembles it.");
        return Fault::not_found(message).hint(hint);
    };
    let _ = write!(message, " The nearest place is line {}", first.max(1));
    if let Some(difference) = first_difference(file, first, &old) {
        let FirstDifference { line, expected, found } = difference;
        let _ = write!(
            message,
            "; the first difference is at line {line}:\n  expected: {expected}\n  found:    {found}"
        );
    } else {
        message.push_str(", where only its beginning or its end differs.");
    }
    Fault::not_found(message).hint(hint)
}

fn already_there(file: &TextFile, search: &EditSearch<'_>) -> Option<usize> {
    if search.new.trim().len() < 3 || search.old.contains(search.new) {
        return None;
    }
    memmem::find(file.text().as_bytes(), search.new.as_bytes()).map(|at| file.lines().at(at))
}

/// The line where the old text would begin if the lines it shares with the file are the same
/// lines: each shared line votes with its length.
fn by_lines(file: &TextFile, old: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in old.iter().take(SEARCHED_LINES).enumerate() {
        // Short lines (a brace, `end`) stand everywhere and say nothing.
        if line.trim().len() > 3 {
            places.entry(line.trim()).or_default().push(index);
        }
    }
    if places.is_empty() {
        return None;
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for number in 1..=file.lines().count() {
        let line = file.line(number).trim();
        // A line that stands twice in the old text may be either; two votes are enough.
        for index in places.get(line).into_iter().flatten().take(2) {
            if number > *index {
                *votes.entry(number - index).or_default() += line.len();
            }
        }
    }
    let (best, _) = votes.iter().max_by_key(|(first, weight)| (**weight, std::cmp::Reverse(**first)))?;
    // Where a line is missing or too many, what comes after it votes for a place beside the true one.
    // That one agrees from its first line on.
    let beside = votes.iter().filter(|(first, _)| first.abs_diff(*best) <= BESIDE);
    let agrees = |first: usize| {
        let same = |(index, line): &(usize, &&str)| file.line(first + index).trim() == line.trim();
        old.iter().enumerate().take_while(same).count()
    };
    beside
        .max_by_key(|(first, weight)| (agrees(**first), **weight, std::cmp::Reverse(**first)))
        .map(|(first, _)| *first)
}

/// The same by the words of the longest line, for a text that shares no whole line.
fn by_words(file: &TextFile, old: &[&str]) -> Option<usize> {
    let (index, longest) = old.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let mut bits: HashMap<&str, u32> = HashMap::new();
    for word in words(longest).take(WORDS) {
        let next = bits.len() as u32;
        bits.entry(word).or_insert(next);
    }
    let mut weights = [0; WORDS];
    for (word, bit) in &bits {
        weights[*bit as usize] = word.len();
    }
    let total: usize = weights.iter().sum();
    let mut best = (0, 0);
    for number in 1..=file.lines().count() {
        let shared =
            words(file.line(number)).filter_map(|word| bits.get(word)).fold(0_u64, |set, bit| set | 1 << bit);
        if shared == 0 {
            continue;
        }
        let weight = (0..WORDS).filter(|bit| shared >> bit & 1 == 1).map(|bit| weights[bit]).sum();
        if weight > best.0 {
            best = (weight, number);
        }
    }
    (best.0 > 0 && best.0 * 2 >= total).then(|| best.1.saturating_sub(index).max(1))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

struct FirstDifference {
    line: usize,
    expected: String,
    found: String,
}

fn first_difference(file: &TextFile, first: usize, old: &[&str]) -> Option<FirstDifference> {
    for (index, expected) in old.iter().enumerate() {
        let number = first + index;
        let (is_first, is_last) = (index == 0, index + 1 == old.len());
        if number > file.lines().count() {
            return Some(FirstDifference {
                line: number,
                expected: visible(expected, 0),
                found: "(end of file)".into(),
            });
        }
        let found = file.line(number);
        // The first line may begin, and the last one end, in the middle of a line.
        let same = match (is_first, is_last) {
            (true, true) => found.contains(expected),
            (true, false) => found.ends_with(expected),
            (false, true) => found.starts_with(expected),
            (false, false) => found == *expected,
        };
        if same {
            continue;
        }
        let found = if is_first { from_common_beginning(found, expected) } else { found };
        let same = expected.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
        return Some(FirstDifference {
            line: number,
            expected: visible(expected, same),
            found: visible(found, same),
        });
    }
    None
}

/// The rest of a line from where the longest beginning of the text stands in it.
fn from_common_beginning<'l>(line: &'l str, text: &str) -> &'l str {
    let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).take(SHOWN * 10).collect();
    let place = |length: usize| memmem::find(line.as_bytes(), &text.as_bytes()[..length]);
    // If a beginning stands in the line, every shorter one does too.
    let fitting = ends.partition_point(|end| place(*end).is_some());
    match fitting {
        0..3 => line,
        fitting => place(ends[fitting - 1]).map_or(line, |at| &line[at..]),
    }
}

/// A line with its invisible characters made visible, cut to what is around a character.
fn visible(line: &str, around: usize) -> String {
    let skipped = around.saturating_sub(SHOWN / 2);
    let blanks_from = line.trim_end_matches(' ').chars().count();
    let mut shown = String::new();
    if skipped > 0 {
        shown.push('…');
    }
    for (index, c) in line.chars().enumerate().skip(skipped) {
        if index == skipped + SHOWN {
            shown.push('…');
            break;
        }
        match c {
            ' ' if index >= blanks_from => shown.push('·'),
            '\t' => shown.push_str("\\t"),
            ' ' => shown.push(' '),
            c if c.is_control() || c.is_whitespace() || is_invisible(c) => {
                let _ = write!(shown, "{}", c.escape_unicode());
            }
            c => shown.push(c),
        }
    }
    if shown.is_empty() { "(empty line)".into() } else { shown }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}
