//! What the federation is told that no server's spec says.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;

use super::Profiles;
use crate::client::ClientForms;

/// The settings of the federation that no server's spec has.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The working directory of children that name none.
    pub directory: PathBuf,
    /// The directory of what is known about servers; nothing is kept without it.
    pub state: Option<PathBuf>,
    /// The directory of logins at servers; nobody is logged in without it.
    pub logins: Option<PathBuf>,
    /// The executable whose `guard` command watches over children; without one they are
    /// started directly.
    pub guard: Option<PathBuf>,
    /// Which tools are listed.
    pub exposure: Exposure,
    /// How long a first list waits for servers that were never met; the client decides where absent.
    pub first_wait: Option<Duration>,
    /// Which of the tools each client is listed.
    pub profiles: Profiles,
    /// Servers that are named and do not start, with the reason and what to do, as a client may hear
    /// it. Kept up by whoever names the servers.
    pub held: Arc<Mutex<BTreeMap<String, String>>>,
    /// The forms of results for clients.
    pub forms: ClientForms,
}

/// Which tools clients are shown. All of them can be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// All, while federated servers bring fewer than 64; beyond that theirs are searched.
    #[default]
    Auto,
    /// All.
    All,
    /// The few every project needs; the others are searched.
    Core,
    /// Our own; those of federated servers are searched.
    Search,
}
