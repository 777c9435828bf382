//! A control group for all commands of one fork server, where the kernel lets us have one (cgroup v2,
//! writable by our user). It holds whatever a command started, wherever that went, and the kernel kills all
//! of it at once.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// Stands before the number of the server in the name of its group.
const PREFIX: &str = "tectum-";
/// How long the kernel may take to end what it killed.
const MOST: Duration = Duration::from_millis(900);
const PAUSE: Duration = Duration::from_millis(2);

/// A group that this process, and all it starts, is in.
#[derive(Debug)]
pub(super) struct Cgroup {
    around: PathBuf,
    own: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "the kernel's groups of processes, not an agent's path")]
impl Cgroup {
    /// Makes one and enters it.
    pub(super) fn enter() -> Option<Self> {
        let ours = fs::read_to_string("/proc/self/cgroup").ok()?;
        let ours = ours.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let around = mounts.lines().find_map(mounted)?.join(ours);
        sweep(&around);
        let own = around.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&own).ok()?;
        let group = Self { around, own };
        // Without the means to end it, it is of no use.
        if group.own.join("cgroup.kill").exists() && join(&group.own).is_some() {
            return Some(group);
        }
        let _ = fs::remove_dir(&group.own);
        None
    }

    /// Leaves it, ends whoever is left in it, and removes it.
    pub(super) fn end(self) {
        if join(&self.around).is_none() || fs::write(self.own.join("cgroup.kill"), "1").is_err() {
            return;
        }
        let until = Instant::now() + MOST;
        while fs::remove_dir(&self.own).is_err() && Instant::now() < until {
            thread::sleep(PAUSE);
        }
    }
}

/// Removes the groups of servers that were killed. One that still holds somebody cannot be removed.
#[expect(clippy::disallowed_methods, reason = "the kernel's groups of processes, not an agent's path")]
fn sweep(around: &Path) {
    for entry in fs::read_dir(around).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if number.is_some_and(|number| !Path::new("/proc").join(number).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the kernel's groups of processes, not an agent's path")]
fn join(group: &Path) -> Option<()> {
    fs::write(group.join("cgroup.procs"), "0").ok()
}

/// The place of the second version's tree, if this line is its mount and shows all of it.
fn mounted(line: &str) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(3);
    let (root, place) = (fields.next()?, fields.next()?);
    (kind.starts_with("cgroup2 ") && root == "/").then(|| PathBuf::from(place))
}
