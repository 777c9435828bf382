//! The files of a copy in which a session was made again, compared with what the record says of them, and
//! else with the project as it is now.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use serde_json::Value;
use tectum::{
    replay::{Difference, Session},
    tools::text::revision,
};
use tectum_journal::{Ending, Entry};

/// The largest file whose differing lines are shown.
const MOST_SHOWN: u64 = 1 << 20;

/// The outcome of comparing files.
#[derive(Debug, Default)]
pub(super) struct FilesFound {
    /// The number of files that were compared.
    pub(super) compared: usize,
    /// Those that are not what they should be; the name stands in the place of a tool's.
    pub(super) differences: Vec<Difference>,
    /// Those that are as the session left them, while the project has something else now.
    pub(super) changed_since: Vec<String>,
}

/// Compares every file of the project and its copy, but what git keeps for itself.
pub(super) fn compare(project: &Path, copy: &Path, session: &Session) -> io::Result<FilesFound> {
    let recorded = recorded(session, project);
    let mut names = BTreeSet::new();
    for root in [project, copy] {
        collect(root, Path::new(""), &mut names)?;
    }
    let mut found = FilesFound { compared: names.len(), ..FilesFound::default() };
    for name in names {
        let (theirs, ours) = (project.join(&name), copy.join(&name));
        if same(&theirs, &ours)? {
            continue;
        }
        let shown = name.display().to_string();
        match (recorded.get(&name), content(&ours)?) {
            (Some(left), Some(bytes)) if revision(&bytes) == *left => found.changed_since.push(shown),
            (_, ours) => {
                let diff = Difference::diff(&text(content(&theirs)?), &text(ours));
                let (call, args) = (String::new(), String::new());
                found.differences.push(Difference { call, tool: shown, args, diff });
            }
        }
    }
    Ok(found)
}

/// The revisions that the session left in files at its end, as far as the results of its edits tell them.
fn recorded(session: &Session, project: &Path) -> BTreeMap<PathBuf, String> {
    let name = |path: &str| Path::new(path).strip_prefix(project).unwrap_or(Path::new(path)).to_owned();
    let mut left = BTreeMap::new();
    for entry in session.entries.iter().filter(|entry| entry.effect.as_deref() != Some("read")) {
        let Entry { ending: Ending::Native { structured, .. }, .. } = &**entry else { continue };
        let result: Value = serde_json::from_str(structured.get()).unwrap_or_default();
        if result["dry_run"] == true {
            continue;
        }
        let files = result["files"].as_array().map_or(std::slice::from_ref(&result), Vec::as_slice);
        let written =
            files.iter().filter_map(|file| Some((file["path"].as_str()?, file["revision"].as_str()?)));
        let written: Vec<_> = written.collect();
        if written.is_empty() {
            // A command, a move or a deletion: what it left is not in the record.
            left.clear();
        }
        left.extend(written.into_iter().map(|(path, revision)| (name(path), revision.to_owned())));
    }
    left
}

/// The names of all files and links below a folder.
#[expect(clippy::disallowed_methods, reason = "the operator asks to compare the project with its copy")]
fn collect(root: &Path, below: &Path, names: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        match entry.file_type()? {
            kind if kind.is_dir() && entry.file_name() == ".git" => {}
            kind if kind.is_dir() => collect(root, &name, names)?,
            kind if kind.is_file() || kind.is_symlink() => drop(names.insert(name)),
            _ => {}
        }
    }
    Ok(())
}

/// True if two files are the same. A copy has the time of what it was copied from, until somebody writes it.
#[expect(clippy::disallowed_methods, reason = "the operator asks to compare the project with its copy")]
fn same(one: &Path, other: &Path) -> io::Result<bool> {
    let (Some(about), Some(about_other)) = (about(one)?, about(other)?) else { return Ok(false) };
    if about.is_symlink() && about_other.is_symlink() {
        return Ok(fs::read_link(one)? == fs::read_link(other)?);
    }
    if !about.is_file() || !about_other.is_file() || about.len() != about_other.len() {
        return Ok(false);
    }
    if about.modified()? == about_other.modified()? {
        return Ok(true);
    }
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut piece, mut piece_other) = (Vec::new(), Vec::new());
    loop {
        (&mut one).take(1 << 16).read_to_end(&mut piece)?;
        (&mut other).take(1 << 16).read_to_end(&mut piece_other)?;
        if piece != piece_other || piece.is_empty() {
            return Ok(piece == piece_other);
        }
        piece.clear();
        piece_other.clear();
    }
}

fn about(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match path.symlink_metadata() {
        Ok(about) => Ok(Some(about)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The bytes of a file, or where a link leads; `None` if there is neither.
#[expect(clippy::disallowed_methods, reason = "the operator asks to compare the project with its copy")]
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    Ok(match about(path)? {
        None => None,
        Some(about) if about.is_symlink() => {
            Some(format!("[a link to {}]\n", fs::read_link(path)?.display()).into_bytes())
        }
        Some(about) if about.len() > MOST_SHOWN => Some(format!("[{} bytes]\n", about.len()).into_bytes()),
        Some(_) => Some(fs::read(path)?),
    })
}

fn text(content: Option<Vec<u8>>) -> String {
    match content.map(String::from_utf8) {
        None => "[no file]\n".to_owned(),
        Some(Ok(text)) => text,
        Some(Err(error)) => format!("[{} bytes that are no text]\n", error.as_bytes().len()),
    }
}
