//! Text and data say the same: coding clients give a model the text alone, so whatever stands in a
//! tool's data and matters stands in its text too.

use std::sync::Arc;

use serde_json::{Value, json};
use tectum_core::{Snapshot, Tectum, security::Durability};
use tectum_native::NativeSet;
use tectum_tools::{SandboxSettings, Settings, ShellSettings, catalog};

use crate::{
    attacker::{BEAD, UNDO, calls, open_gate},
    code_calls::source,
    files_rig::{call, run},
};

/// Data that a model does not need, by tool and field.
const IGNORED: &[(&str, &str)] = &[
    // Revisions are for edits that insist on one; a read need not carry it.
    ("read_file", "revision"),
    ("get_file_slice", "revision"),
    ("read_file", "size"),
    ("get_file_slice", "size"),
    // What is usual goes without saying: UTF-8, LF. The unusual is checked by `SIGNS`.
    ("read_file", "encoding"),
    ("get_file_slice", "encoding"),
    ("read_file", "newline"),
    ("get_file_slice", "newline"),
    // Of a whole file or of exactly the lines that were asked for.
    ("read_file", "lines_total"),
    ("read_file", "first_line"),
    ("read_file", "last_line"),
    ("get_file_slice", "lines_total"),
    // The kinds are drawn, not named, and paths are drawn part by part.
    ("get_tree", "entries.kind"),
    ("get_tree", "entries.path"),
    ("search_content", "searched_files"),
    // Context lines that two matches share are shown once.
    ("search_content", "total_matches"),
    ("get_git_diff", "files.status"),
    ("get_git_diff", "files.added"),
    ("get_git_diff", "files.removed"),
    // How an exact match was found.
    ("edit_file", "matched"),
    ("write_file", "action"),
    ("write_file", "encoding"),
    // The excerpt shows the same with line numbers.
    ("set_file_slice", "diff"),
    // How long it took, where nothing went on.
    ("run_shell", "duration_ms"),
    ("shell_kill", "duration_ms"),
    ("todo_write", "items.id"),
    ("todo_write", "items.created_at"),
    ("todo_write", "items.completed_at"),
    ("todo_write", "items.status"),
    ("todo_write", "items.active_form"),
    ("diagnostics", "files.server"),
    ("diagnostics", "files.path"),
    ("check_errors", "server"),
    // Of the code tools: told by the file's name, by the outline's shape, or by the source itself.
    (CODE, "language"),
    (CODE, "matches.column"),
    (CODE, "found.kind"),
    (CODE, "symbols.name"),
    (CODE, "symbols.depth"),
    (CODE, "files.symbols.name"),
    (CODE, "bodies_left_out"),
    (CODE, "imports.line"),
];

/// Stands for every code tool.
const CODE: &str = "code";

/// Fields of the code tools whose facts are not in their text yet. It shall become empty.
const CODE_EXCEPTIONS: &[&str] = &["found.first", "found.last", "files.revision", "plan"];

/// A line of an export of `bd`.
const EXPORT: &str = "{\"id\":\"p-1\",\"title\":\"Theirs\",\"updated_at\":\"2026-01-02T03:04:05Z\"}\n";

/// Words that stand in the text when a flag of the data is set.
const SIGNS: &[(&str, &str)] = &[
    ("truncated", "continue|cut|subdirectory|narrow"),
    ("clamped", "past the end"),
    ("bom", "byte order mark"),
    ("damaged", "U+FFFD"),
    ("cut", "longer than what was read"),
    ("dry_run", "Dry run"),
    ("created", "(new)"),
    ("overwritten", "replacing"),
    ("deeper", "max_depth"),
    ("running", "RUNNING"),
    ("timed_out", "timed out"),
];

