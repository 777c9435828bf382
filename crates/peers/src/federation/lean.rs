//! The arguments of our own tools that a coding agent is not listed. Every conversation of such a
//! client begins with the list, so an argument stands in it only when tasks need it.

use serde_json::{Map, Value};
use tectum_core::ToolInfo;

/// Arguments that are seldom given. They are taken all the same, and a call with a wrong argument is
/// told all that there are.
const SELDOM: &[(&str, &[&str])] = &[
    ("apply_edits", &["dry_run", "revisions"]),
    ("code_add", &["dry_run"]),
    ("code_move", &["anchor_symbol", "anchor_type", "dest_name", "dry_run"]),
    ("code_remove", &["dry_run"]),
    ("code_update_definition", &["dry_run"]),
    ("code_usages", &["roles"]),
    ("derive_code_path", &["max_depth"]),
    ("edit_file", &["dry_run", "expected_count", "revision"]),
    ("get_git_diff", &["context", "stat"]),
    ("get_repo_map", &["budget_tokens"]),
    ("list_directory", &["all"]),
    ("read_file", &["end_line"]),
    (
        "search_content",
        &[
            "case",
            "exclude",
            "include_hidden",
            "include_ignored",
            "limit",
            "max_per_file",
            "multiline",
            "word",
        ],
    ),
    ("search_files", &["include_ignored", "limit"]),
    ("write_file", &["create_only", "dry_run", "revision"]),
];

/// Takes the arguments out of a tool's schema that are seldom given.
pub(super) fn shorten(info: &ToolInfo, schema: &mut Map<String, Value>) {
    let seldom = SELDOM.iter().find(|(name, _)| info.server.is_none() && **name == *info.name);
    let arguments = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let (Some((_, seldom)), Some(arguments)) = (seldom, arguments) {
        arguments.retain(|name, _| !seldom.contains(&name.as_str()));
    }
}
