//! The files of a command on their way through a socket, with one byte.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::{
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    },
};

/// The files of one command.
#[derive(Debug)]
pub(super) struct CommandFiles {
    /// Its standard input, output and error.
    pub(super) stdio: [OwnedFd; 3],
    /// The socket of its guard.
    pub(super) life: UnixStream,
}

impl CommandFiles {
    pub(super) fn send(&self, socket: impl AsFd) -> io::Result<()> {
        let [stdin, stdout, stderr] = self.stdio.each_ref().map(OwnedFd::as_fd);
        send(socket, &[stdin, stdout, stderr, self.life.as_fd()])
    }
}

/// Sends the files. A receiver that has no room for them hangs, and counts as gone.
pub(super) fn send(socket: impl AsFd, files: &[BorrowedFd<'_>; 4]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    if !with.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("there is no room for four files in a message"));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(socket, &[IoSlice::new(&[0])], &mut with, flags)?;
    Ok(())
}

/// Waits for the files of a command; `None` if none will come.
pub(super) fn receive(socket: impl AsFd) -> Option<CommandFiles> {
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut with = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        match recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut with, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            Err(_) => return None,
            Ok(got) if got.bytes == 0 => return None,
            Ok(_) => {
                let files = with.drain().filter_map(|message| match message {
                    RecvAncillaryMessage::ScmRights(files) => Some(files),
                    _ => None,
                });
                let files: Vec<_> = files.flatten().collect();
                if let Ok([stdin, stdout, stderr, life]) = <[OwnedFd; 4]>::try_from(files) {
                    return Some(CommandFiles { stdio: [stdin, stdout, stderr], life: life.into() });
                }
            }
        }
    }
}
