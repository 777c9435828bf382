//! The directories for everything that outlives Tectum: below the user's state directory, never in a
//! project.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// The directory of one project's state. Nothing is created here.
pub fn of_project(state: &Path, root: &Path) -> PathBuf {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    state.join("projects").join(&hash[..16])
}

/// The canonical name of the longest part of a path that exists, with the rest as written.
#[expect(clippy::disallowed_methods, reason = "the operator's own directories, not an agent's path")]
pub fn canonical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(ancestor), path.strip_prefix(ancestor)) {
            // Joining nothing would add a slash, which only a directory may have.
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

/// Keeps other processes of this user from changing the same files; ends when it is dropped.
pub fn lock(state: &Path) -> io::Result<File> {
    tectum_state::lock(&state.join("lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_root_has_its_own_directory() {
        let one = of_project(Path::new("/state"), Path::new("/a"));
        assert_ne!(one, of_project(Path::new("/state"), Path::new("/b")));
        assert_eq!(one, of_project(Path::new("/state"), Path::new("/a")));
        let name = one.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(name.len() == 16 && name.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
        assert_eq!(one.parent(), Some(Path::new("/state/projects")));
    }
}
