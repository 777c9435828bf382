//! The messages that came in over HTTP, on their way to the inbox: one message or several, whole or in
//! a stream.

use serde::{
    Deserializer as _,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    link::{Inbox, Origin},
    wire::{Events, Opened, StreamItem, rpc},
};

/// The longest error without an id that is taken for an answer.
const MOST_ERROR: usize = 64 * 1024;
/// Messages that may stand in one list.
const MOST_IN_A_LIST: usize = 1000;
/// The bytes of a stream that are sorted at once.
const PIECE: usize = 16 * 1024;

/// Delivers what came for a request.
pub(crate) fn deliver(inbox: &Inbox, id: u64, bytes: &[u8]) {
    // Such an error is short; what is long is not read twice.
    if bytes.len() <= MOST_ERROR
        && let Ok(Opened::Response(response)) = rpc::open(bytes)
        && let (None, Err(error)) = (response.id, response.outcome)
    {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.get());
        return inbox.deliver(answer.as_bytes(), Origin::Stream(id));
    }
    deliver_all(inbox, bytes, Origin::Stream(id));
}

/// Delivers one message, or each of those that 2025-03-26 allowed to stand in a list, as far as they
/// are not too many for one.
fn deliver_all(inbox: &Inbox, bytes: &[u8], origin: Origin) {
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        return inbox.deliver(bytes, origin);
    }
    // What stands before a mistake in it has been delivered.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_seq(Batch { inbox, origin });
}

/// Delivers what was found on a stream that no request owns.
pub(crate) fn take_shared(inbox: &Inbox, found: &StreamItem<'_>) {
    take(inbox, found, |data| deliver_all(inbox, data, Origin::Shared));
}

/// Delivers what was found on a stream in this way.
pub(crate) fn take(inbox: &Inbox, found: &StreamItem<'_>, deliver: impl Fn(&[u8])) {
    match found {
        StreamItem::Event { name: "" | "message", data } => deliver(data),
        StreamItem::Event { .. } => {}
        StreamItem::TooLong { start, size } => inbox.deliver_too_long(start, *size),
    }
}

/// A list of messages that is being delivered.
struct Batch<'i> {
    inbox: &'i Inbox,
    origin: Origin,
}

impl<'de> Visitor<'de> for Batch<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for _ in 0..MOST_IN_A_LIST {
            let Some(message) = list.next_element::<&RawValue>()? else { return Ok(()) };
            self.inbox.deliver(message.get().as_bytes(), self.origin);
        }
        Err(A::Error::custom("too many messages in one list"))
    }
}

/// Feeds a stream with what came, a piece at a time, so that others have their turn in between.
pub(crate) async fn feed(
    events: &mut Events,
    chunk: &[u8],
    inbox: &Inbox,
    mut each: impl FnMut(StreamItem<'_>),
) {
    for piece in chunk.chunks(PIECE) {
        if events.is_skipping() {
            inbox.waste(piece.len());
        }
        events.feed(piece, &mut each);
        inbox.pause().await;
    }
}
