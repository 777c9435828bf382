//! The commands, one file each; this one owns their names and the options they share.

mod call;
mod completions;
mod config;
mod connect;
mod failure;
mod given;
mod log;
#[cfg_attr(not(test), expect(dead_code, reason = "run as soon as servers can be looked up by name"))]
mod login;
mod policy;
mod screen;
mod serve;
mod stop;
mod tools;
mod up;
mod version;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use tectum::{
    Config, Sources, Tectum,
    config::keys::{self, Key},
};

use self::{failure::Failure, screen::Screen};

/// One roof over an AI agent's tools.
#[derive(Debug, Parser)]
#[command(name = "tectum", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Without a tectum.toml the set-up is safe: this directory only, secrets closed, nothing remote.
`tectum config show` tells what holds, `tectum policy test` why.

Exit codes: 0 ok, 2 wrong usage or settings, 3 not permitted, 4 not found, 5 conflict or too large,
6 timeout or cancelled, 7 a peer failed, 70 our bug.")]
pub(crate) struct Cli {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    command: Command,
}

/// Options every command takes, before or after its name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Shared {
    /// Act as if started there; its tectum.toml is read, parents are not searched
    #[arg(short = 'C', long = "dir", value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    /// Use this file instead of the directory's tectum.toml
    #[arg(short, long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Print JSON: what came of a call on standard output, anything else that fails as one line on standard error
    #[arg(long, global = true)]
    json: bool,
    /// When to colour; auto is on a terminal without NO_COLOR
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    color: When,
    /// Errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Log more to standard error: -v what happens, -vv why, -vvv everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

/// When to colour; auto means on a terminal, unless NO_COLOR is set.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve over HTTP and show how to connect a client
    Up(up::Up),
    /// Serve over standard input and output, for clients that start the server themselves
    Serve,
    /// List the tools with effect, permission and token cost
    Tools,
    /// Call one tool
    Call(call::CallTool),
    /// See what the rules say about a call
    #[command(subcommand)]
    Policy(policy::Policy),
    /// See and check the settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print a completion script
    Completions(completions::Completions),
    /// Print the version
    Version,
}

/// Parses the words of a command line, runs the command and says how the process ends.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error, words.iter().any(|word| word == "--json")),
    };
    let screen = Screen::new(&cli.shared);
    let done = match cli.command {
        Command::Up(up) => up.run(&cli.shared, &screen),
        Command::Serve => serve::run(&cli.shared, &screen),
        Command::Tools => tools::run(&cli.shared, &screen),
        Command::Call(call) => call.run(&cli.shared, &screen),
        Command::Policy(policy) => policy.run(&cli.shared, &screen),
        Command::Config(config) => config.run(&cli.shared, &screen),
        Command::Completions(completions) => completions.run(&screen),
        Command::Version => version::run(&screen),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&screen),
    }
}

impl Shared {
    /// Where settings come from, with the flags a command adds.
    fn sources(&self, more: Vec<(&'static Key, String, String)>) -> Sources {
        let mut sources = Sources::of_process(self.dir.clone().unwrap_or_else(|| ".".into()));
        sources.file = self.config.clone();
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
    fn load(&self, more: Vec<(&'static Key, String, String)>, screen: &Screen) -> Result<Config, Failure> {
        let config = self.sources(more).load()?;
        log::start(config.log, screen);
        Ok(config)
    }

    /// The settings and the house they describe, for a command that makes one call at most.
    fn house(&self, screen: &Screen) -> Result<(Config, Tectum), Failure> {
        let config = self.load(Vec::new(), screen)?;
        let house = tectum::build_for_one_call(&config)?;
        Ok((config, house))
    }
}

/// Tells of rules that are for no tool there is. A mistake perhaps, so the work goes on.
fn tell_strange_rules(config: &Config, house: &Tectum, screen: &Screen) {
    let snapshot = house.registry().snapshot();
    let tools: Vec<&str> = snapshot.tools().map(|info| &*info.name).collect();
    for stranger in config.permissions.strangers(&tools) {
        let warning = screen.paint_error(screen::Colour::Yellow, "warning:");
        screen.tell(&format!("{warning} {stranger}"));
    }
}
