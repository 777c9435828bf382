//! `tectum policy test`: the decision, every step, and the line to edit.

use crate::{cli_said::Said, federated::echo, rig::Rig};

fn test(rig: &Rig, args: &[&str]) -> Said {
    rig.run(&[&["policy", "test"], args].concat()).into()
}

#[test]
fn a_rule_is_named_with_its_file_and_line() {
    let rig = Rig::with(&[(
        "tectum.toml",
        "[permissions]\ndeny = [\n  \"write_*\",\n  \"read_file(secret/**)\",\n]\n",
    )]);
    let denied = test(&rig, &["read_file", "path=secret/a"]);
    assert_eq!((denied.code, denied.err.as_str()), (3, ""));
    let lines: Vec<&str> = denied.out.lines().collect();
    assert_eq!(lines[0], "DENY  read_file  secret/a");
    assert!(lines[1].starts_with("  permission ") && lines[1].ends_with("stop"), "{}", denied.out);
    assert!(lines[1].contains("deny rule `read_file(secret/**)` (tectum.toml:4)"), "{}", denied.out);
    assert_eq!(lines.last().copied(), Some("  → to change: edit line 4 of tectum.toml"));
}

#[test]
fn a_protected_name_is_told_with_its_pattern_and_its_place() {
    let rig = Rig::with(&[("tectum.toml", "[workspace]\ndeny = [\"private/**\"]\n")]);
    let denied = test(&rig, &["read_file", "path=private/x"]);
    assert_eq!(denied.code, 3);
    assert!(denied.out.contains("layer 2 validate"), "{}", denied.out);
    assert!(
        denied.out.contains("→ `private/**` is set in tectum.toml:2; to change: edit it there"),
        "{}",
        denied.out
    );
    let built_in = test(&rig, &["read_file", "path=.env"]);
    let line = "→ to change: add open = [\".env\"] to [workspace] of ~/.config/tectum/tectum.toml";
    assert!(built_in.code == 3 && built_in.out.contains(line), "{}", built_in.out);
    let ours = test(&rig, &["read_file", "path=.tectum"]);
    assert!(ours.code == 3 && ours.out.contains("→ `.tectum` is built in"), "{}", ours.out);
    let outside = test(&rig, &["read_file", "path=/etc/passwd"]);
    assert!(outside.code == 3 && outside.out.contains("add the directory to roots"), "{}", outside.out);
}

#[test]
fn what_would_run_passes_every_station() {
    let rig = Rig::with(&[("a.txt", "")]);
    let allowed = test(&rig, &["read_file", "path=a.txt"]);
    assert_eq!((allowed.code, allowed.err.as_str()), (0, ""));
    assert!(allowed.out.starts_with("ALLOW  read_file  a.txt\n"), "{}", allowed.out);
    for station in ["permission", "layer 1 allowlist", "layer 2 validate", "layer 3 resolve"] {
        let line = allowed.out.lines().find(|line| line.contains(station));
        assert!(line.is_some_and(|line| line.ends_with("pass")), "{station}: {}", allowed.out);
    }
}

#[test]
fn a_question_is_no_consent() {
    let rig = Rig::with(&[("tectum.toml", "[permissions]\ndefault = \"ask\"\n"), ("a.txt", "")]);
    let asks = test(&rig, &["read_file", "path=a.txt"]);
    assert_eq!(asks.code, 3);
    assert!(asks.out.starts_with("ASK  read_file  a.txt\n"), "{}", asks.out);
    assert!(
        asks.out.contains("→ a person would be asked; to change: edit line 2 of tectum.toml"),
        "{}",
        asks.out
    );
}

#[test]
fn a_rule_from_the_environment_is_named_so() {
    let rig = Rig::with(&[("a.txt", "")]);
    let mut command = rig.tectum();
    command.env("TECTUM_PERMISSIONS_DENY", "read_*").args(["policy", "test", "read_file", "path=a.txt"]);
    let denied = Said::from(command.output().expect("runs"));
    assert_eq!(denied.code, 3);
    assert!(denied.out.contains("deny rule `read_*` (env TECTUM_PERMISSIONS_DENY)"), "{}", denied.out);
    assert!(denied.out.contains("→ to change: edit env TECTUM_PERMISSIONS_DENY"), "{}", denied.out);
}

