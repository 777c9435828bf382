//! Clients and suites written by others: the official conformance suite, the Python SDK in
//! each era, and Inspector's strict check. `cargo xtask test` installs them; without them
//! these tests fail, they are never skipped.

use std::{path::Path, process::Stdio};

use serde_json::Value;

use crate::rig::Rig;

fn tool(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with `cargo xtask test`"))
}

/// The scenarios of the frozen sets that a server with tools of its own can be asked. The
/// others want the suite's own fixture tools, prompts and resources.
const LEGACY: &[&str] = &[
    "server-initialize",
    "ping",
    "logging-set-level",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
];
const MODERN: &[&str] = &[
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "caching",
    "sep-2164-resource-not-found",
];

#[test]
fn heavy_the_conformance_suite_2025_11_25() {
    for scenario in LEGACY {
        conform(scenario, "2025-11-25", &[]);
    }
}

#[test]
fn heavy_the_conformance_suite_2026_07_28() {
    for scenario in MODERN {
        conform(scenario, "2026-07-28", &[]);
    }
    // This one also probes for fixture tools; those checks alone may fail here.
    conform(
        "server-stateless",
        "2026-07-28",
        &[
            "undeclared-capability",
            "missing-capability",
            "prompts-list-changed",
            "tools-list-changed",
            "tags-subscription-id",
            "no-log-without-loglevel",
            "no-independent-requests",
        ],
    );
}

fn conform(scenario: &str, version: &str, needs_fixture: &[&str]) {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    // The suite cannot send a token.
    let http = rig.http_with(&["--no-auth"], None);
    let results = rig.outside().join("results");
    let run = rig
        .command(tool("TECTUM_TOOLBOX_NODE"))
        .arg(tool("TECTUM_TOOLBOX_CONFORMANCE"))
        .args(["server", "--url", &http.url(), "--scenario", scenario, "--spec-version", version, "-o"])
        .arg(&results)
        .output()
        .expect("the suite runs");
    let checks = checks(&results);
    assert!(
        !checks.is_empty(),
        "{scenario}: no checks\n{}{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
    let excused = |id: &str| needs_fixture.iter().any(|part| id.contains(part));
    let failed: Vec<&Value> = checks
        .iter()
        .filter(|check| check["status"] == "FAILURE" && !excused(check["id"].as_str().unwrap_or_default()))
        .collect();
    assert!(failed.is_empty(), "{scenario} ({version}): {failed:#?}");
    assert!(checks.iter().any(|check| check["status"] == "SUCCESS"), "{scenario}: nothing was checked");
}

fn checks(folder: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() == "checks.json" {
                let text = std::fs::read_to_string(entry.path()).expect("readable");
                found.extend(serde_json::from_str::<Vec<Value>>(&text).expect("JSON"));
            }
        }
    }
    found
}

const PYTHON: &str = r#"
import asyncio, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main(mode, command):
    server = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        names = [tool.name for tool in tools.tools]
        assert "read_file" in names, names
        result = await client.call_tool("read_file", {"path": "a.txt"})
        assert not result.is_error, result
        assert result.content[0].text == "hello\n", result
        assert result.structured_content["content"] == "hello\n", result
        edited = await client.call_tool("edit_file", {"path": "a.txt", "old_string": "hello", "new_string": "bye"})
        assert not edited.is_error, edited
        refused = await client.call_tool("read_file", {"path": "../outside"})
        assert refused.is_error and refused.content[0].text.startswith("ERROR: "), refused
        print("version", client.protocol_version)

asyncio.run(main(sys.argv[1], sys.argv[2:]))
"#;

#[test]
fn heavy_a_session_with_the_python_sdk_in_each_era() {
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let rig = Rig::with(&[("a.txt", "hello\n")]);
        let run = rig
            .command(tool("TECTUM_TOOLBOX_PYTHON"))
            .args(["-c", PYTHON, mode, env!("CARGO_BIN_EXE_tectum"), "serve"])
            .arg("-C")
            .arg(rig.project())
            .output()
            .expect("Python runs");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{mode}: {said}{}", String::from_utf8_lossy(&run.stderr));
        assert!(said.contains(&format!("version {version}")), "{mode}: {said}");
        assert_eq!(rig.read("a.txt"), "bye\n");
    }
}

#[test]
fn heavy_inspector_finds_nothing_to_object_to() {
    for era in ["legacy", "auto", "modern"] {
        let rig = Rig::with(&[("a.txt", "hello\n")]);
        let run = rig
            .command(tool("TECTUM_TOOLBOX_NODE"))
            .arg(tool("TECTUM_TOOLBOX_INSPECTOR"))
            .args([
                "--cli",
                env!("CARGO_BIN_EXE_tectum"),
                "serve",
                "--protocol-era",
                era,
                "--method",
                "tools/list",
                "--strict",
            ])
            .args(["--format", "json", "-q"])
            .stdin(Stdio::null())
            .output()
            .expect("Inspector runs");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{era}: {said}{}", String::from_utf8_lossy(&run.stderr));
        assert!(said.contains("read_file"), "{era}: {said}");
    }
}
