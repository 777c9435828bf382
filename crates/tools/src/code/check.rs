//! `code_check`: what a compiler would refuse.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::Unparsed;

use super::{Code, Only, Opened, args::OfFile, cap, lookup::unparsed};
use crate::text::{Encoding, Lines, TextFile};

/// What is wrong with a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Its language.
    pub language: &'static str,
    /// True when it was checked and nothing is wrong.
    pub ok: bool,
    /// What is wrong, in order.
    pub problems: Vec<SyntaxProblem>,
    /// Why it was not checked; then nothing is known of its syntax.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_checked: Option<String>,
    /// The checker that found the problems, where it is not a compiler.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub opinion: Option<String>,
}

/// One mistake.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SyntaxProblem {
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
pub(super) fn run(code: &Code, ctx: &Ctx, _: OfFile, only: Only) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let (problems, not_checked) = match problems(ctx, &opened) {
        Ok(problems) => (problems, None),
        Err(why @ (Unparsed::TooLarge(_) | Unparsed::Late(_))) => (Vec::new(), Some(why.to_string())),
        Err(why) => return Err(unparsed(&opened.name, why)),
    };
    let ok = problems.is_empty() && not_checked.is_none();
    let mut text = String::new();
    if ok {
        let _ = write!(text, "Syntax OK: {}", opened.name);
    }
    if let Some(why) = &not_checked {
        let _ = write!(text, "Not checked: {}: {why}", opened.name);
    }
    let pack = opened.source.language().pack();
    let language = pack.title;
    // A grammar may not know all of its language; what checks as a compiler does speaks plainly.
    let by_grammar = pack.front.check.is_none();
    let word = if by_grammar { "Not understood" } else { "SyntaxError" };
    for SyntaxProblem { line, column, message, text: written } in &problems {
        let _ = writeln!(text, "{word} in {} line {line}, col {column}: {message}", opened.name);
        let _ = writeln!(text, "    {written}");
    }
    let opinion = (by_grammar && !problems.is_empty())
        .then(|| format!("this is what our grammar for {language} makes of it; the compiler decides"));
    if let Some(opinion) = &opinion {
        let _ = writeln!(text, "Note: {opinion}");
    }
    let output = Output { path: opened.name, language, ok, problems, not_checked, opinion };
    let text = cap::capped(text.trim_end().to_owned(), ctx.max_output, "mend the first ones and check again");
    Ok(Reply::new(text, output))
}

fn problems(ctx: &Ctx, opened: &Opened) -> Result<Vec<SyntaxProblem>, Unparsed> {
    // Bytes that are not read as text are no program, whatever we make of them.
    if let Some(undecodable) = opened.source.language().pack().front.undecodable
        && let Some(problem) = undecodable(opened.file.bytes())
    {
        return Ok(vec![place_of_bytes(&opened.file, &problem)]);
    }
    let problems = opened.source.check(&|| ctx.cancel.is_cancelled())?;
    Ok(problems.iter().map(|problem| place(&opened.file, problem)).collect())
}

/// A problem as lines and columns.
pub(super) fn place(file: &TextFile, problem: &tectum_syntax::Problem) -> SyntaxProblem {
    let text = file.text();
    let at = text.floor_char_boundary((problem.span.start as usize).min(text.len()));
    let line = file.lines().at(at);
    let start = file.lines().range(line).map_or(0, |range| range.start);
    SyntaxProblem {
        line,
        column: text[start.min(at)..at].chars().count() + 1,
        message: problem.message.clone(),
        text: shown(file, line),
    }
}

/// The same for a problem whose place counts the bytes of the file. What is before it may be no
/// UTF-8 either; each such byte counts as a character then.
fn place_of_bytes(file: &TextFile, problem: &tectum_syntax::Problem) -> SyntaxProblem {
    let bytes = file.bytes();
    let before = &bytes[..(problem.span.start as usize).min(bytes.len())];
    let before = before.strip_prefix(Encoding::Utf8.mark()).unwrap_or(before);
    // The character at the place itself is added, so that it has a line after a line end.
    let until = String::from_utf8_lossy(before) + "?";
    let lines = Lines::of(&until);
    let line = lines.count();
    let start = lines.range(line).map_or(0, |range| range.start);
    SyntaxProblem {
        line,
        column: until[start..].chars().count(),
        message: problem.message.clone(),
        text: shown(file, line),
    }
}

/// A line as it is quoted.
fn shown(file: &TextFile, line: usize) -> String {
    const LINE: usize = 120;
    file.line(line).trim().chars().take(LINE).collect()
}
