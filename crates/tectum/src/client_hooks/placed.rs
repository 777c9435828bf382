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

    /// What is put there for a hook with this command.
    pub fn entries(self, command: &str) -> HookEntries {
        let entry = match self {
            Self::Claude | Self::Codex => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT }] })
            }
            Self::Cursor => json!({ "command": command, "timeout": TIMEOUT, "failClosed": true }),
            Self::Gemini => json!({ "hooks": [
                { "name": "tectum", "type": "command", "command": command, "timeout": TIMEOUT * 1000 },
            ]}),
        };
        HookEntries {
            items: self.events().iter().map(|event| (*event, entry.clone())).collect(),
            versioned: self == Self::Cursor,
            mark: HookMark::Command(format!(" hook --client {} ", self.name())),
        }
    }
}

/// The entries of one hook in a client's file, and what they are known by.
#[derive(Clone, Debug)]
pub struct HookEntries {
    /// Each event with its entry.
    pub(super) items: Vec<(&'static str, Value)>,
    /// True for a file that says which version its format has.
    pub(super) versioned: bool,
    pub(super) mark: HookMark,
}

/// What makes an entry ours, of whatever version and place of the program.
#[derive(Clone, Debug)]
pub(super) enum HookMark {
    /// Words in its command.
    Command(String),
    /// The tool that it calls.
    Tool(&'static str),
}

impl HookEntries {
    /// True if the file has all of them already.
    pub fn are_placed(&self, text: &str) -> Result<bool, String> {
        for (event, entry) in &self.items {
            if !items_at(text, &["hooks", event])?.contains(entry) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts them into a file, or into none; the new text, and what was put.
    pub fn place(&self, text: Option<&str>) -> Result<(String, PlacedHook), String> {
        let mut placed = PlacedHook { made: text.is_none(), pieces: Vec::new() };
        let mut text = text.unwrap_or(EMPTY).to_owned();
        if text.trim().is_empty() {
            return Err("it is empty; remove it, or write {} into it".into());
        }
        for (event, entry) in self.items.iter().rev() {
            let (changed, piece) = put_item(&text, &["hooks", event], entry)?;
            (text, _) = (changed, placed.pieces.push(piece));
        }
        if self.versioned
            && let Some((changed, piece)) = put_member(&text, "version", &json!(1))?
        {
            (text, _) = (changed, placed.pieces.push(piece));
        }
        Ok((text, placed))
    }

    /// Removes them: exactly what was put where that still stands, else every entry of ours. `None`
    /// means that nothing is left of a file that we made.
    pub fn remove(&self, text: &str, placed: &PlacedHook) -> Result<Option<String>, String> {
        let mut left = text.to_owned();
        for piece in placed.pieces.iter().rev() {
            left = take_back(&left, piece).unwrap_or(left);
        }
        for (event, _) in &self.items {
            left = take_items(&left, &["hooks", event], |item| self.is_ours(item))?;
        }
        if matches!(&self.mark, HookMark::Command(words) if left.contains(words)) {
            return Err("an entry runs the hook and something else; remove that command by hand".into());
        }
        Ok((!placed.made || left != EMPTY).then_some(left))
    }

    fn is_ours(&self, entry: &Value) -> bool {
        let nested = entry["hooks"].as_array().map_or(&[][..], Vec::as_slice);
        let mut hooks = nested.iter().chain([entry]);
        // An entry that runs something else too is not ours alone.
        nested.len() <= 1
            && match &self.mark {
                HookMark::Command(words) => {
                    hooks.any(|hook| hook["command"].as_str().is_some_and(|command| command.contains(words)))
                }
                HookMark::Tool(tool) => hooks.any(|hook| hook["tool"] == *tool),
            }
    }
}

#[cfg(test)]
#[path = "placed_tests.rs"]
mod tests;
