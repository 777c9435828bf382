//! The observer that comes as an example, behind the real binary: it learns from copies, and the
//! agent asks the same process what it learned.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, command, until},
    rig::Rig,
    watched::{ON, until_status},
};

fn predictor() -> PathBuf {
    let beside = Path::new(env!("CARGO_BIN_EXE_tectum")).parent().expect("a directory");
    let predictor = beside.join("examples/predictor");
    assert!(predictor.is_file(), "{} is not built: run all tests of the package", predictor.display());
    predictor
}

fn rig(args: &[&str]) -> Rig {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure(&format!("{ON}{}", command("predictor", predictor(), args, "")));
    rig
}

/// One round of what this agent always does.
fn round(client: &mut Client) {
    client.call("list_directory", json!({"path": "."}));
    client.call("read_file", json!({"path": "a.txt"}));
    client.call("search_content", json!({"path": ".", "pattern": "hello"}));
}

fn learned(client: &mut Client) -> Value {
    client.until_listed("predictor__bootstrap_session");
    client.call("predictor__bootstrap_session", json!({}))["structuredContent"].clone()
}

/// Waits until it has seen so many calls, and returns what it learned.
fn until_seen(client: &mut Client, calls: u64) -> Value {
    let mut seen = Value::Null;
    until(&format!("{calls} calls"), || {
        seen = learned(client);
        seen["calls"] == calls
    });
    seen
}

#[test]
fn an_agent_sees_what_was_learned_from_its_own_calls() {
    for era in Era::ALL {
        let rig = rig(&[]);
        let mut client = Client::new(&rig, era);
        assert_eq!(learned(&mut client)["calls"], 0);
        round(&mut client);
        let early = until_seen(&mut client, 3);
        for _ in 0..15 {
            round(&mut client);
        }
        let late = until_seen(&mut client, 48);
        assert!(late["surprise_bits"].as_f64() < early["surprise_bits"].as_f64(), "{early} {late}");
        client.call("read_file", json!({"path": "nowhere"}));
        client.call("list_directory", json!({"path": "."}));
        let surprised = late["surprise_bits"].as_f64();
        let late = until_seen(&mut client, 50);
        assert!(late["surprise_bits"].as_f64() > surprised, "what never was before is a surprise: {late}");
        assert_eq!(late["last_tool"], "list_directory");
        assert_eq!(late["likely_next"][0]["tool"], "read_file", "{late}");
        assert!(late["likely_next"][0]["probability"].as_f64() > Some(0.8), "{late}");
        assert_eq!(late["failures"], json!([{"tool": "read_file", "calls": 17, "failures": 1}]));
        assert_eq!(late["habits"][0]["seen"], 16, "{late}");
        let status =
            until_status(&rig, "predictor", "all taken", |status| status["sent"].as_u64() >= Some(100));
        assert_eq!((&status["refused"], &status["lost"]), (&json!(0), &json!(0)), "{status}");
    }
}

#[test]
fn what_was_learned_outlives_a_run() {
    let rig = rig(&[]);
    let state = rig.outside().join("learned.json").display().to_string();
    rig.configure(&format!("{ON}{}", command("predictor", predictor(), &["--state", &state], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    for _ in 0..4 {
        round(&mut client);
    }
    until_seen(&mut client, 12);
    client.pipe.close();
    until("the file", || Path::new(&state).is_file());
    let mut client = Client::new(&rig, Era::Legacy);
    assert_eq!(learned(&mut client)["calls"], 12, "it begins with what it knew");
    client.pipe.close();

    std::fs::write(&state, "{ broken").expect("written");
    let mut client = Client::new(&rig, Era::Legacy);
    assert_eq!(learned(&mut client)["calls"], 0, "what cannot be read is not believed");
    round(&mut client);
    until_seen(&mut client, 3);
}
