//! A path as the agent typed it, before anybody believed it.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A path as an agent wrote it. It opens nothing; only [`Allowlist::admit`](crate::Allowlist::admit)
/// can make something of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawPath(String);

impl RawPath {
    /// Wraps text that came from outside.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, unjudged: for messages only.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RawPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Control bytes would let a path write on the reader's terminal, and marks that turn the
        // writing direction would let it show as another.
        for c in self.0.chars() {
            let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if c.is_control() || turns { write!(f, "{}", c.escape_unicode())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

impl From<&str> for RawPath {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl JsonSchema for RawPath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RawPath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
