//! The fourteen tests of the seed, under their names.

use super::common::{House, build, config, event};
use serde_json::json;
use tectum_attention::{
    Change, Dynamics, Input, OrganConfig, Reading, Settings, Severity, Source,
    theory::{encoder, phase},
};

fn raw() -> House {
    House::new(Settings { change: Change::Raw, ..Settings::default() })
}

#[test]
fn test_mcp_organ_propose_no_state() {
    let mut house = House::generous();
    house.workspace.register(config("mcp:a:x"));
    house.tick(Vec::new());
    assert_eq!(house.view("mcp:a:x").salience, 0.0);
}

#[test]
fn test_mcp_organ_propose_with_change() {
    let mut house = raw();
    house.states(&[("mcp:a:x", json!([0, 0, 0, 0]))]);
    let mut config = config("mcp:a:y");
    config.latent_dim = 1;
    house.workspace.register(config);
    house.states(&[("mcp:a:y", json!(0))]);
    let news = house.states(&[("mcp:a:y", json!(1e9))]);
    assert!(news[0].factors.salience > 0.5, "{}", news[0].factors.salience);
    assert!((news[0].factors.change - 1.0).abs() < 1e-6);
}

#[test]
fn test_mcp_organ_staleness_decay() {
    let mut house = House::generous();
    let mut config = config("mcp:a:x");
    config.poll_stale_after = 5.0;
    house.workspace.register(config);
    house.states(&[("mcp:a:x", json!(1))]);
    let fresh = house.view("mcp:a:x");
    assert_eq!((fresh.freshness, fresh.salience), (1.0, 0.3 * 0.2));
    house.now += 1.5;
    house.tick(Vec::new());
    assert!((house.view("mcp:a:x").freshness - 0.5).abs() < 1e-6);
    house.now += 10.0;
    house.tick(Vec::new());
    assert_eq!(house.view("mcp:a:x").salience, 0.0, "exactly nothing");
}

#[test]
fn test_mcp_organ_observe_encode() {
    let encoded = encoder::encode(&json!({"a": 1, "b": [true, null, "x"], "c": -1e300}), 32);
    assert_eq!(encoded.len(), 32);
    let latent: Vec<f32> = encoded.iter().map(|x| x.tanh()).collect();
    assert!(latent.iter().all(|x| x.abs() <= 1.0) && latent.iter().any(|x| *x != 0.0));
}

#[test]
fn test_mcp_organ_accept_standing() {
    let mut house = House::generous();
    house.green(&["mcp:a:x", "mcp:b:y"], 50);
    house.states(&[("mcp:a:x", build("failure"))]);
    let state = house.workspace.modulation();
    let broadcast = encoder::encode(&build("failure"), 64);
    for organ in ["mcp:a:x", "mcp:b:y"] {
        for (standing, x) in state.organ_standings[organ].iter().zip(&broadcast) {
            assert!((standing - 0.1 * x.tanh()).abs() < 1e-6, "winner and losers alike");
        }
    }
}

#[test]
fn test_mcp_organ_phase_coupling() {
    let dynamics = Dynamics { oscillators: true, ..Dynamics::default() };
    let mut house = House::new(Settings { dynamics, ..Settings::default() });
    let mut config = config("mcp:a:x");
    config.frequency = 0.1;
    house.workspace.register(config);
    house.tick(Vec::new());
    house.tick(Vec::new());
    let phase = house.workspace.quantities().oscillators_state["organs_phase"].as_f64().expect("a phase");
    let mut expect = phase::step(0.0, 0.1, 0.0, Some(0.0), 0.1);
    expect = phase::step(expect, 0.1, 1.0, Some(0.0), 0.1);
    assert!((phase - expect).abs() < 0.01 && phase > 0.0 && phase < std::f64::consts::TAU);
}

#[test]
fn test_mcp_organ_registers_in_cycle() {
    let mut house = House::generous();
    house.workspace.register(config("mcp:a:x"));
    house.states(&[("mcp:a:x", json!(1))]);
    house.workspace.register(OrganConfig { cost: 0.3, ..config("mcp:a:x") });
    assert_eq!(house.view("mcp:a:x").readings, 1, "a new configuration keeps what is remembered");
    assert_eq!(house.workspace.organs().len(), 1);
}

