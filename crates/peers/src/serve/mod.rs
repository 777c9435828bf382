//! Tectum as an MCP server, on stdio and on streamable HTTP.

mod answer;
mod approval;
mod budget;
mod calling;
mod catalogue;
mod clients;
mod closing;
mod conversation;
mod endpoint;
mod federated;
mod first_list;
mod form;
mod heartbeat;
mod hints;
mod http;
// The server of this test is a program with the flags it has on Linux.
#[cfg(all(test, target_os = "linux"))]
mod ids_tests;
mod listen;
mod listeners;
mod outbox;
mod pages;
mod running;
mod stdio;
#[cfg(test)]
mod tests;
mod turns;
mod unheard;
mod watching;

pub use answer::answered;
pub(crate) use answer::notification;
pub use catalogue::definitions;
pub(crate) use catalogue::server_meta;
pub(crate) use clients::Clients;
pub(crate) use conversation::Conversation;
pub use form::{ClientForms, Form, Structured};
pub(crate) use form::{text_size, with_text};
pub(crate) use heartbeat::Pulse;
pub use http::{Auth, Beside, BesideBody, BesideRequest, HttpOptions, HttpServer};
pub(crate) use outbox::Outbox;
pub(crate) use pages::Pages;
pub use stdio::stdio;
pub(crate) use unheard::Unheard;
