//! The place where a value was written, and the problems there.

use std::{fmt, sync::Arc};

use tectum_core::nearest;

/// The place where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nowhere: it is built in.
    Default,
    /// In a file.
    File {
        /// The file, as people would name it.
        name: Arc<str>,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// In an environment variable.
    Environment(String),
    /// On the command line.
    Flag(String),
    /// By a command that keeps it in the user's state for this project.
    Kept,
}

impl Origin {
    /// The place of a byte of a file's text; for more than a few, make [`Lines`] once.
    pub fn in_file(name: &Arc<str>, text: &str, offset: usize) -> Self {
        Lines::new(name, text).place(offset)
    }
}

/// The beginnings of a file's lines, so that a place costs no walk over its text.
#[derive(Debug)]
pub struct Lines<'t> {
    name: Arc<str>,
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Walks over a file's text, once.
    pub fn new(name: &Arc<str>, text: &'t str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Self { name: name.clone(), text, starts }
    }

    /// The place of a byte; one beyond the end is the end's.
    pub fn place(&self, at: usize) -> Origin {
        let at = at.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let before = &self.text.as_bytes()[self.starts[line - 1]..at];
        let column = 1 + String::from_utf8_lossy(before).chars().count();
        Origin::File { name: self.name.clone(), line, column }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { name, line, .. } => write!(f, "{name}:{line}"),
            Self::Environment(name) => write!(f, "env {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Kept => f.write_str("your state for this project"),
        }
    }
}

impl From<&Origin> for tectum_core::Origin {
    fn from(origin: &Origin) -> Self {
        match origin {
            Origin::Default => Self { file: None, line: 0 },
            Origin::File { name, line, .. } => Self { file: Some((&**name).into()), line: *line },
            Origin::Environment(_) | Origin::Flag(_) | Origin::Kept => {
                Self { file: Some(origin.to_string().into()), line: 0 }
            }
        }
    }
}

/// One mistake: where, what, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its place.
    pub origin: Origin,
    /// The problem, in words.
    pub message: String,
    /// The right way to write it.
    pub hint: Option<String>,
}

impl Problem {
    /// A mistake at a place.
    pub fn new(origin: Origin, message: impl Into<String>) -> Self {
        Self { origin, message: message.into(), hint: None }
    }

    /// The same mistake with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A name nobody knows, with the nearest known one or all of them.
    pub fn unknown(origin: Origin, what: &str, name: &str, known: &[&str]) -> Self {
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", known.join(", ")),
        };
        Self::new(origin, format!("unknown {what} `{name}`")).hint(hint)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::File { name, line, column } => write!(f, "{name}:{line}:{column}: {}", self.message),
            origin => write!(f, "{origin}: {}", self.message),
        }
    }
}

/// All mistakes of a set-up, in the order they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            let separator = if i > 0 { "\n" } else { "" };
            write!(f, "{separator}{problem}")?;
            if let Some(hint) = &problem.hint {
                write!(f, " ({hint})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, offset: usize, expect: (usize, usize)) {
        let origin = Origin::in_file(&"f".into(), text, offset);
        assert_eq!(origin, Origin::File { name: "f".into(), line: expect.0, column: expect.1 });
    }

    #[test]
    fn lines_and_columns_start_at_one_and_count_characters() {
        check("", 0, (1, 1));
        check("a = 1\nbc = 2", 6, (2, 1));
        check("a = 1\nbc = 2", 8, (2, 3));
        check("ä = 1", 2, (1, 2));
        check("a\r\nb", 3, (2, 1));
        check("a", 99, (1, 2));
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_or_all() {
        let near = Problem::unknown(Origin::Default, "key", "dney", &["deny", "roots"]);
        assert_eq!(near.hint.as_deref(), Some("did you mean `deny`?"));
        let far = Problem::unknown(Origin::Default, "key", "zzzzzzz", &["deny", "roots"]);
        assert_eq!(far.hint.as_deref(), Some("known here: deny, roots"));
    }
}
