//! Resident memory: idle after `tools/list`, and again after a slice of reads in flight.

use std::time::Duration;

use anyhow::Result;

use crate::calls::{self, MANY};
use crate::cases::{Case, Measured, RunPlan};
use crate::lineup::Grounds;
use crate::load;
use crate::rounds::{Contender, interleave};

/// The pause after an answer: what a server still does then belongs to its idle state.
const SETTLE: Duration = Duration::from_millis(200);

pub(crate) fn measure(case: Case, plan: &RunPlan, grounds: &Grounds) -> Result<Measured> {
    let mut contenders: Vec<_> =
        case.contenders(plan).map(|server| Contender::ready(server.name(), |_| Ok(server))).collect();
    let others = interleave(
        &mut contenders,
        case.rounds(plan),
        |_| None,
        |server, entry| {
            let mut session = calls::open(*server, grounds, entry)?;
            std::thread::sleep(SETTLE);
            entry.note("idle_mb", load::resident_mb(session.pid())?);
            session.drive(&calls::reads(*server, &grounds.data), &mut 0, MANY, plan.slice)?;
            entry.note("after_mb", load::resident_mb(session.pid())?);
            Ok(())
        },
    );
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}
