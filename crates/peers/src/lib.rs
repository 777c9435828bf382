//! Where MCP begins and ends: Tectum as a server, and the servers it federates.

pub mod serve;
pub mod spec;
