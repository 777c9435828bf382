//! What a tool may ask of the loop around it: a closed list, typed here, JSON at the boundary.
//! Nothing vanishes silently: an entry that cannot be understood is named to whoever reads.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// Who speaks an injected message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    #[default]
    User,
    /// The system.
    System,
    /// The assistant.
    Assistant,
}

/// One request to the loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "params", rename_all = "snake_case")]
pub enum Directive {
    /// Finish this batch, then stop.
    StopProcessing,
    /// Hand over to another tier.
    TierChange {
        /// Which tier.
        #[serde(alias = "tier")]
        target_tier: String,
        /// Why.
        #[serde(default)]
        reason: String,
    },
    /// Keep this text where the model will see it; empty text removes it.
    ContextAnchor {
        /// The anchor's name.
        key: String,
        /// The text.
        content: String,
    },
    /// The to-do list changed.
    TodoStateChanged {
        /// The list as text.
        formatted_state: String,
    },
    /// Add a message after the batch.
    InjectContext {
        /// The text.
        content: String,
        /// Who says it.
        #[serde(default)]
        role: Role,
    },
    /// Replace old tool results by stubs.
    PruneMessages {
        /// How many recent ones stay.
        #[serde(default = "two")]
        keep_recent: usize,
    },
    /// Tell the presentation layer something.
    NotifyPresenter {
        /// What about.
        key: String,
        /// The data.
        #[serde(default)]
        data: Value,
    },
}

fn two() -> usize {
    2
}

/// Where a tool's result carries directives in the form of earlier programs.
pub const MEMBER: &str = "_directives";
/// Where our own results carry them.
pub const META: &str = "tectum/directives";
/// The anchor that a changed to-do list becomes.
pub const TODO_ANCHOR: &str = "todo_state";
/// Entries of one result that are read; the rest is named as left out.
const MOST: usize = 64;

/// The names of all directives on the wire.
pub const NAMES: &[&str] = &[
    "stop_processing",
    "tier_change",
    "context_anchor",
    "todo_state_changed",
    "inject_context",
    "prune_messages",
    "notify_presenter",
];

/// What a result carried: directives in their order, and those that were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Those that were understood.
    pub directives: Vec<Directive>,
    /// Those that were not, or are not allowed.
    pub skipped: Vec<Skipped>,
}

/// Directives of a result that were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Why.
    pub cause: Cause,
    /// How many; more than one only where the rest of a list is left out.
    pub count: u64,
    /// The same in a sentence, for the log.
    pub words: String,
}

/// Why a directive is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There is no such directive, or its parameters do not fit.
    NotUnderstood,
    /// Its sender may not ask for it.
    NotAllowed,
    /// It stands beyond what is read of one result.
    TooMany,
}

impl Skipped {
    /// One of them.
    pub fn one(cause: Cause, words: impl Into<String>) -> Self {
        Self { cause, count: 1, words: words.into() }
    }
}

