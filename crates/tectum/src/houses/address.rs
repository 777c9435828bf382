//! Names of sockets. The system takes 107 bytes; a longer one is spelled from its opened folder.

use std::{
    io,
    os::{
        fd::AsRawFd as _,
        unix::net::{UnixListener, UnixStream},
    },
    path::Path,
};

use rustix::{
    fs::{Mode, OFlags},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType},
};

/// The most bytes of a socket's name.
const LONGEST: usize = 107;

/// Listens at a path.
pub(super) fn listen(path: &Path) -> io::Result<UnixListener> {
    within_bounds(path, |path| UnixListener::bind(path))
}

/// Connects to whoever listens there, without waiting for one who has too many connections to accept.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    within_bounds(path, |path| Ok(rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?))?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn within_bounds<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return act(path) };
    if path.as_os_str().len() <= LONGEST {
        return act(path);
    }
    let folder = rustix::fs::open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    act(&Path::new(&format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}
