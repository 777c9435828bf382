//! Tectum as an MCP server, on stdio and on streamable HTTP.

mod answer;
mod catalogue;
mod conversation;
mod endpoint;
mod http;
mod stdio;
#[cfg(test)]
mod tests;

pub use http::{Auth, HttpOptions, HttpServer};
pub use stdio::stdio;
