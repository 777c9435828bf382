//! What permission rules see of a command line: its parts.

use tectum_core::{Part, Subject};

/// The subject of a call that runs this command line in a shell.
pub fn subject(command: &str) -> Subject {
    let part = |part: tectum_shell::Part| Part {
        text: part.text,
        certain: part.certain,
        also: part.also,
        doubt: part.doubt,
    };
    Subject::Parts(tectum_shell::parts(command).into_iter().map(part).collect())
}

/// The subject of a call that runs a script of another language, which nobody splits: only a rule that
/// is this very text, or is about everything, allows it.
pub(super) fn unsplit(script: &str, language: &str) -> Subject {
    let doubt = Some(format!("{language} is not split into parts"));
    Subject::Parts(vec![Part { text: script.to_owned(), certain: 0, also: Vec::new(), doubt }])
}
