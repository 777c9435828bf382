//! Secrets in a server's arguments, its standard error, its results and errors reach the client as
//! they are, and nobody else: no file we write, no listing, no observer.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::{
    cli_said::Said,
    federated::{Client, Era, command, until},
    rig::{Rig, fixture},
    watched::{ON, observer, until_copies},
};

/// Put together here, so that nobody takes this file for a leak.
fn canaries() -> Vec<String> {
    let letters = "q7Rw2Tz9Yx4Vb6Nm1Kj8Hg3Fd5Sa0LpCuEo7Rw2Tz9Yx4Vb6";
    let header = "eyJhbGciOiJIUzI1NiJ9";
    [("ghp_", 36), ("glpat-", 20), ("sk-", 40), ("xoxb-", 30), ("npm_", 36)]
        .iter()
        .map(|(prefix, length)| format!("{prefix}{}", &letters[..*length]))
        .chain([
            format!("AKIA{}", "QWERTYUIOPASDFGH"),
            format!("{header}.{}.{}", &letters[..30], &letters[..43]),
            format!("Cookie: session={}", &letters[..24]),
        ])
        .collect()
}

#[track_caller]
fn none_in(text: &str, place: &str) {
    for canary in canaries() {
        let secret = canary.rsplit('=').next().expect("a part");
        for part in secret.as_bytes().windows(10) {
            let part = std::str::from_utf8(part).expect("ASCII");
            assert!(!text.contains(part), "{part} of {canary} is in {place}: {text}");
        }
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(|entry| below(entry.path())).collect()
}

#[test]
fn secrets_reach_the_client_and_nobody_else() {
    let rig = Rig::with(&[("a.txt", "")]);
    let all = canaries().join("\n");
    let program = fixture().display().to_string();
    let says = "printf '%s\\n' \"$0\" >&2; printf '{\"log\":\"a\\\\n%s\"}\\n' \"$1\" >&2; shift; exec \"$@\"";
    let token = &canaries()[0];
    let key = format!("--api-key={token}");
    let one =
        command("one", "sh", &["-c", says, &key, token, &program, "--role", "echo", "--name", "one"], "");
    let dead = command("dead", "sh", &["-c", "printf '%s\\n' \"$0\" >&2; exit 3", &all], "");
    rig.configure(&format!("{ON}{one}{dead}{}", observer(&rig, "eye", &[])));

    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let mut calls = 0;
    for canary in canaries() {
        let lines = format!("a\n{canary}\nb");
        let document = json!({ "stdout": lines }).to_string();
        let inside = json!({ "content": [{ "text": document }] }).to_string();
        for text in [canary.clone(), lines, document, inside] {
            assert_eq!(
                client.say("one__echo", json!({ "text": text })),
                text,
                "the client gets what there is"
            );
            calls += 1;
        }
    }
    let refused = client.call("read_file", json!({ "path": format!("no/{token}") }));
    assert!(refused.to_string().contains(token), "{refused}");
    calls += 1;
    let copies = until_copies(&rig, "eye", 2 * calls);
    none_in(&json!(copies).to_string(), "copies");

    let state = rig.home().join("state");
    let logs = |name: &str| -> String {
        let of_server = |path: &PathBuf| path.ends_with(format!("{name}.log"));
        files(&state)
            .iter()
            .filter(|path| of_server(path))
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect()
    };
    for name in ["one", "dead"] {
        until(&format!("a log of {name}"), || logs(name).contains("[redacted]"));
    }
    for args in [
        &["list", "-v"][..],
        &["list", "--json"],
        &["get", "one"],
        &["get", "one", "--json"],
        &["get", "dead"],
        &["get", "dead", "--json"],
        &["config", "show"],
    ] {
        let said = Said::from(rig.run(args));
        none_in(&format!("{}{}", said.out, said.err), &args.join(" "));
    }
    drop(client);
    for file in files(&state) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap_or_default()).into_owned();
        none_in(&text, &file.display().to_string());
    }
}