/// Calls beside those that every tool has, in which something is unusual.
fn further(tool: &str) -> Vec<(&'static str, Value)> {
    let odd = "odd.txt";
    match tool {
        "read_file" => vec![
            ("read_file", json!({"path": odd})),
            ("read_file", json!({"path": "long.txt"})),
            ("read_file", json!({"path": "long.txt", "offset": 3, "limit": 4})),
        ],
        "get_file_slice" => vec![
            ("get_file_slice", json!({"path": odd, "start_line": 1, "end_line": 77})),
            ("get_file_slice", json!({"path": "long.txt", "start_line": 5, "end_line": 390})),
        ],
        "list_directory" => {
            vec![("list_directory", json!({"all": false})), ("list_directory", json!({"path": "many"}))]
        }
        "get_tree" => vec![("get_tree", json!({})), ("get_tree", json!({"path": "many"}))],
        "search_files" => vec![
            ("search_files", json!({"pattern": "*.txt"})),
            ("search_files", json!({"path": "many", "pattern": "*"})),
        ],
        "search_content" => vec![
            ("search_content", json!({"pattern": "line 1", "limit": 3, "context": 1})),
            ("search_content", json!({"pattern": "inside", "mode": "count"})),
            ("search_content", json!({"path": "long.txt", "pattern": "line", "max_per_file": 2})),
        ],
        "get_git_diff" => vec![("get_git_diff", json!({"stat": true}))],
        "edit_file" => vec![(
            "edit_file",
            json!({"path": "long.txt", "old_string": "line 7\n", "new_string": "7\n", "dry_run": true}),
        )],
        "write_file" => vec![("write_file", json!({"path": odd, "content": "x\n"}))],
        "bd_list" => vec![("bd_list", json!({"from": 60, "status": "open"}))],
        "run_shell" => vec![
            ("run_shell", json!({"command": "echo out; echo err >&2; exit 3"})),
            ("run_shell", json!({"command": "seq 3000"})),
            ("run_shell", json!({"command": "sleep 1000", "timeout_ms": 100})),
            ("run_shell", json!({"command": "echo begun; sleep 1000", "yield_ms": 300})),
        ],
        "shell_list" => vec![("shell_list", json!({"all": true}))],
        "shell_kill" => vec![("shell_kill", json!({"session": "sh-2"}))],
        "todo_write" => vec![(
            "todo_write",
            json!({"todos": [
                {"content": "Read", "active_form": "Reading", "status": "in_progress"},
                {"content": "Lead", "active_form": "Leading", "status": "pending", "target_tier": "lead"},
            ]}),
        )],
        _ => Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fact_of_the_data_is_in_the_text() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let root = scratch.path().canonicalize().expect("its true name");
    let port = crate::network::serve();
    let settings = Settings {
        durability: Durability::Rename,
        max_output: Some(3_000),
        tiers: vec!["lead".into()],
        servers: crate::diagnostics::echo(&root),
        beads_programs: false,
        network: crate::network::settings(port),
        shell: ShellSettings { roots: vec![root.clone()], ..ShellSettings::default() },
        // It needs a guard, which the binary is.
        sandbox: SandboxSettings { on: false, ..SandboxSettings::default() },
        ..Settings::default()
    };
    let tools = NativeSet::new(catalog(&settings));
    let house = Tectum::new(Snapshot::of(&[Arc::new(tools)]), open_gate(&root));
    let names: Vec<String> = house.registry().snapshot().tools().map(|tool| tool.name.to_string()).collect();
    plant(&root, &names);
    let (mut missing, mut compared) = (Vec::new(), 0);
    for tool in &names {
        let mut undo = Value::Null;
        let all = calls(tool, "sub").expect("every tool has calls").into_iter().chain(further(tool));
        let all = all.chain(crate::network::calls(tool, port));
        for (name, mut args) in all {
            if args["call_id"] == UNDO {
                args["call_id"] = undo.take();
            }
            let (text, data) = call(&house, name, args.clone())
                .await
                .unwrap_or_else(|fault| panic!("{name}: {}", fault.text()));
            assert!(text.len() <= 3_000, "{name} gives {} bytes: {text}", text.len());
            undo = data.get("undo").cloned().unwrap_or_default();
            let said = Said { text: &text, args: &args.to_string() };
            for (field, fact) in facts(&data) {
                compared += 1;
                if !said.has(&field, &fact) && !ignored(name, &field) {
                    missing.push(format!("{name} {field}: {fact} is not in the text of {args}:\n{text}\n"));
                }
            }
        }
    }
    assert!(compared > 300, "only {compared} facts");
    assert!(missing.is_empty(), "{} facts of {compared} are lost\n{}", missing.len(), missing.join("\n"));
}

fn ignored(tool: &str, field: &str) -> bool {
    let code = tool.starts_with("code_") || tool.starts_with("py_") || tool.starts_with("ts_c");
    let code = code || matches!(tool, "get_file_summary" | "get_repo_map" | "derive_code_path");
    match code {
        true => CODE_EXCEPTIONS.contains(&field) || IGNORED.contains(&(CODE, field)),
        false => IGNORED.contains(&(tool, field)),
    }
}

/// The text and data that a model has before it.
struct Said<'s> {
    text: &'s str,
    args: &'s str,
}

