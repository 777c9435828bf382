//! One JSON-RPC message, read without copying it: only what routing needs is looked at.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Object;
use crate::operation::TraceContext;

/// The largest message taken, on any transport.
pub(crate) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// JSON-RPC and MCP error codes.
pub(crate) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL: i32 = -32603;
    pub(crate) const RESOURCE_NOT_FOUND: i32 = -32002;
    pub(crate) const MISSING_CAPABILITY: i32 = -32021;
    pub(crate) const HEADER_MISMATCH: i32 = -32020;
    pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
}

/// The message in a line or a body.
#[derive(Debug)]
pub(crate) enum Message<'m> {
    /// Wants an answer.
    Request(Request<'m>),
    /// Wants none.
    Notification { method: Cow<'m, str>, params: Params<'m> },
    /// An answer to a request of ours.
    Response(Response<'m>),
}

/// An answer, with its id as it was written.
#[derive(Debug)]
pub(crate) struct Response<'m> {
    /// `None` when the other side could not read ours.
    pub(crate) id: Option<&'m str>,
    /// The result, or the error object.
    pub(crate) outcome: Result<&'m RawValue, &'m RawValue>,
}

/// A request, with its id as it was written.
#[derive(Debug)]
pub(crate) struct Request<'m> {
    pub(crate) id: &'m str,
    pub(crate) method: Cow<'m, str>,
    pub(crate) params: Params<'m>,
    /// The parameters as they were written; an empty object when there were none.
    pub(crate) raw: &'m str,
}

/// The error of a message, and the id to answer to where one could be read.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) id: Option<String>,
    pub(crate) code: i32,
    pub(crate) message: String,
}

/// A string that is borrowed where it holds no escapes. Serde borrows a `Cow` only where it stands
/// by itself, never inside an `Option`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Text<'m>(#[serde(borrow)] Cow<'m, str>);

/// A string that may be missing or null.
fn borrowed<'de: 'm, 'm, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Cow<'m, str>>, D::Error> {
    Ok(Option::<Text<'m>>::deserialize(value)?.map(|text| text.0))
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'm"))]
struct Envelope<'m> {
    #[serde(default, deserialize_with = "borrowed")]
    jsonrpc: Option<Cow<'m, str>>,
    id: Option<&'m RawValue>,
    #[serde(default, deserialize_with = "borrowed")]
    method: Option<Cow<'m, str>>,
    params: Option<&'m RawValue>,
    #[serde(default, deserialize_with = "given")]
    result: Option<&'m RawValue>,
    error: Option<&'m RawValue>,
}

/// The parameters any method of ours looks at, unread until it does.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'm"))]
pub(crate) struct Params<'m> {
    #[serde(default, deserialize_with = "borrowed")]
    pub(crate) name: Option<Cow<'m, str>>,
    pub(crate) arguments: Option<&'m RawValue>,
    #[serde(rename = "_meta")]
    pub(crate) meta: Option<Meta<'m>>,
    pub(crate) cursor: Option<&'m RawValue>,
    pub(crate) uri: Option<&'m RawValue>,
    pub(crate) protocol_version: Option<&'m RawValue>,
    pub(crate) level: Option<&'m RawValue>,
    pub(crate) request_id: Option<&'m RawValue>,
    pub(crate) notifications: Option<&'m RawValue>,
    pub(crate) capabilities: Option<&'m RawValue>,
    pub(crate) client_info: Option<&'m RawValue>,
    #[serde(default, deserialize_with = "given")]
    pub(crate) input_responses: Option<&'m RawValue>,
    pub(crate) task_id: Option<&'m RawValue>,
    pub(crate) request_state: Option<&'m RawValue>,
}

/// A value that was given, `null` too.
fn given<'de: 'm, 'm, D: serde::Deserializer<'de>>(value: D) -> Result<Option<&'m RawValue>, D::Error> {
    <&'m RawValue>::deserialize(value).map(Some)
}

/// The request metadata we understand.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'm"))]
pub(crate) struct Meta<'m> {
    pub(crate) progress_token: Option<&'m RawValue>,
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) protocol_version: Option<&'m RawValue>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) client_capabilities: Option<&'m RawValue>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    pub(crate) client_info: Option<&'m RawValue>,
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<&'m RawValue>,
    #[serde(default, rename = "tectum/lineage", deserialize_with = "given")]
    pub(crate) lineage: Option<&'m RawValue>,
    #[serde(rename = "tectum/structured")]
    pub(crate) structured: Option<&'m RawValue>,
    #[serde(rename = "threadId")]
    pub(crate) thread: Option<&'m RawValue>,
    traceparent: Option<&'m RawValue>,
    tracestate: Option<&'m RawValue>,
    baggage: Option<&'m RawValue>,
}

