//! A question to a running house: one request of the hook API on its socket.

use std::{
    io::{self, BufRead as _, Read as _, Write as _},
    path::Path,
    time::Duration,
};

use serde_json::Value;

use super::address;

/// The time a house may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer.
const MOST: u64 = 64 << 20;

/// The answer of a house.
#[derive(Clone, Debug)]
pub struct HouseAnswer {
    /// The status of HTTP.
    pub status: u16,
    /// What it said.
    pub body: Value,
}

/// Asks a house something. `headers` are whole lines.
pub fn ask(
    socket: &Path,
    method: &str,
    path: &str,
    headers: &[String],
    body: Option<&Value>,
) -> io::Result<HouseAnswer> {
    let mut stream = address::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // In this version of HTTP the answer comes in one piece and the connection ends with it.
    let mut request = format!("{method} {path} HTTP/1.0\r\nHost: localhost\r\n");
    headers.iter().for_each(|line| request.push_str(&format!("{line}\r\n")));
    let body = body.map(Value::to_string);
    if let Some(body) = &body {
        request.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    }
    request.push_str("\r\n");
    request.push_str(body.as_deref().unwrap_or_default());
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(MOST).read_to_string(&mut answer)?;
    read(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "this is no answer of a Tectum"))
}

/// The lines of an answer that has no end, such as a stream of events. A read waits as long as nothing comes.
pub fn follow(socket: &Path, path: &str) -> io::Result<impl Iterator<Item = io::Result<String>> + use<>> {
    let mut stream = address::connect(socket)?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    Ok(io::BufReader::new(stream).lines().skip_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())))
}

fn read(answer: &str) -> Option<HouseAnswer> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(HouseAnswer { status, body: serde_json::from_str(body).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_status_and_what_was_said() {
        let answer = read("HTTP/1.0 404 Not Found\r\nx: y\r\n\r\n{\"error\":1}").expect("an answer");
        assert_eq!((answer.status, answer.body), (404, serde_json::json!({ "error": 1 })));
        for broken in ["", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n{", "nonsense\r\n\r\n{}"] {
            assert!(read(broken).is_none(), "{broken:?}");
        }
    }
}
