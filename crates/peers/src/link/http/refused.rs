//! The refusals that are the end of a session. The protocol says 404, but servers that lost their
//! sessions in a restart also answer 400, and then only their words tell.

use reqwest::{Response, StatusCode};

use super::address;
use crate::wire::{Opened, code, error_parts, rpc};

/// The bytes of a refusal that are searched for words, if it is no error of the protocol.
const MOST_WORDS: usize = 4096;
/// The words of such servers. A connection that has a session is initialized, so a server that denies
/// it is another one than before. The word alone is not enough: a tool may have sessions of its own,
/// and what has run must not run again.
const WORDS: [&str; 11] = [
    "no session",
    "valid session",
    "session id",
    "session-id",
    "sessionid",
    "session not found",
    "no such session",
    "unknown session",
    "invalid session",
    "not initialized",
    "uninitialized",
];

/// True for a refusal that says that a session is not known. What was refused so did not run.
pub(super) fn is_unknown(status: StatusCode, body: &[u8]) -> bool {
    let error = match rpc::open(body) {
        Ok(Opened::Response(response)) => response.outcome.err().map(error_parts),
        _ => None,
    };
    let refused = |codes: &[i32]| error.as_ref().is_some_and(|(code, _)| codes.contains(&saturated(*code)));
    match status {
        StatusCode::NOT_FOUND => !refused(&[code::METHOD_NOT_FOUND]),
        // These are about what was asked for, whatever words they use.
        StatusCode::BAD_REQUEST => {
            !refused(&[code::METHOD_NOT_FOUND, code::INVALID_PARAMS, code::INTERNAL])
                && speaks_of_it(error.as_ref().map_or(body, |(_, message)| message.as_bytes()))
        }
        _ => false,
    }
}

/// The same for a response that was asked for in this session.
pub(super) async fn is_refused(response: Response, had_one: bool) -> bool {
    let status = response.status();
    let may = had_one && matches!(status, StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST);
    may && is_unknown(status, &address::collect(response, address::MAX_REFUSAL).await.unwrap_or_default())
}

fn speaks_of_it(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&text[..text.len().min(MOST_WORDS)]).to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

fn saturated(code: i64) -> i32 {
    i32::try_from(code).unwrap_or(i32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_the_sessions_by_its_status_or_by_its_words() {
        let error = |code: i32, message: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":{code},"message":"{message}"}}}}"#)
        };
        for (status, body, expect) in [
            (404, String::new(), true),
            (404, error(-32001, "Session not found"), true),
            (404, error(-32601, "Method not found"), false),
            (400, error(-32000, "Bad Request: No valid session ID provided"), true),
            (400, error(-32000, "Bad Request: Server not initialized"), true),
            (400, "Bad Request: No valid session ID provided".into(), true),
            (400, error(-32600, "Invalid Request: unknown SESSION"), true),
            (400, error(-32000, "your login session has no credit; the item was bought"), false),
            (400, error(-32602, "`session` must be a string"), false),
            (400, error(-32603, "session.run failed"), false),
            (400, error(-32000, "Bad Request: Unsupported protocol version"), false),
            (400, String::new(), false),
            (400, format!("{}session", "x".repeat(MOST_WORDS)), false),
            (500, error(-32000, "no session"), false),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(is_unknown(status, body.as_bytes()), expect, "{status} {body}");
        }
    }
}
