//! The commands, one file each; this one owns their names. Only it knows all of them.

mod approve;
mod as_client;
mod asked;
mod call;
mod completions;
mod config;
mod connect;
mod consent;
mod console;
mod failure;
mod given;
mod guard;
mod held;
mod hook;
mod journal;
mod log;
mod login;
mod names;
mod observe;
mod options;
mod policy;
mod progress;
mod questions;
mod reload;
mod replay;
mod report;
mod run;
mod sandbox;
mod screen;
mod serve;
mod servers;
mod snippets;
mod status;
mod stop;
mod tokens;
mod tools;
mod top;
mod track;
mod track_screen;
mod undo;
mod up;
mod version;
mod warnings;
mod within;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::OnceLock,
};

use clap::{CommandFactory as _, Parser, Subcommand};
use tectum::{
    config::servers::Live,
    on_behalf::ON_BEHALF,
    peers::{child::ancestry, spec::ServerSpec},
};

use self::{
    failure::Failure,
    options::{Named, Shared},
    screen::Screen,
    within::ServedAbove,
};

/// One roof over an AI agent's tools.
#[derive(Debug, Parser)]
#[command(name = "tectum", version, max_term_width = 100)]
#[command(after_help = "\
Without a tectum.toml the defaults are safe: this directory only, no secret files, nothing remote.
`tectum config show` prints the settings in effect, `tectum policy test` explains a call.

Exit codes: 0 ok, 2 wrong usage or settings, 3 not permitted, 4 not found, 5 conflict or too large,
6 timeout or cancelled, 7 a peer failed, 70 our bug.")]
pub(crate) struct Cli {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve over HTTP and show how to connect a client
    Up(up::Up),
    /// Show how to connect a client
    Connect(connect::Connect),
    /// Serve over standard input and output, for clients that start the server themselves
    Serve(serve::Serve),
    /// Show the Tectums that run: project, client, servers
    Status,
    /// Show the calls that wait for a person's decision
    Pending,
    /// Approve a call that waits
    Approve(questions::Approve),
    /// Deny a call that waits
    Deny(questions::Deny),
    /// Watch calls, questions and servers of all running Tectums, and answer with a key
    Top,
    /// Print an address that opens the console of a running `tectum up`
    Console(console::ConsoleCommand),
    /// List the tools with effect, permission and token cost
    Tools(tools::Tools),
    /// Call one tool
    Call(call::CallTool),
    /// Let a model work on a task with these tools
    Run(run::Run),
    /// Test what the permission rules say about a call
    #[command(subcommand)]
    Policy(policy::Policy),
    /// Try what commands may do here
    #[command(subcommand)]
    Sandbox(sandbox::Sandbox),
    /// Show and check the settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Make the Tectums running for this directory reload their settings
    Reload,
    /// Add another MCP server
    Add(servers::Add),
    /// Remove a server from tectum.toml
    Remove(servers::Remove),
    /// Switch a server on
    Enable(servers::Switch),
    /// Switch a server off, wherever it is configured
    Disable(servers::Switch),
    /// List the servers, where they are configured and whether they run
    List,
    /// Show one server
    Get(Named),
    /// Use the servers configured in another program
    Import(servers::Import),
    /// Restart a server in a running Tectum
    Restart(Named),
    /// Review and approve what a project's servers would start and its rules allow
    Trust(servers::TrustCommand),
    /// Store the value of ${input:ID} for settings files that ask for it
    Input(servers::Input),
    /// Log in at a remote server
    Login(login::Login),
    /// Forget the login at a remote server
    Logout(login::Logout),
    /// Review and approve changes to servers' tools
    ApproveTools(approve::ApproveTools),
    /// Judge a coding agent's own tools by the rules, before it uses them
    Hook(hook::Hook),
    /// List, test and mute observers (servers that get a copy of every call)
    #[command(subcommand)]
    Observe(observe::Observe),
    /// Show, search and export the record of calls
    #[command(subcommand)]
    Log(journal::LogCommand),
    /// Take back all changes of a session
    Undo(undo::UndoSession),
    /// Make the calls of a session again and name the first that ends otherwise
    Replay(replay::Replay),
    /// Print a completion script
    Completions(completions::Completions),
    /// Print the version
    Version,
    /// Print server names that could come next; for completion scripts
    #[command(hide = true)]
    Names(names::Names),
}

impl Cli {
    /// The words of a command line. What Tectums above this process serve is found out when it is needed.
    fn parsed<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<Self, clap::Error> {
        let mut cli = Self::try_parse_from(words)?;
        cli.shared.above = ServedAbove(served_above);
        Ok(cli)
    }
}

