//! The guard of the next command, forked before that comes: it has made its session and entered the sandbox
//! by then, which takes longer than anything else that a command waits for, the shell apart.

use std::{
    io::{self, Write as _},
    os::unix::net::UnixStream,
};

use super::{
    command_guard::{self, CommandGuard},
    handing::{self, CommandFiles},
    message,
};
use crate::sandbox::Entered;

/// A guard that waits, as the fork server holds it. Dropping it ends the guard.
#[derive(Debug)]
pub(super) struct Spare {
    pub(super) socket: UnixStream,
    /// The version of the sandbox that it entered.
    pub(super) version: Option<u64>,
}

impl Spare {
    /// Gives it a command. If that fails it has started nothing, and never will.
    pub(super) fn give(mut self, files: &CommandFiles, order: &[u8]) -> io::Result<()> {
        files.send(&self.socket)?;
        self.socket.write_all(order)
    }
}

/// The life of such a guard: it waits for its command, and then is the guard of that. Gives the exit code.
pub(super) fn stand_by(socket: UnixStream, sandbox: Option<&Entered>) -> io::Result<u8> {
    command_guard::stand_alone()?;
    let thread = sandbox.map(|sandbox| sandbox.thread(false)).transpose()?;
    let Some(files) = handing::receive(&socket) else { return Ok(0) };
    let words = message::decode(&message::read(&socket)?)?;
    drop(socket);
    let guard = CommandGuard { words, life: files.life };
    Ok(guard.run(files.stdio, || Ok(thread)))
}
