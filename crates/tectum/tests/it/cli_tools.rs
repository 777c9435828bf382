//! `tectum tools`, `version`, `completions`, wrong usage and colour.

use std::{io::Read as _, process::Stdio};

use crate::{
    cli_said::Said,
    federated::{command, echo},
    rig::{Rig, fixture, terminal},
};

#[test]
fn people_get_a_table_with_costs_and_permissions() {
    let rig = Rig::with(&[("tectum.toml", "[permissions]\ndeny = [\"get_tree\"]\n")]);
    let said = Said::from(rig.run(&["tools"]));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let row = |name: &str| -> Vec<String> {
        let line = said.out.lines().find(|line| line.starts_with(name)).expect(name);
        line.split_whitespace().take(4).map(str::to_owned).collect()
    };
    assert_eq!(row("TOOL"), ["TOOL", "EFFECT", "PERMISSION", "TOKENS"]);
    let read = row("read_file");
    assert_eq!(read[..3], ["read_file", "read", "allow"]);
    assert!(read[3].parse::<usize>().expect("a number") > 50, "{read:?}");
    assert_eq!(row("get_tree")[2], "deny");
    assert!(said.out.lines().last().expect("a sum").contains("tools, about "), "{}", said.out);
}

#[test]
fn programs_get_the_whole_description() {
    let json = Said::from(Rig::new().run(&["tools", "--json"])).json();
    let tools = json["tools"].as_array().expect("a list");
    let read = tools.iter().find(|tool| tool["name"] == "read_file").expect("there");
    assert_eq!(read["input_schema"]["properties"]["path"]["type"], "string");
    assert_eq!((&read["effect"], &read["world"]), (&"read".into(), &"project".into()));
    assert_eq!((&read["primary"], &read["permission"]), (&"path".into(), &"allow".into()));
    let sum: u64 = tools.iter().filter_map(|tool| tool["tokens"].as_u64()).sum();
    assert_eq!(json["tokens"].as_u64(), Some(sum));
}

#[test]
fn without_native_tools_there_are_none() {
    let rig = Rig::with(&[("tectum.toml", "[mcp]\nenabled = false\n")]);
    assert_eq!(Said::from(rig.run(&["tools", "--json"])).json()["tools"], serde_json::json!([]));
    assert_eq!(Said::from(rig.run(&["call", "read_file", "path=a"])).code, 4);
}

