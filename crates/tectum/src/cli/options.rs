//! The options that every command takes, and what a command loads by them: settings, servers, tools.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::{ArgAction, Args, ValueEnum};
use tectum::{
    Config, Sources, Tectum,
    config::keys::{self, Key},
    servers::Household,
};

use super::{
    failure::Failure,
    log,
    screen::Screen,
    within::{self, ServedAbove},
};

/// Options every command takes, before or after its name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Shared {
    /// Run as if started in DIR and use its tectum.toml; parent directories are not searched
    #[arg(short = 'C', long = "dir", value_name = "DIR", global = true)]
    pub(super) dir: Option<PathBuf>,
    /// Use this file instead of the directory's tectum.toml
    #[arg(short, long, value_name = "FILE", global = true)]
    pub(super) config: Option<PathBuf>,
    /// Print JSON: results on standard output, errors as one line on standard error
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// When to use colour; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(super) color: When,
    /// Errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Log more to standard error: -v for info, -vv for debug, -vvv for trace
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
    #[arg(skip)]
    pub(super) above: ServedAbove,
}

/// The server that a command is about.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Its name
    #[arg(value_name = "NAME")]
    pub(super) name: String,
}

/// When to colour; auto means on a terminal, unless NO_COLOR is set.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

impl Shared {
    /// The screen of this process, as these options and the terminal say.
    pub(super) fn screen(&self) -> Screen {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let paints = |terminal: bool| match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !plain && !dumb,
        };
        Screen {
            json: self.json,
            quiet: self.quiet,
            terminal: io::stdout().is_terminal(),
            paints_results: !self.json && paints(io::stdout().is_terminal()),
            paints_errors: !self.json && paints(io::stderr().is_terminal()),
        }
    }

    /// The sources of settings, with the flags a command adds.
    pub(super) fn sources(&self, more: Vec<(&'static Key, String, String)>) -> Sources {
        let mut sources = Sources::of_process(self.dir.clone().unwrap_or_else(|| ".".into()));
        sources.file = self.config.clone();
        within::complete(&mut sources.environment, self.above.folders());
        let level = match (self.quiet, self.verbose) {
            (true, _) => Some(("error", "-q")),
            (false, 0) => None,
            (false, 1) => Some(("info", "-v")),
            (false, 2) => Some(("debug", "-vv")),
            (false, _) => Some(("trace", "-vvv")),
        };
        let level = level.map(|(level, flag)| (&keys::LEVEL, level.to_owned(), flag.to_owned()));
        sources.flags = level.into_iter().chain(more).collect();
        sources
    }

    /// Reads the settings and starts logging.
    pub(super) fn load(
        &self,
        more: Vec<(&'static Key, String, String)>,
        screen: &Screen,
    ) -> Result<Config, Failure> {
        let config = self.sources(more).load()?;
        log::start(config.log, screen);
        Ok(config)
    }

    /// The house with its servers, for a command that makes one call at most.
    pub(super) async fn household(&self, screen: &Screen) -> Result<Household, Failure> {
        let config = self.load(Vec::new(), screen)?;
        Ok(Household::for_one_call(&config, self.sources(Vec::new())).await?)
    }

    /// The settings and the house they describe, for a command that makes one call at most.
    pub(super) fn house(&self, screen: &Screen) -> Result<(Config, Tectum), Failure> {
        let config = self.load(Vec::new(), screen)?;
        let house = tectum::build_for_one_call(&config)?;
        Ok((config, house))
    }
}
