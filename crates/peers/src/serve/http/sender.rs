//! The sender at the other end of a connection: whether it is an observer of ours that calls back.

use std::{net::SocketAddr, sync::Arc};

use tokio::{net::TcpStream, sync::OnceCell};

use crate::{federation::Federation, serve::Endpoint};

/// The other end of one connection. It is looked for once, when there are observers.
pub(super) struct OtherEnd {
    ends: Option<(SocketAddr, SocketAddr)>,
    found: OnceCell<Option<Arc<str>>>,
}

impl OtherEnd {
    pub(super) fn new(stream: &TcpStream) -> Self {
        let ends = stream.local_addr().ok().zip(stream.peer_addr().ok());
        Self { ends: ends.filter(|(_, theirs)| theirs.ip().is_loopback()), found: OnceCell::new() }
    }

    /// The observer whose process it is.
    pub(super) async fn observer(&self, endpoint: &Endpoint) -> Option<Arc<str>> {
        let federation = &endpoint.federation;
        let (ours, theirs) = self.ends.filter(|_| federation.observed.by_anybody())?;
        let found = self.found.get_or_init(|| find(federation.clone(), ours, theirs));
        found.await.clone()
    }
}

async fn find(federation: Arc<Federation>, ours: SocketAddr, theirs: SocketAddr) -> Option<Arc<str>> {
    let found =
        tokio::task::spawn_blocking(move || federation.observed.at(&federation.roster.peers(), ours, theirs));
    // It fails only if it panicked, and then it is nobody's.
    found.await.ok().flatten()
}
