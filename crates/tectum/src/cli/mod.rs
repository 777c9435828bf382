//! The commands, one file each; this one owns their names and the options they share.

mod approve;
mod as_client;
mod call;
mod completions;
mod config;
mod connect;
mod consent;
mod failure;
mod given;
mod guard;
mod held;
mod log;
mod login;
mod names;
mod observe;
mod policy;
mod progress;
mod reload;
mod run;
mod screen;
mod serve;
mod servers;
mod snippets;
mod stop;
mod tools;
mod up;
mod version;
mod within;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use tectum::{
    Config, Sources, Tectum,
    config::{
        keys::{self, Key},
        servers::Live,
    },
    peers::spec::ServerSpec,
    servers::Household,
};

use self::{failure::Failure, screen::Screen};

/// One roof over an AI agent's tools.
#[derive(Debug, Parser)]
#[command(name = "tectum", version, max_term_width = 100)]
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
    /// Show how to connect a client
    Connect(connect::Connect),
    /// Serve over standard input and output, for clients that start the server themselves
    Serve(serve::Serve),
    /// List the tools with effect, permission and token cost
    Tools(tools::Tools),
    /// Call one tool
    Call(call::CallTool),
    /// Let a model work on a task with these tools
    Run(run::Run),
    /// See what the rules say about a call
    #[command(subcommand)]
    Policy(policy::Policy),
    /// See and check the settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Make running Tectums of this folder go by the settings as they are now
    Reload,
    /// Add another MCP server
    Add(servers::Add),
    /// Remove a server from tectum.toml
    Remove(servers::Remove),
    /// Switch a server on
    Enable(servers::Enable),
    /// Switch a server off, wherever it is named
    Disable(servers::Disable),
    /// List the servers with where they are named and how they are
    List,
    /// Show one server
    Get(servers::Get),
    /// Use the servers of another program
    Import(servers::Import),
    /// Restart a server in a running Tectum
    Restart(servers::Restart),
    /// See and agree to what a project's servers would start and its rules allow
    Trust(servers::TrustCommand),
    /// Keep an answer to what a file asks for as ${input:ID}
    Input(servers::Input),
    /// Log in at a remote server
    Login(login::Login),
    /// Forget the login at a remote server
    Logout(login::Logout),
    /// See how servers changed their tools, and approve it
    ApproveTools(approve::ApproveTools),
    /// See who gets a copy of every call, try it, mute it
    #[command(subcommand)]
    Observe(observe::Observe),
    /// Print a completion script
    Completions(completions::Completions),
    /// Print the version
    Version,
    /// Name the servers that a command line could go on with; for completion scripts
    #[command(hide = true)]
    Names(names::Names),
    /// Stand between Tectum and a server it started; not for people
    #[command(hide = true)]
    Guard(guard::Guard),
}

/// Parses the words of a command line, runs the command and says how the process ends.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) if let Some((cli, call)) = help_of_tool(&error, &words) => {
            let screen = Screen::new(&cli);
            return match call.help(&cli, &screen) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => failure.report(&screen),
            };
        }
        Err(error) => return failure::usage(error, &words),
    };
    let screen = Screen::new(&cli.shared);
    let done = match cli.command {
        Command::Up(up) => up.run(&cli.shared, &screen),
        Command::Connect(connect) => connect.run(&cli.shared, &screen),
        Command::Serve(serve) => serve.run(&cli.shared, &screen),
        Command::Tools(tools) => tools.run(&cli.shared, &screen),
        Command::Call(call) => call.run(&cli.shared, &screen),
        Command::Run(run) => run.run(&cli.shared, &screen),
        Command::Policy(policy) => policy.run(&cli.shared, &screen),
        Command::Config(config) => config.run(&cli.shared, &screen),
        Command::Reload => reload::run(&cli.shared, &screen),
        Command::Add(add) => add.run(&cli.shared, &screen),
        Command::Remove(remove) => remove.run(&cli.shared, &screen),
        Command::Enable(enable) => enable.run(&cli.shared, &screen),
        Command::Disable(disable) => disable.run(&cli.shared, &screen),
        Command::List => servers::list(&cli.shared, &screen),
        Command::Get(get) => get.run(&cli.shared, &screen),
        Command::Import(import) => import.run(&cli.shared, &screen),
        Command::Restart(restart) => restart.run(&cli.shared, &screen),
        Command::Trust(trust) => trust.run(&cli.shared, &screen),
        Command::Input(input) => input.run(&cli.shared, &screen),
        Command::Login(login) => {
            with_server(&cli.shared, &screen, |find, state| login.run(find, state, &screen))
        }
        Command::Logout(logout) => {
            with_server(&cli.shared, &screen, |find, state| logout.run(find, state, &screen))
        }
        Command::ApproveTools(approve) => approve.run(&cli.shared, &screen),
        Command::Observe(observe) => observe.run(&cli.shared, &screen),
        Command::Completions(completions) => completions.run(&screen),
        Command::Version => version::run(&screen),
        Command::Names(names) => names.run(&cli.shared, &screen),
        Command::Guard(guard) => return guard.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&screen),
    }
}

