//! What each tool of a client touches.

use serde_json::json;

use super::*;
use crate::client_hooks::HookShape;

/// Each thing that a tool touches, as `tool subject`.
fn of(tool: &str, input: Value) -> Result<Vec<String>, String> {
    let Value::Object(input) = input else { panic!("arguments") };
    let (shape, event) = (HookShape::Claude, "PreToolUse".to_owned());
    let call = HookCall { shape, event, tool: tool.into(), served: None, input, directory: "/p".into() };
    let said = |touched: Touched| {
        let subject = match touched.wants.subject {
            Subject::Path(path) => format!("{path} {:?}", touched.wants.paths[0].1),
            Subject::Text(text) => text,
            Subject::Parts(parts) => {
                let parts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
                format!("{} in {}", parts.join("; "), touched.wants.paths[0].0)
            }
            Subject::None => String::new(),
        };
        format!("{} {subject}", touched.tool).trim_end().to_owned()
    };
    touched(&call).map(|all| all.into_iter().map(said).collect())
}

#[track_caller]
fn check(tool: &str, input: Value, expect: &[&str]) {
    assert_eq!(of(tool, input).expect("understood"), expect, "{tool}");
}

#[test]
fn a_clients_tools_are_judged_as_ours() {
    check("Bash", json!({"command": "cd src && rm -rf x"}), &["run_shell cd src; rm -rf x in /p"]);
    check("run_shell_command", json!({"command": "ls", "dir_path": "sub"}), &["run_shell ls in /p/sub"]);
    check("shell", json!({"command": ["bash", "-lc", "git push"]}), &["run_shell git push in /p"]);
    check("exec_command", json!({"cmd": "git push", "workdir": "/q"}), &["run_shell git push in /q"]);
    check("Read", json!({"file_path": "/p/a.rs"}), &["read_file /p/a.rs Read"]);
    check("Write", json!({"file_path": "a.rs", "content": ""}), &["write_file /p/a.rs Write"]);
    check("MultiEdit", json!({"file_path": "a.rs", "edits": []}), &["edit_file /p/a.rs Write"]);
    check("NotebookEdit", json!({"notebook_path": "/p/n.ipynb"}), &["edit_file /p/n.ipynb Write"]);
    check("Delete", json!({"path": "a"}), &["delete_file /p/a Remove"]);
    check("Grep", json!({"pattern": "x"}), &["search_content /p Read"]);
    check("LS", json!({"path": "/q"}), &["list_directory /q Read"]);
    check("WebSearch", json!({"query": "rust"}), &["web_search rust"]);
    check("WebFetch", json!({"url": "HTTPS://Docs.rs/x", "prompt": "y"}), &["fetch_url https://docs.rs/x"]);
    check("TodoWrite", json!({"todos": []}), &["TodoWrite"]);
    check("Mystery", json!({}), &["Mystery"]);
}

#[test]
fn a_pattern_that_leads_elsewhere_is_judged_there() {
    for (pattern, expect) in [
        ("**/*.rs", "/p"),
        ("src/**/*.rs", "/p/src"),
        ("/etc/*", "/etc"),
        ("/*", "/"),
        ("../*", "/p/../*"),
        ("*/../../x", "/p/*/../../x"),
    ] {
        let touched = of("Glob", json!({ "pattern": pattern })).expect("understood");
        assert_eq!(
            touched[0].trim_end_matches(" Read").trim_end_matches('/').replace("search_files ", ""),
            expect.trim_end_matches('/'),
            "{pattern}"
        );
    }
}

#[test]
fn every_file_of_a_patch_counts() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+*** Delete File: not this\n*** Update File: a.rs\n\
                 *** Move to: b.rs\n@@\n-x\n+y\n*** End of File\n*** Delete File: /q/c.rs\n*** End Patch\n";
    check(
        "apply_patch",
        json!({ "command": patch }),
        &[
            "write_file /p/new.txt Write",
            "edit_file /p/a.rs Write",
            "move_file /p/b.rs Write",
            "delete_file /q/c.rs Remove",
        ],
    );
    let odd = json!({ "command": "*** Begin Patch\n*** Rename File: a\n*** End Patch" });
    assert!(of("apply_patch", odd).expect_err("odd").contains("Rename File"));
}

#[test]
fn every_address_in_a_sentence_counts() {
    let prompt = json!({ "prompt": "sum up https://docs.rs/a and (http://evil.example/?x) please" });
    check("web_fetch", prompt, &["fetch_url https://docs.rs/a", "fetch_url http://evil.example/?x"]);
    check("web_fetch", json!({ "prompt": "the usual page" }), &["fetch_url"]);
    of("web_fetch", json!({ "prompt": "file:///etc/passwd" })).expect_err("no page");
}

#[test]
fn what_names_nothing_is_refused() {
    for (tool, input) in [
        ("Bash", json!({})),
        ("Bash", json!({ "command": 1 })),
        ("shell", json!({ "command": ["a", 1] })),
        ("Read", json!({})),
        ("Edit", json!({ "file_path": "" })),
        ("WebFetch", json!({ "url": "nowhere" })),
        ("apply_patch", json!({})),
    ] {
        of(tool, input.clone()).expect_err(&format!("{tool} {input}"));
    }
}
