//! `code_check`: what a compiler would refuse.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};

use super::{Code, Only, Opened, lookup::unparsed};

/// What is wrong with a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Its language.
    pub language: &'static str,
    /// True when nothing is wrong.
    pub ok: bool,
    /// What is wrong, in order.
    pub problems: Vec<Problem>,
}

/// One mistake.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line.
    pub text: String,
}

/// Checks the call's file.
pub(super) fn run(code: &Code, ctx: &Ctx, only: Only) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let problems = opened.source.check(&|| ctx.cancel.is_cancelled());
    let problems = problems.map_err(|why| unparsed(&opened.name, why))?;
    let problems: Vec<Problem> = problems.iter().map(|problem| placed(&opened, problem)).collect();
    let mut text = String::new();
    if problems.is_empty() {
        let _ = write!(text, "Syntax OK: {}", opened.name);
    }
    for Problem { line, column, message, text: written } in &problems {
        let _ = writeln!(text, "SyntaxError in {} line {line}, col {column}: {message}", opened.name);
        let _ = writeln!(text, "    {written}");
    }
    let language = opened.source.language().pack().title;
    let output = Output { path: opened.name, language, ok: problems.is_empty(), problems };
    Ok(Reply::new(text.trim_end(), output))
}

fn placed(opened: &Opened, problem: &tectum_syntax::Problem) -> Problem {
    place(&opened.file, problem)
}

/// A problem as lines and columns.
pub(super) fn place(file: &crate::text::TextFile, problem: &tectum_syntax::Problem) -> Problem {
    const LINE: usize = 120;
    let text = file.text();
    let at = text.floor_char_boundary((problem.span.start as usize).min(text.len()));
    let line = file.lines().at(at);
    let start = file.lines().range(line).map_or(0, |range| range.start);
    Problem {
        line,
        column: text[start.min(at)..at].chars().count() + 1,
        message: problem.message.clone(),
        text: file.line(line).trim().chars().take(LINE).collect(),
    }
}