impl Said<'_> {
    fn has(&self, field: &str, fact: &Value) -> bool {
        match fact {
            Value::Bool(true) => {
                let last = field.rsplit('.').next().unwrap_or(field);
                let signs = SIGNS.iter().find(|(flag, _)| *flag == last);
                signs.is_none_or(|(_, words)| words.split('|').any(|word| self.text.contains(word)))
            }
            Value::Number(number) if number.as_u64() != Some(0) => {
                let number = number.to_string();
                number_in(self.text, &number) || number_in(self.args, &number)
            }
            Value::String(words) => {
                let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.into_iter().all(|line| self.text.contains(line) || self.args.contains(line))
            }
            _ => true,
        }
    }
}

/// True if a number stands there as a whole.
fn number_in(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        !digit(text[..at].chars().next_back()) && !digit(text[at + number.len()..].chars().next())
    })
}

/// The leaves of the data with the names that lead to them.
fn facts(data: &Value) -> Vec<(String, Value)> {
    fn walk(field: &str, value: &Value, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(name, value)| {
                let below = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                walk(&below, value, found);
            }),
            Value::Array(list) => list.iter().for_each(|value| walk(field, value, found)),
            leaf => found.push((field.to_owned(), leaf.clone())),
        }
    }
    let mut found = Vec::new();
    walk("", data, &mut found);
    found
}

/// A file for each tool, a repository, and what is unusual.
#[expect(clippy::disallowed_methods, reason = "the test makes the tree its tools look at")]
fn plant(root: &std::path::Path, tools: &[String]) {
    let put = |path: String, content: &[u8]| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, content).expect("written");
    };
    put("sub/get_git_diff.txt".into(), b"before\n");
    for command in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
        run("git", &[&who[..], command].concat(), root);
    }
    for tool in tools {
        match source(tool, "inside") {
            Some((file, content)) => put(format!("sub/{file}"), content.as_bytes()),
            None => put(format!("sub/{tool}.txt"), b"inside\n"),
        }
    }
    put("odd.txt".into(), b"\xef\xbb\xbfone\r\ntwo\r\n");
    put("long.txt".into(), (1..=400).map(|n| format!("line {n}\n")).collect::<String>().as_bytes());
    put(".gitignore".into(), b"*.ignored\n");
    put("a.ignored".into(), b"inside\n");
    put(".env".into(), b"inside\n");
    put(".beads/beads.jsonl".into(), format!("{BEAD}\nno bead\n").as_bytes());
    put(".beads/issues.jsonl".into(), &EXPORT.repeat(100).into_bytes());
    for n in 0..200 {
        put(format!("many/file-{n:03}"), b"");
    }
}
