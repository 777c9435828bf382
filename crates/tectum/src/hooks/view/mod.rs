//! What the console shows: everything the house knows, in the form of its screens. Reading waits for the disk, so it
//! is done on threads that may wait.

pub(super) mod call;
pub(super) mod calls;
pub(super) mod now;
mod query;
mod records;
pub(super) mod sessions;
pub(super) mod stats;
