//! Which clients share a connection.

use std::sync::Arc;

/// Clients that can be served by one connection: those that can answer the same questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    /// What a server may ask for, as the client declared it.
    pub(crate) abilities: Arc<str>,
    /// The one client, where connections are not shared.
    pub(crate) client: Option<u64>,
}
