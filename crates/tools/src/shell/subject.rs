//! The parts of a command line that permission rules see.

use tectum_core::{Part, Subject};

/// The part that stands, in rules, for a command that outlives its client.
const KEEP: &str = "--keep";

/// The subject of a call that runs this command line in a shell, and perhaps lets it outlive its client.
pub fn subject(command: &str, keep: bool) -> Subject {
    let part = |part: tectum_shell::Part| Part {
        text: part.text,
        certain: part.certain,
        also: part.also,
        doubt: part.doubt,
    };
    let keep = keep.then(|| Part { text: KEEP.into(), certain: KEEP.len(), also: Vec::new(), doubt: None });
    Subject::Parts(tectum_shell::parts(command).into_iter().map(part).chain(keep).collect())
}

/// The subject of a call that runs a script of another language, which nobody splits: only a rule that
/// is this very text, or is about everything, allows it.
pub(super) fn unsplit(script: &str, language: &str) -> Subject {
    let doubt = Some(format!("{language} is not split into parts"));
    Subject::Parts(vec![Part { text: script.to_owned(), certain: 0, also: Vec::new(), doubt }])
}
