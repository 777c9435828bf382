//! `tectum attention`: the news of a running house, why they are news, and how clients are told.

mod bench;
mod chart;
mod data;
mod demo;
mod hook;
mod house;
mod install;
mod plot;
mod raster;
mod table;
mod train;
mod watch;
mod why;

use clap::{Args, Subcommand};

use super::{failure::Failure, options::Shared, screen::Screen};

/// Show the news of a running Tectum, and what it watches.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a subcommand it shows every organ with its salience over time, and the last news with who was
told. Of several running Tectums the one that serves this directory is asked.

Examples:
  tectum attention
  tectum attention why n17
  tectum attention install claude")]
pub(crate) struct Attention {
    #[command(subcommand)]
    command: Option<AttentionCommand>,
}

#[derive(Debug, Subcommand)]
enum AttentionCommand {
    /// Show every number that made something news, and who was told
    Why(why::Why),
    /// Print urgent news as they come, a line each, for a monitor of a client
    Watch(watch::Watch),
    /// Have a client ask for news with hooks of its own
    Install(install::InstallNews),
    /// Remove exactly what was written
    Remove(install::RemoveNews),
    /// Measure attention on labelled streams
    Bench(bench::Bench),
    /// Let a simulated day of many resources go by, and show what was told
    Demo(demo::Demo),
    /// Draw who had what to say over time, and who was told
    Plot(plot::Plot),
    /// Train the adapter on recorded readings, or go back to earlier weights
    Train(train::Train),
    /// Answer a client's hook with news
    #[command(hide = true)]
    Hook(hook::NewsHook),
}

impl Attention {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        match self.command {
            None => table::run(shared, screen),
            Some(AttentionCommand::Why(why)) => why.run(shared, screen),
            Some(AttentionCommand::Watch(watch)) => watch.run(shared, screen),
            Some(AttentionCommand::Install(install)) => install.run(shared, screen),
            Some(AttentionCommand::Remove(remove)) => remove.run(shared, screen),
            Some(AttentionCommand::Bench(bench)) => bench.run(screen),
            Some(AttentionCommand::Demo(demo)) => demo.run(screen),
            Some(AttentionCommand::Plot(plot)) => plot.run(shared, screen),
            Some(AttentionCommand::Train(train)) => train.run(shared, screen),
            Some(AttentionCommand::Hook(hook)) => hook.run(shared, screen),
        }
    }
}
