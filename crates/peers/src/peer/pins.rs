//! Tool definitions and instructions as they were when they were first seen or last approved. What a
//! server changes afterwards is withheld until a person has seen the change.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tectum_state::Lasts;

use super::Offer;
use crate::spec::{NewTools, ServerName};

/// The format of the file. A file without a number is of the first, which had no instructions.
const VERSION: u32 = 2;

/// The remembered tools and instructions of one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pins {
    #[serde(default)]
    version: u32,
    /// The definitions that hold, by the server's own names.
    approved: BTreeMap<String, Definition>,
    /// Definitions that differ from them, or are new, and wait for a person.
    waiting: BTreeMap<String, Definition>,
    /// The instructions that hold; empty when it had none, `None` when nobody looked yet.
    #[serde(default)]
    instructions: Option<String>,
    /// Instructions that differ from them and wait for a person.
    #[serde(default)]
    waiting_instructions: Option<String>,
}

/// A definition as its server wrote it: nearly always the next one is the same to the letter, and
/// then neither is read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Definition(Box<RawValue>);

/// The subject of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A tool, by the server's own name for it.
    Tool(String),
    /// The server's instructions.
    Instructions,
}

/// Something that differs from what was approved.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its subject.
    pub subject: Subject,
    /// The approved definition; null for what is new.
    pub approved: Value,
    /// The server's present definition.
    pub waiting: Value,
}

/// The reasons why a tool is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// Its definition changed since a person approved it.
    Changed,
    /// It was added since its server was first met, and its server's new tools are asked about.
    New,
}

impl Default for Pins {
    fn default() -> Self {
        Self {
            version: VERSION,
            approved: BTreeMap::new(),
            waiting: BTreeMap::new(),
            instructions: None,
            waiting_instructions: None,
        }
    }
}

impl Pins {
    /// The file of what is known about a server.
    pub(crate) fn file(state: &Path, server: &ServerName) -> PathBuf {
        state.join(format!("{server}.pins.json"))
    }

    /// The lock over reading and writing any of these files.
    pub(crate) fn lock(state: &Path) -> io::Result<std::fs::File> {
        tectum_state::lock(&state.join("approvals.lock"))
    }

    /// Reads what is kept about a server; `None` where nothing is. The error says why it cannot be known.
    pub(crate) fn read(state: &Path, server: &ServerName) -> Result<Option<Self>, String> {
        let path = Self::file(state, server);
        let unreadable = |why: &dyn std::fmt::Display| {
            format!("its approvals in {} cannot be read: {why}", path.display())
        };
        let Some(bytes) = tectum_state::read(&path).map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        #[derive(Deserialize)]
        struct Format {
            #[serde(default)]
            version: u32,
        }
        let Format { version } = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        if version > VERSION {
            return Err(format!("its approvals in {} were written by a newer Tectum", path.display()));
        }
        let pins: Self = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        Ok(Some(Self { version: VERSION, ..pins }))
    }

    /// Remembers this durably. Whoever calls it holds the lock.
    pub(crate) fn write(&self, state: &Path, server: &ServerName) -> io::Result<()> {
        tectum_state::replace(&Self::file(state, server), &serde_json::to_vec_pretty(self)?, Lasts::PowerCut)
    }

    /// Pins for a server's first meeting: everything it offers is approved.
    pub(crate) fn first(offer: &Offer) -> Self {
        let empty = Self::default();
        empty.updated(offer, NewTools::Take).unwrap_or(empty)
    }

