//! Universal Ctags as a peer: a whole command over a list of files.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::cpu;
use super::tree_sitter_peer::{Definition, plain};

/// The kinds in an outline and nothing else, so that no time goes into more.
const KINDS: [&str; 3] = ["--kinds-Python=cfm", "--kinds-C=fgsu", "--kinds-C++=fgsucn"];
/// The same with typedefs, which may name unnamed types.
const KINDS_AND_TYPEDEFS: [&str; 2] = ["--kinds-C=fgsut", "--kinds-C++=fgsucnt"];

/// The result of ctags for one file.
#[derive(Default)]
pub(crate) struct Tags {
    /// Named types, functions and namespaces outside of bodies.
    pub(crate) definitions: Vec<Definition>,
    /// The typedefs.
    pub(crate) typedefs: Vec<Definition>,
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "_type")]
    sort: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    line: usize,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    end: Option<usize>,
}

/// CPU seconds of the whole command.
pub(crate) fn time(list: &Path) -> Result<f64> {
    let (seconds, tags) = cpu::of_children(|| run(list, "u-ctags", &KINDS))?;
    ensure!(!tags.is_empty(), "ctags found nothing");
    Ok(seconds)
}

/// The definitions of each C or C++ file.
pub(crate) fn definitions(list: &Path) -> Result<HashMap<String, Tags>> {
    let mut functions: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut files: HashMap<String, Tags> = HashMap::new();
    for line in run(list, "json", &KINDS_AND_TYPEDEFS)?.split(|byte| *byte == b'\n') {
        // A name that is not UTF-8 makes its line unreadable.
        let Ok(tag) = serde_json::from_slice::<Tag>(line) else { continue };
        if tag.sort != "tag" || tag.name.starts_with("__anon") {
            continue;
        }
        if let (Some(end), "function") = (tag.end, tag.kind.as_str()) {
            functions.entry(tag.path.clone()).or_default().push((tag.line, end));
        }
        let definition = Definition { name: plain(&tag.name), line: tag.line, last: tag.end };
        let tags = files.entry(tag.path).or_default();
        match tag.kind.as_str() {
            "typedef" => tags.typedefs.push(definition),
            _ => tags.definitions.push(definition),
        }
    }
    for (path, bodies) in functions {
        let Some(tags) = files.get_mut(&path) else { continue };
        leave_out_locals(&mut tags.definitions, bodies);
    }
    Ok(files)
}

/// Removes definitions in the body of a function: no outline has them.
fn leave_out_locals(definitions: &mut Vec<Definition>, mut bodies: Vec<(usize, usize)>) {
    bodies.sort_unstable();
    // The furthest end of all bodies that begin up to each place, to decide with one lookup.
    let furthest = bodies.iter().scan(0, |furthest, (_, last)| {
        *furthest = (*last).max(*furthest);
        Some(*furthest)
    });
    let furthest: Vec<usize> = furthest.collect();
    definitions.retain(|definition| {
        let before = bodies.partition_point(|(line, _)| *line < definition.line);
        before == 0 || definition.line >= furthest[before - 1]
    });
}

pub(crate) fn version() -> Result<String> {
    let about = Command::new("ctags").arg("--version").output().context("ctags is not installed")?.stdout;
    let about = String::from_utf8_lossy(&about);
    ensure!(about.starts_with("Universal Ctags"), "`ctags` is not Universal Ctags");
    Ok(about.split([' ', ',']).nth(2).unwrap_or("unknown").to_owned())
}

fn run(list: &Path, format: &str, kinds: &[&str]) -> Result<Vec<u8>> {
    let mut ctags = Command::new("ctags");
    ctags.args(["--options=NONE", "--quiet", "--sort=no", "--fields=+neKS"]).args(kinds);
    ctags.arg(format!("--output-format={format}")).args(["-o", "-", "-L"]).arg(list);
    let output = ctags.stdin(Stdio::null()).output().context("ctags could not be started")?;
    ensure!(output.status.success(), "ctags failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_body_is_left_out() {
        let definition = |name: &str, line| Definition { name: name.to_owned(), line, last: None };
        let mut definitions =
            vec![definition("f", 1), definition("inner", 3), definition("g", 10), definition("s", 13)];
        leave_out_locals(&mut definitions, vec![(10, 12), (1, 9)]);
        let names: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
        assert_eq!(names, ["f", "g", "s"]);
    }
}
