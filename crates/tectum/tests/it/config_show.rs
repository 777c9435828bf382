//! `tectum config show` and `schema`: what holds, and where it was said.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use crate::{cli_said::Said, rig::Rig};

const PROJECT: &str = "\
version = 1
[workspace]
deny = [\"*.sqlite\"]

[permissions]
default = \"ask\"
allow = [
  \"read_*\",
  \"edit_file(src/**)\",
]
";

fn rig() -> Rig {
    let rig = Rig::with(&[("tectum.toml", PROJECT)]);
    let folder = rig.home().join("config/tectum");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(
        folder.join("tectum.toml"),
        "[http]\nlisten = \"127.0.0.1:7000\"\n[permissions]\nallow = [\"list_*\"]\n",
    )
    .expect("written");
    rig
}

#[test]
fn every_value_tells_where_it_came_from() {
    let rig = rig();
    let mut command = rig.tectum();
    command.env("TECTUM_FILES_DURABILITY", "rename").args(["-v", "config", "show"]);
    let said = Said::from(command.output().expect("runs"));
    assert_eq!(said.code, 0, "{}", said.err);
    let line = |start: &str| -> (String, String) {
        let line = said.out.lines().find(|line| line.trim_start().starts_with(start)).expect(start);
        let (value, origin) = line.split_once("  # ").unwrap_or_else(|| panic!("no origin in {line}"));
        (value.trim().to_owned(), origin.to_owned())
    };
    let check = |start: &str, value: &str, origin: &str| {
        assert_eq!(line(start), (value.to_owned(), origin.to_owned()));
    };
    check("version", "version = 1", "tectum.toml:1");
    check("symlinks", "symlinks = \"inside\"", "default");
    check("default", "default = \"ask\"", "tectum.toml:6");
    check("\"list_*\"", "\"list_*\",", "~/config/tectum/tectum.toml:4");
    check("\"edit_file", "\"edit_file(src/**)\",", "tectum.toml:9");
    check("listen", "listen = \"127.0.0.1:7000\"", "~/config/tectum/tectum.toml:2");
    check("durability", "durability = \"rename\"", "env TECTUM_FILES_DURABILITY");
    check("level", "level = \"info\"", "flag -v");
    assert!(said.out.contains("# max_output is not set: each tool has its own cap\n"), "{}", said.out);
}

#[test]
fn programs_get_values_and_origins() {
    let json = Said::from(rig().run(&["config", "show", "--json"])).json();
    assert_eq!(
        json["permissions"]["default"],
        serde_json::json!({ "value": "ask", "origin": "tectum.toml:6" })
    );
    assert_eq!(
        json["workspace"]["deny"],
        serde_json::json!({ "value": ["*.sqlite"], "origins": ["tectum.toml:3"] })
    );
    assert_eq!(json["files"]["max_file"]["value"], 64 << 20);
}

#[test]
fn what_it_prints_can_be_used_as_a_file() {
    let rig = rig();
    let shown = Said::from(rig.run(&["config", "show"])).out;
    rig.write("shown.toml", &shown);
    let said = Said::from(rig.run(&["--config", "shown.toml", "config", "check"]));
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn what_tables_of_a_server_say_together_is_shown_as_it_holds() {
    let rig = Rig::with(&[
        (
            "tectum.toml",
            "[servers.pj]\npermission = \"allow\"\nexclude = [\"x\"]\n[servers.web]\ntimeout = \"5s\"\n",
        ),
        (".mcp.json", r#"{"mcpServers":{"web":{"command":"web-server"}}}"#),
    ]);
    rig.configure("[servers.pj]\ncommand = \"prog\"\nargs = [\"-x\"]\npermission = \"ask\"\n");
    let shown = Said::from(rig.run(&["config", "show"])).out;
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text} in {shown}"));
    let (own, web) = (at("[servers.pj]  "), at("[servers.web]"));
    for line in ["command = [\"prog\"]", "args = [\"-x\"]", "permission = \"ask\"", "exclude = [\"x\"]"] {
        assert!((own..web).contains(&at(line)), "{line}: {shown}");
    }
    assert!(!shown.contains("permission = \"allow\"") && !shown.contains("web-server"), "{shown}");
    assert!(shown.contains("# [servers.pj] is also in") && at("timeout = \"5s\"") > web, "{shown}");
    let json = Said::from(rig.run(&["config", "show", "--json"])).json();
    let pj = &json["servers"]["pj"];
    assert_eq!((&pj["permission"]["value"], &pj["command"]["value"][0]), (&"ask".into(), &"prog".into()));
    assert_eq!(pj["permission"]["origin"], "~/config/tectum/tectum.toml:4");
}

#[test]
fn the_switch_that_a_command_left_in_the_state_is_shown() {
    let rig = Rig::with(&[
        (
            "tectum.toml",
            "[servers.own]\ncommand = \"prog\"\nenabled = true\n[servers.changed]\ntimeout = \"5s\"\n",
        ),
        (
            ".mcp.json",
            r#"{"mcpServers":{"plain":{"command":"a"},"changed":{"command":"b"},"off":{"command":"c","disabled":true},
                "alone":{"command":"d"}}}"#,
        ),
    ]);
    for (command, name) in
        [("disable", "own"), ("disable", "plain"), ("disable", "changed"), ("enable", "off")]
    {
        let said = Said::from(rig.run(&[command, name]));
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let json = Said::from(rig.run(&["config", "show", "--json"])).json();
    for (name, on) in [("own", false), ("plain", false), ("changed", false), ("off", true)] {
        let expect = serde_json::json!({ "value": on, "origin": "your state for this project" });
        assert_eq!(json["servers"][name]["enabled"], expect, "{name}");
    }
    assert_eq!(json["servers"]["changed"]["timeout"]["origin"], "tectum.toml:5");
    assert!(json["servers"]["alone"].is_null() && json["servers"]["plain"]["command"].is_null(), "{json}");
    let shown = Said::from(rig.run(&["config", "show"])).out;
    let table = shown.split("[servers.plain]").nth(1).unwrap_or_else(|| panic!("no table in {shown}"));
    let mut lines = table.lines();
    assert_eq!(lines.next().map(str::trim), Some("# .mcp.json:1"), "{shown}");
    let line = lines.next().unwrap_or_default();
    assert!(
        line.starts_with("enabled = false ") && line.ends_with("# your state for this project"),
        "{line}"
    );
    rig.write("shown.toml", &shown);
    let said = Said::from(rig.run(&["--config", "shown.toml", "config", "check"]));
    assert_eq!(said.code, 0, "{}", said.err);
    // Switched back, nothing is left to tell.
    assert_eq!(Said::from(rig.run(&["enable", "plain"])).code, 0);
    let json = Said::from(rig.run(&["config", "show", "--json"])).json();
    assert!(json["servers"]["plain"].is_null(), "{json}");
}

#[test]
fn the_words_about_observers_are_shown_as_they_hold() {
    let mut rig = Rig::new();
    let shown = |rig: &Rig| {
        Said::from(rig.run(&["config", "show", "--json"])).json()["observers"]["discover"].clone()
    };
    assert_eq!(shown(&rig), serde_json::json!({ "value": false, "origin": "default" }));
    rig.set("EFFERENT_COPY_ENABLE", "1");
    assert_eq!(shown(&rig), serde_json::json!({ "value": true, "origin": "env EFFERENT_COPY_ENABLE" }));
    rig.set("EFFERENT_COPY_DISABLE", "1");
    assert_eq!(shown(&rig), serde_json::json!({ "value": false, "origin": "env EFFERENT_COPY_DISABLE" }));
}

#[test]
fn what_nobody_sees_is_spelled_otherwise_and_reads_back() {
    let rig = Rig::with(&[("tectum.toml", "[permissions]\ndeny = [\"a\u{202e}\\u001b\\\"b\"]\n")]);
    let shown = Said::from(rig.run(&["config", "show"])).out;
    assert!(shown.contains(r#"deny = ["a\U0000202E\U0000001B\"b"]"#), "{shown}");
    rig.write("again.toml", &shown);
    let json = Said::from(rig.run(&["--config", "again.toml", "config", "show", "--json"])).json();
    assert_eq!(json["permissions"]["deny"]["value"][0], "a\u{202e}\u{1b}\"b");
}

#[test]
fn an_empty_list_and_none_are_told_apart() {
    let read =
        |rig: &Rig| Said::from(rig.run(&["config", "show", "--json"])).json()["federation"]["read"].clone();
    assert_eq!(read(&Rig::new())["value"], serde_json::Value::Null);
    let none = Rig::with(&[("tectum.toml", "[federation]\nread = []\n")]);
    assert_eq!(read(&none)["value"], serde_json::json!([]));
}

#[test]
fn the_schema_is_one_and_knows_every_table() {
    let said = Said::from(Rig::new().run(&["config", "schema"]));
    let schema = said.json();
    jsonschema::meta::validate(&schema).expect("a schema");
    for table in ["workspace", "permissions", "tools", "files", "http", "run", "log", "mcp"] {
        assert_eq!(schema["properties"][table]["additionalProperties"], false, "{table}");
    }
}

#[test]
fn a_broken_file_outside_of_the_directory_is_not_read() {
    let rig = Rig::with(&[("tectum.toml", "broken ="), ("sub/a.txt", "one\n")]);
    assert_eq!(Said::from(rig.run(&["config", "show"])).code, 2);
    Said::from(rig.run(&["-C", "sub", "call", "read_file", "path=a.txt"])).gives("one\n");
}
