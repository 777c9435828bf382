//! What a client may ask about us, kept as bytes that are ready to be sent.
//!
//! Made once for each change of the registry, never for a request.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use rmcp::model::{
    DiscoverResult, Implementation, InitializeResult, MetaObject, PromptsCapability, ResourcesCapability,
    ServerCapabilities, Tool, ToolAnnotations, ToolsCapability,
};
use serde_json::Value;
use tectum_core::{Effect, OutputSchema, Registry, Snapshot, ToolInfo};

use super::{
    form::Form,
    hints,
    pages::{Pages, TTL_MS},
};
use crate::{
    federation::Profile,
    wire::era::{self, MODERN},
};

/// What the model is told about us, once. The first sentences stand alone: some clients show a model no
/// more before it searches for tools.
pub(crate) const INSTRUCTIONS: &str = "\
Tools for the files and code of this project. Search for them with words such as \"edit file\", \"grep\", \
\"find references\". Read: read_file, search_content (grep), search_files (find by name), code_outline. \
Change: edit_file, apply_edits (several files), write_file (create). Take back: undo_edit.

Which tool for what
- Look around: list_directory, get_tree; what a file holds without reading it: code_outline.
- Find: search_content for text in files, search_files for names. Search before you read whole files.
- Read: read_file. A long reply ends with a line that says how to go on, for instance with which offset; \
follow it to see the rest.
- Change: edit_file replaces one text in one file; apply_edits changes several places or files, all of them \
or none; write_file creates or replaces a file; move_file, delete_file.
- Code: tools that begin with code_ find, show, rename, move and change symbols in any language that they \
know, without touching anything else.
- Check: diagnostics shows errors and warnings.
- Undo: the reply to a change names its call; undo_edit with that call takes it back.

Paths are relative to the project; nothing outside of it can be reached. Changes are atomic and keep encoding \
and line endings. A refusal says why and what to do next. Tools with two underscores in their name belong to \
other servers; if find_tools is listed, it finds more of them, and call_tool calls what it found.";

/// The ready answers, for whatever the registry holds now.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    made: Mutex<Made>,
}

/// The lists of one version of the registry: one for each form and profile that somebody has.
#[derive(Debug, Default)]
struct Made {
    version: u64,
    lists: HashMap<(bool, Profile, Form), Arc<Pages>>,
}

impl Catalogue {
    /// The tools' list for the registry as it is now, in the form and with the profile of a client;
    /// `whole` unless servers are on their way that were never met.
    pub(crate) fn tools(&self, registry: &Registry, whole: bool, profile: Profile, form: Form) -> Arc<Pages> {
        let snapshot = registry.snapshot();
        let mut made = self.made.lock().unwrap_or_else(|broken| broken.into_inner());
        if made.version != snapshot.version() {
            *made = Made { version: snapshot.version(), ..Made::default() };
        }
        // The length of replies is no part of a list, unless it is declared there.
        let form = Form { reply: 0, ..form };
        let listed = |(whole, profile, form): &(bool, Profile, Form)| {
            Arc::new(pages(&snapshot, *whole, profile, form))
        };
        made.lists.entry((whole, profile, form)).or_insert_with_key(listed).clone()
    }
}

/// The definitions of the tools that a client of this form and profile is listed.
pub fn definitions(snapshot: &Snapshot, profile: &Profile, form: &Form) -> Vec<String> {
    snapshot.tools().filter(|info| profile.lists(info)).map(|info| tool(info, form)).collect()
}

fn pages(snapshot: &Snapshot, whole: bool, profile: &Profile, form: &Form) -> Pages {
    let tools = definitions(snapshot, profile, form);
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

fn tool(info: &ToolInfo, form: &Form) -> String {
    if let Some(server) = &info.server {
        return form.definition(&server.definition);
    }
    let mut tool = Tool::new(info.name.to_string(), info.description.clone(), object(&info.input_schema));
    tool.title = Some(info.title.clone());
    // One that may be anything says nothing, and clients refuse the whole list for it.
    let output = info.output_schema.as_ref().filter(|_| form.data).map(OutputSchema::value);
    tool.output_schema = output.filter(|schema| schema["type"] == "object").map(|schema| object(&schema));
    tool.annotations = Some(ToolAnnotations::from_raw(
        None,
        Some(info.effect == Effect::Read),
        Some(hints::is_destructive(info)),
        Some(info.idempotent),
        Some(hints::is_open(info)),
    ));
    tool.meta = hints::meta(&info.name).map(MetaObject);
    form.definition(&serde_json::to_string(&tool).unwrap_or_default())
}

fn object(schema: &Value) -> Arc<serde_json::Map<String, Value>> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::INSTRUCTIONS;

    #[test]
    fn the_first_words_are_enough_and_all_of_them_are_few() {
        assert!(INSTRUCTIONS.len() < 2000, "servers have to say something, too");
        let first = INSTRUCTIONS.split("\n\n").next().unwrap_or_default();
        assert!(first.chars().count() <= 300, "{}", first.chars().count());
        for word in ["edit_file", "search_content", "grep", "edit file", "find references", "undo_edit"] {
            assert!(first.contains(word), "{word}");
        }
    }
}
