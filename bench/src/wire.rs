//! JSON-RPC lines as the client writes and reads them: prebuilt requests, checked responses.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

/// A request, complete but for its id.
pub(crate) struct Request {
    after_id: String,
    /// A text that the response must contain; checked before measuring begins.
    pub(crate) expect: String,
}

impl Request {
    pub(crate) fn new(method: &str, params: &Value) -> Self {
        let method = Value::from(method);
        Self { after_id: format!(",\"method\":{method},\"params\":{params}}}\n"), expect: String::new() }
    }

    pub(crate) fn tool(name: &str, arguments: Value, expect: impl Into<String>) -> Self {
        let params = json!({"name": name, "arguments": arguments});
        Self { expect: expect.into(), ..Self::new("tools/call", &params) }
    }

    pub(crate) fn initialize() -> Self {
        Self::initialize_as("tectum-bench")
    }

    /// The `initialize` request of a client with this name.
    pub(crate) fn initialize_as(name: &str) -> Self {
        let client = json!({"name": name, "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        Self { expect: "protocolVersion".to_owned(), ..Self::new("initialize", &params) }
    }

    pub(crate) fn write(&self, id: u64, to: &mut Vec<u8>) {
        to.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        to.extend_from_slice(id.to_string().as_bytes());
        to.extend_from_slice(self.after_id.as_bytes());
    }
}

pub(crate) const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// The id that a line answers; `None` for a notification. Anything but success is an error.
pub(crate) fn answered(line: &[u8]) -> Result<Option<u64>> {
    let message: Message =
        serde_json::from_slice(line).with_context(|| format!("not a JSON-RPC message: {}", excerpt(line)))?;
    match (message.method, message.id, message.error, message.result) {
        (Some(_), None, ..) => Ok(None),
        (None, Some(id), None, Some(Outcome { is_error: false })) => Ok(Some(id)),
        _ => bail!("not a success: {}", excerpt(line)),
    }
}

/// The text parts of a tool's result.
pub(crate) fn text(line: &[u8]) -> Result<String> {
    let message: Value = serde_json::from_slice(line)?;
    let parts = message["result"]["content"].as_array().context("the result has no content")?;
    Ok(parts.iter().filter_map(|part| part["text"].as_str()).collect())
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    method: Option<&'a str>,
    error: Option<serde::de::IgnoredAny>,
    result: Option<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(default, rename = "isError")]
    is_error: bool,
}

fn excerpt(line: &[u8]) -> String {
    // Enough to show an error's sentence, not a whole file.
    const SHOWN: usize = 300;
    String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_line_of_json() {
        let mut line = Vec::new();
        Request::tool("echo", json!({"message": "a\nb"}), "").write(7, &mut line);
        assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
        let value: Value = serde_json::from_slice(&line).expect("valid JSON");
        assert_eq!(value["id"], 7);
        assert_eq!(value["params"]["arguments"]["message"], "a\nb");
    }

    #[test]
    fn only_success_counts_as_an_answer() {
        assert_eq!(answered(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#).ok(), Some(Some(3)));
        assert_eq!(answered(br#"{"jsonrpc":"2.0","method":"notifications/x"}"#).ok(), Some(None));
        assert!(answered(br#"{"jsonrpc":"2.0","id":3,"result":{"isError":true}}"#).is_err());
        assert!(answered(br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601}}"#).is_err());
        assert!(answered(br#"{"jsonrpc":"2.0","id":3}"#).is_err());
        assert!(answered(b"Server started").is_err());
    }
}
