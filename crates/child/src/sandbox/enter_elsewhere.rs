//! Entering a plan where there is no Landlock: it is refused.

use std::{
    io,
    path::PathBuf,
    process::{Child, Command},
};

use super::plan::SandboxPlan;

/// A plan that was entered; there is none.
#[derive(Debug)]
pub(crate) enum Entered {}

impl Entered {
    pub(crate) fn enter(_: &[PathBuf]) -> io::Result<Self> {
        Err(refused())
    }

    pub(crate) fn renew(&mut self, _: &SandboxPlan) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn thread(&self, _: bool) -> io::Result<ConfinedThread> {
        match *self {}
    }

    pub(crate) fn version(&self) -> u64 {
        match *self {}
    }
}

/// A thread within the sandbox; there is none.
#[derive(Debug)]
pub(crate) enum ConfinedThread {}

impl ConfinedThread {
    pub(crate) fn spawn(self, _: Command) -> io::Result<Child> {
        match self {}
    }
}

pub(super) fn possible() -> io::Result<()> {
    Err(refused())
}

fn refused() -> io::Error {
    io::Error::other(
        "commands are held in a sandbox only on Linux: set `sandbox = \"off\"` under [shell] in your own \
         configuration to run them without one",
    )
}
