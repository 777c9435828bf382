//! The least an observer can do: it accepts copies, or never answers them, or crashes at one. The
//! first copy writes a byte to a file, so that the bench knows that it observes.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// The behaviour of an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Fine,
    Hang,
    Crash,
}

impl How {
    const ALL: [Self; 3] = [Self::Fine, Self::Hang, Self::Crash];
    /// The number of copies before it crashes.
    const ENOUGH: u64 = 100;

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Hang => "hang",
            Self::Crash => "crash",
        }
    }

    pub(crate) fn named(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|how| how.word() == word).with_context(|| format!("no watcher `{word}`"))
    }
}

pub(crate) fn serve(how: How, count: &Path) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let mut copies = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "watcher", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "observe", "inputSchema": {"type": "object",
                "properties": {"tool_name": {"type": "string"}, "args": {"type": "object"}}}}]}),
            "tools/call" => {
                copies += 1;
                if copies == 1 {
                    fs::write(count, "1")?;
                }
                match how {
                    How::Hang => continue,
                    How::Crash if copies == How::ENOUGH => return Ok(()),
                    _ => json!({"content": []}),
                }
            }
            "ping" => json!({}),
            method => {
                let error = json!({"code": -32601, "message": format!("no method {method}")});
                writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
                continue;
            }
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
    }
    Ok(())
}
