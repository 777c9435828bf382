//! Where Tectum keeps what outlives it: below the user's state directory, never in a project.

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// The largest file of ours that is read back.
const MAX_FILE: u64 = 16 << 20;

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

/// Reads a file of ours that only its owner may change; `None` when there is none.
#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
pub(crate) fn read_private(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "other users can reach it (mode {mode:o}); run chmod 600 on it"
        )));
    }
    let mut text = String::new();
    file.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Replaces a file of ours as a whole, for its owner only.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    replace(path, text, 0o600)
}

/// The same for what need not outlive the machine's next start: nothing waits for the disk.
pub(crate) fn write_passing(path: &Path, text: &str) -> io::Result<()> {
    put(path, text, 0o600, false)
}

/// Replaces a file as a whole, or makes it: a reader sees the old text or the new one. A link
/// stays a link, and a file that is there keeps its mode.
pub(crate) fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    put(path, text, mode, true)
}

#[expect(clippy::disallowed_methods, reason = "files of the operator and our own, not an agent's path")]
fn put(path: &Path, text: &str, mode: u32, lasting: bool) -> io::Result<()> {
    let target = match path.is_symlink() {
        true => std::fs::canonicalize(path)?,
        false => path.to_owned(),
    };
    let folder = target.parent().ok_or_else(|| io::Error::other("it has no directory"))?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = target.metadata().map_or(mode, |held| held.permissions().mode() & 0o7777);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let fresh = folder.join(format!(".{name}.{}.new", std::process::id()));
    let written =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh).and_then(
            |mut file| {
                file.set_permissions(Permissions::from_mode(mode))?;
                file.write_all(text.as_bytes())?;
                if !lasting {
                    return std::fs::rename(&fresh, &target);
                }
                file.sync_all()?;
                std::fs::rename(&fresh, &target)?;
                File::open(folder)?.sync_all()
            },
        );
    if written.is_err() {
        // Half a file helps nobody; the error tells what happened.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

/// Keeps other processes of this user from changing the same files; ends when it is dropped.
#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
pub fn lock(state: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(state.join("lock"))?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_stays_private() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state/trust.json");
        assert_eq!(read_private(&path).expect("absent"), None);
        write_private(&path, "one").expect("written");
        write_private(&path, "two").expect("written");
        assert_eq!(read_private(&path).expect("there").as_deref(), Some("two"));
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        let left = path.parent().expect("a folder").read_dir().expect("there").count();
        assert_eq!(left, 1);
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("changes");
        assert!(read_private(&path).expect_err("refused").to_string().contains("chmod 600"));
    }

    #[test]
    fn a_link_stays_a_link_and_a_mode_stays() {
        let home = tempfile::tempdir().expect("a directory");
        let (real, link) = (home.path().join("real"), home.path().join("link"));
        write_private(&real, "one").expect("written");
        std::fs::set_permissions(&real, Permissions::from_mode(0o640)).expect("changes");
        std::os::unix::fs::symlink("real", &link).expect("made");
        replace(&link, "two", 0o600).expect("written");
        assert!(link.is_symlink());
        assert_eq!(real.metadata().expect("there").permissions().mode() & 0o777, 0o640);
        assert_eq!(real.metadata().expect("there").len(), 3);
    }

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
