//! The configuration of the sandbox for commands, and the plan that follows from it.

use std::{
    io,
    path::{Path, PathBuf},
};

use tectum_child::SandboxPlan;

/// The limits of commands on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSettings {
    /// False if the user switched it off.
    pub on: bool,
    /// True if commands may reach the network.
    pub network: bool,
    /// True if commands may use sockets with a name in the file system.
    pub unix_sockets: bool,
    /// The paths they may change: the served directories, and what the user adds.
    pub writable: Vec<PathBuf>,
    /// The paths they may not open, apart from the protected names beneath the served directories.
    pub closed: Vec<PathBuf>,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self { on: true, network: true, unix_sockets: false, writable: Vec::new(), closed: Vec::new() }
    }
}

impl SandboxSettings {
    /// The plan for a command with this temporary directory; `protected` are the protected names that are
    /// there now ([`closed_in_roots`](tectum_core::security::SafePath::closed_in_roots)). `None` if the user
    /// wants none.
    pub fn plan(&self, protected: Vec<PathBuf>, scratch: &Path) -> io::Result<Option<SandboxPlan>> {
        if !self.on {
            if !self.network {
                return Err(io::Error::other(
                    "`network = false` under [shell] is held by the sandbox, which is off: set \
                     `sandbox = \"on\"`, or `network = true`",
                ));
            }
            return Ok(None);
        }
        let mut writable = self.writable.clone();
        writable.push(scratch.to_owned());
        let closed = self.closed.iter().cloned().chain(protected).collect();
        let Self { network, unix_sockets, .. } = *self;
        Ok(Some(SandboxPlan { writable, closed, network, unix_sockets }))
    }
}
