//! The official conformance suite's frozen sets, through the binary: as the server of clients in
//! either era with a server in either era behind it, and as the client of the suite's mocks.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    federated::{Era, KEY, command},
    rig::{Http, Rig, fixture},
};

#[test]
fn heavy_a_legacy_client_with_a_legacy_server_behind() {
    as_server("2025-11-25", Era::Legacy, 30);
}

#[test]
fn heavy_a_legacy_client_with_a_modern_server_behind() {
    as_server("2025-11-25", Era::Modern, 30);
}

#[test]
fn heavy_a_modern_client_with_a_legacy_server_behind() {
    as_server("2026-07-28", Era::Legacy, 37);
}

#[test]
fn heavy_a_modern_client_with_a_modern_server_behind() {
    as_server("2026-07-28", Era::Modern, 37);
}

#[test]
fn heavy_as_a_client_of_2025_11_25() {
    as_client("2025-11-25", 18);
}

#[test]
fn heavy_as_a_client_of_2026_07_28() {
    as_client("2026-07-28", 32);
}

/// The scenarios of the tasks extension, which no revision requires. One of them is skipped by
/// the suite itself.
#[test]
fn heavy_tasks_with_a_modern_server_behind() {
    const SCENARIOS: [&str; 9] = [
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-required-task-error",
        "tasks-mrtr-composition",
    ];
    let (rig, http) = suited(Era::Modern);
    let results = rig.outside().join("results");
    let mut said = Vec::new();
    for scenario in SCENARIOS {
        let run = rig
            .command(tool("TECTUM_TOOLBOX_NODE"))
            .arg(suite())
            .args(["server", "--url", &http.url(), "--scenario", scenario, "-o"])
            .arg(&results)
            .args(["--spec-version", "2026-07-28", "--force"])
            .output()
            .expect("the suite runs");
        said.extend(run.stdout);
        said.extend(run.stderr);
    }
    let wanted: BTreeSet<String> = SCENARIOS.iter().map(|name| (*name).to_owned()).collect();
    judge(&results, "server", "2026-07-28", &wanted, &said);
}

/// The binary on HTTP, with the suite's server behind it under its own names.
fn suited(behind: Era) -> (Rig, Http) {
    let rig = Rig::new();
    let args = ["--role", "conformance", "--era", behind.word()];
    rig.configure(&format!(
        "[tools]\nnative = false\n\n{}",
        command("suite", fixture(), &args, "prefix = false")
    ));
    // The suite cannot send a token.
    let http = rig.http_with(&["--no-auth"], None);
    until_listed(&http, "test_simple_text");
    (rig, http)
}

fn as_server(revision: &str, behind: Era, count: usize) {
    let (rig, http) = suited(behind);
    let results = rig.outside().join("results");
    let run = rig
        .command(tool("TECTUM_TOOLBOX_NODE"))
        .arg(suite())
        .args(["server", "--url", &http.url(), "--requirements", revision, "-o"])
        .arg(&results)
        .output()
        .expect("the suite runs");
    judge(&results, "server", revision, &frozen("server", revision, count), &said(&run));
}

fn as_client(revision: &str, count: usize) {
    let rig = Rig::new();
    let results = rig.outside().join("results");
    let driver = format!("{} --role driver --gateway {}", fixture().display(), env!("CARGO_BIN_EXE_tectum"));
    let run = rig
        .command(tool("TECTUM_TOOLBOX_NODE"))
        .arg(suite())
        .args(["client", "--command", &driver, "--requirements", revision, "-o"])
        .arg(&results)
        // A login is followed through without a browser; the driver works in the rig's folder.
        .env("TECTUM_AUTHORIZE", "follow")
        .env("TMPDIR", rig.outside())
        .output()
        .expect("the suite runs");
    judge(&results, "client", revision, &frozen("client", revision, count), &said(&run));
}

