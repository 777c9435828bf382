//! What a client may ask about us, kept as bytes that are ready to be sent.
//!
//! Made once for each change of the registry, never for a request.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use rmcp::model::{
    DiscoverResult, Implementation, InitializeResult, PromptsCapability, ResourcesCapability,
    ServerCapabilities, Tool, ToolAnnotations, ToolsCapability,
};
use serde_json::Value;
use tectum_core::{Effect, Registry, Snapshot, ToolInfo, World};

use super::pages::{Pages, TTL_MS};
use crate::{
    federation::Profile,
    wire::era::{self, MODERN},
};

/// What the model is told about us, once.
pub(crate) const INSTRUCTIONS: &str = "File tools of this project. Paths are relative to the project; nothing outside it can be \
reached. Edits are atomic, keep encoding and line endings, and can be undone with undo_edit and the call id in the \
reply. Search with search_content before reading whole files.";

/// The ready answers, for whatever the registry holds now.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    made: Mutex<Made>,
}

/// The lists of one version of the registry: one for each profile that somebody has.
#[derive(Debug, Default)]
struct Made {
    version: u64,
    lists: HashMap<(bool, Profile), Arc<Pages>>,
}

impl Catalogue {
    /// The tools' list for the registry as it is now and a client with this profile; `whole` unless
    /// servers are on their way that were never met.
    pub(crate) fn tools(&self, registry: &Registry, whole: bool, profile: Profile) -> Arc<Pages> {
        let snapshot = registry.snapshot();
        let mut made = self.made.lock().unwrap_or_else(|broken| broken.into_inner());
        if made.version != snapshot.version() {
            *made = Made { version: snapshot.version(), ..Made::default() };
        }
        let listed = |(whole, profile): &(bool, Profile)| Arc::new(pages(&snapshot, *whole, profile));
        made.lists.entry((whole, profile)).or_insert_with_key(listed).clone()
    }
}

fn pages(snapshot: &Snapshot, whole: bool, profile: &Profile) -> Pages {
    let tools: Vec<String> = snapshot.tools().filter(|info| profile.lists(info)).map(tool).collect();
    let servers = snapshot.tools().filter_map(|info| info.server.as_ref());
    let mut stale: Vec<&str> = servers.filter(|server| server.stale).map(|server| &*server.server).collect();
    stale.dedup();
    Pages::new("tools", &tools, &stale, whole)
}

/// The metadata every modern result carries: our name under the protocol's key.
pub(crate) fn server_meta() -> (&'static str, String) {
    let version = env!("CARGO_PKG_VERSION");
    let info = format!(r#"{{"name":"tectum","title":"Tectum","version":"{version}"}}"#);
    ("io.modelcontextprotocol/serverInfo", info)
}

/// The same as an object of its own.
pub(crate) fn meta() -> String {
    let (key, info) = server_meta();
    format!(r#"{{"{key}":{info}}}"#)
}

/// The answer to `initialize`.
pub(crate) fn initialize(version: &'static str, instructions: Option<String>) -> String {
    let mut result = InitializeResult::new(capabilities());
    result.protocol_version = era::sdk_version(version);
    result.server_info = implementation();
    result.instructions = instructions;
    serde_json::to_string(&result).unwrap_or_default()
}

/// The answer to `server/discover`.
pub(crate) fn discover(extensions: &BTreeMap<String, String>, instructions: Option<String>) -> String {
    let mut capabilities = capabilities();
    if !extensions.is_empty() {
        let read = |(name, json): (&String, &String)| Some((name.clone(), serde_json::from_str(json).ok()?));
        capabilities.extensions = Some(extensions.iter().filter_map(read).collect());
    }
    let mut result = DiscoverResult::new(vec![era::sdk_version(MODERN)], capabilities)
        .with_server_info(implementation())
        .with_ttl_ms(TTL_MS);
    result.instructions = instructions;
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
    if let Some(server) = &info.server {
        return server.definition.to_string();
    }
    let mut tool = Tool::new(info.name.to_string(), info.description.clone(), object(&info.input_schema));
    tool.title = Some(info.title.clone());
    // One that may be anything says nothing, and clients refuse the whole list for it.
    let output = info.output_schema.as_deref().filter(|schema| schema["type"] == "object");
    tool.output_schema = output.map(object);
    tool.annotations = Some(ToolAnnotations::from_raw(
        None,
        Some(info.effect == Effect::Read),
        Some(info.effect == Effect::Change),
        Some(info.idempotent),
        Some(info.world != World::Project),
    ));
    serde_json::to_string(&tool).unwrap_or_default()
}

fn object(schema: &Value) -> Arc<serde_json::Map<String, Value>> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
