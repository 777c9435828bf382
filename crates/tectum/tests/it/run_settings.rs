//! `[run]`: the model, its address and every limit of a turn, from the settings to the real loop.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::echo,
    rig::Rig,
    run_model::{ModelServer, Reply, call},
};

/// Runs a task with these settings of the user and these words behind it.
fn run(rig: &Rig, server: &ModelServer, settings: &str, more: &[&str]) -> Said {
    let place = format!("[run]\nmodel = \"m\"\nbase_url = \"{}\"\n{settings}\n", server.url());
    rig.configure(&format!("{place}{}", echo("one", &[], "")));
    rig.run(&[&["run", "do it"], more].concat()).into()
}

/// The reason why a run of these replies ended.
fn reason(settings: &str, more: &[&str], mut replies: Vec<Reply>) -> Value {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    replies.push(Reply::Text("over"));
    let server = ModelServer::start(true, replies);
    let said = run(&rig, &server, settings, &[&["--json"], more].concat());
    assert!(said.json()["text"] == "over", "{settings}: {}{}", said.out, said.err);
    said.json()["reason"].clone()
}

fn read() -> Reply {
    call("read_file", json!({ "path": "a.txt" }))
}

#[test]
fn the_limits_of_a_turn_are_those_of_the_settings() {
    let miss = || call("read_file", json!({ "path": "none.txt" }));
    let add = || call("one__add", json!({ "a": 1, "b": 2 }));
    for (settings, replies, expect) in [
        ("max_rounds = 1", vec![read()], "rounds"),
        ("max_errors = 1", vec![miss()], "errors"),
        ("max_repeats = 1", vec![add(), add()], "repeats"),
    ] {
        assert_eq!(reason("", &[], replies.clone()), "answered", "{settings}");
        assert_eq!(reason(settings, &[], replies), expect, "{settings}");
    }
}

#[test]
fn the_flag_wins_over_the_variable_and_that_over_the_file() {
    assert_eq!(reason("max_rounds = 1", &["--max-rounds", "2"], vec![read()]), "answered");
    let mut rig = Rig::with(&[("a.txt", "x\n")]);
    rig.set("TECTUM_RUN_MAX_ROUNDS", "1");
    let server = ModelServer::start(true, vec![read(), Reply::Text("over")]);
    let said = run(&rig, &server, "max_rounds = 9", &[]);
    assert!(said.code == 5 && said.err.ends_with("(--max-rounds)\n"), "{}", said.err);
}

#[test]
fn an_answer_makes_as_many_calls_as_it_may() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    let two = Reply::Calls(vec![("read_file", json!({ "path": "a.txt" }).to_string()); 2]);
    let server = ModelServer::start(true, vec![two, Reply::Text("over")]);
    run(&rig, &server, "max_calls = 1", &["-q"]).gives("over\n");
    let asked = server.asked();
    assert_eq!(asked[1].messages()[3]["content"], "x\n");
    assert!(asked[1].last().contains("an answer may make 1 calls"), "{}", asked[1].last());
}

#[test]
fn as_many_calls_run_at_once_as_may() {
    let rig = Rig::new();
    // Each waits until all twelve are there; the usual eight would wait in vain.
    let meet = |i| ("one__meet", json!({ "count": 12, "as": i }).to_string());
    let server =
        ModelServer::start(true, vec![Reply::Calls((0..12).map(meet).collect()), Reply::Text("over")]);
    run(&rig, &server, "max_calls = 12\nconcurrency = 12", &["-q"]).gives("over\n");
    let asked = server.asked();
    let results = &asked[1].messages()[3..];
    assert!(results.len() == 12 && results.iter().all(|one| one["content"] == "Met."), "{results:?}");
}

#[test]
fn one_tool_round_after_round_is_a_warning_when_it_is_told_to_be() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    let server = ModelServer::start(true, vec![read(), read(), Reply::Text("over")]);
    run(&rig, &server, "same_tool = 2", &["-q"]).gives("over\n");
    let asked = server.asked();
    assert_eq!(asked[1].last(), "x\n");
    assert!(asked[2].last().contains("read_file alone was called in 2 rounds"), "{}", asked[2].last());
}

#[test]
fn model_tiers_and_window_come_from_the_settings_and_flags_win() {
    let tiers = "default = \"plan\"\n[tiers.plan]\nprompt = \"You plan.\"\n";
    let rig = Rig::with(&[("mine/tiers.toml", tiers), ("other.toml", &tiers.replace("plan.", "look."))]);
    let server = ModelServer::start(true, vec![Reply::Text("one"), Reply::Text("two")]);
    let settings = "tiers = \"mine/tiers.toml\"\ncontext = 1000";
    run(&rig, &server, settings, &[]).gives("one\n");
    run(&rig, &server, settings, &["--model", "other", "--tiers", "other.toml"]).gives("two\n");
    let asked = server.asked();
    let who = |i: usize| (asked[i].body["model"].clone(), asked[i].messages()[0]["content"].clone());
    assert_eq!(who(0), (json!("m"), json!("You plan.")));
    assert_eq!(who(1), (json!("other"), json!("You look.")));
    // The tools alone take more than such a window has.
    assert!(asked[0].last().contains("of the context is used"), "{}", asked[0].last());
}

