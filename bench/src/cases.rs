//! The cases, the servers in each, and the plan of one run.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::lineup::Server;
use crate::record::Entry;

/// The plan of one run.
pub(crate) struct RunPlan {
    pub(crate) tectum: Option<PathBuf>,
    /// Another build to compare with.
    pub(crate) before: Option<PathBuf>,
    pub(crate) cases: Vec<Case>,
    /// The servers to measure; empty means every server of a case.
    pub(crate) servers: Vec<Server>,
    /// The number of rounds; `None` leaves it to the case.
    pub(crate) rounds: Option<usize>,
    pub(crate) slice: Duration,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) peers: PathBuf,
    pub(crate) one_cpu: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Read,
    Ping,
    Call,
    List,
    Edit,
    Start,
    Memory,
    Search,
    /// The cheapest call, with the record of calls and without.
    RecordCall,
    /// The same for reading 4 KiB.
    RecordRead,
    /// The cheapest call of a client that joined another's house.
    Relay,
}

/// The result of a case: the CPU share of other work in each round, and every server's figures.
pub(crate) type Measured = (Vec<f64>, Vec<Entry>);

impl Case {
    pub(crate) const ALL: [Self; 11] = [
        Self::Read,
        Self::Ping,
        Self::Call,
        Self::List,
        Self::Edit,
        Self::Start,
        Self::Memory,
        Self::Search,
        Self::RecordCall,
        Self::RecordRead,
        Self::Relay,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read-4k",
            Self::Ping => "noop-ping",
            Self::Call => "noop-call",
            Self::List => "list-100",
            Self::Edit => "edit-4k",
            Self::Start => "start",
            Self::Memory => "memory",
            Self::Search => "search",
            Self::RecordCall => "record-call",
            Self::RecordRead => "record-4k",
            Self::Relay => "relay",
        }
    }

    /// The cases whose names have this prefix: `noop` means both of them.
    pub(crate) fn named(prefix: &str) -> Result<Vec<Self>> {
        let found: Vec<_> = Self::ALL.into_iter().filter(|case| case.name().starts_with(prefix)).collect();
        if found.is_empty() {
            bail!("no case `{prefix}`; there are {}", Self::ALL.map(Self::name).join(", "));
        }
        Ok(found)
    }

    /// The default cases: one CPU shows the cost of a call; starting and searching need all CPUs.
    pub(crate) fn usual(one_cpu: bool) -> Vec<Self> {
        let calls = |case: &Self| {
            !one_cpu || matches!(case, Self::Read | Self::Ping | Self::Call | Self::List | Self::Edit)
        };
        Self::ALL.into_iter().filter(calls).collect()
    }

    fn servers(self) -> &'static [Server] {
        use Server::{
            Floor, NodeEverything, NodeFilesystem, Ripgrep, RustFilesystem, Tectum, TectumAlways,
            TectumBefore, TectumFast, TectumJoined, TectumOff,
        };
        match self {
            Self::Read | Self::List | Self::Memory => {
                &[Floor, Tectum, TectumBefore, RustFilesystem, NodeFilesystem]
            }
            Self::Ping | Self::Call => &[Floor, Tectum, TectumBefore, NodeEverything],
            Self::Edit => &[Tectum, TectumFast, TectumBefore, RustFilesystem, NodeFilesystem],
            Self::Start => &[Floor, Tectum, TectumBefore, RustFilesystem],
            Self::Search => &[Ripgrep, Tectum, TectumBefore],
            Self::RecordCall | Self::RecordRead => &[TectumOff, Tectum, TectumAlways],
            Self::Relay => &[TectumJoined],
        }
    }

    /// The servers of the case that this run includes.
    pub(crate) fn contenders(self, plan: &RunPlan) -> impl Iterator<Item = Server> {
        let wanted = |server: &Server| {
            let present = match server {
                Server::Tectum
                | Server::TectumFast
                | Server::TectumOff
                | Server::TectumAlways
                | Server::TectumJoined => plan.tectum.is_some(),
                Server::TectumBefore => plan.before.is_some(),
                _ => true,
            };
            present && (plan.servers.is_empty() || plan.servers.contains(server))
        };
        self.servers().iter().copied().filter(wanted)
    }

    pub(crate) fn rounds(self, plan: &RunPlan) -> usize {
        // A start is one sample, a slice is thousands, so it needs more rounds.
        plan.rounds.unwrap_or(if self == Self::Start { 25 } else { 12 })
    }
}
