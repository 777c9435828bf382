//! The parts of the wire that fuzz targets reach: reading messages and event streams, with the
//! properties that hold for any bytes. Compiled for fuzzing alone.

use serde_json::Value;

use crate::wire::{Events, Message, StreamItem, rpc};

/// Reads a message. What is taken for one must be JSON with the members it was read from.
pub fn message(bytes: &[u8]) {
    let read = rpc::read(bytes);
    let json: Option<Value> = serde_json::from_slice(bytes).ok();
    match (read, json) {
        (Ok(Message::Request(request)), Some(json)) => {
            assert_eq!(json["method"], *request.method);
            let id: Value = serde_json::from_str(request.id).expect("an id is JSON");
            assert!(id.is_string() || id.is_number(), "{id} is no id");
        }
        (Ok(Message::Notification { method, .. }), Some(json)) => assert_eq!(json["method"], *method),
        (Ok(Message::Response(_)), Some(json)) => assert!(json.get("method").is_none_or(Value::is_null)),
        (Ok(_), None) => panic!("taken for a message, though it is not JSON"),
        (Err(malformed), _) => assert!(!malformed.message.is_empty()),
    }
    let _ = rpc::nests_deeper_than(bytes, 64);
}

/// Reads an event stream in one piece and in pieces of `step` bytes.
pub fn events(step: u8, bytes: &[u8]) {
    const MOST: usize = 256;
    let read = |step: usize| {
        let mut events = Events::new(MOST);
        let (mut found, mut cut) = (Vec::new(), false);
        for part in bytes.chunks(step) {
            events.feed(part, |event| match event {
                StreamItem::Event { name, data } => {
                    assert!(data.len() <= MOST, "an event over its bound");
                    found.push((name.to_owned(), data.to_vec()));
                }
                StreamItem::TooLong { .. } => cut = true,
            });
        }
        (found, cut, events.last_id.clone(), events.retry)
    };
    assert_eq!(read(bytes.len().max(1)), read(usize::from(step).max(1)));
}
