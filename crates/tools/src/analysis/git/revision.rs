//! The two sides of a comparison: what a caller may write for a revision, and which commit it
//! is. Only commit names found by git itself reach a comparing command.

use std::ffi::OsString;

use tectum_core::Fault;

use super::repository::Repository;

/// The longest revision anybody writes.
const LONGEST: usize = 256;
/// Branches and tags looked at for one that was meant.
const KNOWN: &str = "--count=1000";
/// The number of them that are named.
const NAMED: usize = 3;
/// The likeness a name must have to be named.
const LIKE: f64 = 0.6;
/// Digits of a commit's name in replies.
const DIGITS: usize = 10;

/// The revisions that the caller wants to compare, with well-formed words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WantedRevisions {
    base: Option<String>,
    head: Option<String>,
    staged: bool,
    /// From where the two parted, as in `a...b`.
    fork: bool,
}

/// The right-hand side.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RightSide {
    /// Files as they are.
    WorkTree,
    /// The staged content.
    Index,
    /// A commit.
    Commit {
        /// Its full name.
        name: String,
        /// The caller's word for it.
        called: String,
    },
}

/// Both sides, ready to be compared.
#[derive(Debug)]
pub(super) struct Sides {
    base: String,
    called: String,
    pub(super) head: RightSide,
}

impl WantedRevisions {
    /// Takes the caller's words apart. `a..b` and `a...b` stand for both sides at once.
    pub(super) fn parse(base: Option<&str>, head: Option<&str>, staged: bool) -> Result<Self, Fault> {
        let range = |text: &str, dots: &str| -> Option<(String, String)> {
            let (left, right) = text.split_once(dots)?;
            let side = |side: &str| if side.is_empty() { "HEAD".to_owned() } else { side.to_owned() };
            Some((side(left), side(right)))
        };
        let (base, head, fork) = match (base, head) {
            (Some(base), None) => match (range(base, "..."), range(base, "..")) {
                (Some((base, head)), _) => (Some(base), Some(head), true),
                (None, Some((base, head))) => (Some(base), Some(head), false),
                (None, None) => (Some(base.to_owned()), None, false),
            },
            (base, head) => (base.map(str::to_owned), head.map(str::to_owned), false),
        };
        for (argument, revision) in [("base_rev", &base), ("head_rev", &head)] {
            if let Some(revision) = revision {
                check(argument, revision)?;
            }
        }
        if staged && head.is_some() {
            return Err(Fault::invalid(
                "staged compares with what is staged, so it takes no second revision",
            )
            .hint("leave head_rev out, or staged"));
        }
        Ok(Self { base, head, staged, fork })
    }

    /// Finds the commits. A repository without a commit is compared with nothing at all.
    pub(super) fn resolve(&self, repository: &Repository<'_>) -> Result<Sides, Fault> {
        let called = self.base.clone().unwrap_or_else(|| "HEAD".to_owned());
        let head = match &self.head {
            Some(head) => {
                let name = commit(repository, head)?.ok_or_else(|| unknown(repository, head))?;
                RightSide::Commit { name, called: head.clone() }
            }
            None if self.staged => RightSide::Index,
            None => RightSide::WorkTree,
        };
        let base = match commit(repository, &called)? {
            Some(base) => base,
            None if called == "HEAD" => {
                return Ok(Sides { base: nothing(repository)?, called: "no commit yet".into(), head });
            }
            None => return Err(unknown(repository, &called)),
        };
        let RightSide::Commit { name, called: head_called } = &head else {
            return Ok(Sides { base, called, head });
        };
        if !self.fork {
            return Ok(Sides { base, called, head });
        }
        let parted = repository.ask(&["merge-base", &base, name])?;
        let base = parted.ok_or_else(|| {
            Fault::conflict(format!("{called} and {head_called} have no commit in common"))
                .hint("write two dots to compare them directly")
        })?;
        Ok(Sides { base, called: format!("where {head_called} left {called}"), head })
    }
}

impl Sides {
    /// The words of a comparing command.
    pub(super) fn args(&self) -> Vec<OsString> {
        let base = self.base.clone().into();
        match &self.head {
            RightSide::WorkTree => vec![base],
            RightSide::Index => vec!["--cached".into(), base],
            RightSide::Commit { name, .. } => vec![base, name.into()],
        }
    }

    pub(super) fn base_label(&self) -> String {
        label(&self.called, &self.base)
    }

    pub(super) fn head_label(&self) -> String {
        match &self.head {
            RightSide::WorkTree => "working tree".into(),
            RightSide::Index => "index".into(),
            RightSide::Commit { name, called } => label(called, name),
        }
    }
}

fn label(called: &str, name: &str) -> String {
    let short = &name[..name.len().min(DIGITS)];
    if name.starts_with(called) { short.to_owned() } else { format!("{called} ({short})") }
}

