//! Two versions of Tectum side by side: both serve the project as it is now and get the same calls.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind,
    replay::{Difference, Replayed, Session},
};

use super::super::failure::Failure;

/// Sends everything that only reads to this version and to another one, and compares the results.
pub(super) fn compare(config: &Config, other: &Path, session: &Session) -> Result<Replayed, Failure> {
    let own = std::env::current_exe()?;
    let mut versions = [Version::start(&own, config)?, Version::start(other, config)?];
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        if entry.effect.as_deref() != Some("read") || entry.server.is_some() || entry.tool == "search_history"
        {
            replayed.skipped += 1;
            continue;
        }
        let args: Value = serde_json::from_str(entry.args.get()).unwrap_or_default();
        let params = json!({ "name": entry.tool, "arguments": args });
        let [this, that] = &mut versions;
        let (this, that) = (this.ask("tools/call", &params)?, that.ask("tools/call", &params)?);
        replayed.calls += 1;
        replayed.differences.extend(Difference::of_texts(entry, &text(&this), &text(&that)));
    }
    Ok(replayed)
}

/// A server of one version, on its standard input and output.
struct Version {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Version {
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator names the program; it ends when its input is closed"
    )]
    fn start(binary: &Path, config: &Config) -> Result<Self, Failure> {
        let mut command = Command::new(binary);
        command.args(["serve", "-C"]).arg(&config.directory).env("TECTUM_JOURNAL_RECORD", "false");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let name = binary.display().to_string();
        let mut child = command.spawn().map_err(|error| {
            Fault::not_found(format!("{name} could not be started: {error}")).hint("name a binary of Tectum")
        })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or_else(|| Fault::internal("a process without output"))?;
        let mut version = Self { name, child, input, output: BufReader::new(output), next: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "tectum replay", "version": env!("CARGO_PKG_VERSION") },
        });
        version.ask("initialize", &hello)?;
        version.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(version)
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let sent = self.input.as_mut().map(|input| writeln!(input, "{message}").and_then(|()| input.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.gone()),
        }
    }

    /// The answer to a request; what comes unasked is passed over.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }))?;
        let mut line = String::new();
        loop {
            line.clear();
            match self.output.read_line(&mut line) {
                Ok(read) if read > 0 => {}
                _ => return Err(self.gone()),
            }
            let answer: Value = serde_json::from_str(&line).unwrap_or_default();
            if answer["id"] == self.next {
                return Ok(answer);
            }
        }
    }

    fn gone(&self) -> Failure {
        let fault = Fault::new(FaultKind::Upstream, format!("{} ended in the middle of a call", self.name));
        fault.hint("run it by hand with `serve` to see why").into()
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        drop(self.input.take());
        // It ends by itself when its input is closed; what it ended with does not matter.
        let _ = self.child.wait();
    }
}

/// What a model reads of an answer.
fn text(answer: &Value) -> String {
    let parts = answer["result"]["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    if texts.is_empty() { answer["error"].to_string() } else { texts.join("\n") }
}
