//! Our folders, and the names in them.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{is_absent, unique};

/// Creates the folder of a file, which only its owner may enter.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

/// Syncs the names in the folder of a file to the disk.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// A file in one of our folders.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The path of the file.
    pub path: PathBuf,
    /// The size in bytes.
    pub size: u64,
    /// The time when it was last written.
    pub written: SystemTime,
}

/// The files in a folder; none if there is no folder. A file that vanishes meanwhile is left out.
pub fn list(folder: &Path) -> io::Result<Vec<Entry>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let fact = |entry: fs::DirEntry| {
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Entry { path: entry.path(), size: about.len(), written: about.modified().ok()? })
    };
    Ok(entries.flatten().filter_map(fact).collect())
}

/// Removes a file. True if there was one.
pub fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Renames a file; a file that already has the new name is replaced.
pub fn rename(path: &Path, to: &Path) -> io::Result<()> {
    fs::rename(path, to)
}

/// Moves a file out of the way, to a unique name, and returns that name. `None` if there is no file.
pub fn set_aside(path: &Path, why: &str) -> io::Result<Option<PathBuf>> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    name.push(format!(".{why}-{seconds}-{}", unique()));
    let aside = path.with_file_name(name);
    match fs::rename(path, &aside) {
        Ok(()) => Ok(Some(aside)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_set_aside_and_removed_and_its_absence_is_told() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("kept.json");
        assert_eq!(set_aside(&path, "broken").expect("absent"), None);
        assert!(!remove(&path).expect("absent"));
        fs::write(&path, "x").expect("written");
        let aside = set_aside(&path, "broken").expect("moved").expect("there");
        assert!(aside.to_string_lossy().contains("kept.json.broken-") && !path.exists());
        let listed = list(home.path()).expect("listed");
        assert_eq!((listed.len(), listed[0].size, &listed[0].path), (1, 1, &aside));
        assert!(remove(&aside).expect("removed"));
        assert!(list(&home.path().join("none")).expect("absent").is_empty());
    }
}