/// Refuses what git could take for something else than a revision.
fn check(argument: &str, revision: &str) -> Result<(), Fault> {
    let wrong = if revision.is_empty() {
        "is empty"
    } else if revision.starts_with(['-', '.']) {
        "starts with `-` or a dot"
    } else if revision.len() > LONGEST {
        "is too long"
    } else if revision.contains(|c: char| c.is_control() || c.is_whitespace()) {
        "has white space or control characters"
    } else if revision.contains("..") {
        "has `..` where one revision is expected"
    } else if revision.contains(':') {
        "has `:`, which names a file and not a commit"
    } else {
        return Ok(());
    };
    Err(Fault::invalid(format!("{argument} {wrong}"))
        .hint("write a branch, a tag, a commit or HEAD~1; `a..b` and `a...b` go in base_rev alone"))
}

/// The full name of a commit.
fn commit(repository: &Repository<'_>, revision: &str) -> Result<Option<String>, Fault> {
    let peeled = format!("{revision}^{{commit}}");
    let found = repository.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled])?;
    let is_name = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(found.filter(is_name))
}

/// The empty tree, whichever hash the repository uses.
fn nothing(repository: &Repository<'_>) -> Result<String, Fault> {
    let tree = repository.ask(&["hash-object", "-t", "tree", "/dev/null"])?;
    tree.ok_or_else(|| Fault::conflict("the repository has no commit, and git knows no empty tree"))
}

fn unknown(repository: &Repository<'_>, revision: &str) -> Fault {
    let known = repository.ask(&[
        "for-each-ref",
        KNOWN,
        "--format=%(refname:short)",
        "refs/heads",
        "refs/tags",
        "refs/remotes",
    ]);
    let known = known.ok().flatten().unwrap_or_default();
    let near = near(revision, known.lines());
    let hint = if near.is_empty() {
        "name a branch, a tag or a commit that is in this repository".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    Fault::not_found(format!("unknown revision: {revision}")).hint(hint)
}

/// The names most like this one.
fn near<'n>(revision: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let like = |name: &'n str| (strsim::normalized_damerau_levenshtein(revision, name), name);
    let mut ranked: Vec<_> = known.map(like).filter(|(likeness, _)| *likeness >= LIKE).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.into_iter().take(NAMED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: Option<&str>, head: Option<&str>, expect: (Option<&str>, Option<&str>, bool)) {
        let wanted = WantedRevisions::parse(base, head, false).expect("well formed");
        assert_eq!(
            (wanted.base.as_deref(), wanted.head.as_deref(), wanted.fork),
            expect,
            "{base:?} {head:?}"
        );
    }

    #[test]
    fn one_word_may_stand_for_both_sides() {
        check(None, None, (None, None, false));
        check(Some("main"), None, (Some("main"), None, false));
        check(Some("a"), Some("b"), (Some("a"), Some("b"), false));
        check(Some("a..b"), None, (Some("a"), Some("b"), false));
        check(Some("a...b"), None, (Some("a"), Some("b"), true));
        check(Some("a.."), None, (Some("a"), Some("HEAD"), false));
        check(Some("...b"), None, (Some("HEAD"), Some("b"), true));
        check(None, Some("b"), (None, Some("b"), false));
        check(
            Some("v1.0~2^{}"),
            Some("HEAD@{1.day.ago}"),
            (Some("v1.0~2^{}"), Some("HEAD@{1.day.ago}"), false),
        );
    }

    #[test]
    fn what_is_no_revision_is_refused() {
        for bad in [
            "",
            "-x",
            "--output=/x",
            "-O",
            "HEAD --ext-diff",
            "a\tb",
            "a\nb",
            "a\0b",
            "a..b..c",
            "a....b",
            "HEAD:file",
            ":/words",
            "-..b",
            "a..--output=x",
            "a...-O",
        ] {
            assert!(WantedRevisions::parse(Some(bad), None, false).is_err(), "{bad:?}");
            assert!(WantedRevisions::parse(Some("HEAD"), Some(bad), false).is_err(), "{bad:?}");
        }
        for range in ["a..b", "a...b"] {
            assert!(WantedRevisions::parse(Some(range), Some("c"), false).is_err(), "{range}");
            assert!(WantedRevisions::parse(None, Some(range), false).is_err(), "{range}");
        }
        assert!(WantedRevisions::parse(Some(&"a".repeat(300)), None, false).is_err());
        assert!(WantedRevisions::parse(Some("a"), Some("b"), true).is_err());
        assert!(WantedRevisions::parse(Some("a..b"), None, true).is_err());
    }

    #[test]
    fn near_names_are_the_likest_first() {
        let known = ["main", "master", "feature/login", "maine"];
        assert_eq!(near("mian", known.into_iter()), ["main", "maine"]);
        assert_eq!(near("feature/logn", known.into_iter()), ["feature/login"]);
        assert!(near("zzz", known.into_iter()).is_empty());
    }

    #[test]
    fn a_label_says_each_thing_once() {
        assert_eq!(label("main", "0123456789abcdef"), "main (0123456789)");
        assert_eq!(label("01234", "0123456789abcdef"), "0123456789");
    }
}
