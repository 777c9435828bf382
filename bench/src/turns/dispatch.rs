//! The same small call inside the process, over a pipe, and at a server in Python: the first programs
//! of this kind started one for each of their own tools.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use tectum_core::{Call, SessionId, Tectum};

use super::native;
use crate::cases::Measured;
use crate::lineup::{Grounds, Launch, Server};
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::stats::median;
use crate::wire::Request;

/// The number of calls in one visit.
const CALLS: usize = 500;
/// The whole server, in the SDK's own short form.
const SERVER: &str = include_str!("list_server.py");

enum Way {
    Inside(Tectum, tokio::runtime::Runtime),
    Pipe(Box<Session>),
}

pub(super) fn measure(grounds: &Grounds, rounds: usize) -> Result<Measured> {
    let folder = grounds.data.files().join("one");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("file"), "x")?;
    let root = grounds.data.files();
    let mut contenders = vec![Contender::ready("in-process", |_| {
        Ok(Way::Inside(native::house(&root)?.0, native::runtime()?))
    })];
    if grounds.tectum.is_some() {
        contenders.push(Contender::ready("tectum", |entry| {
            let launch = Server::Tectum.launch(grounds, &root)?;
            open(&launch, entry)
        }));
    }
    contenders.push(Contender::ready("python-mcp", |entry| open(&python(grounds, &root)?, entry)));
    let request = Request::tool("list_directory", json!({ "path": folder }), "file");
    let visit = |way: &mut Way, entry: &mut Entry| {
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let began = Instant::now();
            match way {
                Way::Inside(house, runtime) => {
                    let args = serde_json::value::to_raw_value(&json!({ "path": "one" }))?;
                    let call = Call::new(SessionId::new("bench"), "list_directory", args);
                    let outcome = runtime.block_on(house.call(call));
                    anyhow::ensure!(outcome.result.is_ok(), "it failed: {:?}", outcome.result);
                }
                Way::Pipe(session) => drop(session.ask(&request)?),
            }
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
        entry.note("p50_us", median(&times).unwrap_or_default());
        Ok(())
    };
    let process = |way: &Way| match way {
        Way::Inside(..) => None,
        Way::Pipe(session) => Some(session.pid()),
    };
    let others = interleave(&mut contenders, rounds, process, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

fn open(launch: &Launch, entry: &mut Entry) -> Result<Way> {
    let mut session = Session::spawn(launch)?;
    entry.version = session.initialize()?;
    Ok(Way::Pipe(Box::new(session)))
}

fn python(grounds: &Grounds, root: &Path) -> Result<Launch> {
    let script = grounds.data.log("list_server").with_extension("py");
    std::fs::write(&script, SERVER).with_context(|| format!("could not write {}", script.display()))?;
    Ok(Launch {
        name: "python-mcp".into(),
        version: None,
        log: grounds.data.log("python-mcp"),
        program: grounds.peers.mcp_python()?,
        args: vec![script.into(), root.into()],
        env: Vec::new(),
    })
}
