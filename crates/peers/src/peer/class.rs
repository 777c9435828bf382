//! The clients that share a connection.

use std::sync::Arc;

/// Clients that can be served by one connection: those that can answer the same questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    /// The abilities that a server may use, as the client declared them.
    pub(crate) abilities: Arc<str>,
    /// The one client, where connections are not shared.
    pub(crate) client: Option<u64>,
}
