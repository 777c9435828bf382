//! What both sides of MCP share: messages read without copying them, the two eras, and pipes
//! that the runtime watches itself.

pub(crate) mod backlog;
pub(crate) mod era;
pub(crate) mod events;
pub(crate) mod lines;
pub(crate) mod object;
pub(crate) mod pipe;
pub(crate) mod rpc;
pub(crate) mod tool_result;
