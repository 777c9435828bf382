//! One word of a command, as the program will get it where that is certain.

/// A word.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// Without its quotes.
    pub(super) text: String,
    /// As it was written.
    pub(super) raw: String,
    /// Whether it may become something else, or several words, or none.
    pub(super) open: bool,
    /// Whether a line break within it was escaped.
    pub(super) joined: bool,
}

impl Word {
    /// Its one spelling: quotes only where it needs them, and always the same ones.
    pub(super) fn spelled(&self) -> String {
        let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-^".contains(c);
        match self.text.as_str() {
            _ if self.open => self.raw.clone(),
            "[" | "]" => self.text.clone(),
            text if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
            text => format!("'{}'", text.replace('\'', r"'\''")),
        }
    }

    /// True for a word that was written without quotes and is what it says.
    pub(super) fn is_bare(&self) -> bool {
        !self.open && self.raw == self.text
    }
}
