//! Drives the floor through the whole harness, with slices too short to mean anything.
#![allow(clippy::disallowed_methods, reason = "a test of a developer program starts that program")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn bench(args: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_tectum-bench")).args(args).output().expect("the harness starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a report is text")
}

/// The directory of one test, since tests run at the same time.
fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&place);
    place
}

fn run(name: &str, case: &str, more: &[&str]) -> (String, serde_json::Value) {
    let (data, out) = (place(name).join("data"), place(name).join("out"));
    let (data, out) = (data.to_str().expect("plain path"), out.to_str().expect("plain path"));
    let usual = ["run", "--server", "floor", "--rounds", "2", "--slice-ms", "5", "--case", case];
    let printed = bench(&[&usual[..], &["--data", data, "--out", out], more].concat());
    let suffix = if more.contains(&"--one-cpu") { ".one-cpu" } else { "" };
    let kept =
        std::fs::read_to_string(Path::new(out).join(format!("{case}{suffix}.json"))).expect("a record");
    assert_eq!(bench(&["report", out]), printed);
    (printed, serde_json::from_str(&kept).expect("a record is JSON"))
}

#[test]
fn reads_are_measured_one_at_a_time_and_in_flight() {
    let (printed, record) = run("read", "read-4k", &[]);
    assert!(printed.contains("| floor "), "{printed}");
    let figures = &record["servers"][0]["figures"];
    for figure in ["p50_us", "p99_us", "calls_per_s_1", "calls_per_s_64"] {
        let rounds = figures[figure].as_array().expect(figure);
        assert!(
            rounds.len() == 2 && rounds.iter().all(|value| value.as_f64() > Some(0.0)),
            "{figure}: {rounds:?}"
        );
    }
}

#[test]
fn one_cpu_is_kept_apart() {
    let (printed, record) = run("one-cpu", "list-100", &["--one-cpu"]);
    assert!(printed.starts_with("### list-100, one CPU"), "{printed}");
    assert_eq!(record["view"], "one-cpu");
}

#[test]
fn starts_are_measured() {
    let (_, record) = run("start", "start", &[]);
    let figures = &record["servers"][0]["figures"];
    assert!(figures["init_ms"][1].as_f64() <= figures["list_ms"][1].as_f64());
}

#[test]
fn memory_is_measured() {
    let (_, record) = run("memory", "memory", &[]);
    let idle = record["servers"][0]["figures"]["idle_mb"][0].as_f64().expect("a figure");
    assert!((0.5..50.0).contains(&idle), "{idle} MB");
}

#[test]
fn a_server_that_cannot_start_does_not_end_the_run() {
    let (printed, record) = run("broken", "read-4k", &["--server", "tectum", "--tectum", "/bin/true"]);
    assert!(printed.contains("| floor "), "{printed}");
    assert!(printed.contains("- tectum: absent: tectum "), "{printed}");
    assert_eq!(record["servers"][1]["figures"], serde_json::json!({}));
}

fn gateway(name: &str, case: &str, figures: &[&str]) {
    let (data, out) = (place(name).join("data"), place(name).join("out"));
    let (data, out) = (data.to_str().expect("plain path"), out.to_str().expect("plain path"));
    let floors = ["--server", "direct", "--server", "floor-gateway"];
    let short = ["--rounds", "2", "--slice-ms", "5", "--all-cpus", "--case", case];
    bench(&[&["gateway"], &floors[..], &short, &["--data", data, "--out", out]].concat());
    let kept = std::fs::read_to_string(Path::new(out).join(format!("{case}.json"))).expect("a record");
    let record: serde_json::Value = serde_json::from_str(&kept).expect("a record is JSON");
    let servers = record["servers"].as_array().expect("servers");
    assert!(!servers.is_empty());
    for server in servers {
        for figure in figures {
            let rounds = server["figures"][figure].as_array().map(Vec::len);
            assert_eq!(rounds, Some(2), "{figure} of {server}");
        }
    }
}

#[test]
fn calls_pass_through_the_floor_gateway() {
    let figures = ["p50_us", "calls_per_s_64", "sessions_per_s_64", "cpu_us_1"];
    gateway("gateway", "gateway", &figures);
}

#[test]
fn sessions_are_opened_by_the_hundred() {
    gateway("gateway-memory", "gateway-memory", &["idle_mb", "session_kb"]);
}

#[test]
fn lists_grow_with_the_servers() {
    gateway("gateway-many", "gateway-many", &["tools_list_us", "p50_us", "idle_mb"]);
    gateway("gateway-start", "gateway-start", &["cold_init_ms", "cold_list_ms", "init_ms", "list_ms"]);
}
