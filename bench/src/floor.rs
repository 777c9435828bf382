//! The floor: the least a correct MCP server can do. It marks a limit and is not a product: no checks,
//! no sandbox.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::io::{read, write};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The bytes of one read: as much as a pipe holds by default.
const READ: usize = 64 * 1024;

/// The tools of the floor; further ones are available on request, and they all echo.
const OWN_TOOLS: [(&str, &str); 3] = [("read_file", "path"), ("list_directory", "path"), ("echo", "message")];

const ABOUT: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}"#
);

/// Serves until the input ends: answers everything from one read with one write.
pub(crate) fn serve(mut floor: Floor) -> Result<()> {
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let mut inbox: Vec<u8> = Vec::with_capacity(READ);
    let mut chunk = vec![0; READ];
    let mut outbox = Vec::new();
    loop {
        let count = read(&stdin, &mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        inbox.extend_from_slice(&chunk[..count]);
        let mut taken = 0;
        while let Some(length) = memchr::memchr(b'\n', &inbox[taken..]) {
            floor.answer(&inbox[taken..taken + length], &mut outbox);
            taken += length + 1;
        }
        inbox.drain(..taken);
        let mut rest = &outbox[..];
        while !rest.is_empty() {
            rest = &rest[write(&stdout, rest)?..];
        }
        outbox.clear();
    }
}

pub(crate) struct Floor {
    root: PathBuf,
    /// The result of `tools/list`, built once.
    tools: String,
    file: Vec<u8>,
}

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: Arguments<'a>,
}

/// Borrowed, so a string with escapes is refused; the harness sends none.
#[derive(Deserialize)]
struct Arguments<'a> {
    path: Option<&'a str>,
    message: Option<&'a str>,
}

impl Floor {
    /// A floor with its own tools, and as many more as make `count`.
    pub(crate) fn new(root: &Path, count: usize) -> Self {
        let more = (OWN_TOOLS.len()..count).map(|number| tool(&format!("echo_{number}"), "message"));
        let tools: Vec<_> =
            OWN_TOOLS.map(|(name, argument)| tool(name, argument)).into_iter().chain(more).collect();
        Self {
            root: root.to_owned(),
            tools: format!("{{\"tools\":[{}]}}", tools.join(",")),
            file: Vec::new(),
        }
    }

    /// A floor that lists these definitions.
    pub(crate) fn listing(tools: &[String]) -> Self {
        let tools = format!("{{\"tools\":[{}]}}", tools.join(","));
        Self { root: PathBuf::new(), tools, file: Vec::new() }
    }

    /// Appends the answer to one message and a line feed; nothing for a notification.
    pub(crate) fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let incoming: Incoming = match serde_json::from_slice(line) {
            Ok(incoming) => incoming,
            Err(_) => return error(out, "null", -32700, "not a request"),
        };
        let Some(id) = incoming.id.map(RawValue::get) else { return };
        match incoming.method {
            "initialize" => result(out, id, ABOUT),
            "ping" => result(out, id, "{}"),
            "tools/list" => result(out, id, &self.tools),
            "tools/call" => {
                let before = out.len();
                if let Err(fault) = self.call(id, incoming.params, out) {
                    out.truncate(before);
                    open_text(out, id);
                    text(out, &format!("{fault:#}"));
                    out.extend_from_slice(b"}],\"isError\":true}}\n");
                }
            }
            _ => error(out, id, -32601, "no such method"),
        }
    }

    fn call(&mut self, id: &str, params: Option<&RawValue>, out: &mut Vec<u8>) -> Result<()> {
        let call: ToolCall = serde_json::from_str(params.context("no params")?.get())?;
        open_text(out, id);
        match (call.name, call.arguments) {
            (name, Arguments { message: Some(message), .. }) if name.starts_with("echo") => {
                text(out, message)
            }
            ("read_file", Arguments { path: Some(path), .. }) => {
                self.file.clear();
                File::open(self.root.join(path))?.read_to_end(&mut self.file)?;
                text(out, std::str::from_utf8(&self.file)?);
            }
            ("list_directory", Arguments { path: Some(path), .. }) => {
                let mut listing = String::new();
                for entry in fs::read_dir(self.root.join(path))? {
                    let entry = entry?;
                    listing.push_str(if entry.file_type()?.is_dir() { "[dir] " } else { "[file] " });
                    listing.push_str(&entry.file_name().to_string_lossy());
                    listing.push('\n');
                }
                text(out, &listing);
            }
            (name, _) => bail!("no tool `{name}` with these arguments"),
        }
        out.extend_from_slice(b"}]}}\n");
        Ok(())
    }
}

/// The description has the usual length, so that a list has a realistic size.
fn tool(name: &str, argument: &str) -> String {
    serde_json::json!({
        "name": name,
        "description": "Does what its name says with the one argument it has, and answers with text. \
            It is safe to call at any time, as often as needed, and leaves nothing behind.",
        "inputSchema": {
            "type": "object",
            "properties": {argument: {"type": "string", "description": "What to work on"}},
            "required": [argument],
        },
    })
    .to_string()
}

fn result(out: &mut Vec<u8>, id: &str, result: &str) {
    for part in ["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":", result, "}\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}

fn error(out: &mut Vec<u8>, id: &str, code: i32, message: &str) {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}\n"
    );
    out.extend_from_slice(line.as_bytes());
}

fn open_text(out: &mut Vec<u8>, id: &str) {
    for part in ["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"]
    {
        out.extend_from_slice(part.as_bytes());
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a string is JSON and memory takes it");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    fn ask(line: &str) -> Vec<u8> {
        let mut out = Vec::new();
        Floor::new(Path::new(env!("CARGO_MANIFEST_DIR")), 10).answer(line.as_bytes(), &mut out);
        out
    }

    #[test]
    fn answers_what_every_server_must() {
        for method in ["initialize", "ping", "tools/list"] {
            let line = ask(&format!(r#"{{"jsonrpc":"2.0","id":4,"method":"{method}","params":{{}}}}"#));
            assert_eq!(wire::answered(&line).ok(), Some(Some(4)), "{method}");
        }
    }

    #[test]
    fn has_as_many_tools_as_asked_for() {
        let count = |wanted| {
            let list: serde_json::Value =
                serde_json::from_str(&Floor::new(Path::new("."), wanted).tools).ok()?;
            list["tools"].as_array().map(Vec::len)
        };
        assert_eq!([count(0), count(3), count(640)], [Some(3), Some(3), Some(640)]);
        let line =
            ask(r#"{"id":1,"method":"tools/call","params":{"name":"echo_9","arguments":{"message":"x"}}}"#);
        assert_eq!(wire::text(&line).ok().as_deref(), Some("x"));
    }

    #[test]
    fn reads_relative_to_its_root() {
        let line = ask(
            r#"{"id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"Cargo.toml"}}}"#,
        );
        assert!(wire::text(&line).expect("a result").contains("tectum-bench"));
    }

    #[test]
    fn a_missing_file_is_an_error_result_on_one_line() {
        let line = ask(
            r#"{"id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"nothing"}}}"#,
        );
        assert!(wire::answered(&line).is_err());
        assert!(wire::text(&line).expect("a result").contains("No such file"));
    }

    #[test]
    fn says_nothing_to_a_notification() {
        assert!(ask(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_empty());
    }
}
