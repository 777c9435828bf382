//! `tectum names`: asked by completion scripts, at every press of the key, which servers could be
//! meant. It reads files, starts nothing, and says nothing where no server's name is wanted.

use std::ffi::OsString;

use clap::{Arg, Args, Command};
use tectum::config::servers::Survey;

use super::{failure::Failure, options::Shared, screen::Screen};

/// The arguments that are the name of a server: a command by its whole path, and its argument or
/// option.
const WANTED: [(&str, &str); 13] = [
    ("get", "name"),
    ("remove", "name"),
    ("enable", "name"),
    ("disable", "name"),
    ("restart", "name"),
    ("trust", "names"),
    ("trust", "revoke"),
    ("approve-tools", "server"),
    ("login", "name"),
    ("logout", "name"),
    ("observe test", "name"),
    ("observe mute", "name"),
    ("observe unmute", "name"),
];

/// Print the names of servers that a command line could go on with.
#[derive(Debug, Args)]
pub(crate) struct Names {
    /// The words after `tectum`, up to the one at the cursor
    #[arg(last = true, value_name = "WORD")]
    words: Vec<OsString>,
}

impl Names {
    /// `all` is the whole command line.
    pub(crate) fn run(self, all: &Command, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let Some(place) = CursorPlace::find(&self.words, all) else { return Ok(()) };
        if !WANTED.contains(&(place.command.as_str(), place.argument)) {
            return Ok(());
        }
        let mut sources = shared.sources(Vec::new());
        sources.directory = place.dir.map_or(sources.directory, Into::into);
        sources.file = place.config.map(Into::into).or(sources.file);
        // A command that goes wrong says why; a key that was pressed says nothing.
        let Ok(config) = sources.load() else { return Ok(()) };
        let survey = Survey::read(&sources, &config);
        let names = survey.servers.iter().map(|server| format!("{}\n", server.entry.name));
        screen.print(&names.collect::<String>())
    }
}

/// The words at the cursor.
struct CursorPlace<'c> {
    /// The command, with the one it belongs to before it.
    command: String,
    /// The argument or option whose value is being written.
    argument: &'c str,
    /// The directory and the settings that the words name.
    dir: Option<OsString>,
    config: Option<OsString>,
}

impl<'c> CursorPlace<'c> {
    /// Walks over the words as the parser would, as far as they go. `None` where an option itself
    /// is being written, or a command, or something that does not belong there.
    fn find(words: &[OsString], all: &'c Command) -> Option<Self> {
        let (current, before) = words.split_last()?;
        let mut place = Self { command: String::new(), argument: "", dir: None, config: None };
        let (mut command, mut given, mut plain) = (all, 0, false);
        let mut rest = before.iter();
        while let Some(word) = rest.next() {
            let text = word.to_string_lossy();
            if !plain && text == "--" {
                plain = true;
            } else if !plain && text.len() > 1 && text.starts_with('-') {
                let (option, value) = option(&text, command, all);
                let Some(option) = option.filter(|option| option.get_action().takes_values()) else {
                    continue;
                };
                // Some shells take `--option=value` apart at the sign.
                let value = value.or_else(|| rest.find(|word| *word != "=").cloned());
                match (option.get_id().as_str(), value) {
                    ("dir", value @ Some(_)) => place.dir = value,
                    ("config", value @ Some(_)) => place.config = value,
                    (_, Some(_)) => {}
                    (id, None) => {
                        place.argument = id;
                        return Some(place);
                    }
                }
            } else if command.has_subcommands() {
                command = command.find_subcommand(&*text)?;
                place.command = format!("{} {}", place.command, command.get_name()).trim_start().to_owned();
            } else {
                given += 1;
            }
        }
        if !plain && current.to_string_lossy().starts_with('-') {
            return None;
        }
        let mut positions = command.get_positionals();
        let last = command.get_positionals().last()?;
        let several = matches!(last.get_action(), clap::ArgAction::Append);
        place.argument = positions.nth(given).or(several.then_some(last))?.get_id().as_str();
        Some(place)
    }
}

/// The option that a word is, and the value that stands in the same word.
fn option<'c>(word: &str, command: &'c Command, all: &'c Command) -> (Option<&'c Arg>, Option<OsString>) {
    let known = || command.get_arguments().chain(all.get_arguments());
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) =
            long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.into())));
        return (known().find(|arg| arg.get_long() == Some(name)), value);
    }
    // Of several letters in one word the first that takes a value takes the rest.
    for (at, letter) in word.char_indices().skip(1) {
        let Some(found) = known().find(|arg| arg.get_short() == Some(letter)) else { continue };
        if found.get_action().takes_values() {
            let value = &word[at + letter.len_utf8()..];
            return (Some(found), (!value.is_empty()).then(|| value.into()));
        }
    }
    (None, None)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{super::Cli, *};

    fn check(words: &[&str], expect: Option<(&str, &str)>) {
        let all = Cli::command();
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let place = CursorPlace::find(&words, &all);
        assert_eq!(place.as_ref().map(|place| (place.command.as_str(), place.argument)), expect, "{words:?}");
    }

    #[test]
    fn what_stands_at_the_cursor_is_known() {
        check(&["get", ""], Some(("get", "name")));
        check(&["get", "a"], Some(("get", "name")));
        check(&["get", "a", ""], None);
        check(&["get", "-"], None);
        check(&["ge"], None);
        check(&[""], None);
        check(&[], None);
        check(&["nonsense", ""], None);
        check(&["get", "--", "-a"], Some(("get", "name")));
        check(&["-C", "x", "get", ""], Some(("get", "name")));
        check(&["-qC", "x", "get", ""], Some(("get", "name")));
        check(&["-Cx", "get", "--json", ""], Some(("get", "name")));
        check(&["--dir=x", "get", ""], Some(("get", "name")));
        check(&["--dir", "=", "x", "get", ""], Some(("get", "name")));
        check(&["get", "-C", ""], Some(("get", "dir")));
        check(&["get", "--dir", "=", ""], Some(("get", "dir")));
        check(&["trust", "a", "b", ""], Some(("trust", "names")));
        check(&["trust", "--revoke", ""], Some(("trust", "revoke")));
        check(&["approve-tools", "a", "b", ""], Some(("approve-tools", "tools")));
        check(&["observe", "test", ""], Some(("observe test", "name")));
        check(&["observe", ""], None);
    }

    #[test]
    fn every_argument_that_wants_a_server_is_there() {
        let all = Cli::command();
        for (path, argument) in WANTED {
            let found = path.split(' ').try_fold(&all, |command, name| command.find_subcommand(name));
            let known =
                found.is_some_and(|command| command.get_arguments().any(|arg| arg.get_id() == argument));
            assert!(known, "{path} {argument}");
        }
    }
}
