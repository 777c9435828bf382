//! The part of the bench about code: outlines against parsers and ctags, name searches against `rg`,
//! and how often an outline is right. Every figure is a ratio within one run.

mod ast_peer;
mod bench;
mod cores;
pub(crate) mod corpora;
mod cpu;
mod ctags_peer;
mod index;
mod outline;
mod precision;
mod tree_sitter_peer;
mod usages;
mod verdict;
mod warm;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::cases::Measured;
use crate::data::Data;
use crate::lineup::Grounds;
use crate::peers::Peers;
use crate::record::{self, Machine, Record, View};
use crate::report;

use self::bench::CodeBench;
use self::corpora::{Corpora, Tongue};

/// The plan of one run.
pub(crate) struct CodePlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) cases: Vec<CodeCase>,
    pub(crate) rounds: Option<usize>,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) peers: PathBuf,
    pub(crate) corpora: PathBuf,
}

/// The cases about code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeCase {
    Python,
    C,
    Cpp,
    Cores,
    Index,
    Warm,
    PythonUsages,
    NativeUsages,
    Precision,
}

impl CodeCase {
    pub(crate) const ALL: [Self; 9] = [
        Self::Python,
        Self::C,
        Self::Cpp,
        Self::Cores,
        Self::Index,
        Self::Warm,
        Self::PythonUsages,
        Self::NativeUsages,
        Self::Precision,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Python => "code-outline-python",
            Self::C => "code-outline-c",
            Self::Cpp => "code-outline-cpp",
            Self::Cores => "code-cores",
            Self::Index => "code-index",
            Self::Warm => "code-warm",
            Self::PythonUsages => "code-usages-python",
            Self::NativeUsages => "code-usages-native",
            Self::Precision => "code-precision",
        }
    }

    /// The cases whose names have this prefix, with or without `code-`.
    pub(crate) fn named(prefix: &str) -> Result<Vec<Self>> {
        let fits = |case: &Self| {
            let name = case.name();
            name.starts_with(prefix) || name.trim_start_matches("code-").starts_with(prefix)
        };
        let found: Vec<_> = Self::ALL.into_iter().filter(fits).collect();
        if found.is_empty() {
            bail!("no case `{prefix}`; there are {}", Self::ALL.map(Self::name).join(", "));
        }
        Ok(found)
    }

    fn rounds(self, plan: &CodePlan) -> usize {
        match self {
            // Counts are the same in every round.
            Self::Precision => 1,
            // CPU time is steady, and a parser takes many seconds for a round.
            Self::Python | Self::C | Self::Cpp => plan.rounds.unwrap_or(5),
            _ => plan.rounds.unwrap_or(12),
        }
    }

    fn measure(self, bench: &CodeBench, rounds: usize) -> Result<Measured> {
        match self {
            Self::Python => outline::measure(bench, Tongue::Python, rounds),
            Self::C => outline::measure(bench, Tongue::C, rounds),
            Self::Cpp => outline::measure(bench, Tongue::Cpp, rounds),
            Self::Cores => cores::measure(bench, rounds),
            Self::Index => index::measure(bench, rounds),
            Self::Warm => warm::measure(bench, rounds),
            Self::PythonUsages => usages::measure(bench, &usages::PYTHON, rounds),
            Self::NativeUsages => usages::measure(bench, &usages::NATIVE, rounds),
            Self::Precision => Ok((Vec::new(), precision::measure(bench)?)),
        }
    }
}

/// Measures the planned cases one after the other, and saves and prints each when it is done.
pub(crate) fn run(plan: &CodePlan) -> Result<()> {
    let machine = Machine::here();
    let grounds = Grounds {
        tectum: plan.tectum.clone(),
        before: None,
        peers: Peers::at(&plan.peers),
        data: Data::prepare(&plan.data)?,
    };
    let bench = CodeBench { grounds, corpora: Corpora::prepare(&plan.corpora)? };
    for case in &plan.cases {
        let rounds = case.rounds(plan);
        eprintln!("{}: {rounds} rounds", case.name());
        let (others_cpu, servers) = case.measure(&bench, rounds)?;
        let (case, machine) = (case.name().to_owned(), machine.clone());
        let record = Record { case, view: View::AllCpus, slice_ms: 0, machine, others_cpu, servers };
        if record.rounds() == 0 {
            eprintln!("  nothing was measured, so nothing is kept");
            continue;
        }
        record::save(&record, &plan.out)?;
        report::say(&report::section(&record))?;
    }
    Ok(())
}
