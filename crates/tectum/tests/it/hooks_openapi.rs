//! The description of the hook API is true: somebody else's program reads it and tries the real binary.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    hooks_approvals::{approver, approving},
    rig::{Http, Rig},
};

/// Requests of each route and kind of test.
const EXAMPLES: &str = "25";
/// The answers must be documented: their status, their kind, their form; strangers and wrong methods are refused.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_schema_conformance,negative_data_rejection,unsupported_method,allow_header_conformance,ignored_auth";

fn tool(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with `cargo xtask test`"))
}

/// Says yes to every question of a script, so that nobody waits for a person.
fn agree(house: &Http, credential: &str, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        let waiting = house.send("GET", "/api/approvals", &house.headers(), "").json();
        for question in waiting["approvals"].as_array().expect("a list") {
            let path = format!("/api/approvals/{}/answer", question["id"].as_str().expect("an id"));
            house.send("POST", &path, &approving(house, credential), r#"{"decision": "approve"}"#);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn heavy_schemathesis_finds_no_answer_that_is_not_described() {
    let rig = Rig::new();
    let (house, credential) = (rig.http(), approver(&rig));
    let (done, program) = (AtomicBool::new(false), tool("TECTUM_TOOLBOX_SCHEMATHESIS"));
    let run = thread::scope(|scope| {
        scope.spawn(|| agree(&house, &credential, &done));
        let run = rig
            .command(program)
            .args(["run", &format!("http://127.0.0.1:{}/api/openapi.json", house.port)])
            .args(["-H", &format!("Authorization: Bearer {}", house.token.as_deref().expect("a token"))])
            .args(["-H", &format!("Tectum-Approver: {credential}")])
            .args(["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES, "--checks", CHECKS])
            // A stream does not end.
            .args(["--exclude-path", "/api/events/stream", "--seed", "1"])
            .args(["--generation-database", "none", "--continue-on-failure", "--no-color"])
            .output();
        done.store(true, Ordering::Relaxed);
        run.expect("it runs")
    });
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn the_description_is_openapi_and_names_every_operation_once() {
    let rig = Rig::new();
    let house = rig.http();
    let described = house.send("GET", "/api/openapi.json", &house.headers(), "").json();
    assert_eq!(described["openapi"], "3.1.0");
    let paths = described["paths"].as_object().expect("paths");
    let operations: Vec<&Value> =
        paths.values().flat_map(|item| item.as_object().expect("methods").values()).collect();
    let mut names: Vec<&str> = operations.iter().filter_map(|one| one["operationId"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), operations.len());
    for operation in operations {
        assert!(operation["summary"].is_string(), "{operation}");
        assert!(
            ["401", "403"].iter().all(|status| operation["responses"].get(status).is_some()),
            "{operation}"
        );
    }
    let listed = house.send("GET", "/api", &house.headers(), "").json();
    let listed = listed["paths"].as_object().expect("paths").keys().collect::<Vec<_>>();
    assert_eq!(listed, paths.keys().collect::<Vec<_>>());
    assert_eq!(described["components"]["securitySchemes"]["approver"]["name"], json!("Tectum-Approver"));
}
