//! The part of the bench about gateways: what a server before other servers adds to a call, and how
//! that grows with clients and with servers. Every figure is a ratio within one run but the memory
//! of a session.

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

use crate::cases::Outcome;
use crate::data::Data;
use crate::lineup::{Grounds, Launch};
use crate::peers::Peers;
use crate::record::{self, Machine, Record, View};
use crate::{affinity, report};

use self::client::{Address, Client};
use self::front::Setting;
use self::process::Process;

pub(crate) use self::front::Front;

/// What one run is to do.
pub(crate) struct Plan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) cases: Vec<Case>,
    /// Empty means every gateway of a case.
    pub(crate) fronts: Vec<Front>,
    pub(crate) rounds: Option<usize>,
    pub(crate) slice: Duration,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) peers: PathBuf,
    /// All CPUs first: what was pinned to one stays there.
    pub(crate) views: Vec<View>,
}

/// What can be measured about gateways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Calls,
    Pipes,
    Many,
    Start,
    Memory,
}

/// What all cases share.
struct Bench {
    grounds: Grounds,
    fronts: Vec<Front>,
    slice: Duration,
    rounds: usize,
}

/// A server over HTTP that takes connections.
struct Running {
    address: Address,
    launch: Launch,
    process: Process,
}

impl Case {
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

    /// By its whole name, since one name begins all others; `gateway-` may be left out.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let fits = |case: &Self| case.name() == name || case.name().strip_prefix("gateway-") == Some(name);
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(fits).with_context(|| format!("no case `{name}`; there are {names}"))
    }

    /// One CPU shows the cost of a call; starting wants them all, and memory does not depend on them.
    fn fits(self, view: View) -> bool {
        view == View::AllCpus || !matches!(self, Self::Start | Self::Memory)
    }

    fn rounds(self, plan: &Plan) -> usize {
        // Memory hardly differs between rounds, and each opens hundreds of sessions.
        plan.rounds.unwrap_or(if self == Self::Memory { 5 } else { 20 })
    }

    fn measure(self, bench: &Bench) -> Outcome {
        match self {
            Self::Calls => calls::measure(bench),
            Self::Pipes => pipes::measure(bench),
            Self::Many => many::measure(bench),
            Self::Start => start::measure(bench),
            Self::Memory => memory::measure(bench),
        }
    }
}

impl Bench {
    /// Those of a case's gateways that this run is about.
    fn contenders<'a>(&'a self, fronts: &'a [Front]) -> impl Iterator<Item = Front> + 'a {
        let wanted = |front: &Front| {
            let present = self.grounds.tectum.is_some() || *front != Front::Tectum;
            present && (self.fronts.is_empty() || self.fronts.contains(front))
        };
        fronts.iter().copied().filter(wanted)
    }

    fn start(&self, setting: Setting) -> Result<Running> {
        let port = process::free_port()?;
        let launch = setting.launch(&self.grounds, Some(port))?;
        let process = Process::start(&launch, port)?;
        Ok(Running { address: setting.address(port), launch, process })
    }
}

impl Running {
    /// A client with one session, and the version of the gateway.
    fn client(&self) -> Result<(Client, String)> {
        let mut client = Client::new(&self.address)?;
        let own = self.checked(client.open())?;
        Ok((client, self.launch.version.map(str::to_owned).unwrap_or(own)))
    }

    /// A complaint says who it is about, and what that server wrote last.
    fn checked<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.with_context(|| format!("{}{}", self.launch.name, self.launch.last_words()))
    }

    fn pid(&self) -> u32 {
        self.process.pid()
    }
}

/// Measures the planned cases one after the other, keeping and printing each as it is done.
pub(crate) fn run(plan: &Plan) -> Result<()> {
    if plan.tectum.is_none() {
        eprintln!("no --tectum PATH: the floor and the peers run without it");
    }
    let machine = Machine::here();
    let grounds = Grounds {
        tectum: plan.tectum.clone(),
        peers: Peers::at(&plan.peers),
        data: Data::prepare(&plan.data)?,
    };
    let mut bench = Bench { grounds, fronts: plan.fronts.clone(), slice: plan.slice, rounds: 0 };
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
            crate::say(&report::section(&record))?;
        }
    }
    Ok(())
}
