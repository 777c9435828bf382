//! Properties of every tool of the catalog, also of the one added tomorrow.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, value::RawValue};
use tectum_core::{Call, Effect, Provider, SessionId, Snapshot, ToolInfo};
use tectum_journal::History;
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog};

use crate::attacker::calls;

fn set() -> NativeSet {
    let history = History::new("/no/record".into(), String::new(), false, |session| session.0.to_string());
    let tiers = vec!["lead".into()];
    NativeSet::new(catalog(&Settings { tiers, history: Some(history), ..Settings::default() }))
}

fn infos() -> Vec<ToolInfo> {
    set().tools().to_vec()
}

#[test]
fn names_are_unique_and_portable() {
    let infos = infos();
    let names: BTreeSet<_> = infos.iter().map(|info| info.name.to_string()).collect();
    assert_eq!(names.len(), infos.len());
    for name in &names {
        // Some clients put their own prefix before it and allow 64 characters in all.
        assert!(name.len() <= 40 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
    }
    insta::assert_json_snapshot!(names);
}

/// Arguments whose names say all there is to say; in a list that every model reads, more words cost.
const PLAIN: &[&str] = &[
    "action",
    "active_form",
    "all",
    "anchor_symbol",
    "anchor_type",
    "annotation",
    "base_rev",
    "call_id",
    "case",
    "class_name",
    "command",
    "content",
    "context",
    "create_only",
    "description",
    "cwd",
    "dest_name",
    "dest_path",
    "destination",
    "dry_run",
    "edits",
    "end_line",
    "exclude",
    "expected_count",
    "format",
    "from",
    "from_line",
    "head_rev",
    "include_hidden",
    "include_ignored",
    "index",
    "limit",
    "literal",
    "max_depth",
    "max_per_file",
    "mode",
    "multiline",
    "name",
    "new_content",
    "new_name",
    "new_string",
    "old_string",
    "overwrite",
    "path",
    "pattern",
    "plan",
    "query",
    "reason",
    "recursive",
    "region_name",
    "replace_all",
    "revision",
    "revisions",
    "roles",
    "script",
    "session",
    "slice",
    "source",
    "src_path",
    "staged",
    "start_line",
    "stat",
    "status",
    "target_tier",
    "title",
    "todos",
    "url",
    "word",
];

#[test]
fn every_tool_and_every_field_is_documented() {
    for info in infos() {
        assert!(info.description.len() > 20, "{}: {}", info.name, info.description);
        documented(&info.name, &info.input_schema, &info.input_schema);
    }
}

fn documented(tool: &str, root: &Value, schema: &Value) {
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        let told = schema["description"].is_string() || PLAIN.contains(&field.as_str());
        assert!(told, "{tool}: `{field}` has no description");
        documented(tool, root, schema);
        documented(tool, root, referred(root, &schema["items"]));
    }
}

fn referred<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    match schema["$ref"].as_str() {
        Some(place) => root.pointer(place.trim_start_matches('#')).expect("the reference leads somewhere"),
        None => schema,
    }
}

#[test]
fn unknown_arguments_are_refused_by_name() {
    let set = set();
    for info in infos() {
        let args = RawValue::from_string(r#"{"no_such_argument":1}"#.into()).expect("JSON");
        let call = Call::new(SessionId::new("test"), info.name.clone(), args);
        let fault = set.prepare(&call).expect_err("refused");
        assert!(
            fault.message.contains("unknown argument `no_such_argument`"),
            "{}: {}",
            info.name,
            fault.message
        );
    }
}

#[test]
fn writers_declare_a_write_and_readers_none() {
    let set = set();
    for info in infos() {
        // What an undo touches is known only to its store; the others touch no file.
        // Commands change what their user may.
        let shell = info.name.starts_with("run_") || info.name.starts_with("shell_");
        if shell || matches!(&*info.name, "undo_edit" | "todo_write" | "handoff") {
            continue;
        }
        for (tool, args) in calls(&info.name, "folder").expect("every tool has calls") {
            let args = RawValue::from_string(args.to_string()).expect("JSON");
            let prepared = set.prepare(&Call::new(SessionId::new("test"), tool, args)).expect("fits");
            let writes = prepared.wants.paths.iter().any(|(_, access)| access.changes());
            assert_eq!(writes, prepared.effect != Effect::Read, "{tool} declares {:?}", prepared.wants);
        }
    }
}

#[test]
fn the_whole_list_costs_a_client_little() {
    let infos = infos();
    let size = |info: &ToolInfo| {
        info.description.len() + info.input_schema.to_string().len() + info.title.len() + info.name.len()
    };
    let bytes: usize = infos.iter().map(size).sum();
    // A list of fifty tools fits into 32 KiB; each further one has as much.
    let most = 656 * infos.len();
    assert!(bytes < most, "names, descriptions and input schemas take {bytes} bytes, more than {most}");
}

/// Beside the code tools, those of the network, the commands, and `handoff`, which only those have who name
/// tiers.
#[test]
fn the_tools_for_files_cost_a_client_six_kilobytes() {
    let code = [
        "code_",
        "py_",
        "ts_c",
        "get_file_summary",
        "get_repo_map",
        "derive_code_path",
        "handoff",
        "bd_",
        "get_ui",
        "fetch_url",
        "web_search",
        "run_",
        "search_history",
        "shell_",
    ];
    let mut bytes = 0;
    for info in infos().iter().filter(|info| !code.iter().any(|start| info.name.starts_with(start))) {
        let listed = serde_json::json!({
            "name": info.name, "description": info.description, "inputSchema": info.input_schema,
        });
        println!("{:5} {}", listed.to_string().len(), info.name);
        bytes += listed.to_string().len();
    }
    println!("{bytes} bytes");
    assert!(bytes <= 6 * 1024, "names, descriptions and input schemas take {bytes} bytes");
}

#[test]
fn names_from_other_clients_lead_to_ours() {
    let snapshot = Snapshot::of(&[Arc::new(set())]);
    for (name, ours) in [
        ("Read", "read_file"),
        ("Grep", "search_content"),
        ("Glob", "search_files"),
        ("LS", "list_directory"),
        ("Edit", "edit_file"),
        ("Write", "write_file"),
        ("TodoWrite", "todo_write"),
        ("cat", "read_file"),
    ] {
        let fault = snapshot.find(name).err().expect("unknown");
        assert_eq!(fault.hint, Some(format!("did you mean `{ours}`?")), "{name}");
    }
}

#[test]
fn primary_arguments_exist() {
    for info in infos() {
        let known = info.input_schema["properties"].as_object().expect("properties");
        assert!(
            info.primary.is_empty() || known.contains_key(&info.primary),
            "{}: {}",
            info.name,
            info.primary
        );
    }
}
