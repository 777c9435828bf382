//! The record once more, as files that people read: `logs/sessions/<time>_<command>/`. They are written
//! from the same entries, so secrets are hidden in them too. They may be removed at any time.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tectum_redact::HIDDEN;
use tectum_state::Moment;

use crate::{Ending, Entry, HookRequest, Record};

/// The size at which a log is put aside, and how many are kept of it.
const FULL: u64 = 5 << 20;
const KEPT: usize = 3;
/// How many sessions may begin in one second.
const MOST_AT_ONCE: usize = 100;

/// The files of one process.
#[derive(Debug)]
pub(crate) struct Seed {
    root: PathBuf,
    label: String,
    session: Option<Session>,
    /// True once a failure was told.
    told: bool,
}

impl Seed {
    /// Nothing is created before the first record.
    pub(crate) fn new(root: PathBuf, label: String) -> Self {
        Self { root, label, session: None, told: false }
    }

    /// Adds a record. These files are a convenience: a call does not fail with them.
    pub(crate) fn show(&mut self, record: &Record) {
        let shown = match record {
            Record::Call(entry) => self.session().and_then(|session| session.call(entry)),
            Record::Hook(request) => self.session().and_then(|session| session.hook(request)),
            Record::Start(_) | Record::Gap(_) => Ok(()),
        };
        if let Err(error) = shown
            && !std::mem::replace(&mut self.told, true)
        {
            tracing::warn!(%error, folder = %self.root.display(), "logs/sessions cannot be written");
        }
    }

    /// Closes the files. A later record opens a session of its own.
    pub(crate) fn close(&mut self) {
        self.session = None;
    }

    /// The session, opened once.
    fn session(&mut self) -> io::Result<&mut Session> {
        match &mut self.session {
            Some(session) => Ok(session),
            closed => Ok(closed.insert(Session::open(&self.root, &self.label)?)),
        }
    }
}

#[derive(Debug)]
struct Session {
    folder: PathBuf,
    comms: Log,
    tools: Log,
    hooks: Log,
    commands: Log,
    calls: u64,
    scripts: u64,
}

/// A command that was run, as far as its arguments and its result tell.
struct Command {
    script: String,
    ending: &'static str,
    stdin: String,
    stdout: String,
    stderr: String,
    exit_code: Option<i64>,
}

