//! The whole output of commands that say more than is shown: one file for each stream, for its owner
//! alone, with a bound on each and on all of them.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

/// What one file takes; a command that says more has run away.
const MOST_FILE: u64 = 256 * 1024 * 1024;
/// What all of them may take; the oldest make room.
const MOST_KEPT: u64 = 512 * 1024 * 1024;

/// A folder of such files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spool {
    folder: PathBuf,
}

impl Spool {
    /// In this folder, which is made when something is written.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// A file of this name that grows.
    pub(crate) fn open(&self, name: &str) -> io::Result<Growing> {
        self.make_room();
        let path = self.folder.join(name);
        let file = tectum_state::create(&path)?;
        Ok(Growing { file, kept: Kept { path, length: 0, full: false } })
    }

    fn make_room(&self) {
        let mut files = tectum_state::list(&self.folder).unwrap_or_default();
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        if total <= MOST_KEPT {
            return;
        }
        files.sort_by_key(|file| file.written);
        for file in files {
            if total <= MOST_KEPT / 2 {
                break;
            }
            if tectum_state::remove(&file.path).is_ok() {
                total -= file.size;
            }
        }
    }
}

/// A file that grows.
#[derive(Debug)]
pub(crate) struct Growing {
    file: File,
    kept: Kept,
}

impl Growing {
    /// Adds a text; one that does not fit as a whole is left out with all that follows.
    pub(crate) fn add(&mut self, text: &str) -> io::Result<()> {
        self.kept.full |= self.kept.length + text.len() as u64 > MOST_FILE;
        if !self.kept.full {
            self.file.write_all(text.as_bytes())?;
            self.kept.length += text.len() as u64;
        }
        Ok(())
    }

    /// What can be read of it.
    pub(crate) fn kept(&self) -> Kept {
        self.kept.clone()
    }
}

/// What was written of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    path: PathBuf,
    /// Bytes of text that can be read.
    pub length: u64,
    /// Whether the stream said more than a file takes.
    pub full: bool,
}

impl Kept {
    /// The text at an offset, in whole characters. Waits for the disk.
    pub fn read(&self, offset: u64, most: usize) -> io::Result<String> {
        read(
            &self.path,
            offset,
            most.min(usize::try_from(self.length.saturating_sub(offset)).unwrap_or(most)),
        )
    }
}

fn read(path: &Path, offset: u64, length: usize) -> io::Result<String> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the output is no longer kept");
    let mut file = tectum_state::open(path)?.ok_or_else(missing)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    // A character that an end cuts is left to whoever reads on from there.
    let start = bytes.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    let end = bytes.len() - bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
    Ok(String::from_utf8_lossy(&bytes[start.min(end)..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_in_whole_characters() {
        let scratch = tempfile::tempdir().expect("a directory");
        let spool = Spool::new(scratch.path().join("kept"));
        let mut growing = spool.open("a.0").expect("made");
        growing.add("aü").expect("written");
        growing.add("日b").expect("written");
        let kept = growing.kept();
        assert_eq!(kept.length, 7);
        assert_eq!(kept.read(0, 100).expect("read"), "aü日b");
        assert_eq!(kept.read(0, 2).expect("read"), "a");
        assert_eq!(kept.read(2, 3).expect("read"), "");
        assert_eq!(kept.read(3, 3).expect("read"), "日");
        assert_eq!(kept.read(100, 3).expect("read"), "");
        assert!(spool.open("a.0").is_err(), "nothing is overwritten");
    }
}
