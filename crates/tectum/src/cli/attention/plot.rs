//! `tectum attention plot`: who had what to say over time, and who was told, as SVG or PNG.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use tectum::{Fault, FaultKind};
use tectum_attention::{
    Settings,
    measure::trace::{self, Polling},
};
use tectum_state::Lasts;

use super::{
    super::{failure::Failure, options::Shared, screen::Screen},
    chart::Chart,
    data, house, raster,
};

/// Draw who had what to say over time, and who was told
#[derive(Debug, Args)]
pub(super) struct Plot {
    /// The picture to write; its ending decides the form: .svg or .png
    out: PathBuf,
    /// Draw recorded readings, lines of {"t", "uri", "state"}, instead of a running Tectum
    #[arg(long, value_name = "FILE")]
    readings: Option<PathBuf>,
    /// Seconds between two readings of a resource in recorded ones
    #[arg(long, default_value_t = 60.0)]
    period: f64,
}

impl Plot {
    pub(super) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        check_name(&self.out)?;
        let chart = match &self.readings {
            Some(path) => recorded(path, self.period)?,
            None => of_house(&house::get(shared, "/api/attention")?),
        };
        write(&chart, &self.out)?;
        screen.print(&format!(
            "{}: {} organs, {} told",
            self.out.display(),
            chart.totals.len(),
            chart.told.len()
        ))
    }
}

/// Writes the picture as a whole, in the form that its name says.
pub(super) fn write(chart: &Chart, out: &Path) -> Result<(), Failure> {
    check_name(out)?;
    let (width, height, shapes) = chart.shapes();
    let bytes =
        if ends_with(out, "png") { raster::png(width, height, &shapes)? } else { chart.svg().into_bytes() };
    Ok(tectum_state::replace(out, &bytes, Lasts::PowerCut)?)
}

fn ends_with(out: &Path, ending: &str) -> bool {
    out.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn check_name(out: &Path) -> Result<(), Failure> {
    if ends_with(out, "svg") || ends_with(out, "png") {
        return Ok(());
    }
    let fault =
        Fault::new(FaultKind::InvalidInput, format!("{} ends neither in .svg nor in .png", out.display()));
    Err(fault.hint("name the picture so, for example attention.svg").into())
}

fn recorded(path: &Path, period: f64) -> Result<Chart, Failure> {
    if !period.is_finite() || period < 1.0 {
        return Err(Fault::new(FaultKind::InvalidInput, "--period needs one second or more").into());
    }
    let lines = data::lines(path)?.ok_or_else(|| data::wrong(path, "there is no such file"))?;
    let versions = data::readings(path, &lines)?;
    let Some((first, last)) = versions.first().zip(versions.last()) else {
        return Err(data::wrong(path, "it holds no readings"));
    };
    if (last.at - first.at) / period > 10_000_000.0 {
        return Err(data::wrong(path, "the readings span too long a time for this --period"));
    }
    let polling = Polling { period, volatile: false, failing: 0 };
    let replayed = trace::replay(&versions, polling, &Settings::default(), |_| false);
    Ok(of_trace(replayed, path.display().to_string(), period))
}

pub(super) fn of_trace(replayed: trace::Replayed, title: String, period: f64) -> Chart {
    let hours = (replayed.span.1 - replayed.span.0) / 3_600.0;
    Chart {
        title,
        span: replayed.span,
        axis: ("0 h".to_owned(), format!("{hours:.0} h")),
        told: replayed.news.iter().map(|news| (news.at, news.organ.clone())).collect(),
        totals: replayed.totals,
        refractory: 6.0 * period,
    }
}

/// Of a running house only the order of the last ticks is known of each organ.
fn of_house(shown: &Value) -> Chart {
    let mut chart = Chart { title: "the last ticks".to_owned(), refractory: 6.0, ..Chart::default() };
    let mut longest = 0;
    for organ in shown["organs"].as_array().into_iter().flatten() {
        let Some(name) = organ["name"].as_str() else { continue };
        let series = organ["salience"].as_array().into_iter().flatten().filter_map(Value::as_f64);
        let series: Vec<(f64, f64)> = series.enumerate().map(|(at, total)| (at as f64, total)).collect();
        longest = longest.max(series.len());
        if organ["wins"].as_u64().unwrap_or(0) > 0 {
            chart.told.push((series.len().saturating_sub(1) as f64, name.to_owned()));
        }
        chart.totals.insert(name.to_owned(), series);
    }
    chart.span = (0.0, longest.saturating_sub(1).max(1) as f64);
    chart.axis = ("oldest".to_owned(), "now".to_owned());
    chart
}
