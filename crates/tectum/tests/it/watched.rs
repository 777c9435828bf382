//! Observers behind the binary: the copies they got, in the order they came, and what the binary
//! says about them.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Listening, command, until},
    rig::{Rig, fixture},
};

/// The settings that make the binary look for observers.
pub(crate) const ON: &str = "[observers]\ndiscover = true\n";

/// The file an observer of this name keeps its copies in.
pub(crate) fn log(rig: &Rig, name: &str) -> PathBuf {
    rig.outside().join(format!("{name}.copies"))
}

/// The arguments of our own server as an observer.
pub(crate) fn role(rig: &Rig, name: &str, args: &[&str]) -> Vec<String> {
    let log = log(rig, name).display().to_string();
    let own = ["--role", "observer", "--name", name, "--log", &log];
    own.iter().chain(args).map(|word| (*word).to_owned()).collect()
}

/// A table of the configuration for an observer that is started.
pub(crate) fn observer(rig: &Rig, name: &str, args: &[&str]) -> String {
    let args = role(rig, name, args);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    command(name, fixture(), &args, "")
}

/// One that listens already.
pub(crate) fn listening(rig: &Rig, name: &str, args: &[&str]) -> Listening {
    let args = role(rig, name, args);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Listening::fixture(&args)
}

/// Every copy an observer got so far, as it kept them.
pub(crate) fn copies(rig: &Rig, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(log(rig, name)).unwrap_or_default();
    // The last line may still be on its way.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).expect("a copy is JSON")).collect()
}

/// Waits until there are so many, and returns them; more than so many is a mistake.
#[track_caller]
pub(crate) fn until_copies(rig: &Rig, name: &str, count: usize) -> Vec<Value> {
    until(&format!("{count} copies for {name}"), || copies(rig, name).len() >= count);
    let all = copies(rig, name);
    assert_eq!(all.len(), count, "{name}: {all:#?}");
    all
}

/// The subject of a copy: the tool, and true if the call is over.
pub(crate) fn brief(copy: &Value) -> (String, bool) {
    let told = &copy["params"]["arguments"];
    (told["tool_name"].as_str().expect("a name").to_owned(), told.get("result").is_some())
}

/// The result of a call, as its last copy tells it.
#[track_caller]
pub(crate) fn after(copies: &[Value], tool: &str) -> Value {
    let copy = copies.iter().rev().find(|copy| brief(copy) == (tool.to_owned(), true));
    copy.unwrap_or_else(|| panic!("nothing after {tool}: {copies:#?}"))["params"]["arguments"]["result"]
        .clone()
}

/// The number of a copy.
pub(crate) fn sequence(copy: &Value) -> u64 {
    copy["params"]["_meta"]["tectum/sequence"].as_u64().expect("a number")
}

/// Checks what holds for the copies of calls that were made one after the other, and were all
/// copied: each before and after, in order, once, in one run.
#[track_caller]
pub(crate) fn check_pairs(copies: &[Value], tools: &[&str]) {
    let expected: Vec<(String, bool)> =
        tools.iter().flat_map(|tool| [false, true].map(|after| ((*tool).to_owned(), after))).collect();
    assert_eq!(copies.iter().map(brief).collect::<Vec<_>>(), expected);
    let numbers: Vec<u64> = copies.iter().map(sequence).collect();
    assert_eq!(numbers, (0..copies.len() as u64).collect::<Vec<_>>());
    let meta = |copy: &Value, key: &str| copy["params"]["_meta"][format!("tectum/{key}")].clone();
    for pair in copies.chunks(2) {
        assert_eq!(meta(&pair[0], "call"), meta(&pair[1], "call"), "one call has one id");
        assert!(meta(&pair[0], "call").as_str().is_some_and(|id| !id.is_empty()));
        assert_eq!([meta(&pair[0], "phase"), meta(&pair[1], "phase")], [json!("before"), json!("after")]);
        assert_eq!(pair[0]["params"]["arguments"]["args"], pair[1]["params"]["arguments"]["args"]);
    }
    let ids: std::collections::BTreeSet<String> =
        copies.iter().map(|copy| meta(copy, "call").to_string()).collect();
    assert_eq!(ids.len(), tools.len(), "two calls have two ids");
    assert!(copies.iter().all(|copy| meta(copy, "run") == meta(&copies[0], "run")));
}

/// `tectum observe list --json`.
pub(crate) fn status(rig: &Rig) -> Value {
    let said = Said::from(rig.run(&["observe", "list", "--json"]));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    said.json()
}

/// The state of one observer of a running binary.
pub(crate) fn status_of(rig: &Rig, name: &str) -> Value {
    status(rig)["observers"][name].clone()
}

/// Waits until an observer is as described, and returns how it is.
#[track_caller]
pub(crate) fn until_status(rig: &Rig, name: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let mut seen = Value::Null;
    until(&format!("{name}: {what}"), || {
        seen = status_of(rig, name);
        fits(&seen)
    });
    seen
}
