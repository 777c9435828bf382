//! The fifteen defects of the design that came before, each as a test that would find it again.

use super::common::{House, build, config, event};
use serde_json::json;
use tectum_attention::{Dynamics, Input, OrganConfig, Reading, Settings, Severity, Source, theory};

#[test]
fn defect_1_salience_decides_who_wins() {
    let mut house = House::generous();
    house.green(&["mcp:a:x", "mcp:b:y"], 50);
    let warning = json!({"conclusion": "action_required", "name": "tests"});
    let news = house.states(&[("mcp:a:x", warning), ("mcp:b:y", build("failure"))]);
    assert_eq!(news[0].organ, "mcp:b:y", "the more severe one, not the first registered");
    assert!(news[0].factors.total > news[0].factors.rivals[0].total);
}

#[test]
fn defect_2_nobody_wins_without_ignition() {
    let mut house = House::generous();
    house.green(&["mcp:a:x"], 300);
    assert!(house.states(&[("mcp:a:x", json!({"conclusion": "success", "name": "lint"}))]).is_empty());
    let state = house.workspace.modulation();
    assert_eq!((state.workspace_winner_id, state.workspace_broadcast), (None, None));
    assert_eq!((house.view("mcp:a:x").wins, state.energy_budget), (0, 1.0));
}

#[test]
fn defect_3_empty_places_do_not_compete() {
    let found = theory::competition::compete(&[-3.0, -1.0], &[1.0, 1.0], 1.0);
    assert_eq!(found.activation.len(), 2);
    assert!(found.activation[1] > found.activation[0]);
}

#[test]
fn defect_4_more_than_eight_organs_compete() {
    let mut house = House::generous();
    let names: Vec<String> = (0..20).map(|at| format!("mcp:s{at}:x")).collect();
    let organs: Vec<&str> = names.iter().map(String::as_str).collect();
    house.green(&organs, 50);
    let mut states: Vec<_> = organs
        .iter()
        .map(|organ| (*organ, json!({"conclusion": "action_required", "name": "tests"})))
        .collect();
    states[19].1 = json!({"conclusion": "critical", "name": "tests"});
    assert_eq!(house.states(&states)[0].organ, "mcp:s19:x", "the twentieth wins");
    let metrics = house.workspace.quantities().consciousness_metrics;
    assert_eq!(metrics["competitors"], 20);
}

#[test]
fn defect_5_confidence_is_the_winners_and_trust_weighs() {
    let mut house = House::generous();
    house.green(&["mcp:a:x", "mcp:b:y"], 50);
    let at = house.now + 1.0;
    let news = house.tick(vec![
        Input::State(Reading { trust: 0.6, ..Reading::new("mcp:a:x", at, build("failure")) }),
        Input::State(Reading::pushed("mcp:b:y", at, build("failure"))),
    ]);
    assert_eq!(news[0].organ, "mcp:b:y", "the trusted source wins a tie");
    let state = house.workspace.modulation();
    assert_eq!(state.workspace_winner_confidence, news[0].factors.ignition);
    assert_eq!(state.workspace_winner_source_trust, 1.0);
}

#[test]
fn defect_6_the_mean_of_phases_is_circular() {
    let (mean, _) = theory::phase::mean([6.2, 0.1].into_iter());
    assert!(!(0.2..6.1).contains(&mean), "not the arithmetic mean: {mean}");
}

#[test]
fn defect_7_age_counts_from_the_reading() {
    let mut house = House::generous();
    house.workspace.register(OrganConfig { poll_stale_after: 30.0, ..config("mcp:a:x") });
    house.states(&[("mcp:a:x", json!(1))]);
    house.now += 14.0;
    house.tick(Vec::new());
    assert!((house.view("mcp:a:x").freshness - 0.5).abs() < 1e-6);
}

#[test]
fn defect_8_everybody_hears_the_broadcast() {
    let dynamics = Dynamics { energy: true, ..Dynamics::default() };
    let mut house = House::new(Settings { dynamics, ..Settings::default() });
    let dear = OrganConfig { cost: 9.0, ..config("mcp:dear:x") };
    house.workspace.register(dear);
    house.green(&["mcp:a:x", "mcp:dear:x"], 50);
    house.states(&[
        ("mcp:a:x", build("failure")),
        ("mcp:dear:x", json!({"conclusion": "action_required", "name": "tests"})),
    ]);
    let standings = house.workspace.modulation().organ_standings;
    assert_eq!(standings["mcp:a:x"], standings["mcp:dear:x"]);
    assert!(standings["mcp:a:x"].iter().any(|x| *x != 0.0));
}

