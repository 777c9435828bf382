//! Files of our own: decisions of people, logins, approvals, undo images, logs. They are read,
//! replaced, appended to, locked, listed and removed here and nowhere else.
//!
//! A file is for its owner alone, is replaced as a whole, and is *absent* or *broken*. A reader of a
//! person's decision must not take the second for the first. Functions that wait for the disk say so;
//! never call them on a thread that answers clients.

// The names here are our own or the operator's, never an agent's: those are opened by
// `tectum-security` alone.
#![expect(clippy::disallowed_methods, reason = "the room for files of our own")]

mod append;
mod folder;
mod lock;
mod log;
mod moment;
mod read;
mod replace;
mod stamp;

pub use append::{append, create, reserve};
pub use folder::{Entry, list, make_folder, remove, rename, set_aside, sync_folder};
pub use lock::{lock, try_lock};
pub use log::{Log, LogBounds};
pub use moment::Moment;
pub use read::{Exposed, open, read, read_private, tail};
pub use replace::{Lasts, create_private, replace, replace_with_mode};
pub use stamp::Stamp;

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

/// True if the error means that the file does not exist.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A word for file names that no other writer uses, in this process or another that runs.
fn unique() -> String {
    format!("{}-{}", std::process::id(), unique_number())
}

/// A number that is unique in this process; a later one is greater.
fn unique_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
