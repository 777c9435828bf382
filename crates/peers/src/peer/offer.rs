//! What a server offers: each definition as it wrote it, kept across restarts.

use std::{path::Path, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    kept,
    spec::{ServerSpec, Transport},
    wire::era::Era,
};

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
    /// Its tools.
    pub(crate) tools: Vec<Item>,
    /// Its resources.
    pub(crate) resources: Vec<Item>,
    /// Its templates of resources.
    pub(crate) templates: Vec<Item>,
    /// Its prompts.
    pub(crate) prompts: Vec<Item>,
    /// What it wants models to know.
    pub(crate) instructions: Option<String>,
    /// The extensions it declares, as it wrote them.
    pub(crate) extensions: Option<String>,
    /// What was left out and why, for people.
    pub(crate) left_out: Vec<String>,
    /// False for what is remembered from an earlier run or from before a death.
    pub(crate) fresh: bool,
    /// False until it was listed once.
    pub(crate) known: bool,
}

/// The form on the disk.
#[derive(Serialize, Deserialize)]
struct Kept {
    digest: String,
    modern: bool,
    tools: Vec<Box<RawValue>>,
    resources: Vec<Box<RawValue>>,
    templates: Vec<Box<RawValue>>,
    prompts: Vec<Box<RawValue>>,
    instructions: Option<String>,
    #[serde(default)]
    extensions: Option<String>,
}

impl Offer {
    /// What an earlier run learned from the same server.
    #[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
    pub(super) fn kept(state: &Path, spec: &ServerSpec) -> Option<Self> {
        let bytes = std::fs::read(file(state, spec)).ok()?;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        if kept.digest != digest(spec) {
            return None;
        }
        let mut left_out = Vec::new();
        let mut items = |raw: Vec<Box<RawValue>>, key: &str| {
            raw.into_iter().filter_map(|json| Item::read(json, key, &mut left_out)).collect()
        };
        Some(Self {
            era: Some(if kept.modern { Era::Modern } else { Era::Legacy }),
            tools: items(kept.tools, "name"),
            resources: items(kept.resources, "uri"),
            templates: items(kept.templates, "uriTemplate"),
            prompts: items(kept.prompts, "name"),
            instructions: kept.instructions,
            extensions: kept.extensions,
            left_out,
            fresh: false,
            known: true,
        })
    }

    /// Remembers this for the next run. A failure costs only that.
    pub(super) fn keep(&self, state: &Path, spec: &ServerSpec) {
        let raw = |items: &[Item]| items.iter().map(|item| (*item.json).to_owned()).collect();
        let form = Kept {
            digest: digest(spec),
            modern: self.era == Some(Era::Modern),
            tools: raw(&self.tools),
            resources: raw(&self.resources),
            templates: raw(&self.templates),
            prompts: raw(&self.prompts),
            instructions: self.instructions.clone(),
            extensions: self.extensions.clone(),
        };
        let Ok(bytes) = serde_json::to_vec(&form) else { return };
        if let Err(error) = kept::replace(&file(state, spec), &bytes) {
            tracing::debug!(server = %spec.name, %error, "what it offers could not be kept");
        }
    }
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

fn file(state: &Path, spec: &ServerSpec) -> std::path::PathBuf {
    state.join(format!("{}.json", spec.name))
}

/// What must be the same for a memory to be of the same server. Secrets do not enter: a new
/// token does not change what is offered, and no trace of one belongs on the disk.
fn digest(spec: &ServerSpec) -> String {
    let text = match &spec.transport {
        Transport::Stdio(launch) => {
            let names: Vec<&String> = launch.env.keys().collect();
            format!("stdio {:?} {:?} {names:?} {:?}", launch.command, launch.args, launch.cwd)
        }
        Transport::Http(remote) => format!("http {}", remote.url),
        Transport::Sse(remote) => format!("sse {}", remote.url),
    };
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}
