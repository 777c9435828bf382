//! A stand-in until the room of child processes joins.

use std::{io, process::ExitStatus};

use tokio::net::unix::pipe;

/// A running child.
#[derive(Debug)]
pub(crate) struct Child(io::Result<()>);

impl Child {
    pub(crate) fn take_pipes(&mut self) -> (pipe::Sender, pipe::Receiver) {
        unreachable!("replaced by the room of child processes: {:?}", self.0)
    }

    pub(crate) async fn ended(&mut self) -> ExitStatus {
        ExitStatus::default()
    }

    pub(crate) async fn stop(self) {}
}

/// What to start.
pub(crate) struct Order<'a> {
    pub(crate) launch: &'a crate::spec::Launch,
    pub(crate) directory: &'a std::path::Path,
    pub(crate) guard: Option<&'a std::path::Path>,
}

/// What a server says beside the protocol.
#[derive(Debug)]
pub(crate) struct Stderr;

impl Stderr {
    pub(crate) fn new(_log: Option<std::path::PathBuf>) -> Self {
        Self
    }

    pub(crate) fn last_line(&self) -> Option<String> {
        None
    }

    pub(crate) fn note(&self, _text: &str) {}
}

pub(crate) fn start(_order: &Order<'_>, _log: std::sync::Arc<Stderr>) -> io::Result<Child> {
    Err(io::Error::other("not there yet"))
}
