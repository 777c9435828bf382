//! Whether a file is still the one that was read.

use std::{os::unix::fs::MetadataExt as _, path::Path};

/// Tells one content of a file from the next: times, size and identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(Option<[i64; 7]>);

impl Stamp {
    /// The stamp of a file as it is now; an absent one has a stamp, too.
    pub fn read(path: &Path) -> Self {
        let stamp = path.metadata().map(|held| {
            let id = |number: u64| i64::from_ne_bytes(number.to_ne_bytes());
            [
                held.mtime(),
                held.mtime_nsec(),
                held.ctime(),
                held.ctime_nsec(),
                id(held.size()),
                id(held.ino()),
                id(held.dev()),
            ]
        });
        Self(stamp.ok())
    }
}
