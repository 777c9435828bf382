//! The reasons why a request at a server has no result.

use serde_json::value::RawValue;
use tectum_core::Fault;

/// The reasons why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server's own error, as it wrote it.
    Theirs(Box<RawValue>),
    /// Ours.
    Ours(Fault),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Ours(fault)
    }
}