/// The folders that Tectums above this process serve, as their command lines say.
fn served_above() -> &'static [PathBuf] {
    static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    // A command that the console runs is the person's own, and serves nothing.
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().to_string());
    if std::env::var(ON_BEHALF).ok().is_some_and(|house| Some(house) == parent) {
        return &[];
    }
    let folder = |ancestor: ancestry::Ancestor| {
        let cli = Cli::try_parse_from(&ancestor.words).ok()?;
        let serves = matches!(cli.command, Command::Serve(_) | Command::Up(_) | Command::Run(_));
        serves.then(|| ancestor.directory.join(cli.shared.dir.unwrap_or_default()))
    };
    FOLDERS.get_or_init(|| ancestry::ours_above().into_iter().filter_map(folder).collect())
}

/// Parses the words of a command line, runs the command and says how the process ends.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    if let Some(code) = guard::run(&words) {
        return code;
    }
    let cli = match Cli::parsed(&words) {
        Ok(cli) => cli,
        Err(error) if let Some((cli, call)) = help_of_tool(&error, &words) => {
            let screen = cli.screen();
            return match call.help(&cli, &screen) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => report::failed(failure, &screen),
            };
        }
        Err(error) => return report::usage(error, &words),
    };
    let screen = cli.shared.screen();
    let done = match cli.command {
        Command::Up(up) => up.run(&cli.shared, &screen),
        Command::Connect(connect) => connect.run(&cli.shared, &screen),
        Command::Serve(serve) => serve.run(&cli.shared, &screen),
        Command::Status => status::run(&cli.shared, &screen),
        Command::Pending => questions::pending(&cli.shared, &screen),
        Command::Approve(approve) => approve.run(&cli.shared, &screen),
        Command::Deny(deny) => deny.run(&cli.shared, &screen),
        Command::Top => top::run(&cli.shared, &screen),
        Command::Console(console) => console.run(&cli.shared, &screen),
        Command::Tools(tools) => tools.run(&cli.shared, &screen),
        Command::Call(call) => call.run(&cli.shared, &screen),
        Command::Run(run) => run.run(&cli.shared, &screen),
        Command::Policy(policy) => policy.run(&cli.shared, &screen),
        Command::Sandbox(sandbox) => sandbox.run(&cli.shared, &screen),
        Command::Config(config) => config.run(&cli.shared, &screen),
        Command::Reload => reload::run(&cli.shared, &screen),
        Command::Add(add) => add.run(&cli.shared, &screen),
        Command::Remove(remove) => remove.run(&cli.shared, &screen),
        Command::Enable(switch) => switch.run(true, &cli.shared, &screen),
        Command::Disable(switch) => switch.run(false, &cli.shared, &screen),
        Command::List => servers::list(&cli.shared, &screen),
        Command::Get(named) => servers::get(&named, &cli.shared, &screen),
        Command::Import(import) => import.run(&cli.shared, &screen),
        Command::Restart(named) => servers::restart(&named, &cli.shared, &screen),
        Command::Trust(trust) => trust.run(&cli.shared, &screen),
        Command::Input(input) => input.run(&cli.shared, &screen),
        Command::Login(login) => {
            with_server(&cli.shared, &screen, |find, state| login.run(find, state, &screen))
        }
        Command::Logout(logout) => {
            with_server(&cli.shared, &screen, |find, state| logout.run(find, state, &screen))
        }
        Command::ApproveTools(approve) => approve.run(&cli.shared, &screen),
        Command::Hook(hook) => hook.run(&cli.shared, &screen),
        Command::Observe(observe) => observe.run(&cli.shared, &screen),
        Command::Log(log) => log.run(&cli.shared, &screen),
        Command::Undo(undo) => undo.run(&cli.shared, &screen),
        Command::Replay(replay) => replay.run(&cli.shared, &screen),
        Command::Completions(completions) => completions.run(Cli::command(), &screen),
        Command::Version => version::run(&screen),
        Command::Names(names) => names.run(&Cli::command(), &cli.shared, &screen),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report::failed(failure, &screen),
    }
}

/// The call that help was asked for, if it names a tool: then the tool's own help is meant.
fn help_of_tool(error: &clap::Error, words: &[OsString]) -> Option<(Shared, call::CallTool)> {
    if error.kind() != clap::error::ErrorKind::DisplayHelp {
        return None;
    }
    let rest = words.iter().filter(|word| *word != "--help" && *word != "-h");
    match Cli::parsed(rest).ok()? {
        Cli { shared, command: Command::Call(call) } => Some((shared, call)),
        _ => None,
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
