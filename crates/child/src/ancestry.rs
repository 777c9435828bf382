//! The processes above this one, as the system knows them: what a cleared environment cannot hide.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    os::unix::{ffi::OsStringExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

/// The longest chain that is looked at.
const MOST: usize = 64;
/// Bytes that are compared at a time.
const PIECE: usize = 64 * 1024;
/// A longer command line is none of ours.
const MOST_WORDS: u64 = 64 * 1024;

/// A process above this one that runs the same program.
#[derive(Clone, Debug)]
pub struct Ancestor {
    /// Its command line.
    pub words: Vec<OsString>,
    /// Where it was when it was looked at; processes of ours stay where they started.
    pub directory: PathBuf,
}

/// Those above this process that run the same program as it does, the nearest first. What another
/// user's processes run cannot be seen.
pub fn ours_above() -> Vec<Ancestor> {
    let own = Path::new("/proc/self/exe");
    let mut found = Vec::new();
    let mut pid = std::process::id();
    for _ in 0..MOST {
        let Some(parent) = parent(pid).filter(|parent| *parent > 0) else { break };
        pid = parent;
        let folder = PathBuf::from(format!("/proc/{pid}"));
        if !is_same_program(&folder.join("exe"), own) {
            continue;
        }
        if let (Ok(words), Ok(directory)) = (words(&folder), folder.join("cwd").read_link()) {
            found.push(Ancestor { words, directory });
        }
    }
    found
}

/// Whether two files are one program, under whatever names: the same file, or a copy of it.
pub fn is_same_program(one: &Path, other: &Path) -> bool {
    let (Ok(one_held), Ok(other_held)) = (one.metadata(), other.metadata()) else { return false };
    if !one_held.is_file() || !other_held.is_file() || one_held.len() != other_held.len() {
        return false;
    }
    let same_file = one_held.dev() == other_held.dev() && one_held.ino() == other_held.ino();
    same_file || is_same_content(one, other).unwrap_or(false)
}

#[expect(clippy::disallowed_methods, reason = "programs of the operator's set-up, not an agent's path")]
fn is_same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut a, mut b) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let read = one.read(&mut a)?;
        if read == 0 {
            return Ok(true);
        }
        other.read_exact(&mut b[..read])?;
        if a[..read] != b[..read] {
            return Ok(false);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the system's own record of a process")]
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the parent is the second field behind it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "the system's own record of a process")]
fn words(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut line = Vec::new();
    File::open(folder.join("cmdline"))?.take(MOST_WORDS).read_to_end(&mut line)?;
    let line = line.strip_suffix(&[0]).unwrap_or(&line);
    Ok(line.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the programs that are compared")]
    fn a_program_is_known_by_its_file_and_by_its_content() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = |name: &str| scratch.path().join(name);
        let content = vec![7; PIECE + 5];
        std::fs::write(path("own"), &content).expect("written");
        std::fs::hard_link(path("own"), path("hard")).expect("linked");
        std::os::unix::fs::symlink(path("own"), path("link")).expect("linked");
        std::fs::copy(path("own"), path("copy")).expect("copied");
        for same in ["own", "hard", "link", "copy"] {
            assert!(is_same_program(&path(same), &path("own")), "{same}");
        }
        let mut other = content.clone();
        other[PIECE + 1] = 8;
        std::fs::write(path("other"), other).expect("written");
        std::fs::write(path("short"), &content[1..]).expect("written");
        for other in ["other", "short", "none", "."] {
            assert!(!is_same_program(&path(other), &path("own")), "{other}");
        }
    }

    #[test]
    fn parents_are_found() {
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
    }
}
