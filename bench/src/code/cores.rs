//! Outlines on all cores against one: how well the work scales.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Result;

use super::bench::CodeBench;
use super::corpora::{Corpus, Tongue};
use super::outline::skim;
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};

/// The bytes to process for one figure: one corpus is done before a second thread has warmed up.
const BYTES: usize = 400_000_000;

pub(super) fn measure(bench: &CodeBench, rounds: usize) -> Result<Measured> {
    let tongues = [("python", Tongue::Python), ("c", Tongue::C), ("cpp", Tongue::Cpp)];
    let mut corpora = Vec::new();
    for (name, tongue) in tongues {
        corpora.push((name, bench.corpora.read(tongue)?));
    }
    let ready = |name: &str, threads: usize| {
        Contender::ready(name, |entry| {
            entry.version = format!("{threads} threads");
            Ok(threads)
        })
    };
    let mut contenders = [ready("tectum", 2), ready("one-core", 1)];
    let visit = |threads: &mut usize, entry: &mut Entry| {
        for (name, corpus) in &corpora {
            let passes = BYTES.div_ceil(corpus.bytes);
            let began = Instant::now();
            outline_all(corpus, passes, *threads);
            let megabytes = corpus.megabytes() * passes as f64;
            entry.note(format!("{name}_mb_per_s"), megabytes / began.elapsed().as_secs_f64());
        }
        Ok(())
    };
    let others = interleave(&mut contenders, rounds, |_| None, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

/// Outlines every file in each pass; each thread takes the next file that no other has taken.
fn outline_all(corpus: &Corpus, passes: usize, threads: usize) {
    let (files, next) = (corpus.files.len(), AtomicUsize::new(0));
    let run = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= files * passes {
                break;
            }
            drop(black_box(skim(&corpus.files[place % files])));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
}
