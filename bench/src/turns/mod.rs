//! The part of the bench about turns: calls that run together, the cost of a call inside and outside
//! of the process, and tracking the files that a model knows.

mod dispatch;
mod native;
mod refresh;
mod together;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::cases::Measured;
use crate::data::Data;
use crate::lineup::Grounds;
use crate::peers::Peers;
use crate::record::{self, Machine, Record, View};
use crate::report;

/// The plan of one run.
pub(crate) struct TurnsPlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) cases: Vec<TurnsCase>,
    pub(crate) rounds: Option<usize>,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) peers: PathBuf,
}

/// The cases about turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnsCase {
    Together,
    Dispatch,
    Refresh,
}

impl TurnsCase {
    pub(crate) const ALL: [Self; 3] = [Self::Together, Self::Dispatch, Self::Refresh];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Together => "turn-together",
            Self::Dispatch => "turn-dispatch",
            Self::Refresh => "turn-refresh",
        }
    }

    /// The cases whose names have this prefix, with or without `turn-`.
    pub(crate) fn named(prefix: &str) -> Result<Vec<Self>> {
        let fits = |case: &Self| {
            let name = case.name();
            name.starts_with(prefix) || name.trim_start_matches("turn-").starts_with(prefix)
        };
        let found: Vec<_> = Self::ALL.into_iter().filter(fits).collect();
        if found.is_empty() {
            bail!("no case `{prefix}`; there are {}", Self::ALL.map(Self::name).join(", "));
        }
        Ok(found)
    }

    fn measure(self, grounds: &Grounds, rounds: usize) -> Result<Measured> {
        match self {
            Self::Together => together::measure(rounds),
            Self::Dispatch => dispatch::measure(grounds, rounds),
            Self::Refresh => refresh::measure(grounds, rounds),
        }
    }
}

/// Measures the planned cases one after the other, and saves and prints each when it is done.
pub(crate) fn run(plan: &TurnsPlan) -> Result<()> {
    let grounds = Grounds {
        tectum: plan.tectum.clone(),
        before: None,
        peers: Peers::at(&plan.peers),
        data: Data::prepare(&plan.data)?,
    };
    for case in &plan.cases {
        let rounds = plan.rounds.unwrap_or(12);
        eprintln!("{}: {rounds} rounds", case.name());
        let (others_cpu, servers) = case.measure(&grounds, rounds)?;
        let record = Record {
            case: case.name().to_owned(),
            view: View::AllCpus,
            slice_ms: 0,
            machine: Machine::here(),
            others_cpu,
            servers,
        };
        record::save(&record, &plan.out)?;
        report::say(&report::section(&record))?;
    }
    Ok(())
}