/// Checks that give only a warning between these eras: a client that answers before it is asked must
/// know the question's key, and servers of the older era have none that stays the same.
const WARNED: &[(&str, &str)] = &[("2026-07-28", "input-required-result-ignore-extra-params")];

fn said(run: &std::process::Output) -> Vec<u8> {
    [&*run.stdout, &*run.stderr].concat()
}

/// The frozen set of a revision, which has so many scenarios.
#[track_caller]
fn frozen(side: &str, revision: &str, count: usize) -> BTreeSet<String> {
    let wanted = required(side, revision);
    assert_eq!(wanted.len(), count, "the frozen set is another one: {wanted:?}");
    wanted
}

/// Every scenario that is wanted ran, checked something, and found no fault.
#[track_caller]
fn judge(results: &Path, side: &str, revision: &str, wanted: &BTreeSet<String>, said: &[u8]) {
    let found = checks(results, side);
    let mut faults = Vec::new();
    for scenario in wanted {
        let Some(checks) = found.get(scenario) else {
            faults.push(format!("{scenario}: it did not run"));
            continue;
        };
        let failed = checks.iter().filter(|check| check["status"] == "FAILURE");
        faults.extend(failed.map(|check| format!("{scenario}: {}: {}", check["id"], check["errorMessage"])));
        // The check of the wire's schema holds for a server that answers nothing but errors.
        let passed = |check: &&Value| check["status"] == "SUCCESS" && check["id"] != "wire-schema-valid";
        let warned =
            WARNED.contains(&(revision, scenario)) && checks.iter().any(|check| check["status"] == "WARNING");
        if !warned && !checks.iter().any(|check| passed(&check)) {
            faults.push(format!("{scenario}: nothing was checked"));
        }
    }
    assert!(
        faults.is_empty(),
        "{side} {revision}: {} faults\n{}\n\n{}",
        faults.len(),
        faults.join("\n"),
        String::from_utf8_lossy(said)
    );
}

/// The scenarios a revision requires, from the suite's own list.
fn required(side: &str, revision: &str) -> BTreeSet<String> {
    let list = suite().ancestors().nth(2).expect("a package").join(format!("requirements/{revision}.yaml"));
    let text = std::fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    let section = text.lines().skip_while(|line| *line != format!("{side}:")).skip(1);
    let entries = section.take_while(|line| line.starts_with(' ') || line.is_empty());
    entries.filter_map(|line| line.strip_prefix("  - ")).map(|name| name.trim().to_owned()).collect()
}

/// The checks of each scenario. The suite names folders after scenario and time.
fn checks(results: &Path, side: &str) -> BTreeMap<String, Vec<Value>> {
    const TIME: usize = "-2026-01-01T00-00-00-000Z".len();
    let mut found = BTreeMap::new();
    let mut folders = vec![results.to_owned()];
    while let Some(folder) = folders.pop() {
        let file = folder.join("checks.json");
        if let Ok(text) = std::fs::read_to_string(&file) {
            let name = folder.strip_prefix(results).expect("beneath").to_str().expect("text");
            let name = &name[..name.len().saturating_sub(TIME)];
            let name = if side == "server" { name.strip_prefix("server-").unwrap_or(name) } else { name };
            found.insert(name.to_owned(), serde_json::from_str(&text).expect("JSON"));
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found
}

/// Servers start in their own time, and the suite does not wait for them.
fn until_listed(http: &Http, tool: &str) {
    let meta = json!({format!("{KEY}protocolVersion"): "2026-07-28", format!("{KEY}clientCapabilities"): {}});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let mut headers = http.headers();
    headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
    headers.push(("Mcp-Method".into(), "tools/list".into()));
    loop {
        let answer = http.send("POST", "/mcp", &headers, &list.to_string()).json();
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        if tools.iter().any(|entry| entry["name"] == tool) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn suite() -> PathBuf {
    tool("TECTUM_TOOLBOX_CONFORMANCE").into()
}

fn tool(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with `cargo xtask test`"))
}
