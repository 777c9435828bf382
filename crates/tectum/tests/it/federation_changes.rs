//! Commands that change which servers there are and how they are used: what they write, and where.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::process::Stdio;

use crate::{
    cli_said::Said,
    federation_config::{ok, put, run, state, user_file, user_text},
    rig::{Rig, terminal},
};

#[test]
fn variables_that_are_handed_on_are_copied_with_and_without_others() {
    let rig = Rig::new();
    let codex = rig.home().join("codex.toml");
    put(
        codex.clone(),
        "[mcp_servers.a]\ncommand = \"x\"\nenv_vars = [\"TOKEN\"]\n\
         [mcp_servers.b]\ncommand = \"x\"\nenv_vars = [\"TOKEN\"]\nenv = { K = \"v\" }\n",
    );
    ok(&rig, &["import", codex.to_str().expect("text"), "--copy"]);
    let text = user_text(&rig);
    assert!(text.contains("env = { TOKEN = \"${TOKEN}\" }"), "{text}");
    assert!(text.contains("env = { K = \"v\", TOKEN = \"${TOKEN}\" }"), "{text}");
}

#[test]
fn what_is_copied_and_waits_for_a_variable_says_which_and_starts_with_no_empty_one() {
    let mut rig = Rig::new();
    put(
        rig.home().join(".codex/config.toml"),
        "[mcp_servers.a]\ncommand = \"x\"\nenv_vars = [\"LACKING_TOKEN\", \"GIVEN\"]\n\
         [mcp_servers.b]\nurl = \"https://example.com/mcp\"\nbearer_token_env_var = \"LACKING_TOO\"\n",
    );
    rig.set("GIVEN", "1");
    let said = ok(&rig, &["import", "codex", "--copy"]);
    for (name, variable) in [("a", "LACKING_TOKEN"), ("b", "LACKING_TOO")] {
        let note = format!(
            "note: `{name}` does not start yet: the environment variable {variable} is not set; set {variable} \
             where Tectum is started, or write ${{{variable}:-default}}\n"
        );
        assert!(said.err.contains(&note), "{}", said.err);
        assert_eq!(state(&rig, name), "problem");
    }
    assert!(!said.err.contains("GIVEN"), "{}", said.err);
    let why = ok(&rig, &["get", "a"]).out;
    assert!(why.contains("the environment variable LACKING_TOKEN is not set"), "{why}");
    rig.set("LACKING_TOKEN", "hunter2");
    assert_eq!(state(&rig, "a"), "enabled");
}

#[test]
fn what_stands_in_the_projects_file_is_removed_only_on_demand() {
    let rig = Rig::with(&[("tectum.toml", "[servers.pj]\ncommand = \"x\"\n")]);
    run(&rig, &["remove", "pj"]).fails(
        5,
        "error: `pj` comes from tectum.toml:1, not from your own file\n\
         hint: `tectum remove pj --project` removes it there\n",
    );
    assert_eq!(rig.read("tectum.toml"), "[servers.pj]\ncommand = \"x\"\n");
    ok(&rig, &["remove", "pj", "--project"]);
    assert_eq!(rig.read("tectum.toml"), "");
}

#[test]
fn an_address_is_one_and_its_secrets_are_not_shown() {
    let rig = Rig::new();
    let said = run(&rig, &["add", "a", "--url", "nonsense"]);
    assert!(said.code == 2 && said.err.contains("has a `url` that is not a URL"), "{}", said.err);
    let said = run(&rig, &["add", "a"]);
    assert!(said.code == 2 && said.err.contains("`tectum add a -- COMMAND ARGS...`"), "{}", said.err);
    assert!(!user_file(&rig).exists());
    let add = ["add", "a", "--url", "https://me:hunter2@example.com/mcp?api_key=hunter2&x=1"];
    assert!(!ok(&rig, &[&add[..], &["--dry-run"]].concat()).out.contains("hunter2"));
    ok(&rig, &add);
    for args in [&["list"][..], &["list", "-v"], &["get", "a"], &["config", "show"]] {
        for json in [&[][..], &["--json"]] {
            let out = ok(&rig, &[args, json].concat()).out;
            assert!(
                out.contains("https://me:(hidden)@example.com/mcp?api_key=(hidden)&x=1"),
                "{args:?}: {out}"
            );
        }
    }
}

