//! Outlines of all sources in one language on one core, from memory: our skim against a whole parse
//! and against ctags, in megabytes for each second of CPU time.

use std::hint::black_box;
use std::path::PathBuf;

use anyhow::Result;
use tectum_syntax::{Detail, Outline};
use tree_sitter::Parser;

use super::bench::CodeBench;
use super::corpora::{Corpus, SourceFile, Tongue};
use super::{ast_peer, cpu, ctags_peer, tree_sitter_peer};
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};

/// Passes of the skim in one visit: one alone is too short for good timing.
const PASSES: usize = 5;

enum Outliner {
    Tectum,
    Ast(PathBuf),
    TreeSitter(Box<Parser>),
    Ctags(PathBuf),
}

pub(super) fn measure(bench: &CodeBench, tongue: Tongue, rounds: usize) -> Result<Measured> {
    let corpus = bench.corpora.read(tongue)?;
    let list = bench.corpora.note(&format!("{tongue:?}.list").to_lowercase());
    corpus.list(&list)?;
    eprintln!("  {} files, {:.1} MB", corpus.files.len(), corpus.megabytes());
    let mut contenders = vec![
        Contender::ready("tectum", |entry| {
            entry.version = env!("CARGO_PKG_VERSION").to_owned();
            Ok(Outliner::Tectum)
        }),
        Contender::ready("tree-sitter", |entry| {
            entry.version = tree_sitter_peer::VERSION.to_owned();
            Ok(Outliner::TreeSitter(Box::new(tree_sitter_peer::parser(tongue)?)))
        }),
        Contender::ready("ctags", |entry| {
            entry.version = ctags_peer::version()?;
            Ok(Outliner::Ctags(list.clone()))
        }),
    ];
    if tongue == Tongue::Python {
        contenders.push(Contender::ready("ast", |entry| {
            entry.version = ast_peer::version()?;
            Ok(Outliner::Ast(list.clone()))
        }));
    }
    let visit = |outliner: &mut Outliner, entry: &mut Entry| {
        let seconds = outliner.outline_all(&corpus)?;
        entry.note("mb_per_cpu_s", corpus.megabytes() / seconds);
        Ok(())
    };
    let others = interleave(&mut contenders, rounds, |_| None, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

impl Outliner {
    /// CPU seconds for the whole corpus.
    fn outline_all(&mut self, corpus: &Corpus) -> Result<f64> {
        match self {
            Self::Tectum => {
                let (seconds, ()) = cpu::of_thread(|| {
                    for _ in 0..PASSES {
                        corpus.files.iter().for_each(|file| drop(black_box(skim(file))));
                    }
                });
                Ok(seconds / PASSES as f64)
            }
            Self::TreeSitter(parser) => {
                let (seconds, outcome) = cpu::of_thread(|| {
                    corpus.files.iter().try_for_each(|file| {
                        let tree = tree_sitter_peer::parse(parser, &file.text)?;
                        black_box(tree_sitter_peer::count(&tree));
                        anyhow::Ok(())
                    })
                });
                outcome.map(|()| seconds)
            }
            Self::Ctags(list) => ctags_peer::time(list),
            Self::Ast(list) => Ok(ast_peer::time(list)?.0),
        }
    }
}

/// The definitions of one file, as Tectum finds them.
pub(super) fn skim(file: &SourceFile) -> Outline {
    file.language.outline(&file.text, Detail::Outline, &|| false).unwrap_or_default()
}
