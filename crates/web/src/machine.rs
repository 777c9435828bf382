//! This machine as a page would abuse it: its own addresses, and the ports on which Tectum itself listens.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{Mutex, PoisonError},
};

/// Ports of this process, and of the one that the settings describe. A handful at most: each is a listener
/// that somebody started.
static PORTS: Mutex<Vec<u16>> = Mutex::new(Vec::new());

/// Says that Tectum listens there: no host that a user allows is reached on that port.
pub fn own_listener(address: SocketAddr) {
    let mut ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    // Port 0 is none yet: the system chooses one later.
    if address.port() != 0 && !ports.contains(&address.port()) {
        ports.push(address.port());
    }
}

/// Whether Tectum listens on a port of this name.
pub(crate) fn is_own_port(port: u16) -> bool {
    PORTS.lock().unwrap_or_else(PoisonError::into_inner).contains(&port)
}

/// Whether an address is one of this machine's: whatever listens here behind a firewall is within reach of
/// it. A datagram socket that is connected to such an address gets the very same one, or loopback's; nothing is
/// sent.
pub(crate) fn is_of_this_machine(ip: IpAddr) -> bool {
    let any: IpAddr = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let near = || {
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect((ip, 9))?;
        socket.local_addr()
    };
    near().is_ok_and(|own| own.ip() == ip || own.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_addresses_are_told_from_others() {
        for (address, own) in [("127.0.0.1", true), ("127.8.8.8", true), ("192.0.2.77", false)] {
            assert_eq!(is_of_this_machine(address.parse().expect("an address")), own, "{address}");
        }
    }
}
