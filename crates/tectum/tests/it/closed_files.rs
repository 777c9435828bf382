//! The files that configure Tectum are closed to its tools: an edit of one would start a program.

use std::{os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};

use crate::rig::{Rig, Stdin, text};

const OURS: &str = "# ours\n";

/// Tries every tool that changes something on a file of the project that configures us.
fn closed(client: &mut Stdin, rig: &Rig, path: &str) {
    let program =
        format!("[servers.x]\ncommand = [\"touch\", \"{}\"]\n", rig.outside().join("ran").display());
    let tries = [
        ("edit_file", json!({"path": path, "old_string": "# ours", "new_string": program})),
        ("write_file", json!({"path": path, "content": program})),
        ("set_file_slice", json!({"path": path, "start_line": 1, "end_line": 1, "new_content": program})),
        ("apply_edits", json!({"edits": [{"path": path, "old_string": "# ours", "new_string": program}]})),
        ("move_file", json!({"source": path, "destination": "elsewhere"})),
        ("move_file", json!({"source": "evil.toml", "destination": path, "overwrite": true})),
        ("delete_file", json!({"path": path})),
    ];
    for (tool, args) in tries {
        refused(&client.call(tool, args.clone()), &format!("{tool} {args}"));
    }
}

fn refused(result: &Value, what: &str) {
    assert_eq!(result["isError"], true, "{what}: {result}");
    let said = text(result);
    assert!(said.contains("it configures Tectum, or leads to a file that does"), "{what}: {said}");
    assert!(said.contains("a person edits it"), "{what}: {said}");
}

fn rig() -> Rig {
    Rig::with(&[
        ("conf/ops.toml", OURS),
        ("evil.toml", "[servers.x]\ncommand = [\"true\"]\n"),
        ("a.txt", "a\n"),
    ])
}

#[test]
fn a_file_named_on_the_command_line_is_closed() {
    let rig = rig();
    symlink("conf/ops.toml", rig.project().join("link.toml")).expect("made");
    let mut client = rig.stdio_with(&["--config", "link.toml"]);
    for path in ["conf/ops.toml", "conf/../conf/ops.toml"] {
        closed(&mut client, &rig, path);
    }
    refused(
        &client.call("edit_file", json!({"path": "link.toml", "old_string": "#", "new_string": "x"})),
        "link",
    );
    for (tool, args) in [
        ("delete_file", json!({"path": "link.toml"})),
        ("delete_file", json!({"path": "conf", "recursive": true})),
        ("move_file", json!({"source": "conf", "destination": "gone"})),
        ("move_file", json!({"source": "evil.toml", "destination": "link.toml", "overwrite": true})),
    ] {
        refused(&client.call(tool, args.clone()), &format!("{tool} {args}"));
    }
    assert_eq!(rig.read("conf/ops.toml"), OURS);
    assert!(
        text(&client.call("read_file", json!({"path": "conf/ops.toml"}))).contains("# ours"),
        "still readable"
    );
    let edit = json!({"path": "a.txt", "old_string": "a", "new_string": "b"});
    assert_eq!(client.call("edit_file", edit)["isError"], false, "other files are free");
}

#[test]
fn the_users_file_is_closed_where_it_is_a_link_into_the_project() {
    let rig = rig();
    let folder = rig.home().join("config/tectum");
    std::fs::create_dir_all(&folder).expect("made");
    symlink(rig.project().join("conf/ops.toml"), folder.join("tectum.toml")).expect("made");
    let mut client = rig.stdio();
    closed(&mut client, &rig, "conf/ops.toml");
    assert_eq!(rig.read("conf/ops.toml"), OURS);
    // Led elsewhere while running, it is found there.
    rig.write("other.toml", OURS);
    std::fs::remove_file(folder.join("tectum.toml")).expect("removed");
    symlink(rig.project().join("other.toml"), folder.join("tectum.toml")).expect("made");
    closed(&mut client, &rig, "other.toml");
}

