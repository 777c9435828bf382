//! One repository, and how git is called in it: with fixed flags, a clean environment, and
//! every command its configuration names overruled.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use tectum_core::{Fault, FaultKind};

use super::run::{Leash, Order, Ran, run};

/// The comparing command with what no call may change: no program, no colour, no setting of the
/// user that would change the form of a patch, no look into submodules.
pub(super) const DIFF: &[&str] = &[
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--diff-algorithm=histogram",
    "--inter-hunk-context=0",
    "--indent-heuristic",
    "-O/dev/null",
];

/// Settings that hold whatever the repository says.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotepath=false",
    "core.checkStat=default",
    "core.untrackedCache=false",
    "core.alternateRefsCommand=",
    "diff.external=",
    // It would write the index, and with copies in place of the work tree.
    "diff.autoRefreshIndex=false",
    "protocol.allow=never",
    "color.ui=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// What git may know of our environment.
const KEPT: &[&str] = &["HOME", "XDG_CONFIG_HOME", "LANG", "TMPDIR", "USER", "LOGNAME"];

/// What it is told beside that.
const TOLD: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_ASKPASS", "false"),
];

/// Answers of a line or two.
const SHORT: usize = 64 * 1024;
/// All names of a configuration. One that has more is no configuration.
const CONFIGURATION: usize = 1024 * 1024;
/// Filters that are overruled one by one.
const FILTERS: usize = 500;

/// A repository with a work tree.
pub(super) struct Repository<'l> {
    top: PathBuf,
    dir: PathBuf,
    /// Settings that keep its filters from running.
    overruled: Vec<(OsString, &'static str)>,
    leash: Leash<'l>,
}

impl<'l> Repository<'l> {
    /// The repository a directory belongs to.
    pub(super) fn find(folder: &Path, leash: Leash<'l>) -> Result<Self, Fault> {
        let ask = |word: &str| {
            let args = ["rev-parse", word].map(OsString::from);
            let ran = start(&args, folder, Vec::new(), &leash, SHORT)?;
            if ran.success { Ok(PathBuf::from(line(ran.out))) } else { Err(not_found(&ran.err)) }
        };
        let (top, dir) = (ask("--show-toplevel")?, ask("--absolute-git-dir")?);
        let mut found = Self { top, dir, overruled: Vec::new(), leash };
        found.overruled = found.filters()?;
        Ok(found)
    }

    /// The root of its work tree.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// How a full true name is called from the root of the work tree. Empty for the root.
    pub(super) fn below(&self, full: &Path) -> Result<PathBuf, Fault> {
        let below = full.strip_prefix(&self.top).map(Path::to_owned);
        below.map_err(|_| {
            Fault::conflict("the repository's work tree is elsewhere, or a directory was moved meanwhile")
                .hint("try again; if it stays so, core.worktree in the repository's configuration is set")
        })
    }

    /// Runs git, with another directory in place of the work tree if one is given.
    pub(super) fn git(&self, tree: Option<&Path>, args: Vec<OsString>, most: usize) -> Result<Ran, Fault> {
        let tree = tree.unwrap_or(&self.top);
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("GIT_DIR".into(), self.dir.clone().into()),
            ("GIT_WORK_TREE".into(), tree.into()),
            ("GIT_CONFIG_COUNT".into(), self.overruled.len().to_string().into()),
        ];
        for (index, (name, value)) in self.overruled.iter().enumerate() {
            environment.push((format!("GIT_CONFIG_KEY_{index}").into(), name.clone()));
            environment.push((format!("GIT_CONFIG_VALUE_{index}").into(), (*value).into()));
        }
        start(&args, tree, environment, &self.leash, most)
    }

    /// Whether git knows anything at or below a name, from the root of the work tree.
    pub(super) fn tracks(&self, below: &Path) -> Result<bool, Fault> {
        // A repository without anything is one all the same.
        if below.as_os_str().is_empty() {
            return Ok(true);
        }
        let mut args = ["ls-files", "-z", "--"].map(OsString::from).to_vec();
        args.push(below.into());
        let ran = self.git(None, args, SHORT)?;
        Ok(!ran.out.is_empty())
    }

    /// One line of answer; `None` when git says no.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<String>, Fault> {
        let ran = self.git(None, args.iter().map(OsString::from).collect(), SHORT)?;
        Ok(ran.success.then(|| line(ran.out).to_string_lossy().into_owned()))
    }

    /// Every filter that some configuration names would run a command when git compares a file.
    fn filters(&self) -> Result<Vec<(OsString, &'static str)>, Fault> {
        let args = ["config", "--list", "--name-only", "-z"].map(OsString::from).to_vec();
        let ran = self.git(None, args, CONFIGURATION)?;
        if !ran.success {
            return Err(failed(&ran.err));
        }
        let names = filter_names(&ran.out);
        if ran.cut || names.len() > FILTERS {
            return Err(Fault::new(
                FaultKind::TooLarge,
                "the repository's configuration is too large to trust",
            ));
        }
        let settings = |name: &[u8]| {
            [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")].map(|(key, value)| {
                let full = [b"filter.", name, b".", key.as_bytes()].concat();
                (OsString::from_vec(full), value)
            })
        };
        Ok(names.into_iter().flat_map(settings).collect())
    }
}

