//! Where MCP begins and ends: Tectum as a server, and the servers it federates.

pub mod auth;
mod client;
pub mod client_table;
pub mod federation;
#[cfg(fuzzing)]
pub mod fuzzing;
mod lineage;
mod link;
pub mod observe;
pub mod operation;
mod peer;
pub mod serve;
pub mod spec;
mod wire;
mod writer;

pub use tectum_child::{self as child, visible};
pub use wire::is_local;
