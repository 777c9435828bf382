//! The answers about ourselves, kept as bytes that are ready to be sent.
//!
//! Made once for each change of the registry, never for a request.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use parking_lot::Mutex;
use rmcp::model::{
    DiscoverResult, Implementation, InitializeResult, MetaObject, PromptsCapability, ResourcesCapability,
    ServerCapabilities, Tool, ToolAnnotations, ToolsCapability,
};
use serde_json::Value;
use tectum_core::{Effect, OutputSchema, Registry, Snapshot, ToolInfo};

use super::hints;
use crate::{
    client::Form,
    client_table::{ClientFacts, ToolsShown},
    federation::Profile,
    wire::{MODERN, Pages, era, pages::TTL_MS},
};

/// The instructions for a model that has to search for tools. They stand alone: some clients show
/// no more before a tool is found.
const SEARCHING: &str = "\
Tools for the files and code of this project. Search for them with words such as \"edit file\", \"grep\", \
\"find references\". Read: read_file, search_content (grep), search_files (find by name), code_outline. \
Change: edit_file, apply_edits (several files), write_file (create). Take back: undo_edit.

";

/// The part of the instructions that no tool says of itself.
const USING: &str = "\
Paths are relative to the project. Search before you read whole files; code_outline tells what a file holds. \
Symbols are named `f`, `Class.f`, or `f#2` for the second of that name. A long reply says how to go on, and a \
refusal what to do next.";

/// The instructions about us for the model of a client.
pub(crate) fn instructions(client: &ClientFacts) -> String {
    let searches = client.tools != ToolsShown::All || !client.coding;
    format!("{}{USING}", if searches { SEARCHING } else { "" })
}

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
        let mut made = self.made.lock();
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
    let defined = |info: &ToolInfo| {
        let name = form.listed_as(&info.name).filter(|name| snapshot.tool(name).is_none());
        tool(info, name.unwrap_or(&info.name), profile, form)
    };
    snapshot.tools().filter(|info| profile.lists(info)).map(defined).collect()
}

fn pages(snapshot: &Snapshot, whole: bool, profile: &Profile, form: &Form) -> Pages {
    let tools = definitions(snapshot, profile, form);
    let servers = snapshot.tools().filter_map(|info| info.server.as_ref());
    let mut stale: Vec<&str> = servers.filter(|server| server.stale).map(|server| &*server.server).collect();
    stale.dedup();
    Pages::new("tools", &tools, &stale, whole)
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

fn tool(info: &ToolInfo, name: &str, profile: &Profile, form: &Form) -> String {
    if let Some(server) = &info.server {
        return form.definition(&server.definition);
    }
    let arguments = Arc::new(profile.arguments(info));
    let mut tool = Tool::new(name.to_owned(), info.description.clone(), arguments);
    tool.title = Some(info.title.clone());
    // One that may be anything says nothing, and clients refuse the whole list for it.
    let output = info.output_schema.as_ref().filter(|_| form.data).map(OutputSchema::value);
    tool.output_schema = output.and_then(|schema| match schema.into_owned() {
        Value::Object(schema) if schema.get("type").is_some_and(|kind| kind == "object") => {
            Some(Arc::new(schema))
        }
        _ => None,
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_searches_is_told_the_words_and_who_has_the_list_only_what_it_does_not_say() {
        let searching = instructions(ClientFacts::find("claude-code", "2"));
        let first = searching.split("\n\n").next().unwrap_or_default();
        assert!(first.chars().count() <= 300, "{}", first.chars().count());
        for word in ["edit_file", "search_content", "grep", "edit file", "find references", "undo_edit"] {
            assert!(first.contains(word), "{word}");
        }
        assert_eq!(instructions(ClientFacts::unknown()), searching);
        let listed = instructions(ClientFacts::find("opencode", "1"));
        assert!(searching.ends_with(&listed) && searching.len() - listed.len() == SEARCHING.len());
        assert!(searching.len() < 1000, "servers have to say something, too");
    }
}