#[test]
fn a_switch_that_cannot_be_heard_is_not_thrown_and_one_that_changes_nothing_says_so() {
    let rig = Rig::with(&[("tectum.toml", "[servers.pj]\nenabled = false\n")]);
    put(user_file(&rig), "[servers.pj]\ncommand = \"x\"\n");
    let before = user_text(&rig);
    let hint = ok(&rig, &["get", "pj", "--json"]).json()["why"]["hint"].clone();
    assert_eq!(hint, "switch it on with `tectum enable pj --project`");
    run(&rig, &["enable", "pj"]).fails(
        5,
        "error: `pj` is switched off in tectum.toml:2, which takes precedence\n\
         hint: `tectum enable pj --project` changes it there\n",
    );
    assert_eq!(user_text(&rig), before);
    ok(&rig, &["enable", "pj", "--project"]);
    assert_eq!(state(&rig, "pj"), "enabled");
    assert_eq!(ok(&rig, &["enable", "pj"]).out, "ok: `pj` is already on; nothing was changed\n");
    assert_eq!(ok(&rig, &["enable", "pj", "--json"]).json()["changed"], false);
    ok(&rig, &["disable", "pj"]);
    run(&rig, &["enable", "pj", "--project"]).fails(
        5,
        "error: `pj` is switched off in ~/config/tectum/tectum.toml:3, which takes precedence\n\
         hint: `tectum enable pj` changes it there\n",
    );
}

#[test]
fn a_server_of_the_project_is_switched_for_this_project_alone() {
    let rig = Rig::with(&[
        (".mcp.json", r#"{"mcpServers":{"web":{"command":"x"},"off":{"command":"x","disabled":true}}}"#),
        ("other/.mcp.json", r#"{"mcpServers":{"web":{"command":"x"}}}"#),
        ("empty/a.txt", ""),
    ]);
    ok(&rig, &["trust", "--yes"]);
    ok(&rig, &["-C", "other", "trust", "--yes"]);
    assert_eq!(ok(&rig, &["disable", "web"]).out, "ok: switched `web` off for this project\n");
    assert_eq!(state(&rig, "web"), "disabled");
    assert!(!user_file(&rig).exists() && !rig.project().join("tectum.toml").exists());
    assert_eq!(ok(&rig, &["-C", "other", "get", "web", "--json"]).json()["state"], "enabled");
    assert_eq!(ok(&rig, &["-C", "empty", "list", "--json"]).json()["broken"], serde_json::json!([]));
    assert!(ok(&rig, &["get", "web"]).out.contains("it is switched off in your state for this project"));
    assert_eq!(ok(&rig, &["disable", "web"]).out, "ok: `web` is already off; nothing was changed\n");
    ok(&rig, &["enable", "web", "--dry-run"]);
    assert_eq!(state(&rig, "web"), "disabled");
    ok(&rig, &["enable", "web"]);
    ok(&rig, &["enable", "off"]);
    assert_eq!((state(&rig, "web"), state(&rig, "off")), ("enabled".into(), "enabled".into()));
    // A word of an earlier version in the user's own file is taken back where it stands.
    put(user_file(&rig), "[servers.web]\nenabled = false\n");
    assert_eq!(state(&rig, "web"), "disabled");
    assert_eq!(ok(&rig, &["-C", "empty", "list", "--json"]).json()["broken"], serde_json::json!([]));
    ok(&rig, &["enable", "web"]);
    assert_eq!((state(&rig, "web"), user_text(&rig)), ("enabled".into(), String::new()));
}

#[test]
fn whoever_gives_up_an_answer_gets_the_terminal_back() {
    use rustix::{
        process::{Pid, Signal, kill_process},
        termios::{LocalModes, tcgetattr},
    };
    let rig = Rig::new();
    let (_hand, theirs) = terminal();
    let shows = || tcgetattr(&theirs).expect("a terminal").local_modes.contains(LocalModes::ECHO);
    assert!(shows());
    let mut command = rig.tectum();
    command.args(["input", "key"]).stdin(theirs.try_clone().expect("another")).stderr(Stdio::piped());
    let child = command.spawn().expect("starts");
    crate::federated::until("silence", || !shows());
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process");
    kill_process(pid, Signal::INT).expect("sent");
    let said = Said::from(child.wait_with_output().expect("ends"));
    assert!(
        said.code == 6 && said.err.contains("no value for `key` was stored"),
        "{} {}",
        said.code,
        said.err
    );
    assert!(shows());
}