    /// Compares what a server offers with what was approved: `None` when nothing is new.
    pub(crate) fn updated(&self, offer: &Offer, new_tools: NewTools) -> Option<Self> {
        let (mut first_seen, mut waiting) = (Vec::new(), BTreeMap::new());
        for item in &offer.tools {
            let approved = self.approved.get(&*item.key);
            if approved.is_some_and(|approved| approved.says(&item.json)) {
                continue;
            }
            if serde_json::from_str::<Value>(item.json.get()).is_err() {
                continue;
            }
            let definition = Definition((*item.json).to_owned());
            let asks =
                approved.is_some() || new_tools == NewTools::Ask || self.waiting.contains_key(&*item.key);
            if asks {
                waiting.insert(item.key.to_string(), definition);
            } else {
                first_seen.push((item.key.to_string(), definition));
            }
        }
        let said = spoken(offer);
        let (instructions, waiting_instructions) = match &self.instructions {
            None => (Some(said.to_owned()), None),
            // Saying nothing misleads nobody.
            Some(approved) if said.is_empty() || approved == said => (Some(approved.clone()), None),
            Some(approved) => (Some(approved.clone()), Some(said.to_owned())),
        };
        let same = first_seen.is_empty()
            && waiting == self.waiting
            && instructions == self.instructions
            && waiting_instructions == self.waiting_instructions;
        if same {
            return None;
        }
        let mut approved = self.approved.clone();
        approved.extend(first_seen);
        Some(Self { version: VERSION, approved, waiting, instructions, waiting_instructions })
    }

    /// True when this holds something that the other does not. Changes that no longer wait do not count:
    /// another process may still see them wait, and the next write removes them.
    pub(crate) fn adds_to(&self, other: &Self) -> bool {
        let waits = |(tool, waiting): (&String, &Definition)| other.waiting.get(tool) != Some(waiting);
        self.approved.keys().any(|tool| !other.approved.contains_key(tool))
            || self.waiting.iter().any(waits)
            || self.instructions != other.instructions
            || self.withholds_instructions() && self.waiting_instructions != other.waiting_instructions
    }

    /// The reason why a tool is withheld, if it is.
    pub(crate) fn withholds(&self, tool: &str) -> Option<Withheld> {
        let why = || if self.approved.contains_key(tool) { Withheld::Changed } else { Withheld::New };
        self.waiting.contains_key(tool).then(why)
    }

    /// True when changed instructions wait for a person.
    pub(crate) fn withholds_instructions(&self) -> bool {
        self.waiting_instructions.is_some()
    }

    /// The number of changes that wait for a person.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len() + usize::from(self.withholds_instructions())
    }

    /// The changes that wait for a person.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let change = |(tool, waiting): (&String, &Definition)| {
            let approved = self.approved.get(tool).map(Definition::value).unwrap_or_default();
            Change { subject: Subject::Tool(tool.clone()), approved, waiting: waiting.value() }
        };
        let instructions = self.waiting_instructions.as_ref().map(|waiting| Change {
            subject: Subject::Instructions,
            approved: self.instructions.clone().into(),
            waiting: waiting.clone().into(),
        });
        self.waiting.iter().map(change).chain(instructions).collect()
    }

    /// Nothing of this is approved yet: all of it waits for a person.
    pub(crate) fn all_waiting(offer: &Offer) -> Self {
        let empty = Self { instructions: Some(String::new()), ..Self::default() };
        empty.updated(offer, NewTools::Ask).unwrap_or(empty)
    }

    /// A person approved this change, as it was shown.
    pub(crate) fn approve(&mut self, change: &Change) {
        match &change.subject {
            Subject::Tool(tool) => {
                let shown = |waiting: &Definition| waiting.value() == change.waiting;
                if self.waiting.get(tool).is_some_and(shown)
                    && let Some(waiting) = self.waiting.remove(tool)
                {
                    self.approved.insert(tool.clone(), waiting);
                }
            }
            Subject::Instructions => {
                if let Some(waiting) = self.waiting_instructions.take_if(|text| change.waiting == **text) {
                    self.instructions = Some(waiting);
                }
            }
        }
    }
}

