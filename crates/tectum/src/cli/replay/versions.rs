//! Two versions of Tectum side by side: both serve the project as it is now and get the same calls.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Read, Write as _},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind,
    replay::{self, Difference, LeftOut, Replayed, Session},
};
use tectum_journal::Entry;

use super::super::{failure::Failure, progress::one_line};

/// The time that a version has to end by itself when nobody asks any more.
const ENDING: Duration = Duration::from_secs(5);
/// The bytes of what a version says on standard error that are kept.
const MOST_SAID: u64 = 4096;

/// Sends everything that only reads to this version and to another one, and compares the results. An answer
/// may take so long.
pub(super) fn compare(
    config: &Config,
    other: &Path,
    session: &Session,
    limit: Duration,
) -> Result<Replayed, Failure> {
    let own = std::env::current_exe()?;
    let mut versions = [Version::start(&own, config, limit)?, Version::start(other, config, limit)?];
    let [this, that] = &mut versions;
    let served = match session.entries.iter().any(|entry| entry.server.is_some()) {
        true => this.reading_tools()?,
        false => Served::default(),
    };
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        if let Some(why) = left_out(entry, &served) {
            replayed.leave_out(why);
            continue;
        }
        let args: Value = serde_json::from_str(entry.args.get()).unwrap_or_default();
        let params = json!({ "name": entry.tool, "arguments": args });
        let (this, that) = (this.ask("tools/call", &params)?, that.ask("tools/call", &params)?);
        replayed.calls += 1;
        replayed.differences.extend(Difference::of_texts(entry, &text(&this), &text(&that)));
    }
    Ok(replayed)
}

/// The tools that are listed, and those of them that only read.
#[derive(Debug, Default)]
struct Served {
    all: BTreeSet<String>,
    reading: BTreeSet<String>,
}

fn left_out(entry: &Entry, served: &Served) -> Option<LeftOut> {
    match entry {
        entry if let Some(why) = replay::left_out(entry) => Some(why),
        entry if !replay::was_executed(entry) => Some(LeftOut::Refused),
        entry if entry.server.is_some() && !served.all.contains(&entry.tool) => Some(LeftOut::ServerAway),
        entry if entry.server.is_some() && !served.reading.contains(&entry.tool) => {
            Some(LeftOut::ServerChanges)
        }
        entry if entry.server.is_none() && entry.effect.as_deref() != Some("read") => Some(LeftOut::Changes),
        _ => None,
    }
}

/// A server of one version, on its standard input and output.
struct Version {
    name: String,
    child: Child,
    /// Lines for its input, which a thread writes: it may read none.
    input: Option<Sender<String>>,
    /// Lines of its output.
    output: Receiver<String>,
    /// The beginning of what it says on standard error.
    said: Option<JoinHandle<String>>,
    next: u64,
    limit: Duration,
}

impl Version {
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator names the program; it is ended when nobody asks any more"
    )]
    fn start(binary: &Path, config: &Config, limit: Duration) -> Result<Self, Failure> {
        let mut command = Command::new(binary);
        command.args(["serve", "-C"]).arg(&config.directory).env("TECTUM_JOURNAL_RECORD", "false");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = binary.display().to_string();
        let mut child = command.spawn().map_err(|error| {
            Fault::not_found(format!("{name} could not be started: {error}")).hint("name a binary of Tectum")
        })?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::internal("a process without pipes").into());
        };
        let (input, lines) = channel::<String>();
        std::thread::spawn(move || {
            // Its end is noticed where the answer is missed.
            lines.into_iter().all(|line| writeln!(stdin, "{line}").and_then(|()| stdin.flush()).is_ok())
        });
        let (send, output) = channel();
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).all(|line| send.send(line).is_ok())
        });
        let said = Some(std::thread::spawn(move || beginning(stderr)));
        let mut version = Self { name, child, input: Some(input), output, said, next: 0, limit };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "tectum replay", "version": env!("CARGO_PKG_VERSION") },
        });
        version.ask("initialize", &hello)?;
        version.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        Ok(version)
    }

    /// Sends a message; that it does not arrive shows when the answer does not come.
    fn send(&mut self, message: &Value) {
        if let Some(input) = &self.input {
            let _ = input.send(message.to_string());
        }
    }

    /// The answer to a request; what comes unasked is passed over.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        let what =
            params["name"].as_str().map_or_else(|| method.to_owned(), |tool| format!("{method} {tool}"));
        let until = Instant::now() + self.limit;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(line) => {
                    let answer: Value = serde_json::from_str(&line).unwrap_or_default();
                    if answer["id"] == self.next {
                        return Ok(answer);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.limit.as_secs();
                    let fault = Fault::new(
                        FaultKind::Timeout,
                        format!("{} did not answer {what} within {seconds} s", self.name),
                    );
                    return Err(fault
                        .hint("--timeout SECONDS gives it more time; by hand: `BINARY serve`")
                        .into());
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(&what)),
            }
        }
    }

    /// The tools that only read, as this version lists them.
    fn reading_tools(&mut self) -> Result<Served, Failure> {
        let (mut served, mut params) = (Served::default(), json!({}));
        loop {
            let page = self.ask("tools/list", &params)?;
            for tool in page["result"]["tools"].as_array().into_iter().flatten() {
                let name = tool["name"].as_str().unwrap_or_default().to_owned();
                if tool["annotations"]["readOnlyHint"] == true {
                    served.reading.insert(name.clone());
                }
                served.all.insert(name);
            }
            match page["result"]["nextCursor"].as_str() {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(served),
            }
        }
    }

    /// It closed its output: how it ended, and what it said.
    fn ended(&mut self, what: &str) -> Failure {
        let status = self.end();
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let said = if said.is_empty() { String::new() } else { format!(": {}", one_line(said, 200)) };
        let message = format!("{} ended ({status}) before it answered {what}{said}", self.name);
        Fault::new(FaultKind::Upstream, message).hint("run it by hand with `serve` to see why").into()
    }

    /// Waits until it ends by itself, which it does when its input is closed, and else ends it.
    fn end(&mut self) -> String {
        drop(self.input.take());
        let until = Instant::now() + ENDING;
        while Instant::now() < until {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                Ok(Some(status)) => return status.to_string(),
                Err(error) => return error.to_string(),
            }
        }
        let _ = self.child.kill();
        self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        self.end();
    }
}

/// The beginning of what somebody says; the rest is read and forgotten, so that nobody waits.
fn beginning(mut stderr: ChildStderr) -> String {
    let mut kept = Vec::new();
    let _ = (&mut stderr).take(MOST_SAID).read_to_end(&mut kept);
    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    String::from_utf8_lossy(&kept).into_owned()
}

/// What a model reads of an answer.
fn text(answer: &Value) -> String {
    let parts = answer["result"]["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    if texts.is_empty() { answer["error"].to_string() } else { texts.join("\n") }
}
