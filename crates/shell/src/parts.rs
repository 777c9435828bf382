//! What a command line does, part by part, in the spelling that permission rules are matched
//! against; or that this cannot be said before it runs.
//!
//! Only what bash and every `sh` read alike is read here. Whatever else a line holds makes it one
//! part that is in doubt: nothing is guessed.

mod programs;
mod reader;
mod word;

use self::reader::LineReader;

/// One command, or one file that is written to, of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its one spelling: `git commit -m 'two words'`, `> out.txt`.
    pub text: String,
    /// How many bytes of the text are as the program will get them. Variables, substitutions and
    /// globs stand in the rest, and may become anything.
    pub certain: usize,
    /// Other names that it may have, for rules that forbid: what `/bin/rm` or `sudo rm` come to.
    pub also: Vec<String>,
    /// Why nobody can say what it runs; nothing of it is certain then.
    pub doubt: Option<String>,
}

/// Longer command lines are not read.
const MOST_BYTES: usize = 64 * 1024;
/// How many other names a part is given, and how long one may be: they are for rules that forbid,
/// and what is in doubt is asked about anyway.
const MOST_NAMES: usize = 256;
const LONGEST_NAME: usize = 1024;

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

/// What may be run by a text that nobody can read for certain: every word in it may begin a
/// command. This is no reading; it lets a rule that forbids see more than it has to.
fn names(text: &str) -> Vec<String> {
    let plain = text.replace("\\\n", "").replace("${IFS}", " ").replace("$IFS", " ");
    let plain = plain.replace(['\'', '"', '\\', '$'], "").replace(',', " ");
    let mut names = Vec::new();
    for piece in plain.split([';', '|', '&', '\n', '(', ')', '{', '}', '`', '<', '>']) {
        let words: Vec<&str> = piece.split_whitespace().collect();
        for at in 0..words.len() {
            if names.len() >= MOST_NAMES {
                return names;
            }
            let mut name = words[at..].join(" ");
            name.truncate(name.floor_char_boundary(LONGEST_NAME));
            names.extend(by_last_name(&name));
            names.push(name);
        }
    }
    names
}

/// `/bin/rm -r x` as `rm -r x`.
fn by_last_name(text: &str) -> Option<String> {
    let (program, rest) = text.split_once(' ').map_or((text, None), |(program, rest)| (program, Some(rest)));
    let (_, last) = program.rsplit_once('/')?;
    Some(rest.map_or_else(|| last.to_owned(), |rest| format!("{last} {rest}")))
}

#[cfg(test)]
mod tests;
