//! Tectum as an MCP server, on stdio and on streamable HTTP.

use std::{io, net::SocketAddr};

use tectum_core::Tectum;
use tokio_util::sync::CancellationToken;

/// Who may call over HTTP.
#[derive(Clone, Debug)]
pub enum Auth {
    /// A bearer token, compared in constant time.
    Token(String),
    /// Anybody who can connect: loopback only.
    None,
}

/// How the HTTP side is set up.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Who may call.
    pub auth: Auth,
    /// Lets `listen` be something else than loopback.
    pub allow_remote: bool,
    /// Further `Host` names that are ours.
    pub hosts: Vec<String>,
}

/// Serves MCP on standard input and output until the client leaves or `stop` is cancelled.
pub async fn stdio(_house: Tectum, _stop: CancellationToken) -> io::Result<()> {
    Ok(())
}

/// A listening server.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
}

impl HttpServer {
    /// Binds; refuses an address that is not loopback unless `allow_remote` is set, and
    /// refuses `Auth::None` there altogether.
    pub async fn bind(_house: Tectum, options: HttpOptions) -> io::Result<Self> {
        Ok(Self { address: options.listen })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled, then lets calls in flight end.
    pub async fn run(self, _stop: CancellationToken) -> io::Result<()> {
        Ok(())
    }
}
