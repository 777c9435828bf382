//! The usages of a name in a whole tree: Tectum's first and later answers against `rg` as a whole
//! command. Tectum says what each place is and shows a page; `rg` prints all lines.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::bench::CodeBench;
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::stats::median;
use crate::wire::Request;

/// The number of repeated questions in one visit.
const AGAIN: usize = 15;

/// Words to search in one of the trees.
pub(super) struct Words {
    tree: fn(&CodeBench) -> PathBuf,
    types: &'static [&'static str],
    /// How often the word occurs, the word, and a similar one that is asked for afterwards.
    words: [(&'static str, &'static str, &'static str); 3],
}

pub(super) const PYTHON: Words = Words {
    tree: |bench| bench.corpora.python(),
    types: &["py"],
    words: [
        ("rare", "getwindowsversion", "get_cache_token"),
        ("medium", "OrderedDict", "namedtuple"),
        ("common", "self", "assertEqual"),
    ],
};

pub(super) const NATIVE: Words = Words {
    tree: |bench| bench.corpora.native(),
    types: &["c", "cpp"],
    words: [
        ("rare", "PyArray_CanCastArrayTo", "grpc_slice_malloc"),
        ("medium", "GRPC_TRACE_FLAG_ENABLED", "Py_DECREF"),
        ("common", "std", "size_t"),
    ],
};

enum UsageSearcher {
    Tectum,
    Ripgrep(PathBuf),
}

pub(super) fn measure(bench: &CodeBench, words: &Words, rounds: usize) -> Result<Measured> {
    let root = (words.tree)(bench);
    let mut contenders = [
        Contender::ready("tectum", |entry| {
            // The first start finds an empty page cache; it is not counted.
            let (mut session, version) = bench.serve(&root)?;
            entry.version = version;
            for (_, word, other) in words.words {
                usages(&mut session, &root, word)?;
                usages(&mut session, &root, other)?;
            }
            Ok(UsageSearcher::Tectum)
        }),
        Contender::ready("rg", |entry| {
            let program = bench.grounds.peers.ripgrep()?;
            entry.version = version(&program)?;
            for (often, word, other) in words.words {
                for word in [word, other] {
                    let lines =
                        memchr::memchr_iter(b'\n', &search(&program, &root, words.types, word)?).count();
                    entry.remarks.push(format!("{often}: `{word}` on {lines} lines"));
                }
            }
            Ok(UsageSearcher::Ripgrep(program))
        }),
    ];
    let visit = |searcher: &mut UsageSearcher, entry: &mut Entry| {
        for (often, word, other) in words.words {
            match searcher {
                UsageSearcher::Ripgrep(program) => {
                    let took = |word| {
                        let began = Instant::now();
                        search(program, &root, words.types, word)?;
                        anyhow::Ok(began.elapsed().as_secs_f64() * 1e3)
                    };
                    let first = took(word)?;
                    entry.note(format!("{often}_first_ms"), first);
                    entry.note(format!("{often}_warm_us"), first * 1e3);
                    entry.note(format!("{often}_other_ms"), took(other)?);
                }
                UsageSearcher::Tectum => {
                    let (mut session, _) = bench.serve(&root)?;
                    entry.note(format!("{often}_first_ms"), usages(&mut session, &root, word)?);
                    let mut again = Vec::new();
                    for _ in 0..AGAIN {
                        again.push(usages(&mut session, &root, word)? * 1e3);
                    }
                    entry.note(format!("{often}_warm_us"), median(&again).unwrap_or_default());
                    entry.note(format!("{often}_other_ms"), usages(&mut session, &root, other)?);
                }
            }
        }
        Ok(())
    };
    let others = interleave(&mut contenders, rounds, |_| None, visit);
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

/// Milliseconds until the answer arrives.
fn usages(session: &mut Session, root: &Path, word: &str) -> Result<f64> {
    let request = Request::tool("code_usages", json!({"path": root, "name": word}), word);
    let began = Instant::now();
    session.ask(&request)?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Every line with the word, as `rg` prints it.
pub(super) fn search(program: &Path, root: &Path, types: &[&str], word: &str) -> Result<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(["--no-config", "-n", "-w", "-F", word]).arg(root).stdin(Stdio::null());
    command.args(types.iter().flat_map(|kind| ["-t", kind]));
    let output = command.output().context("rg could not be started")?;
    ensure!(output.status.success(), "rg failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

pub(super) fn version(program: &Path) -> Result<String> {
    let about = Command::new(program).arg("--version").output()?.stdout;
    Ok(String::from_utf8_lossy(&about).split_whitespace().nth(1).unwrap_or("unknown").to_owned())
}
