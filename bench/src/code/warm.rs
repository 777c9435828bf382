//! The outline of one large Python file, asked for repeatedly, against a parser that starts from scratch.

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use tree_sitter::Parser;

use super::bench::CodeBench;
use super::corpora::{SourceFile, Tongue};
use super::tree_sitter_peer;
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::stats::median;
use crate::wire::Request;

/// The wanted length of the file; the nearest of the corpus is taken.
const LINES: usize = 5_000;
/// The number of questions in one visit.
const ASKED: usize = 50;
/// The number of parses in one visit.
const PARSED: usize = 5;

enum WarmOutliner {
    Tectum(Box<Session>, Request),
    TreeSitter(Box<Parser>),
}

pub(super) fn measure(bench: &CodeBench, rounds: usize) -> Result<Measured> {
    let corpus = bench.corpora.read(Tongue::Python)?;
    let away = |file: &&SourceFile| file.text.lines().count().abs_diff(LINES);
    let file = corpus.files.iter().min_by_key(away).context("a corpus has files")?;
    let about = format!("{} with {} lines", file.path.display(), file.text.lines().count());
    eprintln!("  {about}");
    let mut contenders = [
        Contender::ready("tectum", |entry| {
            let (mut session, version) = bench.serve(&bench.corpora.python())?;
            entry.version = version;
            let request = Request::tool("py_get_code_outline", json!({"path": file.path}), "Lines");
            let began = Instant::now();
            session.ask(&request)?;
            entry
                .remarks
                .push(format!("the first answer took {:.2} ms", began.elapsed().as_secs_f64() * 1e3));
            Ok(WarmOutliner::Tectum(Box::new(session), request))
        }),
        Contender::ready("tree-sitter", |entry| {
            entry.version = tree_sitter_peer::VERSION.to_owned();
            Ok(WarmOutliner::TreeSitter(Box::new(tree_sitter_peer::parser(Tongue::Python)?)))
        }),
    ];
    let process = |outliner: &WarmOutliner| match outliner {
        WarmOutliner::Tectum(session, _) => Some(session.pid()),
        WarmOutliner::TreeSitter(_) => None,
    };
    let visit = |outliner: &mut WarmOutliner, entry: &mut Entry| {
        let mut times = Vec::new();
        match outliner {
            WarmOutliner::Tectum(session, request) => {
                for _ in 0..ASKED {
                    let began = Instant::now();
                    session.ask(request)?;
                    times.push(began.elapsed().as_secs_f64() * 1e6);
                }
            }
            WarmOutliner::TreeSitter(parser) => {
                for _ in 0..PARSED {
                    let began = Instant::now();
                    drop(tree_sitter_peer::parse(parser, &file.text)?);
                    times.push(began.elapsed().as_secs_f64() * 1e6);
                }
            }
        }
        entry.note("outline_us", median(&times).unwrap_or_default());
        Ok(())
    };
    let others = interleave(&mut contenders, rounds, process, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}
