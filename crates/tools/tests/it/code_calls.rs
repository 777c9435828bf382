//! Calls of each code tool in a folder, for the tests that hold for every tool.

use serde_json::{Value, json};

/// The file a code tool works on in a folder, and its content around a word.
pub(crate) fn source(tool: &str, word: &str) -> Option<(String, String)> {
    if tool.starts_with("ts_cpp_") {
        return Some((format!("{tool}.cpp"), format!("int f() {{ return \"{word}\"; }}\n")));
    }
    if tool.starts_with("ts_c_") {
        return Some((format!("{tool}.c"), format!("int f(void) {{ return \"{word}\"; }}\n")));
    }
    let python = tool.starts_with("py_") || tool.starts_with("code_") || OTHERS.contains(&tool);
    let content = format!(
        "import os\nX = 1\n\n\nclass C:\n    x = '{word}'\n\n    def m(self): return '{word}'\n\n\ndef f():\n    return '{word}'\n"
    );
    python.then(|| (format!("{tool}.py"), content))
}

/// Tools of other names that want source files.
const OTHERS: [&str; 5] =
    ["derive_code_path", "get_repo_map", "get_file_summary", "diagnostics", "check_errors"];

/// The calls that work one code tool in a folder; `None` for any other tool.
pub(crate) fn calls(tool: &str, folder: &str) -> Option<Vec<(&'static str, Value)>> {
    let (file, _) = source(tool, "")?;
    let path = format!("{folder}/{file}");
    let once = |name: &'static str, args: Value| Some(vec![(name, args)]);
    let file = json!({"path": path});
    let symbol = json!({"path": path, "name": "f"});
    let twice = |name: &'static str, first: Value, second: Value| Some(vec![(name, first), (name, second)]);
    let content = |source: &str| json!({"path": path, "name": "f", "new_content": source});
    match tool {
        "diagnostics" => once("diagnostics", json!({"path": path})),
        "check_errors" => once("check_errors", json!({"path": path})),
        "code_outline" => once("code_outline", file),
        "code_skeleton" => once("code_skeleton", file),
        "code_definition" => once("code_definition", symbol),
        "code_signature" => once("code_signature", symbol),
        "code_imports" => once("code_imports", file),
        "code_check" => once("code_check", file),
        "code_usages" => once("code_usages", json!({"path": folder, "name": "f"})),
        "code_hierarchy" => once("code_hierarchy", json!({"path": folder, "class_name": "C"})),
        "code_update_definition" => twice(
            "code_update_definition",
            content("def f():\n    return 1"),
            content("def f():\n    return 2"),
        ),
        "code_remove" => Some(vec![
            ("code_add", json!({"path": path, "name": "g", "new_content": "def g(): pass"})),
            ("code_remove", json!({"path": path, "name": "g"})),
        ]),
        "code_add" => Some(vec![
            ("code_add", json!({"path": path, "name": "g", "new_content": "def g(): pass"})),
            ("code_remove", json!({"path": path, "name": "g"})),
        ]),
        "code_move" => twice(
            "code_move",
            json!({"src_path": path, "dest_path": path, "name": "f", "anchor_type": "before", "anchor_symbol": "C"}),
            json!({"src_path": path, "dest_path": path, "name": "f"}),
        ),
        "code_rename" => twice(
            "code_rename",
            json!({"path": path, "name": "f", "new_name": "g", "within": folder, "apply_to": [path]}),
            json!({"path": path, "name": "g", "new_name": "f", "within": folder, "apply_to": [path]}),
        ),
        "py_get_skeleton" => once("py_get_skeleton", file),
        "py_get_code_outline" => once("py_get_code_outline", file),
        "py_get_definition" => once("py_get_definition", symbol),
        "py_update_definition" => twice(
            "py_update_definition",
            content("def f():\n    return 1"),
            content("def f():\n    return 2"),
        ),
        "py_get_signature" => once("py_get_signature", symbol),
        "py_set_signature" => twice(
            "py_set_signature",
            json!({"path": path, "name": "f", "new_signature": "def f(a=1):"}),
            json!({"path": path, "name": "f", "new_signature": "def f():"}),
        ),
        "py_get_class_summary" => once("py_get_class_summary", json!({"path": path, "name": "C"})),
        "py_get_var_declaration" => once("py_get_var_declaration", json!({"path": path, "name": "X"})),
        "py_set_var_declaration" => twice(
            "py_set_var_declaration",
            json!({"path": path, "name": "X", "new_declaration": "X = 2"}),
            json!({"path": path, "name": "X", "new_declaration": "X = 1"}),
        ),
        "py_get_docstring" => once("py_get_docstring", symbol),
        "py_find_usages" => once("py_find_usages", json!({"path": folder, "name": "f"})),
        "py_get_imports" => once("py_get_imports", file),
        "py_check_syntax" => once("py_check_syntax", file),
        "py_get_hierarchy" => once("py_get_hierarchy", json!({"path": folder, "class_name": "C"})),
        "py_remove_def" => Some(vec![
            ("py_add_def", json!({"path": path, "name": "g", "new_content": "def g(): pass"})),
            ("py_remove_def", json!({"path": path, "name": "g"})),
        ]),
        "py_add_def" => Some(vec![
            ("py_add_def", json!({"path": path, "name": "g", "new_content": "def g(): pass"})),
            ("py_remove_def", json!({"path": path, "name": "g"})),
        ]),
        "py_move_def" => twice(
            "py_move_def",
            json!({"src_path": path, "dest_path": path, "name": "f", "anchor_type": "before", "anchor_symbol": "C"}),
            json!({"src_path": path, "dest_path": path, "name": "f"}),
        ),
        "py_region_wrap" => {
            once("py_region_wrap", json!({"path": path, "start_line": 2, "end_line": 2, "region_name": "R"}))
        }
        "ts_c_get_skeleton" => once("ts_c_get_skeleton", file),
        "ts_c_get_code_outline" => once("ts_c_get_code_outline", file),
        "ts_c_get_definition" => once("ts_c_get_definition", symbol),
        "ts_c_update_definition" => twice(
            "ts_c_update_definition",
            content("int f(void) { return 1; }"),
            content("int f(void) { return 2; }"),
        ),
        "ts_c_get_signature" => once("ts_c_get_signature", symbol),
        "ts_cpp_get_skeleton" => once("ts_cpp_get_skeleton", file),
        "ts_cpp_get_code_outline" => once("ts_cpp_get_code_outline", file),
        "ts_cpp_get_definition" => once("ts_cpp_get_definition", symbol),
        "ts_cpp_update_definition" => twice(
            "ts_cpp_update_definition",
            content("int f() { return 1; }"),
            content("int f() { return 2; }"),
        ),
        "ts_cpp_get_signature" => once("ts_cpp_get_signature", symbol),
        "derive_code_path" => once("derive_code_path", json!({"target": "f", "path": path})),
        "get_repo_map" => once("get_repo_map", json!({"path": folder})),
        "get_file_summary" => once("get_file_summary", file),
        _ => None,
    }
}
