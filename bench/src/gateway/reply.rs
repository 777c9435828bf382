//! HTTP/1.1 messages as far as the bench needs them: the end of one, and the content of an answer.
//! Anything else (another encoding, an answer until the connection ends) is refused.

use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem;

/// A complete answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    /// JSON-RPC messages in the order they came, each a JSON text.
    pub(crate) messages: Vec<Vec<u8>>,
    /// True if the server closes the connection after it.
    pub(crate) last: bool,
}

struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    events: bool,
    last: bool,
    session: Option<String>,
}

impl Reply {
    /// The first answer in `bytes` and its length; `None` if it is not complete.
    pub(crate) fn take(bytes: &[u8]) -> Result<Option<(Self, usize)>> {
        let Some(length) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let head = Head::parse(&bytes[..length])?;
        let rest = &bytes[length + 4..];
        let (body, taken) = if head.chunked {
            let Some(end) = chunks(rest, |_| {})? else { return Ok(None) };
            let mut body = Vec::with_capacity(end);
            chunks(rest, |chunk| body.extend_from_slice(chunk))?;
            (body, end)
        } else {
            let end = head.length.context("an answer without a length")?;
            if rest.len() < end {
                return Ok(None);
            }
            (rest[..end].to_vec(), end)
        };
        let messages = match (head.events, body.trim_ascii().is_empty()) {
            (true, _) => events(&body),
            (false, true) => Vec::new(),
            (false, false) => vec![body],
        };
        let Head { status, session, last, .. } = head;
        Ok(Some((Self { status, session, messages, last }, length + 4 + taken)))
    }
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes)?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|word| word.parse().ok());
        let mut head = Self {
            status: status.context("an answer without a status")?,
            length: None,
            chunked: false,
            events: false,
            last: false,
            session: None,
        };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => head.length = Some(value.parse()?),
                "transfer-encoding" => {
                    ensure!(value.eq_ignore_ascii_case("chunked"), "transfer encoding `{value}`");
                    head.chunked = true;
                }
                "content-type" => head.events = value.starts_with("text/event-stream"),
                "connection" => head.last = value.eq_ignore_ascii_case("close"),
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(head)
    }
}

/// The range of the body of the first request in `bytes`; `None` if it is not complete.
pub(crate) fn body_of(bytes: &[u8]) -> Option<Range<usize>> {
    let head = memmem::find(bytes, b"\r\n\r\n")?;
    let lines = std::str::from_utf8(&bytes[..head]).ok()?.split("\r\n");
    let mut headers = lines.filter_map(|line| line.split_once(':'));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?.1;
    let body = head + 4..head + 4 + length.trim().parse::<usize>().ok()?;
    (bytes.len() >= body.end).then_some(body)
}

/// Iterates over a chunked body; returns its end, or `None` if it is not complete.
fn chunks(bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<Option<usize>> {
    let mut place = 0;
    loop {
        let Some(line) = memmem::find(&bytes[place..], b"\r\n") else { return Ok(None) };
        let size = std::str::from_utf8(&bytes[place..place + line])?;
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)
            .with_context(|| format!("a chunk of `{size}` bytes"))?;
        let start = place + line + 2;
        place = start + size + 2;
        if place > bytes.len() {
            return Ok(None);
        }
        if &bytes[place - 2..place] != b"\r\n" {
            bail!("a chunk that does not end where it says");
        }
        if size == 0 {
            return Ok(Some(place));
        }
        each(&bytes[start..start + size]);
    }
}

/// The data of every event. MCP servers write one line of it each; an empty one only opens the stream.
fn events(body: &[u8]) -> Vec<Vec<u8>> {
    let lines = body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    lines.map(|data| data.trim_ascii().to_vec()).filter(|data| !data.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nMcp-Session-Id: s1\r\n\r\n{}";
    const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
        transfer-encoding: chunked\r\n\r\n6\r\ndata:\n\r\n12\r\nevent: x\ndata: {}\n\r\n0\r\n\r\n";

    fn messages(bytes: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
        Reply::take(bytes).expect("HTTP").map(|(reply, taken)| (reply.messages, taken))
    }

    #[test]
    fn an_answer_is_taken_when_it_is_whole() {
        for whole in [PLAIN, STREAM] {
            for length in 0..whole.len() {
                assert!(messages(&whole[..length]).is_none(), "{length}");
            }
            let two = [whole, whole].concat();
            assert_eq!(messages(&two), Some((vec![b"{}".to_vec()], whole.len())));
        }
    }

    #[test]
    fn a_session_is_noticed() {
        let session = |bytes| Reply::take(bytes).expect("HTTP").expect("whole").0.session;
        assert_eq!(session(PLAIN).as_deref(), Some("s1"));
        assert_eq!(session(STREAM), None);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for bytes in [
            &b"HTTP/1.1 200 OK\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nxyz\r\n",
            b"hello\r\n\r\n",
        ] {
            assert!(Reply::take(bytes).is_err());
        }
    }

    #[test]
    fn a_request_ends_with_its_body() {
        let whole = b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(body_of(&whole[..whole.len() - 1]), None);
        assert_eq!(body_of(whole), Some(whole.len() - 2..whole.len()));
    }
}
