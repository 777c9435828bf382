//! `tectum attention train`: the adapter learns to give back what it encoded; weights are kept by version.

use std::{
    io::{IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::json;
use tectum::{Fault, FaultKind};
use tectum_attention::{Adapter, Settings, theory::encoder};
use tectum_state::Lasts;

use super::{
    super::{failure::Failure, options::Shared, screen::Screen},
    chart::Chart,
    data, plot,
};

/// Dimensions of an organ's content.
const LATENT: usize = 64;
/// Samples of one run; more say little more and take long.
const SAMPLES: usize = 4_000;

/// Train the adapter on recorded readings, or go back to earlier weights
#[derive(Debug, Args)]
#[command(after_help = "\
The first half of the readings is trained on, the second half says what that gains. Weights are used
with `[attention.dynamics] adapter = true`; without any, the fixed projection serves.")]
pub(super) struct Train {
    /// Recorded readings, lines of {"t", "uri", "state"}
    #[arg(long, value_name = "FILE", required_unless_present = "rollback")]
    readings: Option<PathBuf>,
    /// How often all readings are gone through
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    epochs: u16,
    /// The size of a step
    #[arg(long, default_value_t = 0.02)]
    rate: f64,
    /// A picture of the loss: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Go back to the weights before the last
    #[arg(long, conflicts_with = "readings")]
    rollback: bool,
    /// Where weights are kept, instead of the state folder
    #[arg(long, value_name = "FOLDER")]
    weights: Option<PathBuf>,
}

impl Train {
    pub(super) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let folder = match &self.weights {
            Some(folder) => folder.clone(),
            None => {
                let state = shared.load(Vec::new(), screen)?.state.clone();
                let missing =
                    || Fault::new(FaultKind::NotFound, "there is no state folder to keep weights in");
                state.ok_or_else(|| missing().hint("name one with --weights FOLDER"))?.join("attention")
            }
        };
        match &self.readings {
            Some(path) => self.train(path, &folder, screen),
            None => roll_back(&folder, screen),
        }
    }

    fn train(&self, path: &Path, folder: &Path, screen: &Screen) -> Result<(), Failure> {
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            return Err(Fault::new(FaultKind::InvalidInput, "--rate needs a number above 0, up to 1").into());
        }
        let lines = data::lines(path)?.ok_or_else(|| data::wrong(path, "there is no such file"))?;
        let readings = data::readings(path, &lines)?;
        let states = readings.iter().filter_map(|version| version.state.as_ref());
        let mut contents: Vec<Vec<f64>> = states
            .map(|state| encoder::encode(state, LATENT).into_iter().map(|x| f64::from(x.tanh())).collect())
            .collect();
        let every = contents.len().div_ceil(SAMPLES).max(1);
        contents = contents.into_iter().step_by(every).collect();
        if contents.len() < 4 {
            return Err(data::wrong(path, "four readings are the least to train on"));
        }
        let settings = Settings::default();
        let mut adapter = Adapter::new(LATENT, settings.workspace_dim, settings.seed);
        let (learnt, held_out) = contents.split_at(contents.len() / 2);
        let mean = |adapter: &Adapter| {
            held_out.iter().map(|content| adapter.cycle_loss(content)).sum::<f64>() / held_out.len() as f64
        };
        let before = mean(&adapter);
        let mut losses = Vec::new();
        for epoch in 0..self.epochs {
            let sum: f64 = learnt.iter().map(|content| adapter.train(content, self.rate)).sum();
            losses.push((f64::from(epoch), sum / learnt.len() as f64));
            progress(epoch + 1, self.epochs, losses.last().map_or(0.0, |last| last.1), screen);
        }
        let after = mean(&adapter);
        if !after.is_finite() || !adapter.is_sound() {
            let fault =
                Fault::new(FaultKind::InvalidInput, "the training ran away and its weights were not kept");
            return Err(fault.hint("try a smaller --rate").into());
        }
        let version = versions(folder)?.last().map_or(1, |last| last + 1);
        let text = serde_json::to_string(&adapter).map_err(std::io::Error::other)?;
        tectum_state::make_folder(&file(folder, version))?;
        tectum_state::replace(&file(folder, version), text.as_bytes(), Lasts::PowerCut)?;
        if let Some(out) = &self.plot {
            plot::write(&of_losses(&losses), out)?;
        }
        if screen.json {
            return screen.print_json(&json!({
                "version": version, "held_out_before": before, "held_out_after": after,
                "losses": losses.iter().map(|(_, loss)| loss).collect::<Vec<_>>(),
            }));
        }
        let gain = if after < before {
            format!("{:.1} % less", 100.0 * (1.0 - after / before))
        } else {
            "no gain".to_owned()
        };
        screen.print(&format!(
            "Version {version} of the weights. Loss on the held-out half: {before:.5} before, {after:.5} after ({gain}).\n\
             Which news win does not change: ignition does not depend on the adapter.\n"
        ))
    }
}

fn progress(done: u16, all: u16, loss: f64, screen: &Screen) {
    let mut out = std::io::stderr();
    if screen.quiet || screen.json || !out.is_terminal() {
        return;
    }
    let bar: String = (0..30).map(|at| if at * all < done * 30 { '█' } else { '░' }).collect();
    // Nobody is left to tell that standard error is closed.
    let _ = write!(out, "\r{bar} {done}/{all} loss {loss:.5}{}", if done == all { "\n" } else { "" });
}

fn of_losses(losses: &[(f64, f64)]) -> Chart {
    let most = losses.iter().map(|(_, loss)| *loss).fold(1e-12, f64::max);
    let scaled = losses.iter().map(|(epoch, loss)| (*epoch, loss / most)).collect();
    Chart {
        title: format!("loss, {most:.5} at most"),
        span: (0.0, losses.len().saturating_sub(1).max(1) as f64),
        axis: ("first".to_owned(), "last".to_owned()),
        totals: [("loss".to_owned(), scaled)].into(),
        ..Chart::default()
    }
}

fn file(folder: &Path, version: u64) -> PathBuf {
    folder.join(format!("weights-{version:06}.json"))
}

/// The versions that are there, oldest first.
fn versions(folder: &Path) -> Result<Vec<u64>, Failure> {
    let entries = tectum_state::list(folder)?;
    let number = |name: &str| name.strip_prefix("weights-")?.strip_suffix(".json")?.parse::<u64>().ok();
    let mut versions: Vec<u64> =
        entries.iter().filter_map(|entry| number(entry.path.file_name()?.to_str()?)).collect();
    versions.sort_unstable();
    Ok(versions)
}

fn roll_back(folder: &Path, screen: &Screen) -> Result<(), Failure> {
    let versions = versions(folder)?;
    let Some(last) = versions.last() else {
        let fault = Fault::new(FaultKind::NotFound, format!("{} holds no weights", folder.display()));
        return Err(fault.hint("`tectum attention train --readings FILE` makes the first").into());
    };
    // Kept under another name: going back loses nothing.
    tectum_state::set_aside(&file(folder, *last), "rolled-back")?;
    screen.print(&match versions.iter().rev().nth(1) {
        Some(version) => {
            format!("Version {version} of the weights is in effect; version {last} was set aside.\n")
        }
        None => {
            format!("No weights are in effect, so the fixed projection is; version {last} was set aside.\n")
        }
    })
}
