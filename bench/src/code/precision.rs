//! How often an outline is right: every definition of Python against `ast`, every one of C and C++
//! against ctags and tree-sitter, separately for files that tree-sitter reads without an error.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use tectum_syntax::{Kind, Outline};

use super::bench::CodeBench;
use super::corpora::{SourceFile, Tongue};
use super::outline::skim;
use super::verdict::{Key, Tally, Views, keyed};
use super::{ast_peer, ctags_peer, tree_sitter_peer};
use crate::record::Entry;

/// The file with every difference, for people to read.
const DIFFERENCES: &str = "differences.txt";

pub(super) fn measure(bench: &CodeBench) -> Result<Vec<Entry>> {
    let mut differences = String::new();
    let mut entries = vec![python(bench, &mut differences)?];
    for (tongue, name) in [(Tongue::C, "C"), (Tongue::Cpp, "C++")] {
        entries.extend(native(bench, tongue, name, &mut differences)?);
    }
    let place = bench.corpora.note(DIFFERENCES);
    fs::write(&place, differences)?;
    eprintln!("  every difference is in {}", place.display());
    Ok(entries)
}

/// Name, kind, first line with decorators and last line of every definition.
fn python(bench: &CodeBench, differences: &mut String) -> Result<Entry> {
    let corpus = bench.corpora.read(Tongue::Python)?;
    let list = bench.corpora.note("python.list");
    corpus.list(&list)?;
    let mut entry = Entry::new("Python");
    entry.version = format!("ast {}", ast_peer::version()?);
    let parsed = ast_peer::definitions(&list)?;
    let (mut files, mut all, mut agreed, mut more) = (0, 0, 0, 0);
    for (file, parsed) in corpus.files.iter().zip(&parsed) {
        anyhow::ensure!(file.path.to_str() == Some(&parsed.path), "ast answered out of order");
        let Some(theirs) = &parsed.definitions else { continue };
        files += 1;
        let mut ours: HashMap<(&str, &str, usize, usize), usize> = HashMap::new();
        let (outline, lines) = (skim(file), Lines::of(&file.text));
        for symbol in &outline.symbols {
            let (first, last) = lines.of_span(symbol.whole);
            *ours.entry((symbol.name.slice(&file.text), symbol.kind.label(), first, last)).or_default() += 1;
        }
        for (name, kind, first, last) in theirs {
            all += 1;
            match ours.get_mut(&(name.as_str(), kind.as_str(), *first, *last)).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    agreed += 1;
                }
                None => {
                    let _ = writeln!(
                        differences,
                        "Python\tours lacks\t{kind} {name}\t{}:{first}-{last}",
                        parsed.path
                    );
                }
            }
        }
        for ((name, kind, first, last), _) in ours.iter().filter(|(_, count)| **count > 0) {
            more += 1;
            let _ =
                writeln!(differences, "Python\tours alone\t{kind} {name}\t{}:{first}-{last}", parsed.path);
        }
    }
    entry.note("files", f64::from(files));
    entry.note("definitions", f64::from(all));
    entry.note("ast_pct", percent(agreed, all));
    entry.remarks.push(format!("{agreed} of {all} in {files} files agree; {more} that ast does not have"));
    Ok(entry)
}

fn native(bench: &CodeBench, tongue: Tongue, name: &str, differences: &mut String) -> Result<Vec<Entry>> {
    let corpus = bench.corpora.read(tongue)?;
    let list = bench.corpora.note(&format!("{tongue:?}.list").to_lowercase());
    corpus.list(&list)?;
    let tags = ctags_peer::definitions(&list)?;
    let mut parser = tree_sitter_peer::parser(tongue)?;
    let mut groups: BTreeMap<bool, Tally> = BTreeMap::new();
    for file in &corpus.files {
        let tree = tree_sitter_peer::parse(&mut parser, &file.text)?;
        let damaged = tree.root_node().has_error();
        let path = file.path.to_str().context("a plain path")?;
        let nothing = ctags_peer::Tags::default();
        let tags = tags.get(path).unwrap_or(&nothing);
        let views = Views {
            text: &file.text,
            ours: bodies(file, &skim(file)),
            tags: keyed(&tags.definitions).collect(),
            tree: keyed(&tree_sitter_peer::definitions(&tree, &file.text))
                .filter_map(|(key, last)| Some((key, last?)))
                .collect(),
            typedefs: keyed(&tags.typedefs).map(|(key, _)| key).collect::<HashSet<Key>>(),
        };
        for difference in groups.entry(damaged).or_default().add(&views) {
            let group = if damaged { "damaged" } else { "clean" };
            let (why, called, line) = (difference.why, difference.name, difference.line);
            let _ =
                writeln!(differences, "{name} {group}\t{why}\t{called}\t{path}:{line}\t{}", difference.ends);
        }
    }
    let version = format!("ctags {}", ctags_peer::version()?);
    let group = |(damaged, tally): (bool, Tally)| {
        let mut entry = Entry::new(&format!("{name}, {}", if damaged { "damaged" } else { "clean" }));
        entry.version = version.clone();
        tell(&mut entry, &tally);
        entry
    };
    Ok(groups.into_iter().map(group).collect())
}

