//! The part of the bench about gateways: what a server in front of other servers adds to a call, and
//! how that grows with clients and with servers. Every figure except the memory of a session is a
//! ratio within one run.

mod bench;
mod calls;
mod client;
mod front;
pub(crate) mod limit;
mod many;
mod memory;
mod pipes;
mod process;
mod reply;
mod start;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cases::Measured;
use crate::data::Data;
use crate::lineup::Grounds;
use crate::peers::Peers;
use crate::record::{self, Machine, Record, View};
use crate::{affinity, report};

use self::bench::GatewayBench;

pub(crate) use self::front::Front;

/// The plan of one run.
pub(crate) struct GatewayPlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) cases: Vec<GatewayCase>,
    /// The gateways to measure; empty means every gateway of a case.
    pub(crate) fronts: Vec<Front>,
    pub(crate) rounds: Option<usize>,
    pub(crate) slice: Duration,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) peers: PathBuf,
    /// The CPUs, all of them first: a process that was pinned to one stays there.
    pub(crate) views: Vec<View>,
}

/// The cases about gateways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GatewayCase {
    Calls,
    Pipes,
    Many,
    Start,
    Memory,
}

impl GatewayCase {
    pub(crate) const ALL: [Self; 5] = [Self::Calls, Self::Pipes, Self::Many, Self::Start, Self::Memory];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Calls => "gateway",
            Self::Pipes => "gateway-stdio",
            Self::Many => "gateway-many",
            Self::Start => "gateway-start",
            Self::Memory => "gateway-memory",
        }
    }

    /// The case with this whole name, since one name is a prefix of all others; `gateway-` may be left out.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let fits = |case: &Self| case.name() == name || case.name().strip_prefix("gateway-") == Some(name);
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(fits).with_context(|| format!("no case `{name}`; there are {names}"))
    }

    /// One CPU shows the cost of a call; starting needs all of them, and memory does not depend on them.
    fn fits(self, view: View) -> bool {
        view == View::AllCpus || !matches!(self, Self::Start | Self::Memory)
    }

    fn rounds(self, plan: &GatewayPlan) -> usize {
        // Memory hardly differs between rounds, and each opens hundreds of sessions.
        plan.rounds.unwrap_or(if self == Self::Memory { 5 } else { 20 })
    }

    fn measure(self, bench: &GatewayBench) -> Measured {
        match self {
            Self::Calls => calls::measure(bench),
            Self::Pipes => pipes::measure(bench),
            Self::Many => many::measure(bench),
            Self::Start => start::measure(bench),
            Self::Memory => memory::measure(bench),
        }
    }
}

/// Measures the planned cases one after the other, and saves and prints each when it is done.
pub(crate) fn run(plan: &GatewayPlan) -> Result<()> {
    if plan.tectum.is_none() {
        eprintln!("no --tectum PATH: the floor and the peers run without it");
    }
    let machine = Machine::here();
    let grounds = Grounds {
        tectum: plan.tectum.clone(),
        before: None,
        peers: Peers::at(&plan.peers),
        data: Data::prepare(&plan.data)?,
    };
    let mut bench = GatewayBench { grounds, fronts: plan.fronts.clone(), slice: plan.slice, rounds: 0 };
    for view in plan.views.iter().copied() {
        if view == View::OneCpu {
            affinity::pin()?;
        }
        for case in plan.cases.iter().filter(|case| case.fits(view)) {
            bench.rounds = case.rounds(plan);
            eprintln!("{}, {view:?}: {} rounds", case.name(), bench.rounds);
            let (others_cpu, servers) = case.measure(&bench);
            let (case, machine) = (case.name().to_owned(), machine.clone());
            let slice_ms = plan.slice.as_millis() as u64;
            let record = Record { case, view, slice_ms, machine, others_cpu, servers };
            if record.rounds() == 0 {
                eprintln!("  nothing was measured, so nothing is kept");
                continue;
            }
            record::save(&record, &plan.out)?;
            report::say(&report::section(&record))?;
        }
    }
    Ok(())
}
