//! The only crate that speaks MCP: Tectum as a server, and, as peers join, as a client.

pub mod serve;
