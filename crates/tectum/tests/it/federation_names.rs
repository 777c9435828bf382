//! The names of other servers' tools, the tools that are offered, and the rules about calling them.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Client, Era, command, echo, until, with},
    rig::text,
};

fn of_one(client: &mut Client) -> Vec<String> {
    client.tools().into_iter().filter(|name| name.starts_with("one__")).collect()
}

#[test]
fn long_and_illegal_names_are_the_same_in_every_run_and_told() {
    let long = "a_tool_whose_name_is_much_longer_than_any_model_takes_it_to_be";
    let configuration =
        echo("one", &["--also", long, "--also", "with.dots and ü", "--also", "with.dots and u"], "");
    let mut runs = Vec::new();
    for _ in 0..2 {
        let rig = with(&configuration);
        let mut client = Client::new(&rig, Era::Legacy);
        client.until_listed("one__echo");
        let names = of_one(&mut client);
        let legal = |name: &String| {
            name.len() <= 51 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        };
        assert!(names.iter().all(legal), "{names:?}");
        let renamed: Vec<String> = names
            .iter()
            .filter(|name| name.contains("with_dots") || name.contains("a_tool"))
            .cloned()
            .collect();
        assert_eq!(renamed.len(), 3, "{names:?}");
        for name in &renamed {
            assert!(client.say(name, json!({})).ends_with(" of one"));
        }
        // A running Tectum says so within a moment.
        let told = || Said::from(rig.run(&["list", "-v"])).out;
        until("what was renamed", || {
            renamed.iter().all(|name| told().contains(&format!("is offered as `{name}`")))
        });
        assert!(told().contains(&format!("`{long}`")) && told().contains("1 start"), "{}", told());
        runs.push(names);
    }
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn what_is_kept_about_servers_is_for_its_owner_alone() {
    let rig = with(&echo("one", &[], ""));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let mut left = vec![rig.home().join("state/tectum")];
    let mut files = Vec::new();
    let place = rig.home().join("state/tectum/projects");
    let project = std::fs::read_dir(place).expect("there").flatten().next().expect("one").path();
    until("how the servers are", || {
        std::fs::read_dir(project.join("servers/status")).is_ok_and(|mut files| files.next().is_some())
    });
    while let Some(folder) = left.pop() {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(folder).expect("readable").flatten() {
            if entry.path().is_dir() { left.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    assert!(files.len() >= 3, "catalogue, approvals and states, and a log if it said something: {files:?}");
    for file in files.iter().filter(|file| file.exists()) {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
}

fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().map_or(0o600, |held| held.permissions().mode() & 0o777)
}

#[test]
fn without_a_prefix_our_own_tools_keep_their_names() {
    let rig = with(&echo("one", &["--also", "read_file"], "prefix = false"));
    let mut client = Client::new(&rig, Era::Modern);
    client.until_listed("echo");
    assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "hello\n");
    assert_eq!(client.say("one__read_file", json!({})), "read_file of one");
    assert_eq!(client.say("echo", json!({"text": "there"})), "there");
    assert_eq!(client.tools().iter().filter(|name| *name == "read_file").count(), 1);
    let told = || Said::from(rig.run(&["list", "-v"])).out;
    until("what was renamed", || {
        told().contains("`read_file` is a tool of our own, so this one is `one__read_file`")
    });
}

#[test]
fn what_is_excluded_cannot_be_called_either() {
    let rig =
        with(&echo("one", &["--tools", "20"], "include = [\"e*\", \"add\"]\nexclude = [\"extra_001*\"]"));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let mut expect: Vec<String> = (0..10).map(|number| format!("one__extra_{number:04}")).collect();
    expect.extend(["one__add", "one__echo", "one__env"].map(str::to_owned));
    let mut names = of_one(&mut client);
    names.sort();
    expect.sort();
    assert_eq!(names, expect);
    for hidden in ["one__pid", "one__extra_0010"] {
        let id = client.begin(hidden, json!({}));
        assert_eq!(client.wait(id)["error"]["code"], -32602, "{hidden}");
    }
    // Nor is it counted, and how many there are is said.
    let usable = client.tools().iter().filter(|name| name.starts_with("one__")).count();
    let told = || Said::from(rig.run(&["list", "-v"])).out;
    until("the count", || told().contains(&format!(" {usable} tools, ")));
    assert!(told().contains("tools are left out by `include` and `exclude`"), "{}", told());
    let disabled = with(&format!("{}{}", echo("one", &[], "enabled = false"), echo("two", &[], "")));
    let mut client = Client::new(&disabled, Era::Legacy);
    client.until_listed("two__echo");
    assert_eq!(of_one(&mut client), [""; 0]);
}

#[test]
fn a_required_server_that_is_not_there_ends_the_start() {
    for verb in [&["serve"][..], &["up", "--listen", "127.0.0.1:0"]] {
        let rig = with(&command("one", "false", &[], "required = true\nstart_timeout = \"10s\""));
        let said = Said::from(rig.run(verb));
        assert_eq!(said.code, 7, "{verb:?}: {}", said.err);
        assert!(said.err.contains("a required server is missing: one could not be started"), "{}", said.err);
    }
    let rig = with(&echo("one", &[], "required = true"));
    let mut client = Client::new(&rig, Era::Legacy);
    // It was waited for, so the first list may only lack what it was not yet asked for.
    client.until_listed("one__echo");
}

#[test]
fn rules_hold_for_the_tools_of_servers() {
    let one = echo("one", &[], "");
    let refused = |configuration: &str, tool: &str, words: &str| {
        let rig = with(&format!("[approval]\nvia = \"client\"\n{configuration}"));
        let mut client = Client::able(&rig, Era::Modern, json!({}));
        client.until_listed("one__echo");
        let result = client.call(tool, json!({"text": "x"}));
        assert!(result["isError"] == true && text(&result).contains(words), "{configuration}: {result}");
        assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "hello\n");
    };
    refused(&format!("[permissions]\ndeny = [\"one__*\"]\n{one}"), "one__echo", "one__*");
    refused(&format!("[permissions]\nask = [\"one__echo\"]\n{one}"), "one__echo", "ask");
    refused(&echo("one", &[], "permission = \"ask\""), "one__echo", "nobody");
    refused(&echo("one", &[], "permission = \"deny\""), "one__echo", "one");
    // A rule that allows is stronger than the server's own default.
    let rig = with(&format!(
        "[approval]\nvia = \"client\"\n[permissions]\nallow = [\"one__echo\"]\n{}",
        echo("one", &[], "permission = \"ask\"")
    ));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
    assert_eq!(client.call("one__pid", json!({}))["isError"], true);
}

#[test]
fn one_call_from_the_command_line_meets_its_server() {
    let rig = with(&format!("{}{}", echo("one", &[], ""), command("dead", "false", &[], "")));
    let said = Said::from(rig.run(&["call", "one__echo", "text=hello there"]));
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.out, "hello there\n");
    let said = Said::from(rig.run(&["call", "one__fail", "text=it broke"]));
    assert_eq!((said.code, &*said.out), (7, "it broke\n"), "a tool that fails is told by the exit code");
    assert_eq!(Said::from(rig.run(&["call", "one__fail", "text=x", "--json"])).json()["ok"], false);
    let said = Said::from(rig.run(&["call", "one__add", "a=1", "b=2", "--json"])).json();
    assert_eq!((&said["ok"], &said["structured"]["content"][0]["text"]), (&json!(true), &json!("3")));
    let said = Said::from(rig.run(&["call", "one__none"]));
    assert_eq!(said.code, 4, "{}", said.err);
    // What was met once is listed with its cost, and nothing is started for that.
    let listed = Said::from(rig.run(&["tools", "--json"])).json();
    let tools = listed["tools"].as_array().expect("a list");
    let echo = tools.iter().find(|tool| tool["name"] == "one__echo").expect("listed");
    assert!(echo["tokens"].as_u64().is_some_and(|tokens| tokens > 10) && echo["world"] == "server", "{echo}");
    let each: u64 = tools.iter().filter_map(|tool| tool["tokens"].as_u64()).sum();
    assert_eq!(listed["tokens"], Value::from(each));
    assert!(Said::from(rig.run(&["tools"])).out.contains(&format!("about {each} tokens")));
}
