//! `tectum attention bench`: how good attention is on labelled streams, in one table.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use tectum::{Fault, FaultKind};
use tectum_attention::{
    News, Settings,
    measure::{
        hooks,
        nab::{Detector, PROFILES, Reached, Sweep},
        outages::{self, Alert, Polling, Rule, Verdict},
        pace,
    },
};

use super::{
    super::{failure::Failure, screen::Screen},
    data::{self, Nab, Week},
};

/// Between two readings of all resources of the week.
const PERIOD: f64 = 60.0;

/// Measure attention on labelled streams
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: notify on every change, a fixed threshold, an exponentially weighted z-score, and Tectum.
The folder may hold nab/, upptime-week/ and octokit/; docs/attention.md says what belongs in them.
Thresholds are tuned on one half of the series and reported on the other, both ways round.")]
pub(super) struct Bench {
    /// The folder of labelled streams
    #[arg(long)]
    data: PathBuf,
}

/// One line of the table.
struct Row {
    name: String,
    cells: [String; 4],
    data: Value,
}

impl Bench {
    pub(super) fn run(self, screen: &Screen) -> Result<(), Failure> {
        let mut rows = Vec::new();
        if let Some(nab) = data::nab(&self.data)? {
            rows.extend(series(&nab));
        }
        if let Some(week) = data::week(&self.data)? {
            rows.extend(outages_of(&week));
        }
        if let Some(payloads) = data::payloads(&self.data)? {
            rows.extend(flips(&payloads));
        }
        if rows.is_empty() {
            let fault =
                Fault::new(FaultKind::NotFound, format!("{} holds no labelled streams", self.data.display()));
            return Err(fault
                .hint("it should hold nab/, upptime-week/ or octokit/; see docs/attention.md")
                .into());
        }
        rows.push(speed());
        if screen.json {
            let all: Vec<Value> = rows.into_iter().map(|row| row.data).collect();
            return screen.print_json(&json!(all));
        }
        screen.print(&table(&rows))
    }
}

fn table(rows: &[Row]) -> String {
    let first = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let heads = ["change", "threshold", "EWMA z", "ours"];
    let mut widths = heads.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |name: &str, cells: [&str; 4]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("{name:<first$}{}\n", cells.collect::<String>())
    };
    let mut out = line("", heads);
    for row in rows {
        out.push_str(&line(&row.name, [&row.cells[0], &row.cells[1], &row.cells[2], &row.cells[3]]));
    }
    out
}

fn series((series, in_a): &Nab) -> Vec<Row> {
    let scores =
        Detector::ALL.map(|detector| series.iter().map(|one| detector.scores(&one.rows)).collect::<Vec<_>>());
    let mut rows = Vec::new();
    for profile in PROFILES {
        let reached =
            [0, 1, 2, 3].map(|at| Sweep::new(series, &scores[at], Detector::ALL[at], profile).reached(in_a));
        let row = |name: &str, value: fn(&Reached) -> f64| Row {
            name: format!("NAB {}, {name}", profile.name),
            cells: reached.each_ref().map(|reached| format!("{:.1}", value(reached))),
            data: json!({ "measure": "nab", "profile": profile.name, "what": name, "results": reached.each_ref().map(value) }),
        };
        rows.push(row("in sample", |reached| reached.in_sample));
        rows.push(row("tuned on A, B", |reached| reached.held_out[0]));
        rows.push(row("tuned on B, A", |reached| reached.held_out[1]));
        rows.push(row("held out, mean", |reached| (reached.held_out[0] + reached.held_out[1]) / 2.0));
    }
    rows
}

fn alerts(news: &[News]) -> Vec<Alert> {
    let alert = |news: &News| Alert { at: news.at, uri: news.organ.clone(), tokens: news.tokens() };
    news.iter().map(alert).collect()
}

fn outages_of(week: &Week) -> Vec<Row> {
    let replay = |volatile, failing| {
        outages::ours(&week.versions, Polling { period: PERIOD, volatile, failing }, &Settings::default())
    };
    let plain = replay(false, 0);
    let judge = |alerts: &[Alert]| outages::judge(alerts, &week.important, week.from, week.to);
    let rules = [Rule::Change, Rule::Threshold(500.0), Rule::Ewma(3.0)]
        .map(|rule| judge(&outages::rule(&week.versions, rule)));
    let [change, threshold, ewma] = rules;
    let verdicts = [change, threshold, ewma, judge(&alerts(&plain))];
    let row = |name: &str, cell: fn(&Verdict) -> String| Row {
        name: format!("week, {name}"),
        cells: verdicts.each_ref().map(cell),
        data: json!({ "measure": "week", "what": name, "results": verdicts.each_ref().map(cell) }),
    };
    let mut rows = vec![
        row("false alarms an hour", |verdict| format!("{:.3}", verdict.false_per_hour)),
        row("important ones told", |verdict| format!("{}/{}", verdict.recall.0, verdict.recall.1)),
        row("median delay, s", |verdict| {
            if verdict.delay.is_nan() { "-".to_owned() } else { format!("{:.0}", verdict.delay) }
        }),
        row("tokens an hour", |verdict| format!("{:.0}", verdict.tokens_per_hour)),
        row("tokens at most", |verdict| format!("{}", verdict.most_tokens)),
    ];
    let explained = plain.iter().filter(|news| news.sentence.contains(&news.factors.signal.path)).count();
    rows.push(ours("week, sentences that name their path", format!("{explained}/{}", plain.len())));
    let winners =
        |news: &[News]| news.iter().map(|news| (news.at.to_bits(), news.organ.clone())).collect::<Vec<_>>();
    for (name, other) in [
        ("times and ids in each reading", replay(true, 0)),
        ("the same, a tenth of polls failing", replay(true, 10)),
    ] {
        let same = winners(&plain).iter().filter(|winner| winners(&other).contains(winner)).count();
        rows.push(ours(
            &format!("week, same winners with {name}"),
            format!("{same}/{}", plain.len().max(other.len())),
        ));
    }
    rows
}

fn flips(payloads: &[(String, Value)]) -> Vec<Row> {
    let found = hooks::flips(payloads);
    vec![
        ours("webhooks, red told at once and alone", format!("{}/{}", found.alone, found.kinds)),
        ours("webhooks, green told", found.green.to_string()),
        ours("webhooks, tokens at most", found.most_tokens.to_string()),
    ]
}

/// 10,000 organs of 64 dimensions that all have something to say.
fn speed() -> Row {
    let clock = std::time::Instant::now();
    let mut lap = clock.elapsed();
    let mut times = Vec::new();
    pace::crowd(10_000, 20, || {
        let now = clock.elapsed();
        times.push((now - lap).as_secs_f64() * 1_000.0);
        lap = now;
    });
    times.sort_by(f64::total_cmp);
    ours(
        "a tick of 10,000 organs, ms (median)",
        format!("{:.1}", times.get(times.len() / 2).copied().unwrap_or_default()),
    )
}

fn ours(name: &str, cell: String) -> Row {
    let data = json!({ "measure": name, "results": [null, null, null, cell] });
    Row { name: name.to_owned(), cells: ["".to_owned(), "".to_owned(), "".to_owned(), cell], data }
}
