//! Connections to servers. They know JSON-RPC and carry bytes; what those mean for a client is the
//! federation's business.

mod connection;
mod dial;
mod event;
mod handshake;
pub(crate) mod headers;
mod hello;
mod http;
mod inbox;
mod mailbox;
mod noise;
mod outgoing;
mod question;
mod sse;
mod stdio;
#[cfg(test)]
mod tests;

use self::{
    hello::Hello,
    http::HttpCarrier,
    inbox::Origin,
    mailbox::Receiver,
    outgoing::{MOST_UNASKED, Outgoing, RequestHead},
    sse::Sse,
};

pub(crate) use connection::{Ask, Carrier, Exchange, Link, Listing, ServerAnswer};
pub(crate) use dial::{ConnectedLink, Door, connect, connect_sse};
pub(crate) use event::Event;
pub(crate) use handshake::{Unfit, greet};
pub(crate) use hello::{acknowledged, modern_meta, own_meta};
pub(crate) use inbox::{Inbox, Loose, LooseMessages, Room, Signal};
pub(crate) use question::{NOBODY, Question, TOO_MANY};
pub(crate) use stdio::Pipes;

pub(crate) use crate::wire::{loss::Loss, rpc::error_parts};
