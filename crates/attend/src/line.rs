//! One piece of news as a model reads it.

use serde::Serialize;

/// What stands before the sentence, so that nobody takes it for a part of the result or for a command.
const HEAD: &str = "News";

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The id of the news, such as `n17`.
    pub id: String,
    /// What happened.
    pub sentence: String,
}

impl Line {
    /// The line as text.
    pub fn text(&self) -> String {
        format!("[{HEAD} {}] {}", self.id, self.sentence)
    }

    /// The line in at most so many characters, for a place that takes no more.
    pub fn within(&self, most: usize) -> String {
        let text = self.text();
        match text.char_indices().nth(most) {
            None => text,
            Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        }
    }
}