#[test]
fn files_that_name_servers_are_closed_before_they_are_there() {
    let rig = rig();
    let mut client = rig.stdio();
    for path in
        [".mcp.json", "mcp_config.json", ".cursor/mcp.json", ".vscode/mcp.json", ".Gemini/Settings.json"]
    {
        refused(&client.call("write_file", json!({"path": path, "content": "{}"})), path);
        refused(&client.call("move_file", json!({"source": "a.txt", "destination": path})), path);
    }
    let beside = json!({"path": ".vscode/tasks.json", "content": "{}"});
    assert_eq!(client.call("write_file", beside)["isError"], false, "what lies beside them is free");
}

#[test]
fn a_served_home_keeps_its_settings_state_and_client_files() {
    let rig = rig();
    rig.configure("[workspace]\nroots = [\".\", \"~\"]\n");
    let home = rig.home();
    std::fs::write(home.join(".claude.json"), "{}").expect("written");
    let mut client = rig.stdio();
    let full = |path: &str| home.join(path).display().to_string();
    for path in [
        ".claude.json",
        "config/tectum/mcp_config.json",
        "config/zed/settings.json",
        ".codeium/mcp_config.json",
    ] {
        refused(&client.call("write_file", json!({"path": full(path), "content": "{}"})), path);
    }
    for path in ["state/tectum/trust.json", "config/tectum/tectum.toml"] {
        let result = client.call("write_file", json!({"path": full(path), "content": "{}"}));
        assert_eq!(result["isError"], true, "{path}: {result}");
    }
    let moved = client.call("move_file", json!({"source": full("config"), "destination": full("away")}));
    assert_eq!(moved["isError"], true, "{moved}");
}

#[test]
fn a_file_of_variables_is_closed_once_its_entry_was_read() {
    let rig = rig();
    rig.write("vars.txt", "A=1\n");
    let entry = json!({"mcpServers": {"x": {"command": "true", "envFile": rig.project().join("vars.txt")}}});
    rig.configure("[federation]\nread = [\"~/mine.json\"]\n");
    std::fs::write(rig.home().join("mine.json"), entry.to_string()).expect("written");
    let mut client = rig.stdio();
    // Asking for the tools makes sure that the entries were read.
    client.request("tools/list", json!({}));
    refused(&client.call("write_file", json!({"path": "vars.txt", "content": "LD_PRELOAD=x"})), "vars.txt");
}

#[test]
fn roots_are_named_in_refusals_unless_that_is_switched_off() {
    let rig = Rig::new();
    let root = rig.project().canonicalize().expect("there").display().to_string();
    let outside = json!({"path": "/etc/passwd"});
    let said = |rig: &Rig| text(&rig.stdio().call("read_file", outside.clone())).to_owned();
    assert!(said(&rig).contains(&format!("Allowed base directories: {root}")), "{}", said(&rig));
    rig.write("tectum.toml", "[workspace]\nshow_roots = false\n");
    let hidden = said(&rig);
    assert!(hidden.contains("path not in allowlist: /etc/passwd"), "{hidden}");
    assert!(!hidden.contains("base directories") && !hidden.contains(&root), "{hidden}");
    rig.write("tectum.toml", "[workspace]\nshow_roots = true\n");
    let wrong = rig.run(&["config", "check"]);
    assert!(!wrong.status.success(), "a project's file only hides them");
}

#[test]
fn leftovers_of_killed_processes_go_when_we_start() {
    let rig = Rig::new();
    let mut child = rig.command("true").spawn().expect("starts");
    child.wait().expect("ends");
    let left = format!("deep/er/.tectum-{}-00000000000000ff.tmp", child.id());
    rig.write(&left, "half");
    let _client = rig.stdio();
    // Nothing is written; the runner's limit ends a wait that is in vain.
    while Path::new(&rig.project().join(&left)).exists() {
        std::thread::yield_now();
    }
}
