//! A client that joined another's house: what the relay between them adds to a call, and takes of memory.

use std::time::Duration;

use anyhow::Result;

use crate::calls;
use crate::cases::{Case, Measured, RunPlan};
use crate::lineup::Grounds;
use crate::load;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::stats::quantile;
use crate::wire::Request;

/// The warm-up of both ways.
const WARM_UP: Duration = Duration::from_millis(300);

struct RelayLane {
    /// The client whose process is the house.
    direct: Session,
    /// The client that joined it.
    relayed: Session,
    requests: Vec<Request>,
}

/// Both clients make the same calls of one house, in turn.
pub(crate) fn measure(case: Case, plan: &RunPlan, grounds: &Grounds) -> Result<Measured> {
    let mut contenders: Vec<_> = case
        .contenders(plan)
        .map(|server| {
            Contender::ready(server.name(), |entry| {
                let direct = calls::open(server, grounds, entry)?;
                let relayed = calls::open(server, grounds, entry)?;
                let requests = vec![server.read(&grounds.data.one_byte(), "x")];
                let mut lane = RelayLane { direct, relayed, requests };
                for session in [&mut lane.direct, &mut lane.relayed] {
                    session.drive(&lane.requests, &mut 0, 1, WARM_UP.min(plan.slice))?;
                }
                Ok(lane)
            })
        })
        .collect();
    let others = interleave(
        &mut contenders,
        case.rounds(plan),
        |lane| [lane.direct.pid(), lane.relayed.pid()],
        |lane, entry| {
            let p50 = |session: &mut Session, depth: usize| {
                let slice = session.drive(&lane.requests, &mut 0, depth, plan.slice)?;
                anyhow::Ok((quantile(&slice.latencies, 0.5).unwrap_or_default(), slice.calls_per_s))
            };
            let (direct, _) = p50(&mut lane.direct, 1)?;
            let (relayed, _) = p50(&mut lane.relayed, 1)?;
            entry.note("p50_us", relayed);
            entry.note("added_us", relayed - direct);
            entry.note("calls_per_s_64", p50(&mut lane.relayed, calls::MANY)?.1);
            entry.note("private_mb", load::private_mb(lane.relayed.pid())?);
            Ok(())
        },
    );
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}