#[test]
fn nothing_is_done() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    assert_eq!(test(&rig, &["delete_file", "path=a.txt"]).code, 0);
    assert_eq!(test(&rig, &["write_file", "path=b.txt", "content=x"]).code, 0);
    assert_eq!(rig.read("a.txt"), "one\n");
    assert!(!rig.project().join("b.txt").exists());
}

#[test]
fn programs_get_the_steps() {
    let rig = Rig::new();
    let denied = test(&rig, &["--json", "read_file", "path=.env"]);
    assert_eq!(denied.code, 3);
    let json = denied.json();
    assert_eq!((&json["decision"], &json["subject"]), (&"deny".into(), &".env".into()));
    assert_eq!(json["steps"][1]["station"], "layer 2 validate");
    assert_eq!(json["steps"][1]["passed"], false);
}

#[test]
fn what_decides_nothing_may_be_left_out_and_a_path_may_not() {
    let rig = Rig::with(&[("a.txt", "")]);
    let allowed = test(&rig, &["get_file_slice", "path=a.txt"]);
    assert_eq!(allowed.code, 0, "{} {}", allowed.out, allowed.err);
    assert!(test(&rig, &["edit_file", "path=.env"]).out.starts_with("DENY  edit_file  .env\n"));
    assert_eq!(test(&rig, &["move_file", "source=a.txt"]).code, 2);
    let missing = test(&rig, &["read_file"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("missing argument `path`"), "{}", missing.err);
    assert_eq!(test(&rig, &["raed_file", "path=a"]).code, 4);
}

#[test]
fn tools_of_servers_are_judged_as_calls_are() {
    let rig = Rig::new();
    rig.configure(&format!(
        "[permissions]\ndeny = [\"base__err\"]\n[federation]\nexposure = \"search\"\n{}{}",
        echo("base", &["--also", "err"], ""),
        echo("strict", &[], "permission = \"ask\"")
    ));
    let unmet = test(&rig, &["base__err"]);
    assert_eq!(unmet.code, 3, "{} {}", unmet.out, unmet.err);
    assert!(unmet.out.starts_with("DENY  base__err\n"), "{}", unmet.out);
    assert!(unmet.out.contains("server `base` has not been started yet"), "{}", unmet.out);
    assert!(unmet.out.contains("→ to change: edit line 2 of ~/config/tectum/tectum.toml"), "{}", unmet.out);

    assert_eq!(Said::from(rig.run(&["call", "base__echo", "text=x"])).code, 0);
    let denied = test(&rig, &["base__err"]);
    assert_eq!(denied.code, 3, "{} {}", denied.out, denied.err);
    assert!(denied.out.contains("deny rule `base__err` (~/config/tectum/tectum.toml:2)"), "{}", denied.out);
    assert!(!denied.out.contains("not been started"), "{}", denied.out);
    assert_eq!(test(&rig, &["base__echo", "text=x"]).code, 0);
    assert_eq!(test(&rig, &["base__none"]).code, 4, "a server that is known has what it has");
    let asks = test(&rig, &["strict__anything"]);
    assert!(asks.code == 3 && asks.out.starts_with("ASK  strict__anything\n"), "{}", asks.out);

    assert_eq!(test(&rig, &["find_tools", "query=x"]).code, 0);
    let inside = test(&rig, &["call_tool", "name=base__err"]);
    assert!(inside.code == 3 && inside.out.starts_with("DENY  base__err\n"), "{}", inside.out);
    let nothing = test(&rig, &["call_tool"]);
    assert!(nothing.code == 2 && nothing.err.contains("add name=TOOL"), "{}", nothing.err);
}

#[test]
fn a_tool_of_a_server_that_is_held_is_told_why() {
    let rig = Rig::with(&[(".mcp.json", r#"{"mcpServers":{"web":{"command":"web-server"}}}"#)]);
    let held = test(&rig, &["web__echo"]);
    assert_eq!(held.code, 4);
    assert!(held.err.contains("server `web` is not in use") && held.err.contains("`tectum trust web`"));
}