/// The call that help was asked for, if it names a tool: then the tool's own help is meant.
fn help_of_tool(error: &clap::Error, words: &[OsString]) -> Option<(Shared, call::CallTool)> {
    if error.kind() != clap::error::ErrorKind::DisplayHelp {
        return None;
    }
    let rest = words.iter().filter(|word| *word != "--help" && *word != "-h");
    match Cli::try_parse_from(rest).ok()? {
        Cli { shared, command: Command::Call(call) } => Some((shared, call)),
        _ => None,
    }
}

impl Shared {
    /// Where settings come from, with the flags a command adds.
    fn sources(&self, more: Vec<(&'static Key, String, String)>) -> Sources {
        let mut sources = Sources::of_process(self.dir.clone().unwrap_or_else(|| ".".into()));
        sources.file = self.config.clone();
        within::complete(&mut sources.environment);
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

    /// The house with its servers, for a command that makes one call at most.
    async fn household(&self, screen: &Screen) -> Result<Household, Failure> {
        let config = self.load(Vec::new(), screen)?;
        Ok(Household::for_one_call(&config, self.sources(Vec::new())).await?)
    }

    /// The settings and the house they describe, for a command that makes one call at most.
    fn house(&self, screen: &Screen) -> Result<(Config, Tectum), Failure> {
        let config = self.load(Vec::new(), screen)?;
        let house = tectum::build_for_one_call(&config)?;
        Ok((config, house))
    }
}

/// Runs a command that is about one server, with the way to find it and where logins are kept.
fn with_server(
    shared: &Shared,
    screen: &Screen,
    run: impl FnOnce(&dyn Fn(&str) -> Result<ServerSpec, Failure>, Option<&Path>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let config = shared.load(Vec::new(), screen)?;
    let specs = Live::new(shared.sources(Vec::new())).specs().specs;
    let find = |name: &str| {
        let found = specs.iter().find(|spec| spec.name.as_str() == name).cloned();
        found.ok_or_else(|| held::missing(shared, &config, name).into())
    };
    run(&find, config.state.as_deref())
}

/// Warns before a home or a whole file system is served: clients like to start their servers there, and
/// hardly anybody means it.
fn tell_wide_reach(config: &Config, screen: &Screen) {
    let home = config.home.as_deref().map(tectum::state::canonical);
    let wide = |root: &&PathBuf| {
        let root = tectum::state::canonical(root);
        root == Path::new("/") || home.as_ref().is_some_and(|home| home.starts_with(&root))
    };
    let warning = |root: &PathBuf| {
        format!(
            "all of {} is served, your own files among it; to serve one project, name its folder with -C DIR",
            root.display()
        )
    };
    let warnings: Vec<String> = config.workspace.roots.iter().filter(wide).map(warning).collect();
    tell_warnings(&warnings, screen);
}

/// Tells of rules that are for no tool there is. A mistake perhaps, so the work goes on.
fn tell_strange_rules(config: &Config, house: &Tectum, screen: &Screen) {
    tell_warnings(&strange_rules(config, house), screen);
    tell_warnings(&without_effect(config), screen);
}

/// What of the project's file has no effect, and what to do about it.
fn without_effect(config: &Config) -> Vec<String> {
    let rules = tectum::rules_that_wait(config).map(|rules| {
        let rules: Vec<String> =
            rules.iter().map(|rule| format!("`{}` ({})", rule.text, rule.origin)).collect();
        format!(
            "the project's allow rules permit nothing until you agree to them with `tectum trust`: {}",
            rules.join(", ")
        )
    });
    config.without_effect().iter().cloned().chain(rules).collect()
}

fn tell_warnings(warnings: &[String], screen: &Screen) {
    for warning in warnings {
        let word = screen.paint_error(screen::Colour::Yellow, "warning:");
        screen.tell(&format!("{word} {}", screen::harmless(warning)));
    }
}

/// Rules that are for no tool there is.
fn strange_rules(config: &Config, house: &Tectum) -> Vec<String> {
    let snapshot = house.registry().snapshot();
    let tools: Vec<&str> = snapshot.tools().map(|info| &*info.name).collect();
    // A rule for a server's tool may be for one that is not known yet.
    config.permissions.strangers(&tools).into_iter().filter(|rule| !rule.contains("__")).collect()
}
