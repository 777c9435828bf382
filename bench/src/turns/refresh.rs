//! Ten thousand files that a model knows, none of them changed: the check after every round, against
//! nothing but a system call for each of them.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use tectum_core::security::RawPath;
use tectum_turns::{Refresh, Sight};

use super::native;
use crate::cases::Measured;
use crate::lineup::Grounds;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::stats::median;

/// The number of files.
const FILES: usize = 10_000;
/// The number of files in one folder.
const FOLDER: usize = 100;
/// The number of checks in one visit.
const LOOKS: usize = 10;

enum Watcher {
    Refresh(Box<Refresh>, Sight),
    Stat(Vec<PathBuf>),
}

pub(super) fn measure(grounds: &Grounds, rounds: usize) -> Result<Measured> {
    let root = grounds.data.files().with_file_name("known");
    let names: Vec<String> = (0..FILES).map(|i| format!("d{}/f{i}.txt", i / FOLDER)).collect();
    for name in &names {
        let path = root.join(name);
        if !path.exists() {
            std::fs::create_dir_all(path.parent().unwrap_or(&root))?;
            std::fs::write(&path, format!("{name}\n"))?;
        }
    }
    let mut contenders = [
        Contender::ready("stat", |_| Ok(Watcher::Stat(names.iter().map(|name| root.join(name)).collect()))),
        Contender::ready("tectum", |entry| {
            let (_, gate) = native::house(&root)?;
            let sight = Sight::new(gate, Some("read_file".into()));
            let mut refresh = Refresh::default();
            names.iter().for_each(|name| refresh.track(&sight, &RawPath::new(name)));
            anyhow::ensure!(refresh.len() == FILES, "{} files are followed", refresh.len());
            entry.version = env!("CARGO_PKG_VERSION").to_owned();
            Ok(Watcher::Refresh(Box::new(refresh), sight))
        }),
    ];
    let visit = |watcher: &mut Watcher, entry: &mut Entry| {
        let mut times = Vec::with_capacity(LOOKS);
        for _ in 0..LOOKS {
            let began = Instant::now();
            match watcher {
                Watcher::Refresh(refresh, sight) => {
                    anyhow::ensure!(refresh.changed(sight).is_none(), "nothing changed");
                }
                Watcher::Stat(paths) => {
                    let there = paths.iter().filter(|path| std::fs::metadata(path).is_ok()).count();
                    anyhow::ensure!(there == FILES, "{there} files are there");
                }
            }
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        entry.note("look_ms", median(&times).unwrap_or_default());
        Ok(())
    };
    let others = interleave(&mut contenders, rounds, |_| None, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}
