//! A command as somebody wrote it: values only, with every variable filled in.

use std::{collections::BTreeMap, fmt, path::PathBuf};

/// A command to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program: a name searched in `PATH`, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its own environment, on top of the few variables every child gets.
    pub env: BTreeMap<String, Secret>,
    /// Where it starts; the served directory when absent.
    pub cwd: Option<PathBuf>,
}

/// Text that is never shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let launch = Launch {
            command: "x".into(),
            args: vec![],
            env: BTreeMap::from([("TOKEN".to_owned(), Secret::new("hunter2"))]),
            cwd: None,
        };
        assert!(!format!("{launch:?}").contains("hunter2"));
    }
}
