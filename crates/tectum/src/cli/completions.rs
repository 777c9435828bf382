//! `tectum completions SHELL`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

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
        clap_complete::generate(self.shell, &mut Cli::command(), "tectum", &mut script);
        screen.print(&String::from_utf8_lossy(&script))
    }
}
