//! Which files a command may open, as Landlock rules.
//!
//! Names are not hidden: a directory can be listed anywhere, as Landlock could only forbid that for
//! all directories above a closed path as well. What stands in a closed file stays closed.

use std::{
    io,
    os::{fd::AsFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags};

use super::plan::SandboxPlan;

const READ: BitFlags<AccessFs> = landlock::make_bitflags!(AccessFs::{Execute | ReadFile});
/// A name that comes within the same tick as a reading leaves the directory's time as it was.
const TICK: Duration = Duration::from_millis(50);
/// Devices that do nothing to the machine. Disks are not among them, nor other terminals.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Whether the kernel holds truncation, or a filter of calls has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truncation {
    Held,
    Open,
}

/// The rules of a plan, and what they were made from.
#[derive(Debug)]
pub(super) struct FileRules {
    pub(super) set: RulesetCreated,
    pub(super) truncation: Truncation,
    /// The directories whose entries have rules of their own.
    pub(super) listed: Vec<Listed>,
}

/// A directory as it was when its entries were read.
#[derive(Debug)]
pub(super) struct Listed {
    path: PathBuf,
    /// Its inode and the time of its last change, if that was long enough ago to tell the next one.
    stamp: Option<(u64, SystemTime)>,
}

impl Listed {
    fn new(path: &Path) -> Self {
        let stamp = stamp(path).filter(|(_, changed)| changed.elapsed().is_ok_and(|ago| ago > TICK));
        Self { path: path.to_owned(), stamp }
    }

    /// True if the same entries are there.
    pub(super) fn is_current(&self) -> bool {
        self.stamp.is_some() && stamp(&self.path) == self.stamp
    }
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let found = path.metadata().ok()?;
    Some((found.ino(), found.modified().ok()?))
}

/// The rules of a plan whose closed paths are all outside of what is writable.
pub(super) fn rules(plan: &SandboxPlan) -> io::Result<FileRules> {
    let (handled, abi, truncation) = handled(plan.network)?;
    let mut rules = Rules { set: handled.create().map_err(io::Error::other)?, listed: Vec::new() };
    rules.read_around(Path::new("/"), &plan.closed)?;
    for path in &plan.writable {
        rules.allow(open(path, OFlags::empty())?, writing(abi) | READ)?;
    }
    let device = READ | AccessFs::WriteFile | AccessFs::IoctlDev;
    for path in DEVICES {
        // What is not there is not needed.
        if let Ok(handle) = open(Path::new(path), OFlags::empty()) {
            rules.allow(handle, device)?;
        }
    }
    // The command's own terminal, if it has one: its programs may open it by name.
    let input = rustix::stdio::stdin();
    if rustix::termios::isatty(input) {
        rules.allow(input, device)?;
    }
    Ok(FileRules { set: rules.set, truncation, listed: rules.listed })
}

/// Puts this thread under the rules, or says that the kernel did not.
pub(super) fn enter(rules: RulesetCreated) -> io::Result<()> {
    match rules.restrict_self().map_err(io::Error::other)?.ruleset {
        RulesetStatus::NotEnforced => Err(absent()),
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(()),
    }
}

/// Puts this thread under rules that allow nothing, to see whether the kernel does it.
pub(super) fn try_out() -> io::Result<()> {
    enter(handled(false)?.0.create().map_err(io::Error::other)?)
}

/// What is held: files in any case, and connections and signals where the kernel can do that. (Without
/// it, connections are held by the filter of calls.)
fn handled(network: bool) -> io::Result<(Ruleset, ABI, Truncation)> {
    let demanded = |abi: ABI| {
        let held = (READ | AccessFs::from_write(abi)) & !AccessFs::ReadDir;
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(held)
    };
    let (ruleset, abi, truncation) = match demanded(ABI::V3) {
        Ok(ruleset) => (ruleset, ABI::V3, Truncation::Held),
        Err(_) => (demanded(ABI::V1).map_err(|_| absent())?, ABI::V1, Truncation::Open),
    };
    let ruleset = ruleset.set_compatibility(CompatLevel::BestEffort);
    let ruleset = ruleset
        .handle_access(AccessFs::IoctlDev)
        .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
        .map_err(io::Error::other)?;
    let ruleset = if network { Ok(ruleset) } else { ruleset.handle_access(AccessNet::from_all(ABI::V4)) };
    Ok((ruleset.map_err(io::Error::other)?, abi, truncation))
}

/// All that changes files, but no new devices.
fn writing(abi: ABI) -> BitFlags<AccessFs> {
    AccessFs::from_write(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

fn absent() -> io::Error {
    io::Error::other(
        "this kernel cannot hold commands in a sandbox (it has no Landlock, which is in Linux since 5.13 and \
         may be switched off): boot with `lsm=landlock,…`, or set `sandbox = \"off\"` under [shell] in your \
         own configuration to run them without one",
    )
}

struct Rules {
    set: RulesetCreated,
    listed: Vec<Listed>,
}

impl Rules {
    /// Makes all below a directory readable but the closed paths and the devices. Links lead to what has
    /// its own rule or none, so they get none.
    #[expect(clippy::disallowed_methods, reason = "names only; what is opened is for the kernel's rules")]
    fn read_around(&mut self, directory: &Path, closed: &[PathBuf]) -> io::Result<()> {
        // What we cannot list, a command can open no more than we can.
        self.listed.push(Listed::new(directory));
        let Ok(entries) = std::fs::read_dir(directory) else { return Ok(()) };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let is_plain = kind.is_dir() || kind.is_file();
            if !is_plain || closed.contains(&path) || path == Path::new("/dev") {
                continue;
            }
            if kind.is_dir() && closed.iter().any(|closed| closed.starts_with(&path)) {
                self.read_around(&path, closed)?;
            } else if let Ok(handle) = open(&path, OFlags::NOFOLLOW) {
                self.allow(handle, READ)?;
            }
        }
        Ok(())
    }

    fn allow(&mut self, handle: impl AsFd, access: BitFlags<AccessFs>) -> io::Result<()> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode);
        let access = match kind {
            FileType::Directory => access,
            FileType::Symlink => return Ok(()),
            _ => access & AccessFs::from_file(ABI::V5),
        };
        (&mut self.set).add_rule(PathBeneath::new(handle, access)).map_err(io::Error::other)?;
        Ok(())
    }
}

fn open(path: &Path, how: OFlags) -> io::Result<rustix::fd::OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | how, Mode::empty())?)
}
