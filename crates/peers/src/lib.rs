//! Where MCP begins and ends: Tectum as a server, and the servers it federates.

pub mod auth;
mod child;
mod link;
pub mod serve;
pub mod spec;
mod wire;
