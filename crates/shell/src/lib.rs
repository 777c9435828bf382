//! Commands that an agent runs: which parts one has, how it runs, and what is kept of its output.
//!
//! A command runs through `tectum-child`, whose guard ends it with everything it started. Its output
//! is read as it comes, made visible, kept in memory at both ends and written to a file as a whole.
//! One that goes on after its call is a session of the client that started it.

pub mod environment;
mod escape;
mod output;
pub mod parts;
pub mod powershell;
mod running;
mod sessions;
mod spool;

pub use environment::EnvFile;
pub use output::{Output, Shown};
pub use parts::{Part, parts};
pub use running::{CommandEnd, Owner, Place, Places, Running, ShellOrder};
pub use sessions::{Session, Sessions, Stay};
pub use spool::{Kept, Spool};
