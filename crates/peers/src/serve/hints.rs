//! The hints of lists about our own tools, beyond what the tools say of themselves: which of them a
//! client that searches should load at once, by which words people look for them, and which cannot be
//! undone.

use serde_json::{Map, Value};
use tectum_core::{Effect, ToolInfo, World};

use crate::federation::CALL_TOOL;

/// One tool's row.
struct Hint {
    name: &'static str,
    /// True if nearly every task needs it.
    always: bool,
    /// Words that people use for what it does.
    words: &'static str,
}

const HINTS: &[Hint] = &[
    Hint { name: "read_file", always: true, words: "open, show, view, cat a file; read lines" },
    Hint { name: "write_file", always: true, words: "create a file, new file, overwrite, save" },
    Hint { name: "edit_file", always: true, words: "edit a file, replace text, change code, patch, modify" },
    Hint { name: "apply_edits", always: true, words: "edit several files at once, multi edit, patch" },
    Hint { name: "list_directory", always: true, words: "ls, list files, folder, directory" },
    Hint { name: "search_files", always: true, words: "find files by name, glob, locate" },
    Hint { name: "search_content", always: true, words: "grep, ripgrep, search text, find in files" },
    Hint { name: "code_outline", always: true, words: "symbols, structure, functions and classes of a file" },
    Hint { name: "code_usages", always: false, words: "find references, usages, callers, who calls" },
    Hint { name: "derive_code_path", always: false, words: "call hierarchy, call graph, callees" },
    Hint { name: "code_definition", always: false, words: "go to definition, where is it defined" },
    Hint {
        name: "code_update_definition",
        always: false,
        words: "replace a function or class, edit a symbol",
    },
    Hint { name: "code_hierarchy", always: false, words: "base classes, subclasses, inheritance" },
    Hint { name: "get_repo_map", always: false, words: "overview of the repository, symbols of all files" },
    Hint { name: "code_rename", always: false, words: "rename a symbol, refactor" },
    Hint { name: "undo_edit", always: false, words: "undo, revert, restore, take back an edit" },
    Hint { name: "get_tree", always: false, words: "tree, project structure, folders" },
    Hint { name: "get_git_diff", always: false, words: "git diff, what changed" },
    Hint { name: "diagnostics", always: false, words: "errors, warnings, lint, type check" },
    Hint { name: "move_file", always: false, words: "rename a file, mv" },
    Hint { name: "delete_file", always: false, words: "remove a file, rm" },
    Hint { name: "fetch_url", always: false, words: "download, read a website, http, documentation online" },
    Hint { name: "web_search", always: false, words: "internet, google, duckduckgo, look up online" },
    Hint { name: "todo_write", always: false, words: "plan, task list, checklist" },
];

/// What is deleted may be a folder or a link, and those are not brought back.
const NOT_UNDONE: &[&str] = &["delete_file"];

/// The `_meta` of a tool in the list; `None` where there is none.
pub(super) fn meta(name: &str) -> Option<Map<String, Value>> {
    let hint = HINTS.iter().find(|hint| hint.name == name)?;
    let mut meta = Map::new();
    if hint.always {
        meta.insert("anthropic/alwaysLoad".into(), true.into());
    }
    meta.insert("anthropic/searchHint".into(), hint.words.into());
    Some(meta)
}

/// True if a call may destroy what cannot be brought back. What changes the project alone can be taken
/// back with undo_edit; a call of another tool is whatever that one is.
pub(super) fn is_destructive(info: &ToolInfo) -> bool {
    info.effect == Effect::Change
        && (info.world != World::Project
            || info.name.as_ref() == CALL_TOOL
            || NOT_UNDONE.contains(&&*info.name))
}

/// True if a call may reach beyond the project.
pub(super) fn is_open(info: &ToolInfo) -> bool {
    info.world != World::Project || info.name.as_ref() == CALL_TOOL
}
