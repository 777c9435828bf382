//! The text of a file of settings: read with a bound, with an absent file told from a broken one.

use std::{io, path::Path, sync::Arc};

use super::place::{Origin, Problem};

/// The problem of a file that exists and cannot be read, and the next step.
pub(super) fn unreadable(name: Arc<str>, error: &io::Error) -> Problem {
    let (why, hint) = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            ("it is a link to a missing file".to_owned(), "create the file it points to, or remove the link")
        }
        io::ErrorKind::InvalidData => ("it is not text in UTF-8".to_owned(), "save it as UTF-8"),
        io::ErrorKind::PermissionDenied => {
            (error.to_string(), "let this user read it (chmod u+r), or remove it")
        }
        _ => (error.to_string(), "replace it with a readable file, or remove it"),
    };
    Problem::new(Origin::File { name, line: 1, column: 1 }, format!("cannot read it: {why}")).hint(hint)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[expect(clippy::disallowed_methods, reason = "our own settings, named by the operator, not an agent's path")]
pub(super) fn read(path: &Path, most: u64) -> io::Result<String> {
    use io::Read as _;

    // Opening a pipe would wait for a writer, and a repository may hold one under this name.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let file = std::fs::File::open(path)?;
    let mut text = String::new();
    file.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(text)
}