/// The names between `filter.` and the last dot, once each.
fn filter_names(listed: &[u8]) -> BTreeSet<&[u8]> {
    let name = |key: &'_ [u8]| -> Option<std::ops::Range<usize>> {
        let start = key.starts_with(b"filter.").then_some(b"filter.".len())?;
        let end = key.iter().rposition(|byte| *byte == b'.')?;
        (start <= end).then_some(start..end)
    };
    listed.split(|byte| *byte == 0).filter_map(|key| Some(&key[name(key)?])).collect()
}

fn start(
    args: &[OsString],
    folder: &Path,
    environment: Vec<(OsString, OsString)>,
    leash: &Leash<'_>,
    most: usize,
) -> Result<Ran, Fault> {
    let mut all: Vec<OsString> = vec!["--no-pager".into(), "--literal-pathspecs".into()];
    for setting in SETTINGS {
        all.extend(["-c", setting].map(OsString::from));
    }
    all.extend_from_slice(args);
    let mut known: Vec<(OsString, OsString)> =
        TOLD.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    known.extend(KEPT.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))));
    known.push(("PATH".into(), search_path(std::env::var_os("PATH").as_deref())));
    known.extend(environment);
    run(&Order { program: "git".as_ref(), args: all, folder, environment: known }, leash, most)
}

/// Where programs are looked for. A relative entry would find a `git` that lies in the project.
fn search_path(ours: Option<&OsStr>) -> OsString {
    let absolute = ours.into_iter().flat_map(std::env::split_paths).filter(|entry| entry.is_absolute());
    std::env::join_paths(absolute).unwrap_or_default()
}

/// A line without its end.
fn line(mut out: Vec<u8>) -> OsString {
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    OsString::from_vec(out)
}

fn not_found(err: &str) -> Fault {
    if err.contains("not a git repository") {
        return Fault::not_found("this is not in a git repository")
            .hint("name a path inside one; list_directory shows where a .git is");
    }
    if err.contains("dubious ownership") {
        return Fault::new(
            FaultKind::Permission,
            "the repository belongs to another user, so git refuses it",
        )
        .hint("a person can trust it with `git config --global --add safe.directory`");
    }
    if err.contains("work tree") {
        return Fault::invalid(
            "this lies in git's own directory or in a bare repository; there is no work tree",
        )
        .hint("name a path in the work tree");
    }
    failed(err)
}

/// What git complained of, without the places it named: they may lie outside of what is shown.
pub(super) fn failed(err: &str) -> Fault {
    const MOST: usize = 200;
    let first = err.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
    let hidden = |word: &str| {
        let place = word.trim_start_matches(['\'', '"', '(', '`']).starts_with(['/', '~']);
        if place { "(a path)".to_owned() } else { word.to_owned() }
    };
    let words: Vec<String> = first.split_whitespace().map(hidden).collect();
    let told: String = words.join(" ").chars().take(MOST).filter(|c| !c.is_control()).collect();
    let mut fault = Fault::conflict(format!("git failed: {told}"));
    fault.source = Some(err.to_owned().into());
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_found_once() {
        let listed = b"core.bare\0filter.lfs.clean\0filter.lfs.smudge\0filter.a.b=c\nd.process\0filter.x\0filter..clean\0";
        let names: Vec<_> = filter_names(listed).into_iter().collect();
        assert_eq!(names, [&b""[..], b"a.b=c\nd", b"lfs"]);
    }

    #[test]
    fn programs_are_not_looked_for_in_the_project() {
        let check = |ours: &str, expect: &str| assert_eq!(search_path(Some(ours.as_ref())), expect);
        check("/usr/bin:/bin", "/usr/bin:/bin");
        check(".:/usr/bin::bin:/bin", "/usr/bin:/bin");
        assert_eq!(search_path(None), "");
    }

    #[test]
    fn complaints_name_no_places() {
        let check =
            |err: &str, expect: &str| assert_eq!(failed(err).message, format!("git failed: {expect}"));
        check(
            "\nfatal: bad config line 1 in file /home/x/.git/config\n",
            "fatal: bad config line 1 in file (a path)",
        );
        check("fatal: '/etc/x' is bad", "fatal: (a path) is bad");
        check("", "it did not say why");
        assert_eq!(not_found("fatal: not a git repository (or any").kind, FaultKind::NotFound);
    }

    #[test]
    fn an_answer_keeps_all_but_its_line_end() {
        assert_eq!(line(b"/a b\n\n".to_vec()), "/a b\n");
    }
}