#[test]
fn defect_9_a_clock_that_goes_back_changes_nothing() {
    let mut house = House::generous();
    house.green(&["mcp:a:x"], 50);
    let then = house.now;
    house.now -= 100_000.0;
    house.tick(Vec::new());
    assert!(house.view("mcp:a:x").freshness > 0.99);
    house.now = f64::NAN;
    house.tick(Vec::new());
    house.now = then;
    assert!(!house.states(&[("mcp:a:x", build("failure"))]).is_empty());
}

#[test]
fn defect_10_change_is_relative_to_the_organs_history() {
    let mut house = House::generous();
    // Sixty fields that always change, and one that never did.
    let state = |tick: usize, conclusion: &str| {
        let mut state = build(conclusion);
        for field in 0..60 {
            state[format!("f{}", (b'a' + field % 26) as char).repeat(1 + usize::from(field / 26))] =
                json!(tick * 7919 + usize::from(field));
        }
        state["updated"] = json!(format!("2024-01-01T00:00:{:02}Z", tick % 60));
        state
    };
    for tick in 0..400 {
        assert!(house.states(&[("mcp:a:x", state(tick, "success"))]).is_empty(), "reading {tick}");
    }
    let news = house.states(&[("mcp:a:x", state(401, "failure"))]);
    assert_eq!(news[0].factors.signal.path, "conclusion");
}

#[test]
fn defect_11_antiphase_delays_and_urgency_passes() {
    let mut house = House::generous();
    house.green(&["mcp:a:x"], 50);
    house.in_call = true;
    assert!(
        house.states(&[("mcp:a:x", build("failure"))]).is_empty(),
        "ordinary news wait for the end of the call"
    );
    let at = house.now + 1.0;
    let urgent = house.tick(vec![Input::Event(event("internal:build", "cargo test", Severity::Failure, at))]);
    assert!(urgent[0].urgent);
    house.in_call = false;
    assert_eq!(house.states(&[("mcp:a:x", build("failure"))])[0].organ, "mcp:a:x");
}

#[test]
fn defect_12_an_event_outlives_its_reading() {
    let mut house = House::new(Settings { hourly: 1, ..Settings::default() });
    house.green(&["mcp:a:x", "mcp:b:y"], 50);
    let red = [("mcp:a:x", build("failure")), ("mcp:b:y", build("failure"))];
    let first = house.states(&red);
    for _ in 0..100 {
        assert!(house.states(&red).is_empty(), "the hour is used up");
    }
    house.now += 3_600.0;
    let second = house.states(&red);
    assert_ne!(first[0].organ, second[0].organ);
    assert!(second[0].factors.waited > 90);
}

#[test]
fn defect_13_two_organs_in_a_second_are_told_in_two_ticks() {
    let mut house = House::generous();
    house.green(&["mcp:a:x", "mcp:b:y"], 50);
    let red = [("mcp:a:x", build("failure")), ("mcp:b:y", build("failure"))];
    let told: Vec<String> = (0..2).flat_map(|_| house.states(&red)).map(|news| news.organ).collect();
    assert_eq!(told, ["mcp:a:x", "mcp:b:y"]);
}

#[test]
fn defect_14_a_subscribed_state_stays_fresh() {
    let mut house = House::generous();
    house.workspace.register(OrganConfig { source: Source::Subscribed, ..config("mcp:a:x") });
    house.states(&[("mcp:a:x", json!(1))]);
    house.now += 86_400.0;
    house.tick(Vec::new());
    assert_eq!(house.view("mcp:a:x").freshness, 1.0);
}

#[test]
fn defect_15_energy_does_not_run_out_by_waiting() {
    let dynamics = Dynamics { energy: true, ..Dynamics::default() };
    let mut house = House::new(Settings { dynamics, hourly: 100_000, ..Settings::default() });
    house.green(&["mcp:a:x", "mcp:b:y"], 100);
    assert_eq!(house.workspace.modulation().energy_budget, 1.0, "nobody won, nobody pays");
    house.states(&[("mcp:a:x", build("failure")), ("mcp:b:y", build("failure"))]);
    let news = house.states(&[("mcp:a:x", build("failure")), ("mcp:b:y", build("failure"))]);
    assert_eq!(news.len(), 1, "the second still competes");
    assert!(house.workspace.modulation().energy_budget > 0.9);
}
