//! The things a server's task needs that are not in its spec.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::Notify;

use super::{Approvals, Levels, Tasks, Watchers};
use crate::{
    client::{Clients, Notices},
    lineage::Lineage,
    link::Door,
};

/// The surroundings of a server's task: everything that is not in its spec.
#[derive(Clone)]
pub(crate) struct Surroundings {
    /// The working directory of children that name none.
    pub(crate) directory: PathBuf,
    /// The directory for what outlives the process; nothing is kept without it.
    pub(crate) state: Option<PathBuf>,
    /// The approvals of all servers.
    pub(crate) approvals: Arc<Approvals>,
    /// The executable that guards children.
    pub(crate) guard: Option<PathBuf>,
    /// The way to remote servers.
    pub(crate) door: Arc<Door>,
    /// The clients, for questions of servers outside of a call.
    pub(crate) clients: Arc<Clients>,
    /// The resources that are watched.
    pub(crate) watchers: Arc<Watchers>,
    /// The tasks that servers work on.
    pub(crate) tasks: Arc<Tasks>,
    /// From which level on logs are wanted.
    pub(crate) levels: Arc<Levels>,
    /// Raised when the offer of a server changed. However often that happens meanwhile, it is handled
    /// once.
    pub(crate) offers: Arc<Notify>,
    /// The queue of notices to clients.
    pub(crate) notices: Notices,
    /// The identity of this house to those that calls pass through.
    pub(crate) lineage: Arc<Lineage>,
}
