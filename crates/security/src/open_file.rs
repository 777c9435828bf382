//! A regular file that all three layers agreed to: its content, whole and bounded.

use std::{fs::File, io, sync::Arc};

use rustix::io::Errno;

use crate::PathError;

/// A regular file, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub(crate) file: Arc<File>,
    pub(crate) size: u64,
    pub(crate) name: String,
}

impl OpenFile {
    /// Size in bytes when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The open file itself.
    pub fn handle(&self) -> &File {
        &self.file
    }

    /// The whole content, refusing more than `limit` bytes.
    pub fn bytes(&self, limit: u64) -> Result<Vec<u8>, PathError> {
        let too_large = |size| PathError::TooLarge { path: self.name.clone(), size, limit };
        if self.size > limit {
            return Err(too_large(self.size));
        }
        read_all(&self.file, self.size, limit)
            .map_err(|source| PathError::Io { path: self.name.clone(), source })?
            .ok_or_else(|| too_large(limit.saturating_add(1)))
    }

    /// True if the content is exactly this. The file is read, so no change is missed whatever its
    /// times say, but nothing of it is kept.
    pub fn holds(&self, content: &[u8]) -> Result<bool, PathError> {
        /// Enough that calls do not count, and little enough to stay in a near cache.
        const PIECE: usize = 64 * 1024;
        if self.size != content.len() as u64 {
            return Ok(false);
        }
        let mut piece = Vec::with_capacity(PIECE);
        let mut rest = content;
        loop {
            piece.clear();
            let offset = (content.len() - rest.len()) as u64;
            match rustix::io::pread(&*self.file, rustix::buffer::spare_capacity(&mut piece), offset) {
                Ok(0) => return Ok(rest.is_empty()),
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(PathError::from_errno(self.name.clone(), errno)),
            }
            let Some(after) = rest.strip_prefix(&*piece) else { return Ok(false) };
            rest = after;
        }
    }
}

/// Reads to the end; `None` when a growing file passes the limit.
pub(crate) fn read_all(file: &File, size: u64, limit: u64) -> io::Result<Option<Vec<u8>>> {
    /// A size is a claim: a file full of holes can state any. Beyond this the buffer grows as it fills.
    const AT_ONCE: u64 = 64 * 1024 * 1024;
    // One byte more than expected lets a single read see the end of an unchanged file.
    let room = usize::try_from(size.min(limit).min(AT_ONCE)).unwrap_or(0) + 1;
    let mut bytes = Vec::with_capacity(room);
    while bytes.len() as u64 <= limit {
        bytes.reserve(1);
        let asked = bytes.capacity() - bytes.len();
        let offset = bytes.len() as u64;
        match rustix::io::pread(file, rustix::buffer::spare_capacity(&mut bytes), offset) {
            // A short read of a plain file is its end.
            Ok(read) if read < asked => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}
