//! The other servers of a house: from the files that name them to [`ServerSpec`]s.
//!
//! Our own tables, and the files of other programs as they stand, become [`Entry`]s under one
//! table of [`keys`]. A [`survey`] chooses one entry for each name, asks [`trust`] about those
//! that a project brought along, fills in [`variables`] and says of every name whether it can
//! start, and if not, why. [`Live`] does so again whenever a file changes. Nothing here starts
//! or connects to anything.
//!
//! [`ServerSpec`]: tectum_peers::spec::ServerSpec

mod address;
mod build;
pub mod clients;
pub mod context;
mod contradictions;
pub mod edit;
mod ends;
pub mod entry;
mod fields;
pub mod foreign;
mod held;
pub mod holding;
mod json;
pub mod keys;
mod live;
mod missing;
mod ourselves;
mod overlay;
pub mod spoken;
pub mod survey;
mod tables;
pub mod trust;
pub mod variables;

pub use entry::{Entry, Place, Source};
pub use held::{Held, Why};
pub use live::{Live, may_require};
pub use missing::missing;
pub use ourselves::why as why_ourselves;
pub use survey::{Resolved, Survey, files};
pub(super) use tables::{double_plain, table};
