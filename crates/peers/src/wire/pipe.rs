//! Standard input and output without a pool of blocking threads behind them.
//!
//! Pipes and sockets are made non-blocking and watched by the runtime itself. A terminal or
//! a plain file cannot be watched; there a thread reads, and writing simply blocks.

use std::{
    io::{self, Read},
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
};

use rustix::fs::FileType;
use tokio::{
    io::AsyncReadExt,
    net::{UnixStream, unix::pipe},
    sync::mpsc,
};

/// The bytes of one read: what a burst of 64 small calls brings.
const CHUNK: usize = 64 * 1024;
/// Pipes are widened to this, so that a large result does not take a switch of processes
/// for every 64 KiB.
const WIDE: usize = 1024 * 1024;

/// The time to wait for a terminal that takes nothing.
const FULL_TERMINAL: std::time::Duration = std::time::Duration::from_millis(5);

/// The source of messages.
pub(crate) enum Input {
    Pipe(pipe::Receiver),
    Socket(UnixStream),
    Thread(mpsc::Receiver<io::Result<Vec<u8>>>),
}

/// Their destination.
pub(crate) enum Output {
    Pipe(pipe::Sender),
    Socket(UnixStream),
    Blocking(OwnedFd),
}

impl Input {
    /// Standard input.
    pub(crate) fn stdin() -> io::Result<Self> {
        let own = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        match kind(&own) {
            Some(FileType::Fifo) => Ok(Self::Pipe(pipe::Receiver::from_owned_fd(own)?)),
            Some(FileType::Socket) => Ok(Self::Socket(socket(own)?)),
            _ => Ok(Self::Thread(read_on_a_thread(own))),
        }
    }

    /// Appends what is there to `buffer`; zero at the end.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        buffer.reserve(CHUNK);
        // These reads know that a short one emptied the pipe, and do not ask again.
        match self {
            Self::Pipe(pipe) => pipe.read_buf(buffer).await,
            Self::Socket(socket) => socket.read_buf(buffer).await,
            Self::Thread(chunks) => {
                let chunk = chunks.recv().await.unwrap_or(Ok(Vec::new()))?;
                buffer.extend_from_slice(&chunk);
                Ok(chunk.len())
            }
        }
    }
}

impl Output {
    /// Standard output.
    pub(crate) fn stdout() -> io::Result<Self> {
        let own = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        match kind(&own) {
            Some(FileType::Fifo) => {
                #[cfg(target_os = "linux")]
                let _ = rustix::pipe::fcntl_setpipe_size(&own, WIDE);
                Ok(Self::Pipe(pipe::Sender::from_owned_fd(own)?))
            }
            Some(FileType::Socket) => Ok(Self::Socket(socket(own)?)),
            _ => Ok(Self::Blocking(own)),
        }
    }

    /// Writes as much as goes without waiting.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        written(match self {
            Self::Pipe(pipe) => pipe.try_write(bytes),
            Self::Socket(socket) => socket.try_write(bytes),
            Self::Blocking(fd) => rustix::io::write(fd, bytes).map_err(io::Error::from),
        })
    }

    /// Waits until more can be written.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.writable().await,
            Self::Socket(socket) => socket.writable().await,
            // Another program made this terminal non-blocking, and it is full.
            Self::Blocking(_) => {
                tokio::time::sleep(FULL_TERMINAL).await;
                Ok(())
            }
        }
    }
}

/// Standard output for who watches it without a runtime: what can be watched never blocks.
pub(crate) fn own_stdout() -> io::Result<OwnedFd> {
    let own = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    if matches!(kind(&own), Some(FileType::Fifo | FileType::Socket)) {
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&own, WIDE);
        rustix::io::ioctl_fionbio(&own, true)?;
    }
    Ok(own)
}

/// The bytes that were taken: none where that is possible only later.
pub(crate) fn written(written: io::Result<usize>) -> io::Result<usize> {
    match written {
        Err(error) if again(&error) => Ok(0),
        other => other,
    }
}

/// Both directions of a socket.
pub(crate) fn both_ways(stream: StdStream) -> io::Result<(Input, Output)> {
    let second = stream.try_clone()?;
    Ok((Input::Socket(socket(stream.into())?), Output::Socket(socket(second.into())?)))
}

fn kind(fd: &OwnedFd) -> Option<FileType> {
    rustix::fs::fstat(fd).ok().map(|stat| FileType::from_raw_mode(stat.st_mode))
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn read_on_a_thread(fd: OwnedFd) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (send, receive) = mpsc::channel(4);
    std::thread::spawn(move || {
        let mut file = std::fs::File::from(fd);
        loop {
            let mut chunk = vec![0; CHUNK];
            let read = file.read(&mut chunk).map(|length| {
                chunk.truncate(length);
                chunk
            });
            let end = !matches!(&read, Ok(bytes) if !bytes.is_empty());
            if send.blocking_send(read).is_err() || end {
                return;
            }
        }
    });
    receive
}

/// True if it may go later.
pub(crate) fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
