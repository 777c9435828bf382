//! From the start of a gateway to `initialize` and on to the whole list of tools: the first time, and
//! again with its saved state. A gateway that saves nothing starts the same way twice.

use std::time::Instant;

use anyhow::Result;

use super::bench::GatewayBench;
use super::front::{Front, Setting};
use super::many::settings;
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};

pub(super) fn measure(bench: &GatewayBench) -> Measured {
    let mut contenders: Vec<_> = settings(bench, &[Front::Direct, Front::Tectum, Front::RustProxy])
        .into_iter()
        .map(|setting| {
            Contender::ready(&setting.name(), |entry| {
                // The first start finds an empty page cache; it is not counted.
                entry.version = start(bench, setting, &mut Entry::new("unmeasured"), "")?;
                Ok(setting)
            })
        })
        .collect();
    let others = interleave(
        &mut contenders,
        bench.rounds,
        |_| None,
        |setting, entry| {
            setting.forget(&bench.grounds)?;
            start(bench, *setting, entry, "cold_")?;
            start(bench, *setting, entry, "").map(drop)
        },
    );
    (others, contenders.into_iter().map(|contender| contender.entry).collect())
}

fn start(bench: &GatewayBench, setting: Setting, entry: &mut Entry, how: &str) -> Result<String> {
    let began = Instant::now();
    let server = bench.start(setting)?;
    let (mut client, version) = server.client()?;
    entry.note(format!("{how}init_ms"), began.elapsed().as_secs_f64() * 1e3);
    server.checked(client.list_all(0, setting.tools()))?;
    entry.note(format!("{how}list_ms"), began.elapsed().as_secs_f64() * 1e3);
    Ok(version)
}
