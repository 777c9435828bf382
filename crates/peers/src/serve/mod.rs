//! Tectum as an MCP server, on stdio and on streamable HTTP.

mod answer;
mod approval;
mod calling;
mod catalogue;
mod endpoint;
mod federated;
mod first_list;
mod hints;
mod http;
// The server of this test is a program with the flags it has on Linux.
#[cfg(all(test, target_os = "linux"))]
mod ids_tests;
mod listen;
mod measured;
mod opening;
mod relay;
mod running;
mod stdio;
#[cfg(test)]
mod tests;
mod turns;
mod watching;

use self::{
    endpoint::{ClientRequest, Delivery, Endpoint, Handled, caller, refuse, seat, seated},
    opening::Opening,
    running::Running,
    turns::{Turn, Turns},
};

pub use answer::answered;
pub use catalogue::definitions;
pub use http::{Admission, Auth, Beside, BesideBody, BesideRequest, HttpOptions, HttpServer};
pub use relay::{Relayed, TakenOver, relay};
pub use stdio::LineServer;

pub use crate::client::{ClientForms, Form, Structured};