#[test]
fn tools_are_left_out_by_name_and_stay_out() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    let names = |rig: &Rig| {
        let listed = rig.run(&["tools", "--json"]);
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
        let tools = listed["tools"].as_array().expect("a list");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    rig.configure("[tools]\nexclude = [\"py_*\", \"delete_file\"]\n");
    let left = names(&rig);
    assert!(
        left.contains(&"read_file".to_owned()) && !left.iter().any(|name| name.starts_with("py_")),
        "{left:?}"
    );
    let gone = rig.run(&["call", "delete_file", r#"{"path":"a.txt"}"#]);
    assert_eq!(gone.status.code(), Some(4), "{}", String::from_utf8_lossy(&gone.stderr));
    rig.configure("[tools]\ninclude = [\"read_*\", \"list_directory\"]\nexclude = [\"list_*\"]\n");
    assert_eq!(names(&rig), ["read_file"]);
    rig.configure("[tools]\nexclude = [\"[\"]\n");
    let wrong = rig.run(&["tools"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2) && said.contains("is not a valid pattern"), "{said}");
}

#[test]
fn version() {
    let rig = Rig::new();
    let expect = concat!("tectum ", env!("CARGO_PKG_VERSION"), "\n");
    Said::from(rig.run(&["version"])).gives(expect);
    Said::from(rig.run(&["--version"])).gives(expect);
    assert_eq!(Said::from(rig.run(&["version", "--json"])).json()["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn completions_for_every_shell() {
    let rig = Rig::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = Said::from(rig.run(&["completions", shell]));
        assert!(said.code == 0 && said.out.contains("tectum"), "{shell}");
        assert!(said.out.contains("policy") && !said.out.contains("guard"), "{shell}");
    }
    let bash = Said::from(rig.run(&["completions", "bash"])).out;
    assert!(bash.contains("claude-desktop"), "the clients to import from are offered");
    assert_eq!(Said::from(rig.run(&["completions", "csh"])).code, 2);
}

#[test]
fn wrong_usage_ends_with_two() {
    let rig = Rig::new();
    for args in [&["nonsense"] as &[&str], &[], &["call"], &["tools", "--nope"], &["-q", "-v", "tools"]] {
        let said = Said::from(rig.run(args));
        assert!(said.code == 2 && said.out.is_empty() && !said.err.is_empty(), "{args:?}: {}", said.err);
    }
    let error = Said::from(rig.run(&["nonsense", "--json"])).error();
    assert_eq!(
        (&error["kind"], &error["message"]),
        (&"usage".into(), &"unrecognized subcommand 'nonsense'".into())
    );
}

#[test]
fn wrong_usage_is_told_whole_to_programs() {
    let error = Said::from(Rig::new().run(&["call", "--json"])).error();
    let message = error["message"].as_str().expect("a text");
    assert_eq!(message, "the following required arguments were not provided: <TOOL>");
}

#[test]
fn colour_is_for_those_who_want_it() {
    let rig = Rig::new();
    let painted = |args: &[&str]| String::from_utf8_lossy(&rig.run(args).stdout).contains('\u{1b}');
    assert!(!painted(&["tools"]));
    assert!(painted(&["tools", "--color", "always"]));
    assert!(!painted(&["tools", "--color", "always", "--json"]));
    let mut command = rig.tectum();
    let output =
        command.args(["call", "nope", "--color=always"]).stdin(Stdio::null()).output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("\u{1b}[1;31merror:"), "{output:?}");
}

#[test]
fn logs_go_to_standard_error_and_only_when_asked() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    Said::from(rig.run(&["call", "read_file", "path=a.txt"])).gives("one\n");
    for (name, value, warns) in [("TECTUM_LOG", "trace", false), ("TECTUM_LOG", "=[", true)] {
        let mut command = rig.tectum();
        command.env(name, value).args(["call", "read_file", "path=a.txt"]);
        let said = Said::from(command.output().expect("runs"));
        assert_eq!((said.code, said.out.as_str()), (0, "one\n"));
        assert_eq!(said.err.contains("TECTUM_LOG is invalid"), warns, "{value}: {}", said.err);
    }
}

/// True for a text that would act on a terminal or hide something.
fn steers(text: &str) -> bool {
    text.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{e0048}'])
}

#[test]
fn what_a_server_says_of_its_tools_does_not_steer_a_terminal() {
    let rig = Rig::new();
    rig.configure(&command("bad", fixture(), &["--role", "hostile", "--how", "invisible-names"], ""));
    assert_eq!(Said::from(rig.run(&["call", "bad__good"])).code, 0);
    let said = Said::from(rig.run(&["tools"]));
    assert!(said.out.contains("See\\u{200b} this.\\u{1b}[8m Hidden.") && !steers(&said.out), "{}", said.out);
    for args in [&["list", "-v"][..], &["get", "bad"], &["policy", "test", "bad__good"]] {
        let said = Said::from(rig.run(args));
        assert!(!steers(&said.out) && !steers(&said.err), "{args:?}: {}", said.out);
    }
}

#[test]
fn a_server_that_was_never_met_is_told_of_and_can_be_met() {
    let rig = Rig::new();
    rig.configure(&format!(
        "{}{}",
        echo("one", &[], ""),
        command("gone", "no-such-program-anywhere", &[], "enabled = false")
    ));
    let said = Said::from(rig.run(&["tools"]));
    assert_eq!(
        said.err,
        "note: `one` has not been started yet, so its tools are not listed: `tectum tools --meet` starts it\n"
    );
    assert!(!said.out.contains("one__echo"), "{}", said.out);
    for args in [&["get", "one"][..], &["list", "-v"]] {
        let said = Said::from(rig.run(args));
        assert!(said.out.contains("offers         not known yet: it has not been started"), "{}", said.out);
    }
    assert_eq!(Said::from(rig.run(&["tools", "--json"])).json()["unmet"], serde_json::json!(["one"]));
    let said = Said::from(rig.run(&["tools", "--meet"]));
    assert!(said.err.is_empty() && said.out.contains("one__echo"), "{} {}", said.out, said.err);
    let said = Said::from(rig.run(&["get", "one"]));
    assert!(!said.out.contains("not known"), "{}", said.out);
    rig.configure(&command("gone", "no-such-program-anywhere", &[], ""));
    let said = Said::from(rig.run(&["tools", "--meet"]));
    assert!(said.code == 0 && said.err.contains("note: `gone` could not be started"), "{}", said.err);
}

#[test]
fn a_result_is_harmless_on_a_terminal_and_as_it_is_for_programs() {
    let evil = "a\u{1b}[2Jb\u{202e}\rc\n";
    let rig = Rig::with(&[("evil.txt", evil)]);
    // A lone `\r` ends a line, too.
    let told = format!("{evil}[mixed line ends]");
    Said::from(rig.run(&["call", "read_file", "path=evil.txt"])).gives(&format!("{told}\n"));
    let shown = |json: &[&str]| {
        let (mut seen, theirs) = terminal();
        let mut command = rig.tectum();
        command.args(["call", "read_file", "path=evil.txt"]).args(json).stdin(Stdio::null()).stdout(theirs);
        let mut child = command.spawn().expect("starts");
        drop(command);
        let mut text = Vec::new();
        // The end of a terminal whose program left is an error.
        let _ = seen.read_to_end(&mut text);
        assert!(child.wait().expect("ends").success());
        String::from_utf8(text).expect("UTF-8")
    };
    assert_eq!(shown(&[]), "a\\u{1b}[2Jb\\u{202e}\\rc\r\n[mixed line ends]\r\n");
    let json = shown(&["--json"]);
    let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(!steers(&json) && read["text"] == told, "{json}");
}
