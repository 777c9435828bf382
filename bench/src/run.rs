//! The run that goes through the planned cases.

use anyhow::Result;

use crate::cases::{Case, Measured, RunPlan};
use crate::data::Data;
use crate::lineup::Grounds;
use crate::peers::Peers;
use crate::record::{self, Machine, Record, View};
use crate::{affinity, calls, memory, relay, report, search, start};

/// Measures the planned cases one after the other, and saves and prints each when it is done.
pub(crate) fn run(plan: &RunPlan) -> Result<()> {
    if plan.tectum.is_none() {
        eprintln!("no --tectum PATH: the floor and the peers run without it");
    }
    let machine = Machine::here();
    if plan.one_cpu {
        affinity::pin()?;
    }
    let grounds = Grounds {
        tectum: plan.tectum.clone(),
        before: plan.before.clone(),
        peers: Peers::at(&plan.peers),
        data: Data::prepare(&plan.data)?,
    };
    for case in &plan.cases {
        eprintln!("{}: {} rounds", case.name(), case.rounds(plan));
        let (others_cpu, servers) = measure(*case, plan, &grounds)?;
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
        report::say(&report::section(&record))?;
    }
    Ok(())
}

fn measure(case: Case, plan: &RunPlan, grounds: &Grounds) -> Result<Measured> {
    match case {
        Case::Read
        | Case::Ping
        | Case::Call
        | Case::List
        | Case::Edit
        | Case::RecordCall
        | Case::RecordRead => calls::measure(case, plan, grounds),
        Case::Start => start::measure(case, plan, grounds),
        Case::Memory => memory::measure(case, plan, grounds),
        Case::Relay => relay::measure(case, plan, grounds),
        Case::Search => search::measure(case, plan, grounds),
    }
}