impl Meta<'_> {
    /// The trace context it carries.
    pub(crate) fn trace_context(&self) -> TraceContext {
        TraceContext {
            parent: self.traceparent.and_then(text).map(Cow::into_owned),
            state: self.tracestate.and_then(text).map(Cow::into_owned),
            baggage: self.baggage.and_then(text).map(Cow::into_owned),
        }
    }
}

/// A message with its parameters unread.
#[derive(Debug)]
pub(crate) enum Opened<'m> {
    /// Wants an answer.
    Request { id: &'m str, method: Cow<'m, str>, params: &'m str },
    /// Wants none.
    Notification { method: Cow<'m, str>, params: &'m str },
    /// An answer to a request of ours.
    Response(Response<'m>),
}

/// Reads one message, and its parameters as far as routing needs them.
pub(crate) fn read(bytes: &[u8]) -> Result<Message<'_>, Malformed> {
    match open(bytes)? {
        Opened::Request { id, method, params } => {
            let read = parameters(params, &method, Some(id))?;
            Ok(Message::Request(Request { id, method, params: read, raw: params }))
        }
        Opened::Notification { method, params } => {
            let read = parameters(params, &method, None)?;
            Ok(Message::Notification { method, params: read })
        }
        Opened::Response(response) => Ok(Message::Response(response)),
    }
}

fn parameters<'m>(raw: &'m str, method: &str, id: Option<&str>) -> Result<Params<'m>, Malformed> {
    let read = if raw.starts_with('{') {
        serde_json::from_str(raw).map_err(|error| error.to_string())
    } else {
        Err("`params` must be an object".into())
    };
    read.map_err(|why| Malformed {
        id: id.map(str::to_owned),
        code: code::INVALID_PARAMS,
        message: format!("{method}: {why}"),
    })
}

/// Reads a message's envelope.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened<'_>, Malformed> {
    let fail = |code, message: String| Malformed { id: salvage_id(bytes), code, message };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| fail(code::PARSE_ERROR, format!("not UTF-8 at byte {}", error.valid_up_to())))?;
    match text.trim_start().as_bytes().first() {
        Some(b'{') => {}
        Some(b'[') => {
            let advice = "JSON-RPC batches are not part of this protocol version: send one message at a time";
            return Err(fail(code::INVALID_REQUEST, advice.into()));
        }
        _ => return Err(fail(code::PARSE_ERROR, "a message is a JSON object".into())),
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        let code = if error.is_data() { code::INVALID_REQUEST } else { code::PARSE_ERROR };
        fail(code, error.to_string())
    })?;
    let id = match envelope.id.map(RawValue::get) {
        Some(id) if is_id(id) => Some(id),
        Some(_) => {
            return Err(Malformed {
                id: None,
                ..fail(code::INVALID_REQUEST, "`id` must be a string or an integer".into())
            });
        }
        None => None,
    };
    let invalid = |message: &str| Malformed {
        id: id.map(str::to_owned),
        code: code::INVALID_REQUEST,
        message: message.into(),
    };
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(invalid("`jsonrpc` must be \"2.0\""));
    }
    let Some(method) = envelope.method else {
        let outcome = match (envelope.result, envelope.error) {
            (Some(result), None) => Ok(result),
            (_, Some(error)) => Err(error),
            (None, None) => return Err(invalid("`method` is missing")),
        };
        return Ok(Opened::Response(Response { id, outcome }));
    };
    let params = envelope.params.map_or("{}", RawValue::get);
    Ok(match id {
        Some(id) => Opened::Request { id, method, params },
        None => Opened::Notification { method, params },
    })
}

