//! Tool definitions as they were when they were first seen or last approved. A server that
//! changes one of its tools afterwards has it withheld until a person has seen the change.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{kept, peer::Item, spec::ServerName};

/// What is remembered of one server's tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pins {
    /// The definitions that hold, by the server's own names.
    approved: BTreeMap<String, Definition>,
    /// Definitions that differ from them and wait for a person.
    waiting: BTreeMap<String, Definition>,
}

/// A definition as its server wrote it: nearly always the next one is the same to the letter, and
/// then neither is read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Definition(Box<RawValue>);

/// A tool whose definition changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The server's own name for it.
    pub tool: String,
    /// What holds.
    pub approved: Value,
    /// What the server says now.
    pub waiting: Value,
}

impl Pins {
    /// What is kept about a server; nothing, where nothing is kept.
    pub fn kept(state: &Path, server: &ServerName) -> Self {
        read(&Self::file(state, server)).unwrap_or_default()
    }

    /// Where that is.
    pub(super) fn file(state: &Path, server: &ServerName) -> PathBuf {
        state.join(format!("{server}.pins.json"))
    }

    /// Remembers this.
    pub fn keep(&self, state: &Path, server: &ServerName) -> std::io::Result<()> {
        kept::replace(&Self::file(state, server), &serde_json::to_vec_pretty(self)?)
    }

    /// Compares what a server offers with what was approved: `None` when nothing is new. A tool
    /// seen for the first time is taken as it is.
    pub(crate) fn updated(&self, tools: &[Item]) -> Option<Self> {
        let (mut first_seen, mut waiting) = (Vec::new(), BTreeMap::new());
        for item in tools {
            let approved = self.approved.get(&*item.key);
            if approved.is_some_and(|approved| approved.says(&item.json)) {
                continue;
            }
            if serde_json::from_str::<Value>(item.json.get()).is_err() {
                continue;
            }
            let definition = Definition((*item.json).to_owned());
            match approved {
                None => first_seen.push((item.key.to_string(), definition)),
                Some(_) => drop(waiting.insert(item.key.to_string(), definition)),
            }
        }
        if first_seen.is_empty() && waiting == self.waiting {
            return None;
        }
        let mut approved = self.approved.clone();
        approved.extend(first_seen);
        Some(Self { approved, waiting })
    }

    /// True for a tool whose change nobody has approved.
    pub(crate) fn withholds(&self, tool: &str) -> bool {
        self.waiting.contains_key(tool)
    }

    /// The changes that wait for a person.
    pub fn changes(&self) -> Vec<Change> {
        let change = |(tool, waiting): (&String, &Definition)| {
            let approved = self.approved.get(tool).map(Definition::value).unwrap_or_default();
            Change { tool: tool.clone(), approved, waiting: waiting.value() }
        };
        self.waiting.iter().map(change).collect()
    }

    /// A person approved this change, as it was shown.
    pub fn approve(&mut self, change: &Change) {
        let shown = |waiting: &Definition| waiting.value() == change.waiting;
        if self.waiting.get(&change.tool).is_some_and(shown)
            && let Some(waiting) = self.waiting.remove(&change.tool)
        {
            self.approved.insert(change.tool.clone(), waiting);
        }
    }
}

impl Definition {
    fn value(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }

    /// True for the same in other words, too: the order of members means nothing.
    fn says(&self, other: &RawValue) -> bool {
        let same = || serde_json::from_str::<Value>(other.get()).is_ok_and(|other| other == self.value());
        self.0.get() == other.get() || same()
    }
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        self.says(&other.0)
    }
}

#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
fn read(path: &Path) -> Option<Pins> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(definitions: &[&str]) -> Vec<Item> {
        let read = |json: &&str| {
            let raw = serde_json::value::RawValue::from_string((*json).to_owned()).expect("JSON");
            Item::read(raw, "name", &mut Vec::new()).expect("an item")
        };
        definitions.iter().map(read).collect()
    }

    const FIRST: &str = r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"p"}}},"annotations":{"readOnlyHint":true},"_meta":{"v":1}}"#;

    #[test]
    fn a_change_of_any_field_withholds_and_approval_releases() {
        let pins = Pins::default().updated(&tools(&[FIRST])).expect("first seen");
        assert!(!pins.withholds("a"));
        assert_eq!(pins.updated(&tools(&[FIRST])), None);
        for (from, to) in [
            (r#""description":"d""#, r#""description":"e""#),
            (r#""type":"string""#, r#""type":"number""#),
            (r#""description":"p""#, r#""description":"q""#),
            ("true", "false"),
            (r#""v":1"#, r#""v":2"#),
            (r#""name":"a","#, r#""name":"a","title":"t","#),
        ] {
            let changed = FIRST.replace(from, to);
            let mut next = pins.updated(&tools(&[&changed])).expect("noticed");
            assert!(next.withholds("a"), "{to}");
            let change = next.changes().remove(0);
            next.approve(&change);
            assert!(!next.withholds("a") && next.updated(&tools(&[&changed])).is_none(), "{to}");
        }
        // The order of members is no change, and going back needs no approval.
        let moved = r#"{"inputSchema":{"properties":{"x":{"description":"p","type":"string"}},"type":"object"},"description":"d","name":"a","_meta":{"v":1},"annotations":{"readOnlyHint":true}}"#;
        assert_eq!(pins.updated(&tools(&[moved])), None);
    }

    #[test]
    fn what_was_not_shown_is_not_approved() {
        let pins = Pins::default().updated(&tools(&[FIRST])).expect("first seen");
        let mut next = pins.updated(&tools(&[&FIRST.replace("true", "false")])).expect("noticed");
        let mut other = next.changes().remove(0);
        other.waiting = Value::Null;
        next.approve(&other);
        assert!(next.withholds("a"));
    }
}
