//! Which process is at the other end of a connection on this machine, among those we started.

use std::{net::SocketAddr, path::PathBuf};

/// Processes that are looked at; where there are more, nobody is found.
const MOST: usize = 64;

/// The one of these processes that holds the other end of a connection, itself or by a process it
/// started. `None` if none of them does, or the system does not tell.
#[expect(clippy::disallowed_methods, reason = "the system's own record of processes and connections")]
pub fn at_other_end(roots: &[u32], ours: SocketAddr, theirs: SocketAddr) -> Option<u32> {
    if roots.is_empty() || roots.len() > MOST || !theirs.ip().is_loopback() {
        return None;
    }
    let table = if theirs.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let inode = inode(&std::fs::read_to_string(table).ok()?, theirs, ours)?;
    let socket = PathBuf::from(format!("socket:[{inode}]"));
    let holds = |pid: u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| file.path().read_link().ok()).any(|file| file == socket)
    };
    roots.iter().copied().find(|root| {
        let mut below = vec![*root];
        let mut next = 0;
        while let Some(pid) = below.get(next).copied().filter(|_| below.len() <= MOST) {
            if holds(pid) {
                return true;
            }
            below.extend(children(pid));
            next += 1;
        }
        false
    })
}

/// The children of a process. Each of its threads may have some.
#[expect(clippy::disallowed_methods, reason = "the system's own record of processes")]
fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    children
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// The number of the socket with these ends, as the table of connections has it.
fn inode(table: &str, near: SocketAddr, far: SocketAddr) -> Option<u64> {
    let (near, far) = (written(near), written(far));
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|words| words.get(1) == Some(&&*near) && words.get(2) == Some(&&*far))?;
    line.get(9)?.parse().ok().filter(|inode| *inode != 0)
}

/// An address as the system writes it: words of four bytes in the machine's own order.
fn written(address: SocketAddr) -> String {
    let bytes = match address {
        SocketAddr::V4(v4) => v4.ip().octets().to_vec(),
        SocketAddr::V6(v6) => v6.ip().octets().to_vec(),
    };
    let words = bytes.as_chunks::<4>().0.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word)));
    format!("{}:{:04X}", words.collect::<String>(), address.port())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn whoever_holds_the_other_end_is_found() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(host) else { continue };
            let theirs = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
            let (ours, _) = listener.accept().expect("comes");
            let ends = (ours.local_addr().expect("bound"), ours.peer_addr().expect("connected"));
            let me = std::process::id();
            assert_eq!(at_other_end(&[0x3fff_ffff, me], ends.0, ends.1), Some(me), "{host}");
            assert_eq!(at_other_end(&[], ends.0, ends.1), None);
            assert_eq!(at_other_end(&[me], ends.0, "127.0.0.1:1".parse().expect("an address")), None);
            drop(theirs);
        }
    }
}
