//! The state that all cases about code share.

use std::path::Path;

use anyhow::Result;

use super::corpora::Corpora;
use crate::lineup::{Grounds, Server};
use crate::session::Session;

/// The state that all cases share.
pub(super) struct CodeBench {
    pub(super) grounds: Grounds,
    pub(super) corpora: Corpora,
}

impl CodeBench {
    /// A fresh Tectum on a tree after its handshake, with its own version.
    pub(super) fn serve(&self, root: &Path) -> Result<(Session, String)> {
        let mut session = Session::spawn(&Server::Tectum.launch(&self.grounds, root)?)?;
        let version = session.initialize()?;
        Ok((session, version))
    }
}
