//! A guard that a fork server forked, as Tectum holds it: by a socket.

use std::{
    io::{self, Write as _},
    os::unix::{net, process::ExitStatusExt as _},
    process::ExitStatus,
};

use rustix::{net::Shutdown, process::Signal};
use tokio::{io::Interest, net::UnixStream};

/// A guard tells its number when it begins, and an exit code when nobody is left.
const NUMBER: usize = 4;
const ALL: usize = NUMBER + 1;

/// The socket to one guard. Dropping it ends the command.
#[derive(Debug)]
pub(crate) struct Remote {
    socket: UnixStream,
    /// The rest of an order that is longer than the socket's buffer.
    unsent: Vec<u8>,
    heard: Vec<u8>,
}

impl Remote {
    /// Sends the order on its way.
    pub(crate) fn new(mut socket: net::UnixStream, order: &[u8]) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        // What could not be sent now is tried again by whoever waits for an answer.
        let sent = socket.write(order).unwrap_or(0);
        let unsent = order[sent..].to_vec();
        Ok(Self { socket: UnixStream::from_std(socket)?, unsent, heard: Vec::new() })
    }

    /// The number of the guard, once it has begun.
    pub(crate) fn guard(&self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.heard.first_chunk()?))
    }

    /// Waits until there is a guard, which then starts the command. False if none will come.
    pub(crate) async fn begun(&mut self) -> io::Result<bool> {
        self.hear(NUMBER).await
    }

    /// Waits for the exit code; a guard that gave none was killed. May be given up and asked again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let told = self.hear(ALL).await?;
        Ok(ExitStatus::from_raw(if told {
            i32::from(self.heard[NUMBER]) << 8
        } else {
            Signal::KILL.as_raw()
        }))
    }

    /// Sends the rest of the order, and listens until so many bytes have come. False if they never will.
    async fn hear(&mut self, bytes: usize) -> io::Result<bool> {
        while self.heard.len() < bytes {
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
        }
        Ok(true)
    }

    /// Asks the guard to end its command.
    pub(crate) fn ask_to_end(&self) {
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }
}
