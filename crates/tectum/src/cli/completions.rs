//! `tectum completions SHELL`.

use clap::{Args, Command, CommandFactory as _, builder::PossibleValuesParser};
use clap_complete::Shell;
use tectum::config::servers::clients::CLIENTS;

use super::{Cli, failure::Failure, screen::Screen};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, screen: &Screen) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut offered(), "tectum", &mut script);
        screen.print(&String::from_utf8_lossy(&script))
    }
}

/// The command line without what help hides; the generators would offer that too.
fn offered() -> Command {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let offered = Command::new("tectum").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let offered = offered.args(all.get_arguments().cloned()).subcommands(shown);
    // Anything may be a file; the clients are what is worth offering.
    let clients = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name));
    offered.mut_subcommand("import", |import| import.mut_arg("from", |from| from.value_parser(clients)))
}
