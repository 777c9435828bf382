//! Writing messages: JSON-RPC around results and parameters that are bytes already.

use std::{fmt::Display, io::Write as _};

use memchr::memmem;

/// The bytes of an answer before what it says; longer ids are nobody's.
const LONGEST_HEAD: usize = 512;

/// Starts an answer to `id`.
pub(crate) fn open(out: &mut Vec<u8>, id: &str, key: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#",""#);
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(br#"":"#);
}

/// A result that is JSON already.
pub(crate) fn result(out: &mut Vec<u8>, id: &str, json: &str) {
    // Room for all of it at once, a newline too.
    out.reserve(json.len() + id.len() + 48);
    open(out, id, "result");
    out.extend_from_slice(json.as_bytes());
    out.push(b'}');
}

/// An error; `data` is JSON already.
pub(crate) fn error(out: &mut Vec<u8>, id: Option<&str>, code: i32, message: &str, data: Option<&str>) {
    open(out, id.unwrap_or("null"), "error");
    out.extend_from_slice(format!(r#"{{"code":{code},"message":"#).as_bytes());
    string(out, message);
    if let Some(data) = data {
        out.extend_from_slice(br#","data":"#);
        out.extend_from_slice(data.as_bytes());
    }
    out.extend_from_slice(b"}}");
}

/// The code of an answer that is an error.
pub(crate) fn error_code(answer: &[u8]) -> Option<i32> {
    #[derive(serde::Deserialize)]
    struct Written {
        error: Option<Error>,
    }
    #[derive(serde::Deserialize)]
    struct Error {
        code: i32,
    }
    // Most answers are results, and are not read.
    memmem::find(&answer[..answer.len().min(LONGEST_HEAD)], br#","error":"#)?;
    serde_json::from_slice::<Written>(answer).ok()?.error.map(|error| error.code)
}

/// A request; `id` and `params` are JSON already.
pub(crate) fn request(id: impl Display, method: &str, params: &str) -> Vec<u8> {
    // Room for all of it, a newline too.
    let mut out = Vec::with_capacity(params.len() + method.len() + 64);
    // Writing into memory cannot fail.
    let _ = write!(out, r#"{{"jsonrpc":"2.0","id":{id}"#);
    out.extend_from_slice(br#","method":"#);
    string(&mut out, method);
    out.extend_from_slice(br#","params":"#);
    out.extend_from_slice(params.as_bytes());
    out.push(b'}');
    out
}

/// A notification; `params` is JSON already.
pub(crate) fn notification(method: &str, params: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#).into_bytes()
}

/// A text as JSON.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    // Writing a string into memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}