/// The definitions with a body in a C or C++ outline, by name and line. A namespace that is opened
/// together with those around it counts for each of them.
fn bodies(file: &SourceFile, outline: &Outline) -> HashMap<Key, usize> {
    let lines = Lines::of(&file.text);
    let mut found = HashMap::new();
    for symbol in outline.symbols.iter().filter(|symbol| !symbol.declaration && !symbol.body.is_empty()) {
        let wanted = symbol.kind == Kind::Namespace
            || matches!(symbol.kind, Kind::Function | Kind::Method)
            || symbol.kind.is_type();
        let name = tree_sitter_peer::plain(symbol.name.slice(&file.text));
        if !wanted || name.is_empty() {
            continue;
        }
        let line = lines.at(symbol.name.start);
        let last = lines.of_span(symbol.whole).1;
        if symbol.kind == Kind::Namespace {
            let around = symbol.scope.slice(&file.text).split("::").filter(|part| !part.trim().is_empty());
            found.extend(around.map(|part| ((part.trim().to_owned(), line), last)));
        }
        found.insert((name, line), last);
    }
    found
}

fn tell(entry: &mut Entry, tally: &Tally) {
    let [tags, tags_found, tags_ends, tags_same] = tally.tags;
    let [tree, tree_found, tree_ends, tree_same] = tally.tree;
    entry.note("files", tally.files as f64);
    entry.note("definitions", tally.ours as f64);
    entry.note("ctags_pct", percent(tags_found, tags));
    entry.note("ctags_end_pct", percent(tags_same, tags_ends));
    entry.note("known_pct", percent(tally.known, tally.ours));
    entry.note("tree_pct", percent(tree_found, tree));
    entry.note("tree_end_pct", percent(tree_same, tree_ends));
    entry.note("judged_pct", percent(tally.judged[1], tally.judged[0]));
    let [all, right] = tally.judged;
    entry
        .remarks
        .push(format!("{all} are known to two of the three, of these {right} to us with a right end"));
    let mut reasons: Vec<_> = tally.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    entry.remarks.extend(reasons.into_iter().map(|(why, count)| format!("{count} × {why}")));
}

fn percent(part: impl TryInto<u32>, whole: impl TryInto<u32>) -> f64 {
    let (part, whole) = (part.try_into().unwrap_or(0), whole.try_into().unwrap_or(0));
    if whole == 0 { 100.0 } else { f64::from(part) * 100.0 / f64::from(whole) }
}

/// The offsets of line starts; `\n`, `\r\n` and a lone `\r` end a line.
struct Lines(Vec<u32>);

impl Lines {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        Self(ends.map(|at| at as u32 + 1).collect())
    }

    fn at(&self, offset: u32) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }

    fn of_span(&self, span: tectum_syntax::Span) -> (usize, usize) {
        (self.at(span.start), self.at(span.end.saturating_sub(1).max(span.start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_python_has_them() {
        let lines = Lines::of("a\nb\r\nc\rd");
        assert_eq!([0, 2, 5, 7].map(|offset| lines.at(offset)), [1, 2, 3, 4]);
    }

    #[test]
    fn shares_are_percent() {
        assert_eq!(percent(1, 4), 25.0);
        assert_eq!(percent(0, 0), 100.0);
    }
}
