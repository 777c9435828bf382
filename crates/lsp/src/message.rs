//! Messages of the protocol: incoming ones are parsed only as far as necessary, outgoing ones are complete.
//!
//! Only the few shapes that are needed are defined here: a crate with all types of the protocol would
//! be many thousand lines for a dozen members, and would refuse what a newer server adds.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::frame::framed;

/// The error codes of a request that something newer cancelled: it may be retried.
pub(crate) const AGAIN: &[i64] = &[-32800, -32801, -32802];
/// The error code for a method that is unknown here.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// A message from a server.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming<'m> {
    #[serde(borrow)]
    pub(crate) id: Option<&'m RawValue>,
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'m RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'m RawValue>,
    pub(crate) error: Option<Refusal>,
}

/// The error of a request that failed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

/// A request of ours.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    frame(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// A notification, which gets no answer.
pub(crate) fn notification(method: &str, params: &Value) -> Vec<u8> {
    frame(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// The answer to a request of the server, with its id as it came.
pub(crate) fn answer(id: &RawValue, answer: &Result<Value, i64>) -> Vec<u8> {
    let body = match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(code) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "nothing here answers this" } })
        }
    };
    frame(&body)
}

fn frame(body: &Value) -> Vec<u8> {
    framed(body.to_string().as_bytes())
}
