//! One part of a command line, and the names that rules may know it by.

/// How many other names a part is given, and how long one may be: they are for rules that forbid,
/// and what is in doubt is asked about anyway.
const MOST_NAMES: usize = 256;
const LONGEST_NAME: usize = 1024;

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

/// What may be run by a text that nobody can read for certain: every word in it may begin a
/// command. This is no reading; it lets a rule that forbids see more than it has to.
pub(super) fn names(text: &str) -> Vec<String> {
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
pub(super) fn by_last_name(text: &str) -> Option<String> {
    let (program, rest) = text.split_once(' ').map_or((text, None), |(program, rest)| (program, Some(rest)));
    let (_, last) = program.rsplit_once('/')?;
    Some(rest.map_or_else(|| last.to_owned(), |rest| format!("{last} {rest}")))
}
