//! Reading: `None` means that the file does not exist, an error that it cannot be read.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use crate::is_absent;

/// The largest of our files that is read into memory.
const MOST: u64 = 64 << 20;

/// Opens a file to read it.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a file.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    open(path)?.map(whole).transpose()
}

/// Reads a file that is trusted only if nobody but its owner could have written or read it.
pub fn read_private(path: &Path) -> io::Result<Option<String>> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(io::Error::other(Exposed { mode }));
    }
    let text = String::from_utf8(whole(file)?);
    text.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// The reason why a private file is refused: others can reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// The mode of the file.
    pub mode: u32,
}

impl Exposed {
    /// The value inside an error, if this is why the file could not be read.
    pub fn in_error(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "other users can reach it (mode {:o}); run chmod 600 on it", self.mode)
    }
}

impl std::error::Error for Exposed {}

/// The last bytes of a log.
pub fn tail(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = open(path)? else { return Ok(None) };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn whole(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other(format!("it is larger than {} MiB", MOST >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};

    use super::*;

    #[test]
    fn absent_is_told_from_broken() {
        let home = tempfile::tempdir().expect("a directory");
        assert_eq!(read(&home.path().join("none")).expect("absent"), None);
        assert_eq!(read(&home.path().join("none/below")).expect("absent"), None);
        assert!(read(home.path()).is_err(), "a directory is no absent file");
        let large = home.path().join("large");
        File::create(&large).expect("made").set_len(MOST + 1).expect("grows");
        assert!(read(&large).expect_err("refused").to_string().contains("64 MiB"));
    }

    #[test]
    fn what_others_can_reach_is_refused_with_what_to_do() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("kept");
        write(&path, "mine").expect("written");
        set_permissions(&path, Permissions::from_mode(0o644)).expect("changes");
        let refused = read_private(&path).expect_err("refused");
        assert!(refused.to_string().contains("chmod 600"), "{refused}");
        assert_eq!(Exposed::in_error(&refused), Some(Exposed { mode: 0o644 }));
        set_permissions(&path, Permissions::from_mode(0o600)).expect("changes");
        assert_eq!(read_private(&path).expect("read").as_deref(), Some("mine"));
        assert_eq!(tail(&path, 2).expect("read").as_deref(), Some(&b"ne"[..]));
    }
}
