//! The git of this machine: found once apart from the served directories, with the few settings of
//! the user that a comparison needs.

use std::{
    ffi::OsString,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags};
use tectum_child::{Confinement, Installed};
use tectum_core::{Fault, FaultKind};

use super::configuration::Configuration;
use crate::{
    run::{Leash, Order, Ran, run},
    settings::GitSettings,
};

/// The name of the program in replies.
pub(super) const GIT: &str = "git";
/// The environment of git beside the arguments of a call: nothing of our environment, no file of the
/// user's or the system's, nothing to ask and nowhere to write.
const TOLD: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("HOME", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TRACE2", "0"),
    ("GIT_TRACE2_EVENT", "0"),
    ("GIT_TRACE2_PERF", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_ASKPASS", "false"),
];
/// All of one file of configuration. One that is longer is none.
const CONFIGURATION: usize = 1024 * 1024;

/// The path of git, and the user's permissions for it.
#[derive(Debug, Default)]
pub(crate) struct Git {
    pub(super) settings: GitSettings,
    found: Mutex<Option<KnownGit>>,
}

/// The program found outside of these served directories.
#[derive(Clone, Debug)]
struct KnownGit {
    roots: Vec<PathBuf>,
    program: Arc<Program>,
}

/// Git's file, and what every run of it has in common.
#[derive(Debug)]
pub(super) struct Program {
    file: PathBuf,
    path: String,
    confined: bool,
    /// Settings of the user's own files.
    pub(super) user: Vec<(&'static str, String)>,
}

impl Git {
    /// Git as these settings have it.
    pub(crate) fn new(settings: GitSettings) -> Self {
        Self { settings, found: Mutex::default() }
    }

    /// The program, searched when it is first needed, and again only if other directories are served.
    pub(super) fn program(&self, roots: &[PathBuf], leash: &Leash<'_>) -> Result<Arc<Program>, Fault> {
        let mut kept = self.found.lock();
        if let Some(found) = kept.as_ref().filter(|found| found.roots == roots) {
            return Ok(found.program.clone());
        }
        let installed = Installed::apart_from(roots);
        let file = installed.find("git").map_err(|missing| {
            Fault::not_found(missing.describe("git")).hint("install git outside of the project")
        })?;
        let confined = self.settings.confined && Confinement::is_enforced();
        let mut program = Program { file, path: installed.path(), confined, user: Vec::new() };
        program.user = program.user_settings(leash);
        let program = Arc::new(program);
        *kept = Some(KnownGit { roots: roots.to_owned(), program: program.clone() });
        Ok(program)
    }
}

impl Program {
    /// True if the kernel holds git to what it is handed.
    pub(super) fn is_confined(&self) -> bool {
        self.confined
    }

    /// A confinement in which git reads nothing yet but itself.
    pub(super) fn confinement(&self) -> Result<Confinement, Fault> {
        if !self.confined {
            return Ok(Confinement::none());
        }
        Confinement::for_program(&self.file).map_err(unconfined)
    }

    pub(super) fn run(
        &self,
        confinement: &Confinement,
        args: Vec<OsString>,
        folder: &Path,
        environment: Vec<(OsString, OsString)>,
        leash: &Leash<'_>,
        most: usize,
    ) -> Result<Ran, Fault> {
        let mut known: Vec<(OsString, OsString)> =
            TOLD.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        known.push(("PATH".into(), self.path.clone().into()));
        known.extend(environment);
        let order = Order { program: self.file.as_os_str(), args, folder, environment: known, confinement };
        run(&order, leash, most)
    }

    /// The content of one file of configuration, without those it includes.
    pub(super) fn read(
        &self,
        name: &Path,
        handle: impl AsFd,
        leash: &Leash<'_>,
    ) -> Result<Configuration, Fault> {
        let confinement = self.confinement()?.reading(handle).map_err(unconfined)?;
        let mut args = ["config", "--no-includes", "--list", "-z", "--file"].map(OsString::from).to_vec();
        args.push(name.into());
        // No repository: the file is the only thing that is read.
        let nowhere = vec![("GIT_DIR".into(), "/dev/null".into())];
        let ran =
            self.run(&confinement, args, Path::new("/"), nowhere, leash, CONFIGURATION)?.checked(GIT)?;
        if ran.cut {
            return Err(Fault::new(FaultKind::TooLarge, "a file of git configuration is too large"));
        }
        Ok(Configuration::parse(&ran.out))
    }

    /// The user's own files, the more important one last. One that cannot be read says nothing.
    fn user_settings(&self, leash: &Leash<'_>) -> Vec<(&'static str, String)> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let xdg = std::env::var_os("XDG_CONFIG_HOME").filter(|xdg| !xdg.is_empty()).map(PathBuf::from);
        let xdg = xdg.or_else(|| home.as_ref().map(|home| home.join(".config")));
        let files = [xdg.map(|xdg| xdg.join("git/config")), home.map(|home| home.join(".gitconfig"))];
        let mut all = Configuration::default();
        for file in files.into_iter().flatten() {
            let handle: Option<OwnedFd> =
                rustix::fs::open(&file, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
                    .ok();
            let said = handle.and_then(|handle| self.read(&file, &handle, leash).ok());
            all.add(said.unwrap_or_default());
        }
        all.user_settings()
    }
}

pub(super) fn unconfined(error: std::io::Error) -> Fault {
    let mut fault = Fault::conflict("git could not be confined to the repository, so it was not run");
    fault.source = Some(error.into());
    fault
}
