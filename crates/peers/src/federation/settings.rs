//! What the federation is told that no server's spec says.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tectum_attend::Attention;
use tectum_core::SessionId;

use super::Profiles;
use crate::{client::ClientForms, operation::Telemetry};

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
    /// What clients may read of the record of calls.
    pub sessions: Option<SessionPages>,
    /// The news that models are told of; `None` where the house has no attention.
    pub attention: Option<Attention>,
    /// The telemetry that measures the requests of clients, and those to servers that they cause.
    pub telemetry: Option<Arc<dyn Telemetry>>,
}

/// Reads the record of a session for a client: of `current`, its own, or of one by name. It may wait for
/// the disk. What it refuses, it says why.
#[derive(Clone)]
pub struct SessionPages(Arc<ReadSession>);

type ReadSession = dyn Fn(&str, &SessionId) -> Result<String, String> + Send + Sync;

impl SessionPages {
    /// Read by this function: which session is meant, and whose client asks.
    pub fn new(read: impl Fn(&str, &SessionId) -> Result<String, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn read(&self, named: &str, of: &SessionId) -> Result<String, String> {
        (self.0)(named, of)
    }
}

impl fmt::Debug for SessionPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionPages").finish_non_exhaustive()
    }
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
