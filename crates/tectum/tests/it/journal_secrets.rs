//! Canaries of every kind of secret, in arguments, environment, headers, addresses, results and standard
//! error: what is executed has them, and no file that Tectum writes does.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{
    federated::{Client, Era, address, command},
    journal::entries,
    rig::{Rig, fixture, text},
};

#[path = "../../../redact/tests/shapes/mod.rs"]
mod shapes;

use shapes::{Shape, shapes};

/// The characters of a secret that may remain.
const HARMLESS: usize = 9;

/// One text of each kind.
pub(crate) fn canaries() -> Vec<Shape> {
    let mut kinds = BTreeSet::new();
    shapes().into_iter().filter(|shape| kinds.insert(shape.kind)).collect()
}

pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(|entry| below(entry.path())).collect()
}

#[test]
fn no_kind_of_secret_is_in_any_file_that_is_written() {
    let mut rig = Rig::new();
    let canaries = canaries();
    assert!(canaries.len() >= 50, "{} kinds", canaries.len());
    let token = canaries.iter().find(|shape| shape.kind == "github").expect("there").text.clone();
    let program = fixture().display().to_string();
    let says = r#"printf '%s\n' "$API_TOKEN" "$0" >&2; exec "$@""#;
    let one = command(
        "one",
        "sh",
        &["-c", says, &token, &program, "--role", "echo", "--name", "one"],
        &format!("env = {{ API_TOKEN = \"{token}\" }}"),
    );
    let away = address(
        "away",
        &format!("http://me:{token}@127.0.0.1:9/mcp?access_token={token}"),
        &format!("headers = {{ Authorization = \"Bearer {token}\" }}"),
    );
    rig.set("DEPLOY_TOKEN", &token);
    rig.configure(&format!(
        "[permissions]\nallow = [\"run_shell\"]\n[journal]\nlayout = \"seed\"\n{one}{away}"
    ));

    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    for Shape { text: secret, .. } in &canaries {
        let echoed = client.call("one__echo", json!({ "text": secret }));
        assert_eq!(text(&echoed), secret, "what is executed is as it was");
        let missing = client.call("read_file", json!({ "path": secret }));
        assert_eq!(missing["isError"], true);
    }
    for some in canaries.chunks(10) {
        let all: Vec<&str> = some.iter().map(|shape| shape.text.as_str()).collect();
        let args = json!({ "command": "tee /dev/stderr", "stdin": all.join("\n") });
        let ran = client.call("run_shell", args);
        assert!(text(&ran).contains(&some[0].secrets[0]), "{ran}");
    }
    let ran = client.call("run_shell", json!({ "command": format!("echo {token}; env; exit 3") }));
    assert!(text(&ran).contains(&token), "{ran}");
    let unknown = json!({ "name": format!("x {token}"), "arguments": { "token": token } });
    let unknown = client.start("tools/call", unknown);
    assert!(client.wait(unknown).get("error").is_some());
    let calls = 2 * canaries.len() + canaries.len().div_ceil(10) + 2;
    assert_eq!(entries(&rig).len(), calls);
    drop(client);
    let http = rig.http();
    for headers in [http.headers(), vec![("Authorization".into(), format!("Bearer {token}"))]] {
        http.send("GET", &format!("/api/nothing?token={token}"), &headers, "");
    }
    drop(http);
    for args in [&["call", "away__x"][..], &["list"], &["call", "read_file", &format!("path={token}")]] {
        rig.run(args);
    }

    let places = [rig.home().join("state"), rig.project()];
    let written: Vec<PathBuf> = places.iter().flat_map(|place| files(place)).collect();
    let named = |end: &str| written.iter().any(|path| path.to_string_lossy().ends_with(end));
    for end in
        [".journal", "comms.log", "toolcalls.log", "clicalls.log", "apihooks.log", "_0001.sh", "one.log"]
    {
        assert!(named(end), "{end} is among {written:?}");
    }
    nothing_is_left(&canaries, &places);
}

/// Checks that no file in these places has a part of a secret.
pub(crate) fn nothing_is_left(canaries: &[Shape], places: &[PathBuf]) {
    let mut found = BTreeSet::new();
    for path in places.iter().flat_map(|place| files(place)) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        for Shape { kind, secrets, .. } in canaries {
            // The last line of a PuTTY file is a checksum, which opens nothing.
            for secret in secrets.iter().take(if *kind == "putty" { 1 } else { usize::MAX }) {
                // Its beginning tells whose it is, and no more.
                let body = &secret.as_bytes()[secret.len() / 3..];
                let mut parts = body.windows(HARMLESS + 1).filter_map(|part| std::str::from_utf8(part).ok());
                if let Some(part) = parts.find(|part| text.contains(*part)) {
                    let line = text.lines().find(|line| line.contains(part)).unwrap_or_default();
                    found.insert(format!("{part} of {kind} is in {}: {line}", path.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
