//! The tools that a client is listed: the lean set, all, or a profile of the user's.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::with,
    rig::{Rig, Stdin},
};

/// The most tools of the lean set.
const MOST_LEAN: usize = 30;
/// The most bytes of names, descriptions and input schemas: of the lean set, and of all.
const MOST_LEAN_BYTES: usize = 7_500;
const MOST_BYTES: usize = 32_000;
/// The names that are for one language alone, and the tools whose work a listed one does.
const LEFT_OUT: usize = 28 + 13 + 8;

fn client(rig: &Rig, name: &str, args: &[&str]) -> Stdin {
    let mut client = rig.stdio_raw_with(args);
    client.request(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}),
    );
    client.notify("notifications/initialized", json!({}));
    client
}

fn listed(client: &mut Stdin) -> Vec<Value> {
    client.request("tools/list", json!({}))["tools"].as_array().expect("a list").clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// The bytes that a model reads of these definitions.
fn size(tools: &[Value]) -> usize {
    let read = |tool: &Value| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
    tools.iter().map(|tool| read(tool).to_string().len()).sum()
}

#[test]
fn coding_agents_are_listed_the_lean_set_and_others_all() {
    let rig = with("");
    let lean = listed(&mut client(&rig, "codex-mcp-client", &[]));
    let all = listed(&mut client(&rig, "some program", &[]));
    assert!(lean.len() <= MOST_LEAN, "{} tools", lean.len());
    assert_eq!(all.len() - lean.len(), LEFT_OUT);
    let is_alias = |name: &&str| ["py_", "ts_c_", "ts_cpp_"].iter().any(|start| name.starts_with(start));
    assert!(!names(&lean).iter().any(is_alias));
    assert!(names(&lean).contains(&"edit_file"));
    assert!(size(&lean) <= MOST_LEAN_BYTES, "{} bytes", size(&lean));
    assert!(size(&all) <= MOST_BYTES, "{} bytes", size(&all));
    // What is not listed can be called and given all the same.
    let mut lean = client(&rig, "codex-mcp-client", &[]);
    rig.write("m.py", "def f():\n    return 1\n");
    for (tool, arguments) in [
        ("py_get_skeleton", json!({"path": "m.py"})),
        ("write_file", json!({"path": "m.py", "content": "", "dry_run": true})),
    ] {
        let said = lean.call(tool, arguments);
        assert_ne!(said["isError"], true, "{said}");
    }
    assert_eq!(rig.read("m.py"), "def f():\n    return 1\n");
}

#[test]
fn the_lean_list_leaves_out_only_arguments_that_nobody_must_give() {
    let rig = with("");
    let lean = listed(&mut client(&rig, "opencode", &[]));
    let all = listed(&mut client(&rig, "some program", &[]));
    let arguments = |tool: &Value| {
        let known = tool["inputSchema"]["properties"].as_object().expect("arguments");
        known.keys().cloned().collect::<Vec<String>>()
    };
    let mut left_out = 0;
    for tool in &lean {
        let whole = all.iter().find(|other| other["name"] == tool["name"]).expect("listed for all");
        assert_eq!(tool["inputSchema"]["required"], whole["inputSchema"]["required"], "{}", tool["name"]);
        let (few, many) = (arguments(tool), arguments(whole));
        assert!(few.iter().all(|name| many.contains(name)), "{}", tool["name"]);
        left_out += many.len() - few.len();
    }
    assert_eq!(left_out, 32, "every name of the table is one of an argument");
}

#[test]
fn the_set_can_be_chosen() {
    let rig = with("");
    assert!(
        names(&listed(&mut client(&rig, "codex-mcp-client", &["--tools", "all"])))
            .contains(&"py_get_skeleton")
    );
    assert!(!names(&listed(&mut client(&rig, "program", &["--tools", "lean"]))).contains(&"py_get_skeleton"));
    let wrong = rig.run(&["serve", "--tools", "nothing"]);
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && told.contains("no profile `nothing`"), "{told}");

    rig.configure(
        "[tools]\nprofile = \"review\"\nprofiles = [\"review=read_* search_* !search_files\"]\nclient_profiles = [\"special*=all\"]\n",
    );
    let mut review = client(&rig, "codex-mcp-client", &[]);
    let mut tools: Vec<String> = names(&listed(&mut review)).into_iter().map(str::to_owned).collect();
    tools.sort();
    assert_eq!(tools, ["read_file", "search_content", "search_history"]);
    assert!(names(&listed(&mut client(&rig, "special one", &[]))).contains(&"edit_file"));
    rig.configure("[tools]\nexclude = [\"edit_file\"]\n");
    let refused = client(&rig, "codex-mcp-client", &[]).exchange(
        "tools/call",
        json!({"name": "edit_file", "arguments": {"path": "a.txt", "old_string": "h", "new_string": "j"}}),
    );
    assert!(
        refused["error"]["message"].as_str().is_some_and(|told| told.contains("Unknown tool")),
        "{refused}"
    );
}

#[test]
fn people_are_told_what_clients_are_listed() {
    let rig = with("");
    let told = Said::from(rig.run(&["tools", "--json"])).json();
    let lean = listed(&mut client(&rig, "opencode", &[]));
    let all = listed(&mut client(&rig, "some program", &[]));
    assert_eq!(told["listed"]["agents"]["tools"], lean.len(), "{}", told["listed"]);
    assert_eq!(told["listed"]["others"]["tools"], all.len(), "{}", told["listed"]);
    assert!(told["listed"]["agents"]["tokens"].as_u64() < told["listed"]["others"]["tokens"].as_u64());
    rig.configure("[federation]\nexposure = \"core\"\n");
    let told = Said::from(rig.run(&["tools", "--json"])).json();
    let core = listed(&mut client(&rig, "some program", &[]));
    assert_eq!(told["listed"]["others"]["tools"], core.len(), "{}", told["listed"]);
}

#[test]
fn lists_say_what_to_load_at_once_and_what_destroys() {
    let rig = with("");
    let tools = listed(&mut client(&rig, "claude-code", &[]));
    let tool =
        |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let always = tools.iter().filter(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true).count();
    assert!((6..=8).contains(&always), "{always} tools are loaded at once");
    let hint =
        |name: &str| tool(name)["_meta"]["anthropic/searchHint"].as_str().unwrap_or_default().to_owned();
    assert!(hint("search_content").contains("grep"));
    assert!(hint("code_usages").contains("find references"));
    assert!(hint("code_definition").contains("go to definition"));
    for undoable in ["edit_file", "apply_edits", "write_file", "move_file", "undo_edit", "code_rename"] {
        let hints = &tool(undoable)["annotations"];
        assert_eq!(
            (&hints["destructiveHint"], &hints["readOnlyHint"]),
            (&json!(false), &json!(false)),
            "{undoable}"
        );
    }
    assert_eq!(tool("delete_file")["annotations"]["destructiveHint"], true, "a folder is not brought back");
    for reader in ["read_file", "search_content", "code_outline", "list_directory"] {
        assert_eq!(tool(reader)["annotations"]["readOnlyHint"], true, "{reader}");
    }
}
