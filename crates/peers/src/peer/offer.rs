//! The offers of a server: each definition as it wrote it.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::value::RawValue;

use crate::wire::Era;

/// One kind of thing a server lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum What {
    /// Tools.
    Tools,
    /// Resources and their templates.
    Resources,
    /// Prompts.
    Prompts,
}

/// One thing a server offers.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The server's own name for it: a name, an address, a template.
    pub(crate) key: Arc<str>,
    /// All of it, as the server wrote it.
    pub(crate) json: Arc<RawValue>,
}

/// Everything a server offers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offer {
    /// Its era; `None` before it was ever met.
    pub(crate) era: Option<Era>,
    /// The abilities, by name, of the clients to whom it offers this.
    pub(crate) abilities: BTreeSet<String>,
    /// Its tools.
    pub(crate) tools: Vec<Item>,
    /// Its resources.
    pub(crate) resources: Vec<Item>,
    /// Its templates of resources.
    pub(crate) templates: Vec<Item>,
    /// Its prompts.
    pub(crate) prompts: Vec<Item>,
    /// Its instructions.
    pub(crate) instructions: Option<String>,
    /// The extensions it declares, as it wrote them.
    pub(crate) extensions: Option<String>,
    /// The left out parts with their reasons, for people.
    pub(crate) left_out: Vec<String>,
    /// False for what is remembered from an earlier run or from before a death.
    pub(crate) fresh: bool,
    /// False until it was listed once.
    pub(crate) known: bool,
}

impl Item {
    /// A definition with its key; one without is left out and told.
    pub(crate) fn read(json: Box<RawValue>, key: &str, left_out: &mut Vec<String>) -> Option<Self> {
        let members = crate::wire::object::Members::of(json.get());
        let found = members.and_then(|members| members.text(key));
        match found.filter(|found| !found.is_empty()) {
            Some(found) => Some(Self { key: found.into(), json: json.into() }),
            None => {
                let shown: String = json.get().chars().take(120).collect();
                left_out.push(format!("no `{key}` in {shown}"));
                None
            }
        }
    }
}
