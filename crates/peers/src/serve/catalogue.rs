//! What a client may ask about us, kept as bytes that are ready to be sent.
//!
//! Made once for each change of the registry, never for a request.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    DiscoverResult, Implementation, InitializeResult, PromptsCapability, ResourcesCapability,
    ServerCapabilities, Tool, ToolAnnotations, ToolsCapability,
};
use serde_json::Value;
use tectum_core::{Effect, Registry, Snapshot, ToolInfo, World};

use crate::wire::era::{self, Era, MODERN};

/// Tools on one page of the list.
const PAGE: usize = 200;
/// How long a client may keep a list before asking again, in milliseconds.
const TTL_MS: u64 = 60_000;

/// What the model is told about us, once.
const INSTRUCTIONS: &str = "File tools of this project. Paths are relative to the project; nothing outside it can be \
reached. Edits are atomic, keep encoding and line endings, and can be undone with undo_edit and the call id in the \
reply. Search with search_content before reading whole files.";

/// The ready answers, for whatever the registry holds now.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    made: Mutex<Option<(usize, Arc<Lists>)>>,
}

/// The tool list's pages, for both eras.
#[derive(Debug)]
pub(crate) struct Lists {
    legacy: Vec<String>,
    modern: Vec<String>,
}

impl Catalogue {
    /// The lists for the registry as it is now.
    pub(crate) fn lists(&self, registry: &Registry) -> Arc<Lists> {
        let snapshot = registry.snapshot();
        // A snapshot is replaced, never changed, so its address is its version.
        let version = Arc::as_ptr(&snapshot) as usize;
        let mut made = self.made.lock().unwrap_or_else(|broken| broken.into_inner());
        match &*made {
            Some((known, lists)) if *known == version => lists.clone(),
            _ => {
                let lists = Arc::new(Lists::new(&snapshot));
                *made = Some((version, lists.clone()));
                lists
            }
        }
    }
}

impl Lists {
    fn new(snapshot: &Snapshot) -> Self {
        let tools: Vec<String> = snapshot.tools().map(tool).collect();
        let pages = tools.chunks(PAGE).map(|chunk| chunk.join(",")).collect::<Vec<_>>();
        let pages = if pages.is_empty() { vec![String::new()] } else { pages };
        let last = pages.len() - 1;
        let render = |era: Era| {
            let page = |(index, tools): (usize, &String)| {
                let next =
                    if index < last { format!(r#","nextCursor":"{}""#, index + 1) } else { String::new() };
                format!(r#"{{"tools":[{tools}]{next}{}}}"#, tail(era))
            };
            pages.iter().enumerate().map(page).collect()
        };
        Self { legacy: render(Era::Legacy), modern: render(Era::Modern) }
    }

    /// One page of the tool list; `None` for a cursor we never gave.
    pub(crate) fn tools(&self, era: Era, cursor: Option<&str>) -> Option<&str> {
        let pages = match era {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        };
        let index = match cursor {
            None => 0,
            Some(text) => text.parse().ok().filter(|index| *index > 0)?,
        };
        pages.get(index).map(String::as_str)
    }
}

/// The end of every list: cache hints and our name, where the era has them.
fn tail(era: Era) -> String {
    match era {
        Era::Legacy => String::new(),
        Era::Modern => {
            format!(r#","resultType":"complete","ttlMs":{TTL_MS},"cacheScope":"public","_meta":{}"#, meta())
        }
    }
}

/// A list with nothing in it.
pub(crate) fn empty_list(era: Era, key: &str) -> String {
    format!(r#"{{"{key}":[]{}}}"#, tail(era))
}

/// The metadata every modern result carries.
pub(crate) fn meta() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        r#"{{"io.modelcontextprotocol/serverInfo":{{"name":"tectum","title":"Tectum","version":"{version}"}}}}"#
    )
}

/// The answer to `initialize`.
pub(crate) fn initialize(version: &'static str) -> String {
    let mut result = InitializeResult::new(capabilities());
    result.protocol_version = era::sdk_version(version);
    result.server_info = implementation();
    result.instructions = Some(INSTRUCTIONS.into());
    serde_json::to_string(&result).unwrap_or_default()
}

/// The answer to `server/discover`.
pub(crate) fn discover() -> String {
    let mut result = DiscoverResult::new(vec![era::sdk_version(MODERN)], capabilities())
        .with_server_info(implementation())
        .with_ttl_ms(TTL_MS);
    result.instructions = Some(INSTRUCTIONS.into());
    serde_json::to_string(&result).unwrap_or_default()
}

fn implementation() -> Implementation {
    let mut implementation = Implementation::new("tectum", env!("CARGO_PKG_VERSION"));
    implementation.title = Some("Tectum".into());
    implementation
}

/// A fixed superset: clients with a handshake see it once, so what joins later is declared now.
fn capabilities() -> ServerCapabilities {
    let mut tools = ToolsCapability::default();
    tools.list_changed = Some(true);
    let mut prompts = PromptsCapability::default();
    prompts.list_changed = Some(true);
    let mut resources = ResourcesCapability::default();
    resources.subscribe = Some(true);
    resources.list_changed = Some(true);
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(tools);
    capabilities.prompts = Some(prompts);
    capabilities.resources = Some(resources);
    capabilities.logging = Some(serde_json::Map::new());
    capabilities.completions = Some(serde_json::Map::new());
    capabilities
}

fn tool(info: &ToolInfo) -> String {
    let mut tool = Tool::new(info.name.to_string(), info.description.clone(), object(&info.input_schema));
    tool.title = Some(info.title.clone());
    tool.output_schema = info.output_schema.as_deref().map(object);
    tool.annotations = Some(ToolAnnotations::from_raw(
        None,
        Some(info.effect == Effect::Read),
        Some(info.effect == Effect::Change),
        Some(info.idempotent),
        Some(info.world == World::Open),
    ));
    serde_json::to_string(&tool).unwrap_or_default()
}

fn object(schema: &Value) -> Arc<serde_json::Map<String, Value>> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