#[test]
fn what_nobody_said_is_asked_for() {
    let rig = Rig::new();
    let said: Said = rig.run(&["run", "x"]).into();
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_eq!(
        said.err,
        "error: no model given\n\
         hint: give --model NAME, or set model in [run] of ~/.config/tectum/tectum.toml\n"
    );
    let said: Said = rig.run(&["run", "x", "--model", "m"]).into();
    assert!(said.code == 2 && said.err.contains("give --base-url URL, or set base_url"), "{}", said.err);
}

#[test]
fn wrong_settings_are_told_before_anybody_is_asked() {
    let server = ModelServer::start(true, vec![]);
    for (settings, expect) in [
        ("max_rounds = 0", "`run.max_rounds` must be a whole number from 1 to 10000, got the number 0"),
        ("max_calls = 1001", "`run.max_calls` must be a whole number from 1 to 1000"),
        ("concurrency = \"all\"", "`run.concurrency` must be a whole number from 1 to 256"),
        ("max_errors = -1", "`run.max_errors` must be a whole number from 1 to 1000"),
        ("max_repeats = 0.5", "`run.max_repeats` must be a whole number from 1 to 1000"),
        ("same_tool = 1", "`run.same_tool` must be a whole number from 2 to 10000"),
        ("context = 10", "`run.context` must be a whole number from 1000 to 100000000"),
        ("tiers = \"\"", "`run.tiers` must be the path of a file"),
        ("rounds = 3", "unknown key in [run]: `rounds`"),
        ("api_key = \"secret\"", "unknown key in [run]: `api_key`"),
    ] {
        let said = run(&Rig::new(), &server, settings, &[]);
        assert!(said.code == 2 && said.err.contains(expect), "{settings}: {} {}", said.code, said.err);
    }
    let said = run(&Rig::new(), &server, "", &["--max-rounds", "10001"]);
    assert!(said.code == 2 && said.err.starts_with("error: flag --max-rounds: "), "{}", said.err);
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn settings_hold_no_password() {
    let rig = Rig::new();
    for (address, words) in [
        ("https://me:hunter2@host/v1", ["do not keep secrets in settings", "--api-key-env"]),
        ("https://host/v1?api_key=hunter2", ["do not keep secrets in settings", "--api-key-env"]),
        ("hunter2", ["`run.base_url` is not a URL", "http://127.0.0.1:8080/v1"]),
    ] {
        rig.configure(&format!("[run]\nbase_url = \"{address}\"\n"));
        for command in ["show", "check"] {
            let said: Said = rig.run(&["config", command]).into();
            assert!(said.code == 2 && words.iter().all(|word| said.err.contains(word)), "{}", said.err);
            assert!(!said.err.contains("hunter2") && !said.out.contains("hunter2"), "{}", said.err);
        }
    }
}

#[test]
fn a_project_chooses_neither_model_nor_limits() {
    let server = ModelServer::start(true, vec![]);
    let place = format!("base_url = \"{}\"", server.url());
    for line in ["model = \"m\"", &place, "tiers = \"t.toml\"", "max_rounds = 9000", "context = 200000"] {
        let rig = Rig::with(&[("tectum.toml", &format!("[run]\n{line}\n"))]);
        let said: Said = rig.run(&["run", "x", "--model", "m", "--base-url", &server.url()]).into();
        assert!(
            said.code == 2 && said.err.contains("a repository must not choose the model"),
            "{}",
            said.err
        );
    }
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn what_holds_is_shown_with_its_origin() {
    let mut rig = Rig::new();
    rig.configure("[run]\nmodel = \"m\"\nmax_calls = 4\n");
    rig.set("TECTUM_RUN_SAME_TOOL", "7");
    let shown = Said::from(rig.run(&["config", "show", "--json"])).json();
    let shown = &shown["run"];
    let origin = |line: u8| format!("~/config/tectum/tectum.toml:{line}");
    assert_eq!(shown["model"], json!({ "value": "m", "origin": origin(2) }));
    assert_eq!(shown["max_calls"], json!({ "value": 4, "origin": origin(3) }));
    assert_eq!(shown["same_tool"], json!({ "value": 7, "origin": "env TECTUM_RUN_SAME_TOOL" }));
    assert_eq!(shown["max_rounds"], json!({ "value": 15, "origin": "default" }));
    assert_eq!(shown["base_url"], json!({ "value": null, "origin": "default" }));
}
