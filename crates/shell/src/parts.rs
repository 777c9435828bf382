//! What a command line does, part by part, in the spelling that permission rules are matched
//! against; or that this cannot be said before it runs.
//!
//! Only what bash and every `sh` read alike is read here. Whatever else a line holds makes it one
//! part that is in doubt: nothing is guessed.

mod part;
mod programs;
mod reader;
mod word;

pub use self::part::Part;
use self::{part::names, reader::LineReader};

/// Longer command lines are not read.
const MOST_BYTES: usize = 64 * 1024;

/// The parts of a command line, in the order in which they are written. A call may go ahead
/// unasked only if each of them may.
pub fn parts(command: &str) -> Vec<Part> {
    let mut reader = LineReader::new(command, 0);
    let read = match unfair(command) {
        Some(why) => Err(why),
        None => reader.all(),
    };
    match read {
        Ok(()) => reader.found,
        Err(why) => {
            let mut also = names(command);
            also.extend(reader.found.into_iter().flat_map(|part| part.also.into_iter().chain([part.text])));
            vec![Part { text: command.trim().to_owned(), certain: 0, also, doubt: Some(why) }]
        }
    }
}

/// Why a text is not even read: what people do not see, or shells disagree about.
fn unfair(command: &str) -> Option<String> {
    if command.len() > MOST_BYTES {
        return Some(format!("it is longer than {MOST_BYTES} bytes"));
    }
    let hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || (!c.is_ascii() && c.is_whitespace())
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
            || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
            || matches!(c, '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let found = command.chars().find(|c| hidden(*c))?;
    Some(format!("it holds the character U+{:04X}, which is not seen", u32::from(found)))
}

#[cfg(test)]
mod tests;
