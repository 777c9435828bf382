//! What is said of a name that is not there: whether it is a link to nothing, and which names
//! stand beside it, to suggest the right spelling. Hidden names are not among them.

use std::fmt;

/// A name that is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The whole path.
    pub path: String,
    /// True for a link that is there and leads to nothing.
    pub dangling: bool,
    /// The first name on the way that is not there.
    pub name: String,
    /// The folder it was looked for in, as other calls take it.
    pub folder: String,
    /// The names in that folder, in no order.
    pub beside: Vec<String>,
}

impl Missing {
    /// Only the path, where nothing else is known.
    pub(crate) fn plain(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// A name of the folder as other calls take it.
    pub fn spelled(&self, name: &str) -> String {
        match self.folder.as_str() {
            "" | "." => name.to_owned(),
            folder => format!("{}/{name}", folder.trim_end_matches('/')),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dangling {
            write!(f, "{} is a symbolic link to something that does not exist", self.path)
        } else {
            write!(f, "file not found: {}", self.path)
        }
    }
}
