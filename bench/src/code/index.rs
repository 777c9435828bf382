//! The first question that needs the outline of every file of a project, the same one repeated, and
//! repeated after one file changed; against one `rg` over the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::bench::CodeBench;
use super::usages::{search, version};
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::stats::median;
use crate::wire::Request;

/// Tools that need every file's outline: one that does little else, and one that also counts all words
/// and ranks the results.
const TOOLS: [(&str, &str); 2] = [("tectum", "derive_code_path"), ("tectum-map", "get_repo_map")];
/// The number of repeated questions in one visit, and of changes.
const AGAIN: usize = 9;
/// The file to change, of usual size.
const CHANGED: &str = "argparse.py";
/// A word for `rg` that is in few files.
const WORD: &str = "getwindowsversion";

enum Asked {
    Tectum(&'static str),
    Ripgrep(PathBuf),
}

pub(super) fn measure(bench: &CodeBench, rounds: usize) -> Result<Measured> {
    let root = bench.corpora.python();
    let mut contenders: Vec<_> = TOOLS
        .into_iter()
        .map(|(name, tool)| {
            Contender::ready(name, |entry| {
                entry.version = bench.serve(&root)?.1;
                entry.remarks.push(format!("asks {tool}"));
                Ok(Asked::Tectum(tool))
            })
        })
        .collect();
    contenders.push(Contender::ready("rg", |entry| {
        let program = bench.grounds.peers.ripgrep()?;
        entry.version = version(&program)?;
        search(&program, &root, &["py"], WORD)?;
        Ok(Asked::Ripgrep(program))
    }));
    let visit = |asked: &mut Asked, entry: &mut Entry| match asked {
        Asked::Tectum(tool) => question(bench, &root, tool, entry),
        Asked::Ripgrep(program) => {
            let began = Instant::now();
            search(program, &root, &["py"], WORD)?;
            entry.note("index_ms", began.elapsed().as_secs_f64() * 1e3);
            Ok(())
        }
    };
    let others = interleave(&mut contenders, rounds, |_| None, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

fn question(bench: &CodeBench, root: &Path, tool: &'static str, entry: &mut Entry) -> Result<()> {
    let request = match tool {
        "get_repo_map" => Request::tool(tool, json!({"path": root}), "symbols"),
        _ => Request::tool(tool, json!({"path": root, "target": "shlex.py::quote", "max_depth": 1}), "quote"),
    };
    let (mut session, _) = bench.serve(root)?;
    entry.note("index_ms", ask(&mut session, &request)?);
    let file = root.join(CHANGED);
    let text = fs::read_to_string(&file)?;
    let (mut warm, mut changed) = (Vec::new(), Vec::new());
    for turn in 0..AGAIN {
        warm.push(ask(&mut session, &request)?);
        fs::write(&file, format!("{text}\n\ndef added_{turn}():\n    pass\n"))?;
        changed.push(ask(&mut session, &request)?);
    }
    fs::write(&file, text)?;
    let (warm, changed) = (median(&warm).unwrap_or_default(), median(&changed).unwrap_or_default());
    entry.note("again_ms", warm);
    entry.note("changed_ms", changed);
    entry.note("more_ms", changed - warm);
    Ok(())
}

/// Milliseconds until the answer arrives.
fn ask(session: &mut Session, request: &Request) -> Result<f64> {
    let began = Instant::now();
    session.ask(request)?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}