/// The instructions of a server; empty where it has none.
fn spoken(offer: &Offer) -> &str {
    offer.instructions.as_deref().unwrap_or_default().trim()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Item;

    fn offer(definitions: &[&str]) -> Offer {
        let read = |json: &&str| {
            let raw = serde_json::value::RawValue::from_string((*json).to_owned()).expect("JSON");
            Item::read(raw, "name", &mut Vec::new()).expect("an item")
        };
        Offer { tools: definitions.iter().map(read).collect(), ..Offer::default() }
    }

    fn updated(pins: &Pins, offer: &Offer) -> Option<Pins> {
        pins.updated(offer, NewTools::Take)
    }

    const FIRST: &str = r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"p"}}},"annotations":{"readOnlyHint":true},"_meta":{"v":1}}"#;

    #[test]
    fn a_change_of_any_field_withholds_and_approval_releases() {
        let pins = Pins::first(&offer(&[FIRST]));
        assert_eq!(pins.withholds("a"), None);
        assert_eq!(updated(&pins, &offer(&[FIRST])), None);
        for (from, to) in [
            (r#""description":"d""#, r#""description":"e""#),
            (r#""type":"string""#, r#""type":"number""#),
            (r#""description":"p""#, r#""description":"q""#),
            ("true", "false"),
            (r#""v":1"#, r#""v":2"#),
            (r#""name":"a","#, r#""name":"a","title":"t","#),
        ] {
            let changed = offer(&[&FIRST.replace(from, to)]);
            let mut next = updated(&pins, &changed).expect("noticed");
            assert_eq!(next.withholds("a"), Some(Withheld::Changed), "{to}");
            let change = next.changes().remove(0);
            next.approve(&change);
            assert!(next.withholds("a").is_none() && updated(&next, &changed).is_none(), "{to}");
        }
        // The order of members is no change, and going back needs no approval.
        let moved = r#"{"inputSchema":{"properties":{"x":{"description":"p","type":"string"}},"type":"object"},"description":"d","name":"a","_meta":{"v":1},"annotations":{"readOnlyHint":true}}"#;
        assert_eq!(updated(&pins, &offer(&[moved])), None);
    }

    #[test]
    fn what_was_not_shown_is_not_approved() {
        let changed = |said: &str| {
            let offer = offer(&[&FIRST.replace("true", "false")]);
            Offer { instructions: Some(said.to_owned()), ..offer }
        };
        let pins = Pins::first(&offer(&[FIRST]));
        let mut next = updated(&pins, &changed("Say it.")).expect("noticed");
        for mut other in next.changes() {
            other.waiting = Value::Null;
            next.approve(&other);
        }
        assert!(next.withholds("a").is_some() && next.withholds_instructions());
        next.changes().iter().for_each(|change| next.approve(change));
        assert_eq!((next.waiting(), updated(&next, &changed(" Say it.\n"))), (0, None));
    }

    #[test]
    fn new_tools_are_taken_or_wait_as_it_is_set() {
        let second = FIRST.replace("\"a\"", "\"b\"");
        let (pins, both) = (Pins::first(&offer(&[FIRST])), offer(&[FIRST, &second]));
        assert_eq!(updated(&pins, &both).expect("noticed").withholds("b"), None);
        let asked = pins.updated(&both, NewTools::Ask).expect("noticed");
        assert_eq!((asked.withholds("a"), asked.withholds("b")), (None, Some(Withheld::New)));
        assert_eq!(updated(&asked, &both), None, "what waits goes on waiting");
    }

    #[test]
    fn a_file_of_the_first_format_is_understood_and_one_that_is_none_is_an_error() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let server = ServerName::parse("s").expect("a name");
        let path = Pins::file(scratch.path(), &server);
        let read = || Pins::read(scratch.path(), &server);
        let write =
            |text: &str| tectum_state::replace(&path, text.as_bytes(), Lasts::Process).expect("written");
        assert_eq!(read(), Ok(None));
        for broken in ["", " ", "{", "{}", "[]", "null", "\"\"", r#"{"approved":{}}"#, "\0\0\0"] {
            write(broken);
            assert!(read().expect_err(broken).contains("cannot be read"), "{broken}");
        }
        write(r#"{"version":3,"anything":1}"#);
        assert!(read().expect_err("newer").contains("a newer Tectum"));
        write(&format!(r#"{{"approved":{{"a":{FIRST}}},"waiting":{{}}}}"#));
        let first = read().expect("read").expect("there");
        let said = Offer { instructions: Some("Say it.".into()), ..offer(&[FIRST]) };
        let next = updated(&first, &said).expect("instructions are first seen");
        assert_eq!(next.waiting(), 0);
        next.write(scratch.path(), &server).expect("written");
        assert_eq!(read(), Ok(Some(next)));
    }
}
