//! `tectum guard`: started by Tectum itself, one for each server it starts.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;

/// Run a command and end its whole tree when it exits or the parent dies.
#[derive(Debug, Args)]
pub(crate) struct Guard {
    /// The process for whose sake the command runs
    #[arg(long, value_name = "PID")]
    parent: u32,
    /// The most memory that each process of it may take
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    /// The most files that each process of it may have open
    #[arg(long, value_name = "N")]
    files: Option<u64>,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Guard {
    pub(crate) fn run(self) -> ExitCode {
        match self.command.split_first() {
            Some((program, args)) => {
                tectum::peers::child::guard::run(self.parent, self.memory, self.files, program, args)
            }
            None => ExitCode::from(2),
        }
    }
}
