//! What a program may open, held by the kernel (Landlock): a few directories and files by their
//! handles, what is installed on the machine, and nothing else. It writes nowhere but to the null
//! device, and connects to nobody.
//!
//! Rules belong to the objects that were opened, not to their names. However often names are
//! resolved again, by a program that is led astray or beside a process that renames, what was not
//! handed over stays closed.

use std::{
    io,
    os::fd::AsFd,
    path::Path,
    process::{Child, Command},
};

/// Where programs, their libraries and their fixed data are installed. Not all of `/usr`: in a
/// container, projects live there.
const INSTALLED: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share/git-core",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/libexec",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
];
/// What lies beside the directory of a program that is installed elsewhere.
const BESIDE: &[&str] = &["lib", "lib64", "libexec", "share/git-core"];

#[cfg(target_os = "linux")]
pub use kernel::Confinement;
#[cfg(not(target_os = "linux"))]
pub use without::Confinement;

#[cfg(target_os = "linux")]
mod kernel {
    use std::{sync::OnceLock, thread};

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
        RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
    };
    use rustix::fs::FileType;

    use super::*;

    /// What a program may open.
    #[derive(Debug)]
    pub struct Confinement(Option<RulesetCreated>);

    impl Confinement {
        /// Whether the kernel holds a confinement. Without Landlock it holds none.
        pub fn is_enforced() -> bool {
            static ENFORCED: OnceLock<bool> = OnceLock::new();
            *ENFORCED.get_or_init(|| {
                let tried = thread::Builder::new().spawn(|| {
                    let rules = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1)).ok()?;
                    let status = rules.create().ok()?.restrict_self().ok()?;
                    Some(status.ruleset != RulesetStatus::NotEnforced)
                });
                tried.ok().and_then(|thread| thread.join().ok()).flatten().unwrap_or(false)
            })
        }

        /// A program may open all that its user may.
        pub fn none() -> Self {
            Self(None)
        }

        /// The program at this path may be run and may open what is installed.
        pub fn for_program(program: &Path) -> io::Result<Self> {
            let rules = Ruleset::default()
                .handle_access(AccessFs::from_all(ABI::V5))
                .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI::V4)))
                .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
                .and_then(Ruleset::create)
                .map_err(io::Error::other)?;
            let mut confinement = Self(Some(rules));
            let run = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
            let prefix =
                program.canonicalize().ok().and_then(|real| Some(real.parent()?.parent()?.to_owned()));
            let beside = prefix.iter().flat_map(|prefix| BESIDE.iter().map(|name| prefix.join(name)));
            let installed = INSTALLED.iter().map(Path::new).map(Path::to_owned);
            for path in installed.chain(beside).chain([program.to_owned()]) {
                // What is not there is not needed.
                if let Ok(handle) = PathFd::new(&path) {
                    confinement = confinement.allow(handle, run)?;
                }
            }
            let null = PathFd::new("/dev/null").map_err(io::Error::other)?;
            confinement.allow(null, AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate)
        }

        /// It may also read this file, or this directory and all below it.
        pub fn reading(self, handle: impl AsFd) -> io::Result<Self> {
            self.allow(handle, AccessFs::ReadFile | AccessFs::ReadDir)
        }

        fn allow(self, handle: impl AsFd, access: BitFlags<AccessFs>) -> io::Result<Self> {
            let Self(Some(rules)) = self else { return Ok(self) };
            let kind = FileType::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode);
            let access = if kind == FileType::Directory { access } else { access & !AccessFs::ReadDir };
            let rules = rules.add_rule(PathBeneath::new(handle, access)).map_err(io::Error::other)?;
            Ok(Self(Some(rules)))
        }

        /// Starts a program within it. A thread confines itself, starts the program, which inherits
        /// that, and ends.
        pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
            let Some(rules) = &self.0 else { return command.spawn() };
            let rules = rules.try_clone()?;
            let start = move || {
                let status = rules.restrict_self().map_err(io::Error::other)?;
                if Self::is_enforced() && status.ruleset == RulesetStatus::NotEnforced {
                    return Err(io::Error::other("the kernel did not confine it"));
                }
                command.spawn()
            };
            thread::scope(|scope| {
                let started = thread::Builder::new().name("confined".into()).spawn_scoped(scope, start)?;
                started.join().unwrap_or_else(|_| Err(io::Error::other("the start was broken off")))
            })
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod without {
    use super::*;

    /// What a program may open: here, all that its user may.
    #[derive(Debug)]
    pub struct Confinement(());

    impl Confinement {
        /// Whether the kernel holds a confinement.
        pub fn is_enforced() -> bool {
            false
        }

        /// A program may open all that its user may.
        pub fn none() -> Self {
            Self(())
        }

        /// The program at this path may be run.
        pub fn for_program(_: &Path) -> io::Result<Self> {
            Ok(Self(()))
        }

        /// It may also read this.
        pub fn reading(self, _: impl AsFd) -> io::Result<Self> {
            Ok(self)
        }

        /// Starts a program.
        pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
            command.spawn()
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs::File, os::unix::fs::symlink};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the test starts the program it confines")]
    fn shell(confinement: &Confinement, script: &str, folder: &Path) -> String {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).current_dir(folder).stdout(std::process::Stdio::piped());
        let child = confinement.spawn(command.stderr(std::process::Stdio::null())).expect("starts");
        String::from_utf8(child.wait_with_output().expect("ends").stdout).expect("text")
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the files that are opened")]
    fn only_what_was_handed_over_is_read_and_nothing_written() {
        if !Confinement::is_enforced() {
            return;
        }
        let scratch = tempfile::tempdir().expect("a directory");
        let [ours, other] = ["ours", "other"].map(|name| scratch.path().join(name));
        for folder in [&ours, &other] {
            std::fs::create_dir(folder).expect("made");
            std::fs::write(folder.join("f"), folder.file_name().expect("a name").as_encoded_bytes())
                .expect("written");
        }
        symlink("../other", ours.join("out")).expect("linked");
        let handle = File::open(&ours).expect("opens");
        let confined = Confinement::for_program(Path::new("/bin/sh"))
            .and_then(|all| all.reading(&handle))
            .expect("made");
        let read = "cat f; cat ../other/f; cat out/f; cat /etc/passwd; echo new > n; echo > /dev/null; cat n";
        assert_eq!(shell(&confined, read, &ours), "ours");
        // The rule belongs to the directory, not to its name.
        std::fs::rename(&ours, scratch.path().join("away")).expect("renamed");
        std::fs::rename(&other, &ours).expect("renamed");
        assert_eq!(shell(&confined, "cat f; cat ../away/f", &ours), "ours");
        // This process is as free as before.
        assert_eq!(std::fs::read_to_string(ours.join("f")).expect("read"), "other");
        assert_eq!(shell(&Confinement::none(), "cat f", &ours), "other");
    }
}
