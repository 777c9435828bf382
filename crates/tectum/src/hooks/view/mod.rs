//! What the console shows: everything the house knows, in the form of its screens. Reading waits for the disk, so it
//! is done on threads that may wait.

pub(super) mod call;
pub(super) mod calls;
mod command;
pub(super) mod context;
pub(super) mod now;
mod place;
pub(super) mod policy;
mod query;
mod records;
pub(super) mod server_acts;
pub(super) mod servers;
pub(super) mod session_acts;
pub(super) mod sessions;
pub(super) mod stats;
pub(super) mod tool_acts;
pub(super) mod tools;
