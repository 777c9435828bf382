//! Why a tool is not there that somebody calls: its name says whose it is, and that server may be on
//! its way, gone, or kept from starting.

use std::sync::PoisonError;

use super::Federation;
use crate::peer::{Peer, State};

impl Federation {
    /// What to say of a tool that nobody knows, if its name is of a server that is.
    pub(crate) fn why_absent(&self, tool: &str) -> Option<String> {
        let (server, _) = tool.split_once("__")?;
        if let Some(why) = self.why_held(tool) {
            return Some(why);
        }
        let peers = self.peers.load();
        let why = peers.iter().find(|(name, _)| name.as_str() == server).map(|(_, peer)| why(peer));
        // The call is a use of it: the next one may find it.
        self.revive();
        why
    }

    /// The same for a server that does not start.
    pub(super) fn why_held(&self, tool: &str) -> Option<String> {
        let (server, _) = tool.split_once("__")?;
        let held = self.settings.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(server).map(|why| format!("the server `{server}` is not started: {why}"))
    }
}

fn why(peer: &Peer) -> String {
    let (name, status, known) = (&peer.spec.name, peer.status(), peer.offer().known);
    let failed = status.error.is_some();
    let said = status.error.map(|error| format!(": {error}")).unwrap_or_default();
    let look = format!("`tectum list -v` shows what it said, `tectum restart {name}` restarts it");
    match status.state {
        _ if known => format!("the server `{name}` offers no such tool; tools/list shows what there is"),
        State::Starting | State::Down if failed => format!(
            "the server `{name}` is not there{said}; it is being started again: try again in a moment; {look}"
        ),
        State::Idle | State::Starting | State::Ready => format!(
            "the server `{name}` has not said yet what it offers{said}; try again in a moment, or look with `tectum list -v`"
        ),
        State::Down | State::Broken | State::Stopped => {
            format!("the server `{name}` is not there{said}; {look}")
        }
    }
}
