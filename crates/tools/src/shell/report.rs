//! The output and the end of a command, as text and as data.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_shell::{CommandEnd, Output, Shown};

/// Left for the words around the output.
const WORDS: usize = 1024;

/// What is known of a command now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommandReport {
    /// What it said since the last report.
    pub stdout: String,
    /// What it said beside that.
    pub stderr: String,
    /// Absent while it runs, and when it was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Names it for shell_poll, shell_write and shell_kill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether it still runs.
    pub running: bool,
    /// Whether it was ended at its deadline.
    pub timed_out: bool,
    /// Bytes that are not shown here.
    pub omitted: u64,
    /// Where all of it can be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<String>,
    /// What the kernel holds it to: `enforced`, `enforced, no network` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Since its start.
    pub duration_ms: u64,
}

/// The state of a command when it is reported on.
pub(super) struct CommandState<'s> {
    pub(super) stdout: &'s Output,
    pub(super) stderr: &'s Output,
    /// Up to where it was told before.
    pub(super) told: (u64, u64),
    pub(super) end: Option<CommandEnd>,
    /// The name of its output on the disk.
    pub(super) name: &'s str,
    pub(super) took: Duration,
}

/// Both streams as they are shown, and up to where they are told by that.
pub(super) struct Told {
    out: Shown,
    err: Shown,
}

impl Told {
    pub(super) fn is_cut(&self) -> bool {
        self.out.omitted + self.err.omitted > 0
    }

    pub(super) fn next(&self) -> (u64, u64) {
        (self.out.next, self.err.next)
    }
}

impl CommandState<'_> {
    /// The part of both streams that fits.
    pub(super) fn told(&self, most: usize) -> Told {
        let room = most.saturating_sub(WORDS);
        let unsaid = |output: &Output, from: u64| output.total().saturating_sub(from) as usize;
        // Errors are short where they matter, so they are served first.
        let err = self
            .stderr
            .shown(self.told.1, (room / 3).max(room.saturating_sub(unsaid(self.stdout, self.told.0))));
        let left = room.saturating_sub(err.head.len() + err.tail.len());
        Told { out: self.stdout.shown(self.told.0, left), err }
    }

    /// The report, under this session's name if it has one.
    pub(super) fn report(&self, told: Told, session: Option<&str>) -> (String, CommandReport) {
        let address = |output: &Output, shown: &Shown, part: u8| {
            (shown.omitted > 0 && output.kept().is_some())
                .then(|| format!("tectum://results/{}/{part}", self.name))
        };
        let uris = [address(self.stdout, &told.out, 0), address(self.stderr, &told.err, 1)];
        let said = |shown: &Shown, uri: &Option<String>, option: &str| {
            let whole = match (session, uri) {
                (Some(session), Some(uri)) => {
                    Some(format!("all: shell_poll session={session} from=0{option}, or {uri}"))
                }
                (Some(session), None) => {
                    Some(format!("not kept, as there is no place for it; session {session}"))
                }
                (None, uri) => uri.as_ref().map(|uri| format!("all: {uri}")),
            };
            shown.text(whole.as_deref())
        };
        let report = CommandReport {
            stdout: said(&told.out, &uris[0], ""),
            stderr: said(&told.err, &uris[1], " stderr=true"),
            exit_code: match self.end {
                Some(CommandEnd::Exited(code)) => Some(code),
                _ => None,
            },
            session: session.map(str::to_owned),
            running: self.end.is_none(),
            timed_out: matches!(self.end, Some(CommandEnd::TimedOut(_))),
            omitted: told.out.omitted + told.err.omitted,
            whole: uris.into_iter().flatten().collect(),
            sandbox: None,
            duration_ms: self.took.as_millis() as u64,
        };
        (text(&report, self.end), report)
    }
}

/// The form that models know: `STDOUT:`, `STDERR:`, `EXIT CODE: n`. What is empty is left out.
fn text(report: &CommandReport, end: Option<CommandEnd>) -> String {
    let mut parts = Vec::new();
    for (name, said) in [("STDOUT", &report.stdout), ("STDERR", &report.stderr)] {
        if !said.is_empty() {
            parts.push(format!("{name}:\n{}", said.strip_suffix('\n').unwrap_or(said)));
        }
    }
    let seconds = |time: Duration| time.as_millis() as f64 / 1000.0;
    parts.push(match (end, &report.session) {
        (Some(CommandEnd::Exited(code)), _) => format!("EXIT CODE: {code}"),
        (Some(CommandEnd::TimedOut(limit)), _) => format!("ERROR: timed out after {}s", seconds(limit)),
        (Some(CommandEnd::Stopped), _) => "ENDED with everything it started".to_owned(),
        (None, Some(session)) => format!(
            "RUNNING as session {session} for {} ms: go on with shell_poll, end it with shell_kill",
            report.duration_ms
        ),
        (None, None) => "RUNNING".to_owned(),
    });
    parts.join("\n")
}
