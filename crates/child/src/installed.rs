//! Programs that are installed on this machine, as opposed to those that a project brings along:
//! the latter are never found here, whatever the search path says.

use std::{
    env,
    ffi::OsStr,
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};

/// The first line of a script is no longer than this.
const FIRST_LINE: u64 = 256;

/// The search path of this process without what lies in some directories.
#[derive(Clone, Debug)]
pub struct Installed {
    entries: Vec<PathBuf>,
    /// Entries of the search path that lie in one of the directories.
    passed_over: Vec<PathBuf>,
    apart: Vec<PathBuf>,
}

/// Why a program was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotInstalled {
    /// There is none.
    Nowhere,
    /// The only one lies in a directory that is served, or is run by a program that does.
    OfProject(PathBuf),
}

impl NotInstalled {
    /// The reason as a sentence about a program.
    pub fn describe(&self, program: &str) -> String {
        match self {
            Self::Nowhere => format!("{program} is not installed, or not in PATH"),
            Self::OfProject(file) => format!(
                "{program} is not run: what was found, {}, belongs to the served project, and a \
                 project's own programs are never started",
                file.display()
            ),
        }
    }
}

impl Installed {
    /// What is installed apart from these directories.
    pub fn apart_from(directories: &[PathBuf]) -> Self {
        Self::among(&env::var_os("PATH").unwrap_or_default(), directories)
    }

    fn among(path: &OsStr, directories: &[PathBuf]) -> Self {
        let apart: Vec<PathBuf> = directories.iter().map(|one| true_name(one)).collect();
        let mut found = Self { entries: Vec::new(), passed_over: Vec::new(), apart };
        let entries = env::split_paths(path).filter(|entry| entry.is_absolute());
        (found.entries, found.passed_over) = entries.partition(|entry| found.is_apart(entry));
        found
    }

    /// The program of this name, or the one at this absolute path, if it lies apart: itself, what it
    /// is a link to, and for a script the program that runs it.
    pub fn find(&self, command: &str) -> Result<PathBuf, NotInstalled> {
        let named = Path::new(command);
        let in_path = |entries: &[PathBuf]| -> Vec<PathBuf> {
            if command.is_empty() {
                Vec::new()
            } else {
                entries.iter().map(|entry| entry.join(command)).collect()
            }
        };
        let (candidates, passed_over) = match (command.contains('/'), named.is_absolute()) {
            (false, _) => (in_path(&self.entries), in_path(&self.passed_over)),
            (true, true) => (vec![named.to_owned()], Vec::new()),
            (true, false) => (Vec::new(), Vec::new()),
        };
        let mut of_project = None;
        for file in candidates.into_iter().filter(|file| may_run(file)) {
            if self.is_apart(&file) && self.runs_apart(&file) {
                return Ok(file);
            }
            of_project.get_or_insert(file);
        }
        let of_project = of_project.or_else(|| passed_over.into_iter().find(|file| may_run(file)));
        Err(of_project.map_or(NotInstalled::Nowhere, NotInstalled::OfProject))
    }

    /// The search path, for a child that is to find nothing else.
    pub fn path(&self) -> String {
        let entries: Vec<&str> = self.entries.iter().filter_map(|entry| entry.to_str()).collect();
        entries.join(":")
    }

    /// Whether a file lies in none of the directories, whatever links lead to it.
    pub fn is_apart(&self, path: &Path) -> bool {
        let path = true_name(path);
        !self.apart.iter().any(|directory| path.starts_with(directory))
    }

    /// Whether the program that runs a script lies apart; true for what is no script.
    fn runs_apart(&self, file: &Path) -> bool {
        let Some(line) = first_line(file) else { return true };
        let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let Some(interpreter) = words.next().map(|word| Path::new(OsStr::from_bytes(word))) else {
            return true;
        };
        // `env` searches what it is told; in a child, that is among the same entries.
        interpreter.is_absolute() && self.is_apart(interpreter)
    }
}

pub(super) fn may_run(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// What stands behind `#!` at the start of a script.
fn first_line(file: &Path) -> Option<Vec<u8>> {
    let handle = rustix::fs::open(file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut start = Vec::new();
    std::fs::File::from(handle).take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(line.to_vec())
}

/// The name without links; what is not there keeps the name it has.
fn true_name(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the programs that are searched")]
    fn a_project_brings_no_program() {
        let scratch = tempfile::tempdir().expect("a directory");
        let [system, project] = ["system", "project"].map(|name| scratch.path().join(name));
        for folder in [&system, &project.join("bin")] {
            std::fs::create_dir_all(folder).expect("made");
            for name in ["tool", if folder == &system { "ours" } else { "theirs" }] {
                std::fs::write(folder.join(name), "#!/bin/sh\n").expect("written");
                let run = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(folder.join(name), run).expect("set");
            }
        }
        symlink(project.join("bin/theirs"), system.join("linked")).expect("linked");
        let script = format!("#! {} -x\n", project.join("bin/theirs").display());
        std::fs::write(system.join("script"), script).expect("written");
        let run = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(system.join("script"), run).expect("set");
        symlink(&project, scratch.path().join("alias")).expect("linked");
        let path = env::join_paths([
            project.join("bin"),
            scratch.path().join("alias/bin"),
            PathBuf::from("relative"),
            system.clone(),
        ]);
        let found = Installed::among(&path.expect("a path"), std::slice::from_ref(&project));
        assert_eq!(found.find("tool"), Ok(system.join("tool")));
        assert_eq!(found.find("ours"), Ok(system.join("ours")));
        let inside = project.join("bin/theirs");
        for (command, file) in [
            ("theirs", &inside),
            ("linked", &system.join("linked")),
            ("script", &system.join("script")),
            (inside.to_str().expect("text"), &inside),
        ] {
            assert_eq!(found.find(command), Err(NotInstalled::OfProject(file.clone())), "{command}");
        }
        for command in ["./project/bin/theirs", "none", ""] {
            assert_eq!(found.find(command), Err(NotInstalled::Nowhere), "{command}");
        }
        assert_eq!(found.find(system.join("ours").to_str().expect("text")), Ok(system.join("ours")));
        assert_eq!(found.path(), system.to_str().expect("text"));
    }
}
