//! The hook of this program in a client's own file: what is written there, and how it is removed again.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    shape::HookShape,
    splice::{Insertion, items_at, put_item, put_member, take_back, take_items},
};

/// The text of a file that is made.
const EMPTY: &str = "{}\n";
/// The time that clients give the hook, in seconds. It ends by itself much earlier.
const TIMEOUT: u64 = 60;

/// What was put into a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedHook {
    /// True if there was no file.
    pub made: bool,
    /// The pieces, in the order in which they were put.
    pub pieces: Vec<Insertion>,
}

impl HookShape {
    /// Its file below the project, or below the user's home.
    pub fn file(self, user: bool) -> &'static str {
        match self {
            // The one of a project that is not shared with others: the hook names a program of this machine.
            Self::Claude if !user => ".claude/settings.local.json",
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            Self::Cursor => ".cursor/hooks.json",
            Self::Gemini => ".gemini/settings.json",
        }
    }

    /// The entry of an event.
    fn entry(self, command: &str) -> Value {
        match self {
            Self::Claude | Self::Codex => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT }] })
            }
            Self::Cursor => json!({ "command": command, "timeout": TIMEOUT, "failClosed": true }),
            Self::Gemini => json!({ "hooks": [
                { "name": "tectum", "type": "command", "command": command, "timeout": TIMEOUT * 1000 },
            ]}),
        }
    }

    /// True if the file has the hook with this command already, for every event.
    pub fn is_placed(self, text: &str, command: &str) -> Result<bool, String> {
        for event in self.events() {
            if !items_at(text, &["hooks", event])?.contains(&self.entry(command)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts the hook into a file, or into none; the new text, and what was put.
    pub fn place(self, text: Option<&str>, command: &str) -> Result<(String, PlacedHook), String> {
        let mut placed = PlacedHook { made: text.is_none(), pieces: Vec::new() };
        let mut text = text.unwrap_or(EMPTY).to_owned();
        if text.trim().is_empty() {
            return Err("it is empty; remove it, or write {} into it".into());
        }
        let entry = self.entry(command);
        for event in self.events().iter().rev() {
            let (changed, piece) = put_item(&text, &["hooks", event], &entry)?;
            (text, _) = (changed, placed.pieces.push(piece));
        }
        if self == Self::Cursor
            && let Some((changed, piece)) = put_member(&text, "version", &json!(1))?
        {
            (text, _) = (changed, placed.pieces.push(piece));
        }
        Ok((text, placed))
    }

    /// Removes the hook: exactly what was put where that still stands, else every entry of ours. `None`
    /// means that nothing is left of a file that we made.
    pub fn remove(self, text: &str, placed: &PlacedHook) -> Result<Option<String>, String> {
        let mut left = text.to_owned();
        for piece in placed.pieces.iter().rev() {
            left = take_back(&left, piece).unwrap_or(left);
        }
        for event in self.events() {
            left = take_items(&left, &["hooks", event], |item| self.is_ours(item))?;
        }
        if left.contains(&self.mark()) {
            return Err("an entry runs the hook and something else; remove that command by hand".into());
        }
        Ok((!placed.made || left != EMPTY).then_some(left))
    }

    /// True for an entry that runs this hook, of whatever version and place of the program.
    fn is_ours(self, entry: &Value) -> bool {
        let nested = entry["hooks"].as_array().map_or(&[][..], Vec::as_slice);
        let mut commands = nested.iter().chain([entry]).filter_map(|hook| hook["command"].as_str());
        // An entry that runs something else too is not ours alone.
        nested.len() <= 1 && commands.any(|command| command.contains(&self.mark()))
    }

    /// The words in the command that make an entry ours.
    fn mark(self) -> String {
        format!(" hook --client {} ", self.name())
    }
}

#[cfg(test)]
#[path = "placed_tests.rs"]
mod tests;
