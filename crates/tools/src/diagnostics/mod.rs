//! The problems that language servers find in files: as of the text that the gate granted, never of an
//! older one.
//!
//! A server is a program of the user's that reads what it likes: what a file includes, what the
//! project's own settings name. So these tools reach beyond the project (`World::Open`) and are
//! asked about unless a rule allows them, though they change nothing.

mod ask;
mod check_errors;
mod known;
// The file is named after its tool.
#[expect(clippy::module_inception, reason = "a tool's file has the tool's name")]
mod diagnostics;
mod servers;
mod table;
mod toolchain;

pub use ask::{Checked, FileProblem};
pub use check_errors::CheckErrors;
pub use diagnostics::Diagnostics;
pub use known::Known;
pub use servers::Servers;
