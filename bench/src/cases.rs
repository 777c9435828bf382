//! The cases, who takes part in each, and the run that goes through them.

use anyhow::{Result, bail};

use crate::cli::Plan;
use crate::data::Data;
use crate::lineup::{Grounds, Server};
use crate::peers::Peers;
use crate::record::{self, Entry, Machine, Record, View};
use crate::{affinity, calls, memory, report, search, start};

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
}

/// What measuring a case yields: the share of others round by round, and every server's figures.
pub(crate) type Outcome = (Vec<f64>, Vec<Entry>);

impl Case {
    pub(crate) const ALL: [Self; 8] =
        [Self::Read, Self::Ping, Self::Call, Self::List, Self::Edit, Self::Start, Self::Memory, Self::Search];

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
        }
    }

    /// The cases whose names begin so: `noop` means both of them.
    pub(crate) fn named(prefix: &str) -> Result<Vec<Self>> {
        let found: Vec<_> = Self::ALL.into_iter().filter(|case| case.name().starts_with(prefix)).collect();
        if found.is_empty() {
            bail!("no case `{prefix}`; there are {}", Self::ALL.map(Self::name).join(", "));
        }
        Ok(found)
    }

    /// One CPU shows the cost of a call; starting and searching want them all.
    pub(crate) fn usual(one_cpu: bool) -> Vec<Self> {
        let calls = |case: &Self| !one_cpu || !matches!(case, Self::Start | Self::Memory | Self::Search);
        Self::ALL.into_iter().filter(calls).collect()
    }

    fn servers(self) -> &'static [Server] {
        use Server::{Floor, NodeEverything, NodeFilesystem, Ripgrep, RustFilesystem, Tectum, TectumFast};
        match self {
            Self::Read | Self::List | Self::Memory => &[Floor, Tectum, RustFilesystem, NodeFilesystem],
            Self::Ping | Self::Call => &[Floor, Tectum, NodeEverything],
            Self::Edit => &[Tectum, TectumFast, RustFilesystem, NodeFilesystem],
            Self::Start => &[Floor, Tectum, RustFilesystem],
            Self::Search => &[Ripgrep, Tectum],
        }
    }

    /// Those of its servers that this run is about.
    pub(crate) fn contenders(self, plan: &Plan) -> impl Iterator<Item = Server> {
        let wanted = |server: &Server| {
            let present = plan.tectum.is_some() || !matches!(server, Server::Tectum | Server::TectumFast);
            present && (plan.servers.is_empty() || plan.servers.contains(server))
        };
        self.servers().iter().copied().filter(wanted)
    }

    pub(crate) fn rounds(self, plan: &Plan) -> usize {
        // A start is one sample where a slice is thousands, so it needs more rounds.
        plan.rounds.unwrap_or(if self == Self::Start { 25 } else { 12 })
    }

    fn measure(self, plan: &Plan, grounds: &Grounds) -> Result<Outcome> {
        match self {
            Self::Read | Self::Ping | Self::Call | Self::List | Self::Edit => {
                calls::measure(self, plan, grounds)
            }
            Self::Start => start::measure(self, plan, grounds),
            Self::Memory => memory::measure(self, plan, grounds),
            Self::Search => search::measure(self, plan, grounds),
        }
    }
}

/// Measures the planned cases one after the other, keeping and printing each as it is done.
pub(crate) fn run(plan: &Plan) -> Result<()> {
    if plan.tectum.is_none() {
        eprintln!("no --tectum PATH: the floor and the peers run without it");
    }
    let machine = Machine::here();
    if plan.one_cpu {
        affinity::pin()?;
    }
    let grounds = Grounds {
        tectum: plan.tectum.clone(),
        peers: Peers::at(&plan.peers),
        data: Data::prepare(&plan.data)?,
    };
    for case in &plan.cases {
        eprintln!("{}: {} rounds", case.name(), case.rounds(plan));
        let (others_cpu, servers) = case.measure(plan, &grounds)?;
        let record = Record {
            case: case.name().to_owned(),
            view: View::of(plan.one_cpu),
            slice_ms: plan.slice.as_millis() as u64,
            machine: machine.clone(),
            others_cpu,
            servers,
        };
        if record.rounds() == 0 {
            eprintln!("  nothing was measured, so nothing is kept");
            continue;
        }
        record::save(&record, &plan.out)?;
        crate::say(&report::section(&record))?;
    }
    Ok(())
}
