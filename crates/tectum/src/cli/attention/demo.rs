//! `tectum attention demo`: a simulated day of many resources, one table, one picture.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tectum_attention::{
    Settings, generate,
    measure::{
        outages::{self, Alert, Rule},
        trace::{self, Polling},
    },
};

use super::{
    super::{failure::Failure, screen::Screen},
    plot,
};

/// Between two readings of all resources.
const PERIOD: f64 = 60.0;
/// Before that nothing is judged, since nothing has a history.
const WARM_UP: f64 = 4.0 * 3_600.0;

/// Let a simulated day of many resources go by, and show what was told
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// How many resources
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=2_000))]
    resources: u16,
    /// How many hours
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=240))]
    hours: u16,
    /// Equal seeds give equal days
    #[arg(long, default_value_t = 19)]
    seed: u64,
    /// The picture to write: .svg or .png
    #[arg(long, default_value = "attention.svg")]
    out: PathBuf,
}

impl Demo {
    pub(super) fn run(self, screen: &Screen) -> Result<(), Failure> {
        let world = generate::world(self.seed, self.resources.into(), self.hours.into());
        let polling = Polling { period: PERIOD, volatile: false, failing: 0 };
        // The agent is in a call every other minute.
        let replayed = trace::replay(&world.versions, polling, &Settings::default(), |round| round % 2 == 1);
        let (from, to) = (generate::START + WARM_UP.min(f64::from(self.hours) * 900.0), replayed.span.1);
        let judge = |alerts: &[Alert]| outages::judge(alerts, &world.important, from, to);
        let told = replayed.news.iter();
        let told: Vec<Alert> =
            told.map(|news| Alert { at: news.at, uri: news.organ.clone(), tokens: news.tokens() }).collect();
        let verdicts = [
            ("notify on change", judge(&outages::rule(&world.versions, Rule::Change))),
            ("fixed threshold", judge(&outages::rule(&world.versions, Rule::Threshold(500.0)))),
            ("EWMA z", judge(&outages::rule(&world.versions, Rule::Ewma(3.0)))),
            ("tectum", judge(&told)),
        ];
        let title = format!("{} resources, {} h, {} told", self.resources, self.hours, replayed.news.len());
        if screen.json {
            let row = |(name, verdict): &(&str, outages::Verdict)| {
                json!({
                    "rule": name, "alerts_per_hour": verdict.alerts_per_hour, "false_per_hour": verdict.false_per_hour,
                    "told": verdict.recall.0, "important": verdict.recall.1, "tokens_per_hour": verdict.tokens_per_hour,
                })
            };
            let news: Vec<&str> = replayed.news.iter().map(|news| news.sentence.as_str()).collect();
            screen.print_json(
                &json!({ "rules": verdicts.iter().map(row).collect::<Vec<_>>(), "news": news }),
            )?;
            return plot::write(&plot::of_trace(replayed, title, PERIOD), &self.out);
        }
        let mut out =
            format!("{:<18}{:>10}{:>10}{:>12}{:>12}\n", "", "alerts/h", "false/h", "important", "tokens/h");
        for (name, verdict) in &verdicts {
            out.push_str(&format!(
                "{name:<18}{:>10.2}{:>10.2}{:>12}{:>12.0}\n",
                verdict.alerts_per_hour,
                verdict.false_per_hour,
                format!("{}/{}", verdict.recall.0, verdict.recall.1),
                verdict.tokens_per_hour,
            ));
        }
        out.push_str(&format!(
            "\n{} readings, {} of them with a change. Told:\n",
            replayed.readings, replayed.changes
        ));
        for news in &replayed.news {
            let minute = ((news.at - generate::START) / 60.0) as u64;
            out.push_str(&format!("  {:02}:{:02}  {}\n", minute / 60, minute % 60, news.sentence));
        }
        plot::write(&plot::of_trace(replayed, title, PERIOD), &self.out)?;
        out.push_str(&format!("\nPicture: {}\n", self.out.display()));
        screen.print(&out)
    }
}
