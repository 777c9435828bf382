//! Messages of the protocol: what comes in is looked at only as far as it must be, what goes out is
//! written whole.
//!
//! The handful of shapes that are needed are written here: a crate with all types of the protocol
//! would be many thousand lines for a dozen members, and would refuse what a newer server adds.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::frame::framed;

/// A request that came to an end because something newer came: it may be asked again.
pub(crate) const AGAIN: &[i64] = &[-32800, -32801, -32802];
/// What is answered to a method nobody knows here.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// What a server sent.
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

/// A request that failed.
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

/// Something that wants no answer.
pub(crate) fn notification(method: &str, params: &Value) -> Vec<u8> {
    frame(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// The answer to a request of the server, whose id goes back as it came.
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