/// A string, or a whole number.
pub(crate) fn is_id(raw: &str) -> bool {
    match raw.as_bytes() {
        [b'"', ..] => true,
        [first, ..] if *first == b'-' || first.is_ascii_digit() => {
            raw.bytes().skip(1).all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

/// The id of a message that cannot be read as a whole: the first `"id"` key followed by a
/// string or a number. A wrong guess costs nothing: the sender knows no such id.
pub(crate) fn salvage_id(bytes: &[u8]) -> Option<String> {
    /// Ids stand near the beginning; a long way in, it is somebody's data.
    const NEAR: usize = 64 * 1024;
    let near = &bytes[..bytes.len().min(NEAR)];
    let at = memchr::memmem::find(near, b"\"id\"")?;
    let rest = near[at + 4..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let length = match rest.first()? {
        b'"' => 2 + rest[1..].iter().position(|byte| *byte == b'"')?,
        _ => rest.iter().position(|byte| !(byte.is_ascii_digit() || *byte == b'-')).unwrap_or(rest.len()),
    };
    let id = std::str::from_utf8(&rest[..length]).ok()?;
    (!id.is_empty() && id != "-" && serde_json::from_str::<&RawValue>(id).is_ok()).then(|| id.to_owned())
}

/// True when a message's lists and objects nest deeper than this.
pub(crate) fn nests_deeper_than(bytes: &[u8], most: usize) -> bool {
    // Without so many opening brackets there is nothing to count.
    if memchr::memchr2_iter(b'{', b'[', bytes).nth(most).is_none() {
        return false;
    }
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > most {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                at += 1;
                loop {
                    match memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
                        Some(found) if bytes[at + found] == b'"' => {
                            at += found;
                            break;
                        }
                        Some(found) => at += found + 2,
                        // The string has no end, so nothing follows it.
                        None => return false,
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// A JSON string out of a raw value, as text.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

/// An error object, as JSON.
pub(crate) fn error_object(code: i32, message: &str) -> String {
    Object::new().raw("code", &code.to_string()).text("message", message).end()
}

/// The code and message of an error object.
pub(crate) fn error_parts(error: &RawValue) -> (i64, String) {
    #[derive(serde::Deserialize)]
    struct Parts {
        #[serde(default)]
        code: i64,
        #[serde(default)]
        message: String,
    }
    match serde_json::from_str::<Parts>(error.get()) {
        Ok(parts) => (parts.code, parts.message),
        Err(_) => (0, error.get().chars().take(200).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, code: i32, id: Option<&str>) {
        let error = read(line.as_bytes()).expect_err("malformed");
        assert_eq!((error.code, error.id.as_deref()), (code, id), "{line}: {}", error.message);
    }

    #[test]
    fn an_answer_of_null_is_an_answer() {
        for (line, expect) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Ok("null")),
            (r#"{"jsonrpc":"2.0","id":1,"result":7,"error":null}"#, Ok("7")),
            (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1}}"#, Err(r#"{"code":1}"#)),
        ] {
            let Ok(Opened::Response(answer)) = open(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(answer.outcome.map(RawValue::get).map_err(RawValue::get), expect, "{line}");
        }
    }

    #[test]
    fn malformed_messages_keep_their_id_where_one_can_be_read() {
        check("{", code::PARSE_ERROR, None);
        check("nonsense", code::PARSE_ERROR, None);
        check(r#"{"jsonrpc":"2.0","id":7,"method":"#, code::PARSE_ERROR, Some("7"));
        check(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[}"#, code::PARSE_ERROR, Some("\"a\""));
        check(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#, code::INVALID_PARAMS, Some("7"));
        check(r#"{"jsonrpc":"2.0","id":7,"method":5}"#, code::INVALID_REQUEST, Some("7"));
        check(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, code::INVALID_REQUEST, Some("7"));
        check(r#"{"jsonrpc":"2.0","id":7}"#, code::INVALID_REQUEST, Some("7"));
        check(r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, code::INVALID_REQUEST, None);
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, code::INVALID_REQUEST, None);
        check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, code::INVALID_REQUEST, Some("1"));
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","id":2}"#, code::INVALID_REQUEST, Some("1"));
    }

    #[test]
    fn names_are_copied_only_where_they_hold_escapes() {
        let name = |line: &'static str| match read(line.as_bytes()).expect("a message") {
            Message::Request(request) => (request.method, request.params.name.expect("a name")),
            _ => panic!("a request"),
        };
        let (method, plain) = name(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a"}}"#);
        assert!(matches!((&method, &plain), (Cow::Borrowed("m"), Cow::Borrowed("a"))), "{method} {plain}");
        let (_, escaped) = name(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"\u0061"}}"#);
        assert_eq!(escaped, "a");
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        for (json, most, expect) in [
            ("[[1]]", 2, false),
            ("[[1]]", 1, true),
            (r#"{"a":"[[[[","b":["\"]]"]}"#, 2, false),
            (r#"[[[],[]],[[]]]"#, 3, false),
            (r#"["\\",[[[0]]]]"#, 3, true),
            ("\"[[[[", 1, false),
        ] {
            assert_eq!(nests_deeper_than(json.as_bytes(), most), expect, "{json}");
        }
    }

    #[test]
    fn deep_nesting_costs_nothing() {
        let deep = "[".repeat(1_000_000);
        check(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{deep}"#),
            code::PARSE_ERROR,
            Some("1"),
        );
        let closed = format!("{deep}{}", "]".repeat(1_000_000));
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{closed}}}}}"#);
        assert!(matches!(read(line.as_bytes()), Ok(Message::Request(_))));
    }
}
