//! The names that differ between two sides. Each is judged before anything else is asked about it.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use tectum_core::{Fault, FaultKind, security::SafePath};

use super::{
    repository::{self, Repository},
    revision::Sides,
};

/// Bytes of a list of names. A comparison with more is too large to be of use.
pub(super) const MOST_NAMES: usize = 8 * 1024 * 1024;
/// Changed names in one comparison: each costs some memory, and a place on a command line.
const MOST_CHANGES: usize = 20_000;

/// One changed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedName {
    /// From the root of the work tree.
    pub(crate) name: OsString,
    /// Below the granted path; empty for the path itself.
    pub(crate) below: PathBuf,
    /// Its present kind.
    pub(crate) now: NowKind,
    /// Git's letter: A, D, M, R, T or U.
    pub(crate) status: char,
}

/// The kind of a name on the right-hand side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NowKind {
    /// Nothing.
    Gone,
    /// A file, and whether it can be executed.
    File { executable: bool },
    /// A symbolic link.
    Link,
    /// Another repository.
    Submodule,
}

impl NowKind {
    fn of(mode: &[u8]) -> Self {
        match mode {
            b"000000" => Self::Gone,
            b"120000" => Self::Link,
            b"160000" => Self::Submodule,
            mode => Self::File { executable: mode == b"100755" },
        }
    }
}

/// Lines added and removed; `None` for a file that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) Option<(u64, u64)>);

/// The facts about one name beside its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedCounts {
    pub(super) counts: Counts,
    /// The name it had before, where it was renamed.
    pub(super) from: Option<OsString>,
}

/// Counts of several names.
pub(super) type ByName = HashMap<OsString, NamedCounts>;

/// The names that may be shown, and how many may not.
#[derive(Debug)]
pub(super) struct ListedChanges {
    pub(super) changes: Vec<ChangedName>,
    pub(super) hidden: usize,
}

/// Lists what changed at or below the granted path.
pub(super) fn list(
    repository: &Repository<'_>,
    path: &SafePath,
    below: &Path,
    sides: &Sides,
) -> Result<ListedChanges, Fault> {
    let mut args: Vec<OsString> = repository::DIFF.iter().map(OsString::from).collect();
    args.extend(["--raw", "--numstat", "-z", "--no-abbrev", "--no-renames"].map(OsString::from));
    args.extend(sides.args());
    args.push("--".into());
    if !below.as_os_str().is_empty() {
        args.push(below.into());
    }
    let ran = repository.git(None, args, MOST_NAMES)?.checked(super::program::GIT)?;
    let mut listed = ListedChanges { changes: Vec::new(), hidden: 0 };
    let mut seen = BTreeSet::new();
    let (names, counts) = parse(&ran.out);
    for (name, now, status) in names {
        // What was only touched is listed without a count; a name in conflict is listed twice.
        let differs = status == 'U' || counts.contains_key(name);
        if !differs || !seen.insert(name) {
            continue;
        }
        let Ok(inner) = Path::new(name).strip_prefix(below) else { continue };
        if path.hides_below(inner) {
            listed.hidden += 1;
            continue;
        }
        listed.changes.push(ChangedName { name: name.to_owned(), below: inner.to_owned(), now, status });
    }
    if ran.cut || listed.changes.len() > MOST_CHANGES {
        return Err(Fault::new(FaultKind::TooLarge, format!("more than {MOST_CHANGES} files differ"))
            .hint("name a directory further down, or a nearer revision"));
    }
    Ok(listed)
}

/// Reads the names, each `:old new old-name new-name status NUL path NUL`, and the counts after
/// them. What is broken off at the end is left out.
fn parse(out: &[u8]) -> (Vec<(&OsStr, NowKind, char)>, ByName) {
    let mut names = Vec::new();
    let mut fields = out.split(|byte| *byte == 0);
    let mut read = 0;
    while out.get(read) == Some(&b':') {
        let (Some(facts), Some(name)) = (fields.next(), fields.next()) else { break };
        read += facts.len() + name.len() + 2;
        let facts: Vec<&[u8]> = facts.split(|byte| *byte == b' ').collect();
        let [_, now, _, _, status] = facts.as_slice() else { break };
        let status = status.first().copied().map_or('?', char::from);
        names.push((OsStr::from_bytes(name), NowKind::of(now), status));
    }
    (names, parse_counts(out.get(read..).unwrap_or_default()))
}

/// Reads `added TAB removed TAB path NUL`, again and again. For a renamed file the path is empty,
/// and the old and the new one follow.
pub(super) fn parse_counts(out: &[u8]) -> ByName {
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse().ok();
    let owned = |name: &[u8]| OsString::from_vec(name.to_vec());
    let mut found = ByName::new();
    let mut rows = out.split(|byte| *byte == 0);
    while let Some(row) = rows.next() {
        let mut fields = row.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(removed), Some(name)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let counts = Counts(number(added).zip(number(removed)));
        match name {
            [] => {
                let (Some(old), Some(new)) = (rows.next(), rows.next()) else { break };
                found.insert(owned(new), NamedCounts { counts, from: Some(owned(old)) });
            }
            name => drop(found.insert(owned(name), NamedCounts { counts, from: None })),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are() {
        let out = b":100644 100755 aa bb M\0a b\0:000000 100644 00 bb A\0:n\xc3\xa4me\n\0\
            :120000 000000 aa 00 D\0l\0:160000 160000 aa bb M\0sub\x001\t2\ta b\x000\t1\t:n\xc3\xa4me\n\0";
        let name = OsStr::from_bytes;
        let (names, counts) = parse(out);
        let expect = [
            (name(b"a b"), NowKind::File { executable: true }, 'M'),
            (name(":n\u{e4}me\n".as_bytes()), NowKind::File { executable: false }, 'A'),
            (name(b"l"), NowKind::Gone, 'D'),
            (name(b"sub"), NowKind::Submodule, 'M'),
        ];
        assert_eq!(names, expect);
        assert_eq!((counts.len(), counts[name(b"a b")].counts), (2, Counts(Some((1, 2)))));
    }

    #[test]
    fn what_is_broken_off_is_left_out() {
        for end in [&b""[..], b"nonsense\0here\0", b":", b":100644 100", b":1 2 3 4 M\0", b":\0\0:\0"] {
            let out = [b":100644 100755 aa bb M\0a\0", end].concat();
            assert!(parse(&out).0.len() <= 2, "{end:?}");
            assert!(parse(end).0.len() <= 1, "{end:?}");
        }
    }

    #[test]
    fn counts_are_read_by_name() {
        let counts = parse_counts(b"3\t1\ta\tb\x001\t0\t\0old\0new\0-\t-\tpicture\0\0broken\x001\t1\t\0cut");
        assert_eq!(counts.len(), 3);
        assert_eq!(counts[OsStr::new("a\tb")], NamedCounts { counts: Counts(Some((3, 1))), from: None });
        let renamed = NamedCounts { counts: Counts(Some((1, 0))), from: Some("old".into()) };
        assert_eq!(counts[OsStr::new("new")], renamed);
        assert_eq!(counts[OsStr::new("picture")].counts, Counts(None));
    }
}
