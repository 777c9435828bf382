//! One question about one file: read what was granted, ask its server, and say it as lines, data
//! and an anchor.

use std::{fmt::Write as _, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Directive, Fault, FaultKind, ProgressNote, security::SafePath};
use tectum_lsp::{Asked, Diagnostic, Report, Severity, Trouble};

use super::servers::Servers;
use crate::text::TextFile;

/// The largest file a server is asked about; servers take seconds for less.
const MOST_FILE: u64 = 4 * 1024 * 1024;
/// Lines of an anchor: it stands in every prompt.
const MOST_ANCHORED: usize = 50;

/// What a server finds wrong with one file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// The file.
    pub path: String,
    /// The server that was asked.
    pub server: String,
    /// What it found, in the order of lines.
    pub problems: Vec<FileProblem>,
    /// How many more it found.
    pub left_out: usize,
}

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileProblem {
    /// Its line, from 1.
    pub line: u64,
    /// `error`, `warning`, `info` or `hint`.
    pub severity: String,
    /// What it is.
    pub message: String,
    #[serde(skip)]
    pub(super) weight: Severity,
}

/// Asks about the `index`th granted path.
pub(super) async fn ask(servers: &Arc<Servers>, ctx: &Ctx, index: usize) -> Result<Checked, Fault> {
    let chooser = servers.clone();
    let chosen = ctx.blocking(move |ctx| {
        let (name, path, text) = read(ctx.path(index)?)?;
        let (server, language) = chooser.of_file(&name, &text)?;
        Ok((name, path, text, server, language))
    });
    let (name, path, text, server, language) = chosen.await?;
    for other in servers.known.all().into_iter().filter(|other| *other != path) {
        server.keeper.changed(other);
    }
    servers.known.note(path.clone());
    if !server.keeper.is_ready() {
        let message = format!("{} is starting", server.program);
        ctx.progress.note(ProgressNote { done: 0, total: None, message });
    }
    let asked = Asked { path, language, text: Arc::from(text) };
    let report =
        server.keeper.diagnose(&asked).await.map_err(|trouble| fault(&server.program, &name, &trouble))?;
    Ok(Checked::new(name, &server.program, report))
}

fn read(path: &SafePath) -> Result<(String, std::path::PathBuf, String), Fault> {
    let name = path.name();
    let file = TextFile::decode(path.file()?.bytes(MOST_FILE)?).map_err(|binary| binary.fault(&name))?;
    Ok((name, path.absolute(), file.raw_text().to_owned()))
}

fn fault(program: &str, name: &str, trouble: &Trouble) -> Fault {
    let (kind, hint) = match trouble {
        Trouble::Starting(_) => (FaultKind::Timeout, "ask again: it goes on starting meanwhile"),
        Trouble::Slow(_) => {
            (FaultKind::Timeout, "ask again: it goes on meanwhile; `wait` below [diagnostics] allows more")
        }
        Trouble::NotStarted(_) => {
            (FaultKind::Upstream, "correct the command below [diagnostics] in your own tectum.toml")
        }
        Trouble::Pausing { .. } => (
            FaultKind::Upstream,
            "ask again after the pause; code_check looks at the syntax without a server",
        ),
        _ => (
            FaultKind::Upstream,
            "ask again: the server is restarted; code_check looks at the syntax without a server",
        ),
    };
    Fault::new(kind, format!("{program} did not check {name}: {trouble}")).hint(hint)
}

impl Checked {
    fn new(path: String, server: &str, report: Report) -> Self {
        let problem = |Diagnostic { line, severity, message }| FileProblem {
            line,
            severity: severity.to_string(),
            message,
            weight: severity,
        };
        let problems = report.found.into_iter().map(problem).collect();
        Self { path, server: server.to_owned(), problems, left_out: report.left_out }
    }

    /// The number of findings of this severity.
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.problems.iter().filter(|problem| problem.weight == severity).count()
    }

    /// The findings of at least this severity, one in a line, within so many bytes.
    pub(super) fn lines(&self, least: Severity, most: usize) -> String {
        let mut text = String::new();
        let mut left_out = self.left_out;
        for problem in self.problems.iter().filter(|problem| problem.weight <= least) {
            let line = problem.to_string();
            if text.len() + line.len() < most {
                let _ = writeln!(text, "{line}");
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            let _ = writeln!(text, "… and {left_out} more");
        }
        text
    }

    /// The text that stays in the model's sight: errors and warnings, or nothing when there are none.
    pub(super) fn anchor(&self) -> Directive {
        let wrong: Vec<String> = self
            .problems
            .iter()
            .filter(|problem| problem.weight <= Severity::Warning)
            .map(ToString::to_string)
            .collect();
        let mut content = String::new();
        if !wrong.is_empty() {
            let _ = writeln!(content, "[DIAGNOSTICS of {}]", self.path);
            for line in wrong.iter().take(MOST_ANCHORED) {
                let _ = writeln!(content, "{line}");
            }
            if wrong.len() > MOST_ANCHORED {
                let _ = writeln!(content, "… and {} more", wrong.len() - MOST_ANCHORED);
            }
            content.push_str("[END DIAGNOSTICS]");
        }
        anchor(&self.path, content)
    }
}

/// The anchor of a file; empty content removes it.
pub(super) fn anchor(path: &str, content: String) -> Directive {
    Directive::ContextAnchor { key: format!("diagnostics:{path}"), content }
}

impl std::fmt::Display for FileProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line {}: [{}] {}", self.line, self.severity, self.message)
    }
}
