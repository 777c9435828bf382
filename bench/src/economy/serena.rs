//! Serena with its defaults: one tool that runs Python, in which its functions are called.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

/// Its functions, by the object they belong to.
const FACADES: [(&str, &[&str]); 3] = [
    ("fs", &["create_text_file", "find_file", "list_dir", "read_file", "search_for_pattern"]),
    ("edit", &["insert_after_symbol", "replace_content", "replace_symbol_body"]),
    (
        "lsp",
        &[
            "find_referencing_symbols",
            "find_symbol",
            "get_diagnostics_for_file",
            "get_symbols_overview",
            "rename_symbol",
        ],
    ),
];

fn facade(function: &str) -> Result<&'static str> {
    let found = FACADES.iter().find(|(_, functions)| functions.contains(&function));
    found.map(|(facade, _)| *facade).with_context(|| format!("Serena has no `{function}`"))
}

/// The code that requests the reference of the objects that some functions belong to.
pub(crate) fn reference<'a>(functions: impl Iterator<Item = &'a str>) -> Result<String> {
    let mut facades = functions.map(facade).collect::<Result<Vec<_>>>()?;
    facades.sort_unstable();
    facades.dedup();
    Ok(format!("s.info(\"{}\")", facades.join("\", \"")))
}

/// The code of one call.
pub(crate) fn spelled(function: &str, arguments: &Map<String, Value>) -> Result<String> {
    let python = |value: &Value| match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        // Python reads the texts, numbers and lists of JSON.
        other => other.to_string(),
    };
    let arguments: Vec<_> =
        arguments.iter().map(|(name, value)| format!("{name}={}", python(value))).collect();
    Ok(format!("s.{}.{function}({})", facade(function)?, arguments.join(", ")))
}

/// The settings: no page in a browser, and the language server installed beside it.
pub(crate) fn configure(home: &Path, project: &Path, program: &Path) -> Result<()> {
    fs::create_dir_all(home)?;
    // This way to call its functions is what it writes here itself at its first start.
    let own = "agent_interface: REPL\nlanguage_backend: LSP\nweb_dashboard: false\ngui_log_window: false\nprojects: []\n";
    fs::write(home.join("serena_config.yml"), own)?;
    let settings = format!(
        "project_name: click\nlanguage_servers: [python_basedpyright]\nencoding: utf-8\nls_specific_settings:\n  python_basedpyright:\n    ls_path: {}\n",
        program.with_file_name("basedpyright-langserver").display()
    );
    let folder = project.join(".serena");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("project.yml"), settings)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_python() {
        let arguments = serde_json::json!({"name_path_pattern": "a\"b", "include_body": true});
        let code = spelled("find_symbol", arguments.as_object().expect("an object")).expect("known");
        assert_eq!(code, r#"s.lsp.find_symbol(name_path_pattern="a\"b", include_body=True)"#);
        let both = reference(["find_symbol", "read_file", "find_symbol"].into_iter()).expect("known");
        assert_eq!(both, r#"s.info("fs", "lsp")"#);
    }
}