impl Directive {
    /// Its name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StopProcessing => "stop_processing",
            Self::TierChange { .. } => "tier_change",
            Self::ContextAnchor { .. } => "context_anchor",
            Self::TodoStateChanged { .. } => "todo_state_changed",
            Self::InjectContext { .. } => "inject_context",
            Self::PruneMessages { .. } => "prune_messages",
            Self::NotifyPresenter { .. } => "notify_presenter",
        }
    }

    /// Reads one entry: `{"type", "params"}`, with `params` left out where all have a default.
    pub fn read(entry: &str) -> Result<Self, String> {
        let mut value: Value = serde_json::from_str(entry).map_err(|error| error.to_string())?;
        let Some(members) = value.as_object_mut() else { return Err("it is no object".into()) };
        match members.get("type").and_then(Value::as_str) {
            None => return Err("it has no `type`".into()),
            Some("stop_processing") => return Ok(Self::StopProcessing),
            Some(name) if !NAMES.contains(&name) => {
                return Err(format!("`{name}` is no directive; known: {}", NAMES.join(", ")));
            }
            Some(_) => {}
        }
        if members.get("params").is_none_or(Value::is_null) {
            members.insert("params".into(), Value::Object(serde_json::Map::new()));
        }
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

impl Found {
    /// What a list of entries holds; anything but a list holds nothing.
    pub fn in_list(list: &str) -> Self {
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(list) else { return Self::default() };
        let mut found = Self::default();
        for (i, entry) in entries.iter().take(MOST).enumerate() {
            match Directive::read(entry.get()) {
                Ok(directive) => found.directives.push(directive),
                Err(why) => {
                    found.skipped.push(Skipped::one(Cause::NotUnderstood, format!("directive {i}: {why}")));
                }
            }
        }
        if entries.len() > MOST {
            let count = entries.len() - MOST;
            let words = format!("{count} directives beyond the first {MOST}");
            found.skipped.push(Skipped { cause: Cause::TooMany, count: count as u64, words });
        }
        found
    }

    /// What an object's own member holds; text that is no JSON object holds nothing.
    pub fn in_object(text: &str) -> Self {
        #[derive(Deserialize)]
        struct Carrier<'c> {
            #[serde(borrow, rename = "_directives")]
            directives: Option<&'c RawValue>,
        }
        if memchr::memmem::find(text.as_bytes(), MEMBER.as_bytes()).is_none() {
            return Self::default();
        }
        let carrier = serde_json::from_str::<Carrier<'_>>(text).ok();
        carrier
            .and_then(|carrier| carrier.directives)
            .map(|list| Self::in_list(list.get()))
            .unwrap_or_default()
    }

    /// What the result of an MCP tool carries: in its metadata, its structured content, and in the
    /// texts that are JSON objects. The first place that has any is the one that counts, since a
    /// server writes the same into both.
    pub fn in_result(result: &str) -> Self {
        #[derive(Deserialize)]
        struct Result<'r> {
            #[serde(borrow, rename = "_meta")]
            meta: Option<Meta<'r>>,
            #[serde(borrow, rename = "structuredContent")]
            structured: Option<&'r RawValue>,
            #[serde(borrow, default)]
            content: Vec<&'r RawValue>,
        }
        #[derive(Deserialize)]
        struct Meta<'m> {
            #[serde(borrow, rename = "tectum/directives")]
            directives: Option<&'m RawValue>,
        }
        #[derive(Deserialize)]
        struct Block {
            text: String,
        }
        let has = |word: &str| memchr::memmem::find(result.as_bytes(), word.as_bytes()).is_some();
        if !has(MEMBER) && !has(META) {
            return Self::default();
        }
        let Ok(result) = serde_json::from_str::<Result<'_>>(result) else { return Self::default() };
        let in_meta = result.meta.and_then(|meta| meta.directives).map(|list| Self::in_list(list.get()));
        let in_data = || result.structured.map(|data| Self::in_object(data.get()));
        let in_texts = || {
            let texts = result.content.iter().filter_map(|raw| serde_json::from_str::<Block>(raw.get()).ok());
            let mut all = Self::default();
            for found in texts.map(|block| Self::in_object(&block.text)) {
                all.directives.extend(found.directives);
                all.skipped.extend(found.skipped);
            }
            all
        };
        let some = |found: &Self| *found != Self::default();
        in_meta.filter(some).or_else(|| in_data().filter(some)).unwrap_or_else(in_texts)
    }

    /// Leaves out what its sender may not ask for.
    pub fn only(mut self, allowed: &[String]) -> Self {
        let (kept, refused): (Vec<Directive>, Vec<Directive>) =
            self.directives.into_iter().partition(|one| allowed.iter().any(|name| name == one.name()));
        self.directives = kept;
        let say = |one: &Directive| {
            let words = format!("`{}` is not allowed from this server", one.name());
            Skipped::one(Cause::NotAllowed, words)
        };
        self.skipped.extend(refused.iter().map(say));
        self
    }
}

#[cfg(test)]
#[path = "directives_tests.rs"]
mod tests;
