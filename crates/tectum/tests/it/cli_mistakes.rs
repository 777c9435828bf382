//! The mistakes of new users, and the messages about them.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::{io::Read as _, os::unix::fs::PermissionsExt, process::Stdio};

use serde_json::json;

use crate::{
    cli_said::Said,
    federated::{command, echo, with},
    rig::{Rig, fixture, terminal},
};

fn said(rig: &Rig, args: &[&str]) -> Said {
    rig.run(args).into()
}

#[test]
fn all_mistakes_of_a_call_are_told_at_once() {
    let rig = with(&echo("sum", &[], ""));
    let wrong = said(&rig, &["call", "get_file_slice", "path=a.txt", "start_line=x", "endline=2", "b"]);
    assert_eq!(wrong.code, 2);
    for part in [
        "`start_line` must be an integer, got `x`; ",
        "has no argument `endline` (did you mean",
        "`b` is not",
    ] {
        assert!(wrong.err.contains(part), "{part}: {}", wrong.err);
    }
    let missing = said(&rig, &["call", "sum__add", "a=x"]);
    assert!(
        missing.err.starts_with("error: `a` must be an integer, got `x`; `b` is missing\n"),
        "{}",
        missing.err
    );
}

#[test]
fn a_mistake_only_the_tool_knows_is_told_with_the_others() {
    let rig = Rig::with(&[("a.txt", "1\n")]);
    let offset =
        "`offset`: must be a line from 1 on, or a line and a character like \"1:1048577\", got \"abc\"";
    let words = said(&rig, &["call", "read_file", "offset=abc", "limitt=3"]);
    assert_eq!(words.code, 2);
    assert_eq!(
        words.err,
        format!(
            "error: read_file has no argument `limitt` (did you mean `limit`?); {offset}\n\
             hint: read_file takes: path, [offset], [limit], [end_line]\n"
        )
    );
    let json = said(&rig, &["call", "read_file", "--args", r#"{"offset":"abc","limitt":3,"limit":"x"}"#]);
    for part in [offset, "unknown argument `limitt`", "`limit` must be", "missing argument `path`"] {
        assert_eq!(json.err.matches(part).count(), 1, "{part}: {}", json.err);
    }
}

#[test]
fn a_servers_name_is_answered_with_its_tools() {
    let rig = with(&echo("one", &[], ""));
    let listed = said(&rig, &["call", "one"]);
    assert_eq!(listed.code, 4);
    assert!(
        listed.err.starts_with("error: `one` is a server, not a tool\nhint: its tools: one__add, "),
        "{}",
        listed.err
    );
}

#[test]
fn results_that_are_no_text_are_summed_up_and_progress_is_shown_on_a_terminal() {
    let conformance = command("c", fixture(), &["--role", "conformance"], "");
    let rig = with(&format!("{conformance}{}", echo("one", &[], "")));
    let image = said(&rig, &["call", "c__test_image_content"]);
    assert_eq!(image.code, 0, "{}", image.err);
    assert!(
        image.out.starts_with("[image: image/png, ") && image.out.contains("--json prints all"),
        "{}",
        image.out
    );
    let whole = said(&rig, &["call", "c__test_image_content", "--json"]).json();
    assert!(whole["structured"]["content"][0]["data"].is_string(), "{whole}");

    let (mut seen, theirs) = terminal();
    let mut call = rig.tectum();
    call.args(["call", "one__progress", "count=2"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(theirs);
    let child = call.spawn().expect("starts");
    drop(call);
    let mut shown = Vec::new();
    // The end of a terminal whose program left is an error.
    let _ = seen.read_to_end(&mut shown);
    assert!(child.wait_with_output().expect("ends").status.success());
    let shown = String::from_utf8(shown).expect("UTF-8");
    assert!(shown.contains("1/2") && shown.contains("2/2"), "{shown}");
    let piped = said(&rig, &["call", "one__progress", "count=2"]);
    assert_eq!(piped.err, "", "nobody looks, so nothing is shown");
}

#[test]
fn the_effect_of_a_servers_tool_is_what_the_server_says() {
    let rig = with(&echo("one", &[], ""));
    let tools = said(&rig, &["tools", "--meet", "--json"]).json();
    let effect = |name: &str| {
        let tools = tools["tools"].as_array().expect("a list");
        tools.iter().find(|tool| tool["name"] == name).expect(name)["effect"].clone()
    };
    assert_eq!((effect("one__echo"), effect("one__die")), (json!("read"), json!("change")));
}

#[test]
fn adding_says_what_may_keep_a_program_from_starting() {
    let rig = Rig::with(&[("diary.py", ""), ("bin/mine", "#!/bin/sh\n")]);
    let absent = said(&rig, &["add", "a", "--", "no-such-program-anywhere"]);
    assert_eq!(absent.code, 0);
    assert!(absent.err.contains("`no-such-program-anywhere` is not in PATH"), "{}", absent.err);
    let script = said(&rig, &["add", "b", "--", "sh", "diary.py"]);
    assert!(script.err.contains("`diary.py` is relative to the served directory"), "{}", script.err);
    let mine = said(&rig, &["add", "c", "--", "./bin/mine"]);
    let full = rig.project().canonicalize().expect("there").join("bin/mine").display().to_string();
    assert!(mine.err.contains(&format!("stored as {full}")), "{}", mine.err);
    assert!(said(&rig, &["list"]).out.contains(&full));
    let project = said(&rig, &["add", "d", "--project", "--", "./bin/mine"]);
    assert!(rig.read("tectum.toml").contains("\"./bin/mine\""), "{}", project.err);
    let dashes = said(&rig, &["add", "e", "npx", "-y", "bar"]);
    assert_eq!(dashes.code, 2);
    assert!(dashes.err.contains("after `--`: tectum add NAME -- COMMAND"), "{}", dashes.err);
    said(&rig, &["add", "e"]).fails(
        2,
        "error: `e` needs a command or a URL\n\
         hint: `tectum add e -- COMMAND ARGS...`, or `tectum add e --url URL`\n",
    );
}

#[test]
fn importing_tectum_itself_says_so_and_changes_nothing() {
    let rig = Rig::new();
    let me = json!({"mcpServers": {"tectum": {"command": env!("CARGO_BIN_EXE_tectum"), "args": ["serve"]}}});
    std::fs::write(rig.home().join(".claude.json"), me.to_string()).expect("written");
    let only = said(&rig, &["import", "claude"]);
    assert_eq!(only.code, 4);
    assert!(
        only.err.starts_with("error: ~/.claude.json has no server other than Tectum itself\n"),
        "{}",
        only.err
    );
    assert!(!rig.home().join("config/tectum/tectum.toml").exists());
    let mut both = me;
    both["mcpServers"]["other"] = json!({"command": "cat"});
    std::fs::write(rig.home().join(".claude.json"), both.to_string()).expect("written");
    said(&rig, &["import", "claude"]).gives("ok: 1 server from ~/.claude.json is now in use\n");
}

#[test]
fn an_entry_that_is_tectum_itself_is_no_warning() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let me = json!({"mcpServers": {"tectum": {"command": env!("CARGO_BIN_EXE_tectum"), "args": ["serve"]}}});
    rig.write(".mcp.json", me.to_string());
    said(&rig, &["call", "read_file", "path=a.txt"]).gives("hello\n");
    for args in [&["tools"][..], &["list"], &["serve"]] {
        assert_eq!(said(&rig, args).err, "", "{args:?}");
    }
    let told = said(&rig, &["list", "-v"]).err;
    assert!(told.contains("`tectum` is skipped: this entry is Tectum itself"), "{told}");
}

#[test]
fn hidden_commands_are_not_suggested_and_ports_are_numbers() {
    let rig = Rig::new();
    let unknown = said(&rig, &["upgrade"]);
    assert_eq!(unknown.code, 2);
    assert!(!unknown.err.contains("guard") && unknown.err.contains("'up'"), "{}", unknown.err);
    let port = said(&rig, &["up", "--port", "abc"]);
    assert!(port.err.contains("a port is a number from 1 to 65535, or 0 for any free one"), "{}", port.err);
}

#[test]
fn a_folder_that_cannot_be_read_is_told_as_such() {
    // Whoever may do anything can read it all the same.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let rig = Rig::new();
    let closed = rig.project().join("closed");
    std::fs::create_dir(&closed).expect("made");
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).expect("set");
    let wrong = said(&rig, &["tools", "-C", "closed"]);
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o755)).expect("set");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("cannot serve ") && wrong.err.contains("chmod u+rx"), "{}", wrong.err);
    assert!(!wrong.err.contains("tectum.toml"), "{}", wrong.err);
}

#[test]
fn what_is_not_there_is_told_with_what_to_do() {
    let rig = Rig::with(&[("a.txt", "1\n2\n3\n")]);
    said(&rig, &["-c", "nope.toml", "tools"]).fails(
        2,
        "error: flag --config: there is no file nope.toml\nhint: correct the path; a relative path starts at the current directory\n",
    );
    said(&rig, &["call", "Read", "path=a.txt"])
        .fails(4, "error: unknown tool: Read\nhint: did you mean `read_file`?\n");
    let reversed = said(&rig, &["call", "get_file_slice", "path=a.txt", "start_line=3", "end_line=1"]);
    assert!(
        reversed.err.starts_with("error: the range is reversed: it starts at line 3 and ends at line 1\n"),
        "{}",
        reversed.err
    );
}
