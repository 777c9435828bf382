//! A guard that a fork server forked, as Tectum holds it: by a socket.

use std::{
    fmt,
    io::{self, Write as _},
    os::unix::{net, process::ExitStatusExt as _},
    process::ExitStatus,
};

use rustix::{net::Shutdown, process::Signal};
use tokio::{io::Interest, net::UnixStream};

/// A guard tells its number when it begins, and an exit code when nobody is left.
const NUMBER: usize = 4;
const ALL: usize = NUMBER + 1;

/// Hands the command to another server.
type Again = Box<dyn FnOnce() -> io::Result<Remote> + Send + Sync>;

/// The socket to one guard. Dropping it ends the command.
pub(crate) struct Remote {
    socket: UnixStream,
    /// The rest of an order that is longer than the socket's buffer.
    unsent: Vec<u8>,
    heard: Vec<u8>,
    /// Used if no guard begins. It has a copy of the command's files, so it goes when one does.
    again: Option<Again>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Remote {
    /// Sends the order on its way.
    pub(crate) fn new(mut socket: net::UnixStream, order: &[u8]) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        // What could not be sent now is tried again by whoever waits for an answer.
        let sent = socket.write(order).unwrap_or(0);
        let unsent = order[sent..].to_vec();
        Ok(Self { socket: UnixStream::from_std(socket)?, unsent, heard: Vec::new(), again: None })
    }

    /// The same, with another way if no guard begins.
    pub(crate) fn or(self, again: impl FnOnce() -> io::Result<Self> + Send + Sync + 'static) -> Self {
        Self { again: Some(Box::new(again)), ..self }
    }

    /// The number of the guard, once it has begun.
    pub(crate) fn guard(&self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.heard.first_chunk()?))
    }

    /// Waits for the exit code; a guard that gave none was killed. May be given up and asked again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        while !self.hear().await? {
            match self.again.take() {
                Some(again) => *self = again()?,
                None => return Ok(ExitStatus::from_raw(Signal::KILL.as_raw())),
            }
        }
        Ok(ExitStatus::from_raw(i32::from(self.heard[NUMBER]) << 8))
    }

    /// Sends the rest of the order, and listens until all has come. False if it never will.
    async fn hear(&mut self) -> io::Result<bool> {
        while self.heard.len() < ALL {
            let sends = if self.unsent.is_empty() { Interest::READABLE } else { Interest::WRITABLE };
            let ready = self.socket.ready(Interest::READABLE | sends).await?;
            if ready.is_writable() && !self.unsent.is_empty() {
                match self.socket.try_write(&self.unsent) {
                    Ok(sent) => drop(self.unsent.drain(..sent)),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    // Nobody reads it any more, and reading tells how that came.
                    Err(_) => self.unsent.clear(),
                }
            }
            let mut piece = [0; ALL];
            match self.socket.try_read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => return Ok(false),
                Ok(read) => self.heard.extend_from_slice(&piece[..read]),
            }
            if self.guard().is_some() {
                self.again = None;
            }
        }
        Ok(true)
    }

    /// Asks the guard to end its command.
    pub(crate) fn ask_to_end(&mut self) {
        self.again = None;
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }
}
