//! Paths in, capabilities out: the only door from what an agent typed to a file.
//!
//! Three layers, one file each. [`allowlist`] says what may be reached at all, [`candidate`]
//! judges the words of a path, [`resolve`] turns it into an open handle beneath a root. No
//! name is ever resolved first and opened later: the kernel does both in one step, so a
//! process that renames directories during a call cannot redirect it.
//!
//! This crate knows nothing of tools, of configuration files or of async code.

mod abandoned;
pub mod above;
pub mod access;
pub mod allowlist;
mod beneath;
pub mod built_in;
pub mod candidate;
mod closed;
pub mod control;
pub mod deny;
mod fold;
pub mod hide;
pub mod kind;
mod links;
mod lock;
pub mod missing;
mod names;
pub mod open_file;
mod parents;
pub mod part;
mod place;
mod platform;
mod policy;
pub mod raw;
pub mod refusal;
mod rename;
pub mod resolve;
mod root;
pub mod safe;
mod slot;
mod stage;
mod sweep;
mod target;
mod temporary;
mod tree;
pub mod walk;
pub mod watch;
pub mod write;

pub use abandoned::Abandoned;
pub use above::Above;
pub use access::Access;
pub use allowlist::{Allowlist, AllowlistBuilder, TrackedOpens};
pub use candidate::Candidate;
pub use control::ControlFiles;
pub use deny::DenyList;
pub use hide::Hide;
pub use kind::{Kind, Stamp};
pub use missing::Missing;
pub use open_file::OpenFile;
pub use part::{Part, Standing};
pub use policy::Links;
pub use raw::RawPath;
pub use refusal::{Denied, Layer, PathError, Reason};
pub use safe::{Entry, Listing, SafePath};
pub use slot::{Change, Durability, Slot};
pub use tree::MAX_DEPTH;
pub use walk::{Flow, Folder, WalkEntry, WalkReport};
pub use watch::{Changes, View, Watch};
pub use write::{Batch, Settled};
