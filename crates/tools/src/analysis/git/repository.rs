//! One repository, and how git is called in it: with fixed flags, a clean environment, every
//! command its configuration names overruled, and nothing open to it but the repository's parts.

use std::{
    ffi::OsString,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::ffi::OsStringExt,
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_core::{
    Fault,
    security::{Part, SafePath, Standing},
};

use super::{
    parts::{Finder, Parts},
    program::{Git, Program, unconfined},
};
use crate::run::{Leash, Ran};

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
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.quotepath=false",
    "core.checkStat=default",
    "core.untrackedCache=false",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "diff.external=",
    // It would write the index, and with copies in place of the work tree.
    "diff.autoRefreshIndex=false",
    "gpg.program=false",
    "protocol.allow=never",
    "color.ui=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// Answers of a line or two.
const SHORT: usize = 64 * 1024;

/// A repository with a work tree.
pub(super) struct Repository<'c> {
    parts: Parts,
    program: Arc<Program>,
    /// Settings beside the fixed ones: they keep its filters from running, and add the user's where
    /// it says nothing itself.
    settings: Vec<(OsString, String)>,
    leash: Leash<'c>,
}

impl<'c> Repository<'c> {
    /// The repository that a path belongs to, if all its parts may be read.
    pub(super) fn find(path: &SafePath, git: &Git, leash: Leash<'c>) -> Result<Self, Fault> {
        let program = git.program(path.base_directories(), &leash)?;
        let parts = parts(path, git, &program, &leash)?;
        let said = &parts.configuration;
        let mut settings = said.without_filters()?;
        let unsaid = program.user.iter().filter(|(name, _)| said.value(name).is_none());
        settings.extend(unsaid.map(|(name, value)| ((*name).into(), value.clone())));
        Ok(Self { parts, program, settings, leash })
    }

    /// Where the kernel does not hold git to the parts that were judged, they are looked at again
    /// before anything that git said is shown.
    pub(super) fn check_again(&self, path: &SafePath, git: &Git) -> Result<(), Fault> {
        if self.program.is_confined() || parts(path, git, &self.program, &self.leash)?.is(&self.parts) {
            return Ok(());
        }
        Err(Fault::conflict("the repository was replaced by another while git ran").hint("try again"))
    }

    /// The root of its work tree.
    pub(super) fn top(&self) -> &Path {
        self.parts.top.name()
    }

    /// The name of a full true path, from the root of the work tree. Empty for the root.
    pub(super) fn below(&self, full: &Path) -> Result<PathBuf, Fault> {
        let below = full.strip_prefix(self.top()).map(Path::to_owned);
        below.map_err(|_| Fault::conflict("a directory was moved meanwhile").hint("try again"))
    }

    /// Runs git, with another directory in place of the work tree if one is given.
    pub(super) fn git(
        &self,
        tree: Option<(BorrowedFd<'_>, &Path)>,
        args: Vec<OsString>,
        most: usize,
    ) -> Result<Ran, Fault> {
        let Parts { top, folder, dir, common, others, .. } = &self.parts;
        let mut open: Vec<BorrowedFd<'_>> =
            [dir, common].into_iter().chain(others).map(Part::as_fd).collect();
        open.push(match tree {
            Some((handle, _)) => handle,
            None if top.standing() == Standing::Inside => top.as_fd(),
            // Of a work tree that reaches beyond what is served, only the granted folder is read.
            None => folder.as_fd(),
        });
        let mut confinement = self.program.confinement()?;
        for handle in open {
            confinement = confinement.reading(handle).map_err(unconfined)?;
        }
        let tree = tree.map_or(top.name(), |(_, folder)| folder);
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("GIT_DIR".into(), dir.name().into()),
            ("GIT_COMMON_DIR".into(), common.name().into()),
            ("GIT_WORK_TREE".into(), tree.into()),
            ("GIT_CONFIG_COUNT".into(), self.settings.len().to_string().into()),
        ];
        for (index, (name, value)) in self.settings.iter().enumerate() {
            environment.push((format!("GIT_CONFIG_KEY_{index}").into(), name.clone()));
            environment.push((format!("GIT_CONFIG_VALUE_{index}").into(), value.into()));
        }
        let mut all: Vec<OsString> = vec!["--no-pager".into(), "--literal-pathspecs".into()];
        for setting in SETTINGS {
            all.extend(["-c", setting].map(OsString::from));
        }
        all.extend(args);
        self.program.run(&confinement, all, tree, environment, &self.leash, most)
    }

    /// True if git knows anything at or below a name, from the root of the work tree.
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
}

fn parts(path: &SafePath, git: &Git, program: &Program, leash: &Leash<'_>) -> Result<Parts, Fault> {
    let allowed: Vec<PathBuf> = git.settings.directories.iter().map(|one| true_name(one)).collect();
    let read = |file: &Part| program.read(file.name(), file, leash);
    Finder { path, allowed: &allowed, read: &read }.find()
}

fn true_name(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A line without its end.
fn line(mut out: Vec<u8>) -> OsString {
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_all_but_its_line_end() {
        assert_eq!(line(b"/a b\n\n".to_vec()), "/a b\n");
    }
}
