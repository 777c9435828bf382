//! Other servers, from the files that name them to what people see: the real binary.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf, process::Stdio};

use serde_json::{Value, json};

use crate::{cli_said::Said, rig::Rig};

/// A text that must never be printed.
pub(crate) const SECRET: &str = "hunter2";

pub(crate) fn run(rig: &Rig, args: &[&str]) -> Said {
    let said = Said::from(rig.run(args));
    assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET), "{args:?}: {}{}", said.out, said.err);
    said
}

#[track_caller]
pub(crate) fn ok(rig: &Rig, args: &[&str]) -> Said {
    let said = run(rig, args);
    assert_eq!(said.code, 0, "{args:?}: {}{}", said.out, said.err);
    said
}

pub(crate) fn user_file(rig: &Rig) -> PathBuf {
    rig.home().join("config/tectum/tectum.toml")
}

pub(crate) fn user_text(rig: &Rig) -> String {
    std::fs::read_to_string(user_file(rig)).unwrap_or_default()
}

pub(crate) fn put(path: PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
}

/// The same for its owner alone, as our own state is.
fn put_private(path: PathBuf, text: &str) {
    put(path.clone(), text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("changes");
}

/// Name and state of every server.
fn states(rig: &Rig) -> Vec<(String, String)> {
    let listed = ok(rig, &["list", "--json"]).json();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let servers = listed["servers"].as_array().expect("a list").iter();
    servers.map(|server| (text(&server["name"]), text(&server["state"]))).collect()
}

pub(crate) fn state(rig: &Rig, name: &str) -> String {
    states(rig).into_iter().find(|(own, _)| own == name).expect(name).1
}

pub(crate) const MCP: &str =
    r#"{"mcpServers":{"web":{"command":"npx","args":["-y","web"],"env":{"KEY":"hunter2"}}}}"#;

#[test]
fn a_server_is_added_listed_switched_and_removed() {
    let rig = Rig::new();
    put(user_file(&rig), "# Mine.\n\n[log]\nlevel = \"error\" # quiet\n");
    ok(&rig, &["add", "files", "--env", "T=hunter2", "--cwd", "sub", "--", "npx", "-y", "a b"])
        .gives("ok: added `files` to ~/config/tectum/tectum.toml\n");
    ok(
        &rig,
        &["add", "docs", "--url", "https://d/mcp", "--type", "sse", "--header", "Authorization: hunter2"],
    );
    assert_eq!(
        user_text(&rig),
        "# Mine.\n\n[log]\nlevel = \"error\" # quiet\n\n[servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"a b\"]\n\
         env = { T = \"hunter2\" }\ncwd = \"sub\"\n\n[servers.docs]\nurl = \"https://d/mcp\"\ntype = \"sse\"\n\
         headers = { Authorization = \"hunter2\" }\n"
    );
    ok(&rig, &["list"]).gives(
        "NAME   TRANSPORT  FROM                          STATE        COMMAND\n\
         docs   sse        ~/config/tectum/tectum.toml:12  not started  https://d/mcp\n\
         files  stdio      ~/config/tectum/tectum.toml:6   not started  npx -y \"a b\"\n"
            .replace("FROM                          ", "FROM                            ")
            .as_str(),
    );
    let got = ok(&rig, &["get", "files", "--json"]).json();
    assert_eq!(
        (&got["command"], &got["env"], &got["cwd"]),
        (&json!(["npx", "-y", "a b"]), &json!(["T"]), &json!("sub"))
    );
    let got = ok(&rig, &["get", "docs"]).out;
    assert!(
        got.contains("url            \"https://d/mcp\"") && got.contains("headers        Authorization"),
        "{got}"
    );

    let before = user_text(&rig);
    let dry = ok(&rig, &["disable", "files", "--dry-run"]).out;
    assert!(dry.contains("+enabled = false") && user_text(&rig) == before, "{dry}");
    ok(&rig, &["disable", "files"]);
    assert_eq!(state(&rig, "files"), "disabled");
    ok(&rig, &["enable", "files"]);
    assert_eq!(user_text(&rig), before);
    ok(&rig, &["remove", "files"]);
    let done = ok(&rig, &["remove", "docs", "--json"]).json();
    assert_eq!(
        (&done["ok"], &done["changed"], &done["servers"]),
        (&json!(true), &json!(true), &json!(["docs"]))
    );
    assert_eq!(user_text(&rig), "# Mine.\n\n[log]\nlevel = \"error\" # quiet\n");
}

#[test]
fn what_cannot_be_added_is_refused_and_nothing_is_written() {
    let rig = Rig::new();
    let refuse = |args: &[&str], code: i32, words: &str| {
        let said = run(&rig, args);
        assert_eq!(said.code, code, "{args:?}: {}", said.err);
        assert!(said.err.contains(words), "{args:?}: {}", said.err);
    };
    refuse(&["add", "a__b", "--", "x"], 2, "cannot be a server's name");
    refuse(&["add", "a"], 2, "--url");
    refuse(&["add", "a", "--env", "hunter2", "--", "x"], 2, "--env takes a name, `=` and a value");
    refuse(&["add", "a", "--type", "carrier", "--url", "https://x"], 2, "`servers.a.type` must be one of");
    refuse(&["add", "a", "--type", "http", "--", "x"], 2, "cannot be of type http");
    refuse(&["remove", "a"], 4, "there is no server `a`");
    refuse(&["get", "a"], 4, "there is no server `a`");
    assert!(!user_file(&rig).exists());
    ok(&rig, &["add", "a", "--", "x"]);
    let mode = user_file(&rig).metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    refuse(&["add", "a", "--", "y"], 5, "already has a server `a`");
    refuse(&["disable", "b"], 4, "there is no server `b`");
    let error = run(&rig, &["restart", "ab", "--json"]).error();
    assert_eq!((&error["kind"], &error["hint"]), (&json!("not_found"), &json!("did you mean `a`?")));
}

#[test]
fn files_of_others_are_read_and_never_changed() {
    let rig = Rig::new();
    let theirs = rig.home().join("config/tectum/mcp_config.json");
    put(
        theirs.clone(),
        r#"{"servers":[{"name":"old","command":["x"]},{"name":"off","command":["x"],"disabled":true}]}"#,
    );
    let before = std::fs::read_to_string(&theirs).expect("there");
    let said = run(&rig, &["remove", "old"]);
    assert!(said.code == 5 && said.err.contains("tectum disable old"), "{}", said.err);
    ok(&rig, &["disable", "old"]);
    assert_eq!(user_text(&rig), "[servers.old]\nenabled = false\n");
    ok(&rig, &["enable", "off"]);
    assert_eq!((state(&rig, "old"), state(&rig, "off")), ("disabled".into(), "enabled".into()));
    ok(&rig, &["enable", "old"]);
    assert_eq!(user_text(&rig), "[servers.off]\nenabled = true\n");
    ok(&rig, &["disable", "off"]);
    assert_eq!(state(&rig, "off"), "disabled");
    assert_eq!(std::fs::read_to_string(&theirs).expect("there"), before);
}

#[test]
fn other_programs_are_found_and_used_live_or_copied() {
    let rig = Rig::with(&[(".cursor/mcp.json", MCP)]);
    put(rig.home().join(".claude.json"), r#"{"mcpServers":{"a":{"command":"a"},"b":{"url":"https://b"}}}"#);
    put(
        rig.home().join(".codex/config.toml"),
        "[mcp_servers.c]\ncommand = \"c\"\nenv = { K = \"hunter2\" }\n",
    );
    put(rig.home().join(".gemini/settings.json"), "{ broken");
    let found = ok(&rig, &["import", "--json"]).json();
    let each = |find: &Value| (find["client"].clone(), find["servers"].clone());
    assert_eq!(
        found["found"].as_array().expect("a list").iter().map(each).collect::<Vec<_>>(),
        [
            (json!("claude"), json!(["a", "b"])),
            (json!("cursor"), json!(["web"])),
            (json!("codex"), json!(["c"])),
            (json!("gemini"), json!([])),
        ]
    );
    assert!(ok(&rig, &["import"]).out.contains("claude                2  no    ~/.claude.json"));

    let dry = ok(&rig, &["import", "claude", "--dry-run"]).out;
    assert!(dry.contains("+read = ["), "{dry}");
    assert!(!user_file(&rig).exists());
    ok(&rig, &["import", "claude"]);
    assert_eq!(
        user_text(&rig),
        "[federation]\nread = [\".mcp.json\", \"mcp_config.json\", \"~/config/tectum/mcp_config.json\", \"~/.claude.json\"]\n"
    );
    ok(&rig, &["import", "cursor"]);
    ok(&rig, &["import", "codex", "--copy"]);
    assert!(
        user_text(&rig).ends_with("[servers.c]\ncommand = \"c\"\nenv = { K = \"hunter2\" }\n"),
        "{}",
        user_text(&rig)
    );
    let expect = [("a", "enabled"), ("b", "enabled"), ("c", "enabled"), ("web", "untrusted")];
    assert_eq!(states(&rig), expect.map(|(name, state)| (name.to_owned(), state.to_owned())));

    let again = user_text(&rig);
    assert!(ok(&rig, &["import", "claude"]).out.contains("already reads them"));
    assert_eq!(user_text(&rig), again);
    assert_eq!(run(&rig, &["import", "zed"]).code, 4);
    assert_eq!(run(&rig, &["import", "gemini"]).code, 2);
    assert_eq!(run(&rig, &["import", "gone.json"]).code, 4);
    let said = run(&rig, &["import", "cursor", "--copy"]);
    assert!(said.code == 2 && said.err.contains("--project"), "{}", said.err);
}

#[test]
fn a_project_says_what_of_itself_is_read_and_nothing_of_yours_goes() {
    let rig = Rig::with(&[(".cursor/mcp.json", MCP)]);
    put(rig.home().join("config/tectum/mcp_config.json"), r#"{"servers":[{"name":"mine","command":["x"]}]}"#);
    let said = run(&rig, &["import", "cursor", "--project"]);
    assert_eq!(said.out, "ok: 1 server from .cursor/mcp.json is now in use\n", "{}", said.err);
    assert_eq!(
        rig.read("tectum.toml"),
        "[federation]\nread = [\".mcp.json\", \"mcp_config.json\", \".cursor/mcp.json\"]\n"
    );
    assert_eq!((state(&rig, "mine"), state(&rig, "web")), ("enabled".into(), "untrusted".into()));
    ok(&rig, &["import", "cursor", "--project", "--copy"]);
    assert!(
        rig.read("tectum.toml").contains("[servers.web]\ncommand = \"npx\""),
        "{}",
        rig.read("tectum.toml")
    );
}

#[test]
fn a_restart_is_a_number_that_grows() {
    let rig = Rig::new();
    ok(&rig, &["add", "a", "--", "cat"]);
    assert_eq!(ok(&rig, &["restart", "a", "--json"]).json()["generation"], 1);
    ok(&rig, &["restart", "a"]).gives("ok: no Tectum runs for this folder; `a` starts when it is needed\n");
    let client = rig.stdio();
    let there = || ok(&rig, &["get", "a", "--json"]).json()["running"] != json!([]);
    crate::federated::until("how its servers are", there);
    ok(&rig, &["restart", "a"])
        .gives("ok: a running Tectum restarts `a` in a moment; `tectum list` shows its state\n");
    client.close();
    rig.write(".mcp.json", MCP);
    ok(&rig, &["add", "gone", "--", "no-such-program-anywhere"]);
    run(&rig, &["restart", "gone"]).fails(
        4,
        "error: `gone` cannot start: there is no program `no-such-program-anywhere` in PATH: install it, or write its full path\n\
         hint: `tectum get gone` shows its entry\n",
    );
    let held = run(&rig, &["restart", "web"]);
    assert!(held.code == 4 && held.err.contains("`tectum trust web`"), "{}", held.err);
    let kept = std::fs::read_to_string(rig.home().join("state/tectum/servers.json")).expect("there");
    assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON"), json!({ "a": 3 }));
}

#[test]
fn what_a_running_instance_left_is_shown_without_its_tricks() {
    let rig = Rig::new();
    ok(&rig, &["add", "a", "--", "x"]);
    let projects = rig.home().join("state/tectum/projects");
    let root = rig.project().canonicalize().expect("there");
    let traces = tectum::state::of_project(&rig.home().join("state/tectum"), &root).join("servers");
    assert!(traces.starts_with(&projects));
    put(traces.join("a.log"), "one\ntwo\n\x1b[2Jthree\n");
    let status = |pid: u32| {
        json!({"pid": pid, "servers": {"a": {"state": "ready", "tools": 3, "starts": 1}}}).to_string()
    };
    put_private(traces.join("status/1.json"), &status(std::process::id()));
    let out = ok(&rig, &["list", "-v"]).out;
    assert!(out.contains("now            ready, 3 tools, 1 start"), "{out}");
    assert!(ok(&rig, &["list"]).out.contains("  running      x\n"));
    let failed = json!({"state": "broken", "tools": 0, "starts": 0, "error": "it \u{1b}[2Jdied"});
    let text = json!({"pid": std::process::id(), "servers": {"a": failed}}).to_string();
    put_private(traces.join("status/1.json"), &text);
    let listed = ok(&rig, &["list"]).out;
    assert!(listed.contains("  failed       x\n  it \\u{1b}[2Jdied\n"), "the reason stands below: {listed}");
    assert!(ok(&rig, &["get", "a"]).out.contains("offers         not known: it did not start"));
    assert_eq!(ok(&rig, &["get", "a", "--json"]).json()["health"], "failed");
    assert!(out.contains("log            two") && out.contains("log            \\u{1b}[2Jthree"), "{out}");
    let mut gone = std::process::Command::new("true").spawn().expect("starts");
    gone.wait().expect("ends");
    put_private(traces.join("status/1.json"), &status(gone.id()));
    assert!(!ok(&rig, &["list", "-v"]).out.contains("now "));
}

#[test]
fn the_settings_are_checked_and_shown_with_the_servers() {
    let rig = Rig::new();
    put(
        user_file(&rig),
        "[servers.a]\ncommand = \"x\"\nenv = { K = \"hunter2\" }\ntimeout = 90\n\n[servers.gone]\nexclude = [\"x\"]\n[servers.elsewhere]\nenabled = false\n",
    );
    run(&rig, &["config", "check"]).fails(
        2,
        "error: ~/config/tectum/tectum.toml:6:10: [servers.gone] has neither `command` nor `url`, and no other file has a server `gone`\n\
         hint: add the `command` or the `url`, or remove the table\n",
    );
    put(
        user_file(&rig),
        "[servers.a]\ncommand = [\"x\", \"${NOT_SET}\"]\nenv = { K = \"hunter2\" }\ntimeout = 90\n",
    );
    let said = ok(&rig, &["config", "check"]);
    assert!(
        said.err.contains("tectum.toml:2:17: server `a`: the environment variable NOT_SET is not set"),
        "{}",
        said.err
    );
    let shown = ok(&rig, &["config", "show"]).out;
    assert!(
        shown.contains("timeout = \"90s\"") && shown.contains("# env (values are not shown): K"),
        "{shown}"
    );
    assert_eq!(ok(&rig, &["config", "show", "--json"]).json()["servers"]["a"]["env"]["value"], json!(["K"]));
    rig.write("shown.toml", &shown);
    ok(&rig, &["--config", "shown.toml", "config", "check"]);
}

#[test]
fn mistakes_do_not_repeat_what_may_be_secret() {
    for text in [
        "[servers.a]\ncommand = \"x\"\nenv = \"hunter2\"\n",
        "[servers.a]\ncommand = \"x\"\nenv = { K = \"${hunter2 x}\" }\n",
        "[servers.a]\ncommand = \"x\"\nenv = { K = \"${hunter2\" }\n",
        "[servers.a]\nurl = \"https://x\"\nheaders = { K = \"hunter2\\n\" }\n",
        "[servers.a]\nurl = \"https://x\"\nheaders = { K = hunter2 }\n",
    ] {
        let rig = Rig::new();
        put(user_file(&rig), text);
        for args in
            [&["list"] as &[&str], &["list", "--json"], &["list", "-v"], &["get", "a"], &["config", "check"]]
        {
            let said = run(&rig, args);
            assert!(
                said.code != 0 || said.out.contains("problem") || said.err.contains("warning"),
                "{text} {args:?}: {}",
                said.out
            );
        }
    }
    let rig = Rig::with(&[(".mcp.json", r#"{"mcpServers":{"a":{"command":"x","env":{"K": hunter2}}}}"#)]);
    assert!(run(&rig, &["list"]).out.contains("expected a value"));
}

#[test]
fn two_commands_at_once_both_count() {
    let rig = Rig::new();
    let add = |i: usize| {
        rig.tectum().args(["add", &format!("s{i}"), "--", "x"]).stdout(Stdio::null()).spawn().expect("starts")
    };
    let adding: Vec<_> = (0..6).map(add).collect();
    for mut child in adding {
        assert!(child.wait().expect("ends").success());
    }
    assert_eq!(states(&rig).len(), 6);
}
