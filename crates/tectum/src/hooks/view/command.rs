//! What commands do already: the console runs this program with the words that a person would type, so that both do
//! the same and are refused the same.

use std::{
    ffi::OsString,
    io::{self, Read as _},
    process::{Child, Command, Stdio},
    time::Duration,
};

use axum::body::{Body, Bytes};
use futures_util::stream;
use serde_json::Value;
use tectum_core::{Fault, FaultKind};
use tectum_peers::child::own_guard;

use super::{super::hooked::Hooks, records};
use crate::on_behalf::ON_BEHALF;

/// The time that a command may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The bytes that are read at once of a long output.
const PIECE: usize = 64 * 1024;

/// What a command with `--json` says. One that ends with a code of its own and data, such as a conflict, has said it
/// all the same.
pub(super) async fn run(hooks: &Hooks, words: &[&str]) -> Result<Value, Fault> {
    let child = started(hooks, words, true).await?;
    let id = child.id();
    let waiting = tokio::task::spawn_blocking(move || child.wait_with_output());
    let ended = match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(ended) => ended,
        Err(_) => {
            stop(id);
            let message = format!("`tectum {}` took longer than {} s", words.join(" "), PATIENCE.as_secs());
            return Err(Fault::new(FaultKind::Timeout, message).hint("run it in a terminal"));
        }
    };
    let output = ended.map_err(io::Error::other).flatten().map_err(|error| failed(&error))?;
    if let Ok(said) = serde_json::from_slice(&output.stdout) {
        return Ok(said);
    }
    if output.status.success() {
        return Ok(Value::Null);
    }
    Err(refused(&output.stderr, output.status.code()))
}

/// What a command prints, as it is printed.
pub(super) async fn stream(hooks: &Hooks, words: &[&str]) -> Result<Body, Fault> {
    let running = Running(started(hooks, words, false).await?);
    let pieces = stream::try_unfold(running, |mut running| async {
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE];
            let output = running.0.stdout.as_mut().ok_or_else(|| io::Error::other("no output"))?;
            let length = output.read(&mut piece)?;
            piece.truncate(length);
            io::Result::Ok((Bytes::from(piece), running))
        });
        let (piece, running) = read.await.map_err(io::Error::other).flatten()?;
        io::Result::Ok((!piece.is_empty()).then_some((piece, running)))
    });
    Ok(Body::from_stream(pieces))
}

/// A command that ends with whoever reads it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that ended by itself cannot be killed, and is taken note of.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "this program itself, with words of ours; it ends by itself")]
async fn started(hooks: &Hooks, words: &[&str], json: bool) -> Result<Child, Fault> {
    let (sources, config) = records::setup(hooks).await?;
    let mut all: Vec<OsString> = vec!["-C".into(), config.directory.into(), "--color=never".into()];
    if let Some(file) = sources.file {
        all.extend(["--config".into(), file.into()]);
    }
    all.extend(json.then(|| "--json".into()));
    all.extend(words.iter().map(Into::into));
    let program = own_guard().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    command.args(all).env(ON_BEHALF, std::process::id().to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(if json { Stdio::piped() } else { Stdio::null() });
    command.spawn().map_err(|error| failed(&error))
}

fn stop(id: u32) {
    let id = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
    // It may have ended just now.
    let _ = id.map(|id| rustix::process::kill_process(id, rustix::process::Signal::KILL));
}

fn failed(error: &io::Error) -> Fault {
    Fault::internal(format!("the command could not be run: {error}"))
}

/// The fault that a command told.
fn refused(said: &[u8], code: Option<i32>) -> Fault {
    let said = String::from_utf8_lossy(said);
    let told =
        said.lines().rev().find_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["error"].take()));
    let Some(error) = told else {
        return Fault::internal(format!(
            "the command failed: {}",
            said.lines().last().unwrap_or("it said nothing")
        ));
    };
    let kind = match code {
        // Settings that are wrong are nothing that the request could mend.
        Some(2) if error["kind"] == "config" => FaultKind::Conflict,
        Some(2) => FaultKind::InvalidInput,
        Some(3) => FaultKind::Permission,
        Some(4) => FaultKind::NotFound,
        Some(5) => FaultKind::Conflict,
        Some(6) => FaultKind::Timeout,
        Some(7) => FaultKind::Upstream,
        _ => FaultKind::Internal,
    };
    let fault = Fault::new(kind, error["message"].as_str().unwrap_or("the command failed"));
    error["hint"].as_str().into_iter().fold(fault, Fault::hint)
}