impl Session {
    fn open(root: &Path, label: &str) -> io::Result<Self> {
        let name = format!("{}_{label}", Moment::now().for_name());
        for number in 1..=MOST_AT_ONCE {
            let name = if number == 1 { name.clone() } else { format!("{name}_{number}") };
            let folder = root.join("logs/sessions").join(name);
            // Whoever creates the first file has the folder.
            match tectum_state::create(&folder.join("comms.log")) {
                Ok(file) => {
                    let log = |name: &str| Log::open(folder.join(name));
                    let comms = Log { path: folder.join("comms.log"), file, size: 0 };
                    let (tools, hooks) = (log("toolcalls.log")?, log("apihooks.log")?);
                    let commands = log("clicalls.log")?;
                    return Ok(Self { comms, tools, hooks, commands, folder, calls: 0, scripts: 0 });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many sessions began in this second"))
    }

    fn call(&mut self, entry: &Entry) -> io::Result<()> {
        self.calls += 1;
        let began = Moment::from_micros(entry.began);
        let ended = Moment::from_micros(entry.began.saturating_add(entry.took));
        let called = json!({ "id": entry.id, "tool": entry.tool, "args": entry.args });
        let answered = json!({ "id": entry.id, "tool": entry.tool, "ending": entry.ending });
        let line = |ts: Moment, direction: &str, kind: &str, payload: &serde_json::Value| json!({ "ts": ts.to_string(), "direction": direction, "kind": kind, "payload": payload });
        self.comms.line(&line(began, "IN", "tool_call", &called))?;
        self.comms.line(&line(ended, "OUT", "tool_result", &answered))?;
        let command = Command::of(entry);
        let script = command.as_ref().map(|command| self.script(began, command)).transpose()?;
        self.tool(entry, began, command.as_ref().zip(script.as_deref()))?;
        let Some(command) = command else { return Ok(()) };
        self.commands.line(&json!({
            "ts": began.to_string(),
            "command": command.script,
            "stdin": command.stdin,
            "stdout": command.stdout,
            "stderr": command.stderr,
            "exit_code": command.exit_code,
            "latency": entry.took as f64 / 1e6,
        }))
    }

    /// Writes a script as it ran, unless a secret is hidden in it.
    fn script(&mut self, began: Moment, command: &Command) -> io::Result<String> {
        self.scripts += 1;
        let name = format!("scripts/generated/{}_{:04}.{}", began.for_name(), self.scripts, command.ending);
        tectum_state::create(&self.folder.join(&name))?.write_all(command.script.as_bytes())?;
        Ok(name)
    }

    fn tool(&mut self, entry: &Entry, began: Moment, script: Option<(&Command, &str)>) -> io::Result<()> {
        let mut text = format!("## {:04} {began} `{}`\n\n", self.calls, entry.tool);
        match script {
            Some((command, name)) => {
                fenced(&mut text, command.ending, &command.script);
                let hidden = if command.script.contains(HIDDEN) { " (a secret is hidden in it)" } else { "" };
                // Writing to a string does not fail.
                let _ = writeln!(text, "Script: `{name}`{hidden}\n");
            }
            None => fenced(&mut text, "json", entry.args.get()),
        }
        let _ = writeln!(text, "Result after {:.1} ms:\n", entry.took as f64 / 1e3);
        match &entry.ending {
            Ending::Native { text: said, .. } => fenced(&mut text, "", said),
            Ending::Peer { json, .. } => fenced(&mut text, "json", json.get()),
            Ending::Fault(failure) => {
                let hint = failure.hint.iter().map(|hint| format!("\nHint: {hint}"));
                fenced(&mut text, "", &format!("ERROR: {}{}", failure.message, hint.collect::<String>()));
            }
            Ending::Omitted { .. } => {
                let _ = writeln!(text, "A result of {} bytes is not kept.\n", entry.bytes_out);
            }
        }
        self.tools.add(&text)
    }

    fn hook(&mut self, request: &HookRequest) -> io::Result<()> {
        let HookRequest { at, method, path, body, .. } = request;
        // A line break in a body would begin another line.
        let body = body.replace(['\n', '\r'], " ");
        self.hooks.add(&format!("[{}] {method} {path} {body}\n", Moment::from_micros(*at)))
    }
}

impl Command {
    /// The command of an entry. Only results of commands name a sandbox.
    fn of(entry: &Entry) -> Option<Self> {
        #[derive(Deserialize)]
        struct Given {
            script: Option<String>,
            command: Option<String>,
            #[serde(default)]
            stdin: String,
        }
        #[derive(Deserialize)]
        struct Report {
            #[serde(default)]
            stdout: String,
            #[serde(default)]
            stderr: String,
            exit_code: Option<i64>,
        }
        entry.sandbox.as_ref()?;
        let Ending::Native { structured, .. } = &entry.ending else { return None };
        let Given { script, command, stdin } = serde_json::from_str(entry.args.get()).ok()?;
        let Report { stdout, stderr, exit_code } = serde_json::from_str(structured.get()).ok()?;
        let ending = if script.is_some() { "ps1" } else { "sh" };
        Some(Self { script: script.or(command)?, ending, stdin, stdout, stderr, exit_code })
    }
}

/// Puts a text between fences that do not occur in it.
fn fenced(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{fence}{language}\n{text}{end}{fence}\n");
}

/// A log of which the newest parts are kept.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
    size: u64,
}

impl Log {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = tectum_state::append(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size })
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(value)?;
        line.push('\n');
        self.add(&line)
    }

    /// Adds a text with one write, so that it is in the file when this returns.
    fn add(&mut self, text: &str) -> io::Result<()> {
        if self.size > 0 && self.size + text.len() as u64 > FULL {
            for number in (1..KEPT).rev() {
                let older = |number: usize| match number {
                    0 => self.path.clone(),
                    _ => self.path.with_extension(format!("log.{number}")),
                };
                match tectum_state::rename(&older(number - 1), &older(number)) {
                    Err(error) if !tectum_state::is_absent(&error) => return Err(error),
                    _ => {}
                }
            }
            *self = Self::open(self.path.clone())?;
        }
        self.file.write_all(text.as_bytes())?;
        self.size += text.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        let mut out = String::new();
        fenced(&mut out, "sh", "a ```` b");
        assert_eq!(out, "`````sh\na ```` b\n`````\n\n");
        out.clear();
        fenced(&mut out, "", "");
        assert_eq!(out, "```\n```\n\n");
    }

    #[test]
    fn a_full_log_is_put_aside_and_the_newest_parts_are_kept() {
        let home = tempfile::tempdir().expect("a directory");
        let mut log = Log::open(home.path().join("a.log")).expect("opened");
        let text = "x".repeat(3 << 20);
        for _ in 0..7 {
            log.add(&text).expect("added");
        }
        let mut sizes: Vec<(String, u64)> = tectum_state::list(home.path())
            .expect("listed")
            .into_iter()
            .map(|file| (file.path.file_name().expect("named").to_string_lossy().into_owned(), file.size))
            .collect();
        sizes.sort();
        let size = text.len() as u64;
        assert_eq!(sizes, [("a.log".into(), size), ("a.log.1".into(), size), ("a.log.2".into(), size)]);
    }

    #[test]
    fn sessions_that_begin_together_have_folders_of_their_own() {
        let home = tempfile::tempdir().expect("a directory");
        let one = Session::open(home.path(), "serve").expect("opened");
        let other = Session::open(home.path(), "serve").expect("opened");
        assert_ne!(one.folder, other.folder);
    }
}