#[test]
fn test_mcp_organ_competes_in_workspace() {
    let mut house = House::generous();
    house.green(&["mcp:a:x"], 50);
    let now = house.now + 1.0;
    let news = house.tick(vec![
        Input::State(Reading::new("mcp:a:x", now, build("failure"))),
        Input::Event(event("internal:files", "src/a.rs", Severity::Notice, now)),
    ]);
    assert_eq!(news[0].organ, "mcp:a:x");
    assert_eq!(news[0].factors.rivals[0].organ, "internal:files");
}

#[test]
fn test_mcp_organ_wins_high_salience() {
    let mut house = House::generous();
    house.green(&["mcp:a:x"], 50);
    let now = house.now + 1.0;
    let quiet = OrganConfig { base_salience: 0.1, ..OrganConfig::internal("internal:hpc") };
    house.workspace.register(quiet);
    house.tick(vec![
        Input::State(Reading::pushed("mcp:a:x", now, build("failure"))),
        Input::Event(event("internal:hpc", "x", Severity::None, now)),
    ]);
    assert_eq!(house.workspace.modulation().workspace_winner_id.as_deref(), Some("mcp:a:x"));
}

#[test]
fn test_mcp_organ_diversity_boost() {
    let mut house = House::generous();
    house.green(&["mcp:a:x", "mcp:b:y"], 50);
    let first = house.states(&[("mcp:a:x", build("failure"))]);
    assert!((first[0].factors.boost - 0.1).abs() < 1e-9, "without history the pressure");
    let second = house.states(&[("mcp:b:y", build("failure"))]);
    assert!((second[0].factors.boost - 0.1).abs() < 1e-9, "who never won is helped most");
    assert!(second[0].factors.rivals.iter().all(|rival| rival.organ != "mcp:a:x"));
}

#[test]
fn test_resource_encoding() {
    let state = json!({"n": 99, "deep": {"list": [1, "two", null]}, "flag": true});
    let reordered = json!({"flag": true, "deep": {"list": ["two", null, 1]}, "n": 99});
    assert_eq!(encoder::encode(&state, 64), encoder::encode(&reordered, 64));
    let other = json!({"n": 98, "deep": {"list": [1, "two", null]}, "flag": true});
    assert_ne!(encoder::encode(&state, 64), encoder::encode(&other, 64));
}

#[test]
fn test_poll_loop_updates_cache() {
    let mut house = House::generous();
    house.states(&[("mcp:a:x", build("success"))]);
    house.states(&[("mcp:a:x", build("failure"))]);
    let view = house.view("mcp:a:x");
    assert_eq!((view.readings, view.changes, view.read_at), (2, 1, Some(house.now)));
    assert_eq!(view.last_signal.and_then(|signal| signal.new).as_deref(), Some("\"failure\""));
}

#[test]
fn test_poll_failure_graceful() {
    let mut house = House::generous();
    let subscribed = OrganConfig { source: Source::Subscribed, ..config("mcp:a:x") };
    house.workspace.register(subscribed);
    house.green(&["mcp:a:x"], 50);
    let at = house.now + 1.0;
    assert!(house.tick(vec![Input::Unreadable { organ: "mcp:a:x".to_owned(), at }]).is_empty());
    let view = house.view("mcp:a:x");
    assert_eq!((view.readings, view.read_at), (50, Some(at - 1.0)), "the old state stays");
    assert!(view.freshness < 1.0, "and grows stale");
    assert!(!house.states(&[("mcp:a:x", build("failure"))]).is_empty());
}

#[test]
fn test_full_pipeline() {
    let mut house = House::generous();
    house.green(&["mcp:ci:main", "mcp:mail:inbox"], 200);
    let news = house.states(&[("mcp:ci:main", build("failure")), ("mcp:mail:inbox", build("success"))]);
    let state = house.workspace.modulation();
    assert_eq!(state.workspace_winner_id.as_deref(), Some("mcp:ci:main"));
    assert_eq!(state.workspace_broadcast.map(|broadcast| broadcast.len()), Some(256));
    assert!(state.workspace_winner_confidence > 0.5);
    assert_eq!(
        news[0].sentence,
        "ci/main: conclusion \"success\" → \"failure\", first time in 200 readings (3 min). \
         Details: tectum://attention/focus"
    );
}
