//! Cold starts: from nothing to the answer of `initialize`, and on to that of `tools/list`.

use std::time::Instant;

use anyhow::Result;

use crate::cases::{Case, Measured, RunPlan};
use crate::lineup::{Grounds, Launch};
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::wire::Request;

pub(crate) fn measure(case: Case, plan: &RunPlan, grounds: &Grounds) -> Result<Measured> {
    let mut contenders: Vec<_> = case
        .contenders(plan)
        .map(|server| {
            Contender::ready(server.name(), |entry| {
                let launch = server.launch(grounds, &grounds.data.files())?;
                // The first start finds an empty page cache; it is not counted.
                let own = start(&launch, &mut Entry::new("unmeasured"))?;
                entry.version = launch.version.map(str::to_owned).unwrap_or(own);
                Ok(launch)
            })
        })
        .collect();
    let others = interleave(
        &mut contenders,
        case.rounds(plan),
        |_| None,
        |launch, entry| start(launch, entry).map(drop),
    );
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

fn start(launch: &Launch, entry: &mut Entry) -> Result<String> {
    let began = Instant::now();
    let mut session = Session::spawn(launch)?;
    let version = session.initialize()?;
    entry.note("init_ms", began.elapsed().as_secs_f64() * 1e3);
    session.ask(&Request::new("tools/list", &serde_json::json!({})))?;
    entry.note("list_ms", began.elapsed().as_secs_f64() * 1e3);
    Ok(version)
}
