//! Programs that are installed on this machine, as opposed to those that a project brings along:
//! the latter are never found here, whatever the search path says.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::environment;

/// The search path of this process without what lies in some directories.
#[derive(Clone, Debug)]
pub struct Installed {
    entries: Vec<PathBuf>,
    apart: Vec<PathBuf>,
}

impl Installed {
    /// What is installed apart from these directories.
    pub fn apart_from(directories: &[PathBuf]) -> Self {
        Self::among(&env::var_os("PATH").unwrap_or_default(), directories)
    }

    fn among(path: &std::ffi::OsStr, directories: &[PathBuf]) -> Self {
        let apart: Vec<PathBuf> = directories.iter().map(|one| true_name(one)).collect();
        let mut found = Self { entries: Vec::new(), apart };
        let entries = env::split_paths(path).filter(|entry| entry.is_absolute());
        found.entries = entries.filter(|entry| found.is_apart(entry)).collect();
        found
    }

    /// The program of this name, or the one at this absolute path, if it lies apart.
    pub fn find(&self, command: &str) -> Option<PathBuf> {
        let named = Path::new(command);
        let candidates = match (command.contains('/'), named.is_absolute()) {
            (false, _) => self.entries.iter().map(|entry| entry.join(command)).collect(),
            (true, true) => vec![named.to_owned()],
            (true, false) => Vec::new(),
        };
        // A link out of the search path may lead into a project as well.
        candidates.into_iter().find(|file| environment::may_run(file) && self.is_apart(file))
    }

    /// The search path, for a child that is to find nothing else.
    pub fn path(&self) -> String {
        let entries: Vec<&str> = self.entries.iter().filter_map(|entry| entry.to_str()).collect();
        entries.join(":")
    }

    fn is_apart(&self, path: &Path) -> bool {
        let path = true_name(path);
        !self.apart.iter().any(|directory| path.starts_with(directory))
    }
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
        symlink(&project, scratch.path().join("alias")).expect("linked");
        let path = env::join_paths([
            project.join("bin"),
            scratch.path().join("alias/bin"),
            PathBuf::from("relative"),
            system.clone(),
        ]);
        let found = Installed::among(&path.expect("a path"), std::slice::from_ref(&project));
        assert_eq!(found.find("tool"), Some(system.join("tool")));
        assert_eq!(found.find("ours"), Some(system.join("ours")));
        let inside = project.join("bin/theirs");
        for command in
            ["theirs", "linked", "./project/bin/theirs", "none", "", inside.to_str().expect("text")]
        {
            assert_eq!(found.find(command), None, "{command}");
        }
        assert_eq!(found.find(system.join("ours").to_str().expect("text")), Some(system.join("ours")));
        assert_eq!(found.path(), system.to_str().expect("text"));
    }
}
