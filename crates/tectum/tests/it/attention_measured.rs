//! The commands of attention that need no running house: bench, demo, plot, train.

#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::fs;

use serde_json::Value;
use tectum_attention::generate;

use crate::{cli_said::Said, rig::Rig};

fn said(rig: &Rig, args: &[&str]) -> Said {
    rig.run(args).into()
}

/// A small folder of labelled streams in the layout of the public ones.
fn streams(rig: &Rig) -> std::path::PathBuf {
    let data = rig.home().join("streams");
    for folder in ["nab/data/made", "nab/labels", "upptime-week", "octokit"] {
        fs::create_dir_all(data.join(folder)).expect("a folder");
    }
    let time =
        |row: usize| format!("2024-01-{:02} {:02}:{:02}:00", 1 + row / 288, row / 12 % 24, row % 12 * 5);
    let mut windows = serde_json::Map::new();
    for (series, spike) in [("made/one.csv", 1_500), ("made/two.csv", 1_800)] {
        let value = |row: usize| {
            let wave = (row as f64 / 288.0 * std::f64::consts::TAU).sin();
            wave + (row * 7_919 % 101) as f64 / 500.0
                + if (spike..spike + 5).contains(&row) { 9.0 } else { 0.0 }
        };
        let rows: String = (0..2_500).map(|row| format!("{},{}\n", time(row), value(row))).collect();
        fs::write(data.join("nab/data").join(series), format!("timestamp,value\n{rows}")).expect("a series");
        let window = |row: usize| format!("{}.000000", time(row));
        windows.insert(series.to_owned(), serde_json::json!([[window(spike - 20), window(spike + 80)]]));
    }
    fs::write(data.join("nab/labels/combined_windows.json"), Value::Object(windows).to_string())
        .expect("labels");
    fs::write(data.join("nab/split.json"), r#"{"A": ["made/one.csv"], "B": ["made/two.csv"]}"#)
        .expect("halves");
    let world = generate::world(5, 20, 8.0);
    let version = |version: &tectum_attention::measure::outages::Version| {
        serde_json::json!({ "t": version.at, "uri": version.uri, "state": version.state }).to_string() + "\n"
    };
    fs::write(
        data.join("upptime-week/changes.ndjson"),
        world.versions.iter().map(version).collect::<String>(),
    )
    .expect("a week");
    let run = serde_json::json!({ "event": "check_run", "name": "completed", "payload": { "check_run": { "conclusion": "success", "id": 7 } } });
    fs::write(data.join("octokit/payloads.ndjson"), format!("{run}\n")).expect("payloads");
    data
}

#[test]
fn bench_prints_one_table_over_what_a_folder_holds() {
    let rig = Rig::new();
    let data = streams(&rig);
    let out = said(&rig, &["attention", "bench", "--json", "--data", data.to_str().expect("a path")]);
    let rows: Value = serde_json::from_str(&out.out).unwrap_or_else(|_| panic!("{}{}", out.out, out.err));
    let of = |what: &str| {
        let found =
            rows.as_array().into_iter().flatten().find(|row| row["what"] == what || row["measure"] == what);
        found.unwrap_or_else(|| panic!("no {what} in {rows}"))["results"].clone()
    };
    assert!(of("in sample")[3].as_f64() > Some(90.0), "{rows}");
    assert_eq!(of("webhooks, red told at once and alone")[3], "1/1");
    assert_eq!(of("webhooks, green told")[3], "0");
    let empty = said(&rig, &["attention", "bench", "--data", rig.home().to_str().expect("a path")]);
    assert!(empty.err.contains("no labelled streams") && empty.code == 4, "{}", empty.err);
    fs::write(data.join("upptime-week/changes.ndjson"), "{\"t\": 1, \"uri\": \"x\"}\n{oops\n")
        .expect("a bad line");
    let bad = said(&rig, &["attention", "bench", "--data", data.to_str().expect("a path")]);
    assert!(bad.err.contains("changes.ndjson: line 2"), "{}", bad.err);
}

#[test]
fn a_demo_day_ends_with_a_table_and_a_picture() {
    let rig = Rig::new();
    for (name, start) in [("day.svg", &b"<svg"[..]), ("day.png", &b"\x89PNG"[..])] {
        let out = rig.home().join(name);
        let args = [
            "attention",
            "demo",
            "--resources",
            "20",
            "--hours",
            "6",
            "--out",
            out.to_str().expect("a path"),
        ];
        let said = said(&rig, &args);
        assert!(
            said.out.contains("notify on change") && said.out.contains("Picture:"),
            "{}{}",
            said.out,
            said.err
        );
        assert!(fs::read(out).expect("a picture").starts_with(start));
    }
}

#[test]
fn training_keeps_versions_and_goes_back() {
    let rig = Rig::new();
    let data = streams(&rig);
    let (weights, plot) = (rig.home().join("weights"), rig.home().join("loss.svg"));
    let readings = data.join("upptime-week/changes.ndjson");
    let [weights, plot, readings] = [&weights, &plot, &readings].map(|path| path.to_str().expect("a path"));
    let train = || {
        said(
            &rig,
            &[
                "attention",
                "train",
                "--readings",
                readings,
                "--epochs",
                "1",
                "--weights",
                weights,
                "--plot",
                plot,
            ],
        )
    };
    assert!(train().out.contains("Version 1 "));
    assert!(train().out.contains("Version 2 "));
    assert!(fs::read_to_string(plot).expect("a plot").contains("polyline"));
    let back = || said(&rig, &["attention", "train", "--rollback", "--weights", weights]);
    assert!(back().out.contains("Version 1 of the weights is in effect"));
    assert!(back().out.contains("fixed projection"));
    assert!(back().err.contains("holds no weights"));
}

#[test]
fn a_plot_needs_a_name_that_says_its_form() {
    let rig = Rig::new();
    let data = streams(&rig);
    let readings = data.join("upptime-week/changes.ndjson");
    let readings = readings.to_str().expect("a path");
    let wrong = said(&rig, &["attention", "plot", "picture.gif", "--readings", readings]);
    assert!(wrong.err.contains("neither in .svg nor in .png"), "{}", wrong.err);
    let out = rig.home().join("week.png");
    let drawn = said(
        &rig,
        &["attention", "plot", out.to_str().expect("a path"), "--readings", readings, "--period", "300"],
    );
    assert!(drawn.out.contains("20 organs") || drawn.out.contains("organs,"), "{}", drawn.err);
    assert!(fs::read(out).expect("a picture").starts_with(b"\x89PNG"));
}
