//! The cases about calls: the same call repeated, one at a time and many in flight.

use std::time::Duration;

use anyhow::Result;

use crate::cases::{Case, Measured, RunPlan};
use crate::data::{self, Data};
use crate::lineup::{Grounds, Server};
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::stats::quantile;
use crate::wire::Request;

/// The number of calls in flight if more than one is.
pub(crate) const MANY: usize = 64;
/// The warm-up, long enough for a just-in-time compiler to have seen the hot path.
const WARM_UP: Duration = Duration::from_millis(300);

struct CallLane {
    session: Session,
    requests: Vec<Request>,
    turn: usize,
}

pub(crate) fn measure(case: Case, plan: &RunPlan, grounds: &Grounds) -> Result<Measured> {
    // Two edits of one file undo each other, so they cannot be in flight together.
    let depths: &[usize] = if case == Case::Edit { &[1] } else { &[1, MANY] };
    let mut contenders: Vec<_> = case
        .contenders(plan)
        .map(|server| {
            Contender::ready(server.name(), |entry| {
                let requests = requests(case, server, &grounds.data)?;
                let mut lane = CallLane { session: open(server, grounds, entry)?, requests, turn: 0 };
                for request in &lane.requests {
                    lane.session.ask(request)?;
                }
                for depth in depths {
                    lane.session.drive(&lane.requests, &mut lane.turn, *depth, WARM_UP.min(plan.slice))?;
                }
                Ok(lane)
            })
        })
        .collect();
    let others = interleave(
        &mut contenders,
        case.rounds(plan),
        |lane| Some(lane.session.pid()),
        |lane, entry| {
            for depth in depths {
                let slice = lane.session.drive(&lane.requests, &mut lane.turn, *depth, plan.slice)?;
                entry.note(format!("calls_per_s_{depth}"), slice.calls_per_s);
                if *depth == 1 {
                    entry.note("p50_us", quantile(&slice.latencies, 0.5).unwrap_or_default());
                    entry.note("p99_us", quantile(&slice.latencies, 0.99).unwrap_or_default());
                }
            }
            Ok(())
        },
    );
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

/// Starts a server on the small files and does the handshake.
pub(crate) fn open(server: Server, grounds: &Grounds, entry: &mut Entry) -> Result<Session> {
    let launch = server.launch(grounds, &grounds.data.files())?;
    let mut session = Session::spawn(&launch)?;
    let own = session.initialize()?;
    entry.version = launch.version.map(str::to_owned).unwrap_or(own);
    session.ask(&Request::new("tools/list", &serde_json::json!({})))?;
    Ok(session)
}

/// The reads of 64 files, each of which must return its own last line.
pub(crate) fn reads(server: Server, data: &Data) -> Vec<Request> {
    (0..data::READ_FILES)
        .map(|number| server.read(&data.read_file(number), data::read_mark(number)))
        .collect()
}

fn requests(case: Case, server: Server, data: &Data) -> Result<Vec<Request>> {
    let requests = match case {
        Case::Ping => vec![Request::new("ping", &serde_json::json!({}))],
        // Tectum has no tool that does nothing; reading one byte is its cheapest call.
        Case::RecordCall => vec![server.read(&data.one_byte(), "x")],
        Case::Call if matches!(server, Server::Tectum | Server::TectumBefore) => {
            vec![server.read(&data.one_byte(), "x")]
        }
        Case::Call => vec![Request::tool("echo", serde_json::json!({"message": "x"}), "x")],
        Case::List => vec![server.list(&data.listed(), data::entry_name(data::ENTRIES - 1))],
        Case::Edit => {
            let path = data.edit_file(server.name())?;
            let [old, new] = data::EDIT;
            vec![server.edit(&path, old, new), server.edit(&path, new, old)]
        }
        _ => reads(server, data),
    };
    Ok(requests)
}
