//! `diagnostics`: everything a language server finds in a file, or in all files that matter now.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Directive, Fault, FaultKind, Reply, Subject, Tool, Wants, World,
    security::{Access, RawPath},
};
use tectum_lsp::Severity;

use super::{
    ask::{self, Checked},
    servers::Servers,
};
use crate::{cards::READS, files::more::room};

/// The word that asks for all files instead of one.
const ALL: &str = "all";
/// A look at all files ends here, before the call's deadline, and says what is missing.
const ENOUGH: Duration = Duration::from_secs(45);

/// Tells what is wrong.
#[derive(Clone, Debug)]
pub struct Diagnostics(pub Arc<Servers>);

/// Type and compile errors, warnings of a file, or of all edited ones.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(default = "all")]
    path: RawPath,
}

/// What is wrong, by file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The files that were checked.
    pub files: Vec<Checked>,
    /// Those that were not, and why.
    pub not_checked: Vec<NotChecked>,
}

/// A file without an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotChecked {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Tool for Diagnostics {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "diagnostics",
        title: "Diagnostics",
        world: World::Open,
        deadline: Duration::from_secs(60),
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        if args.path.as_str() != ALL {
            return Wants::path(&args.path, Access::Read);
        }
        let known = self.0.known.all();
        // Only what has a language is of interest, and only text can be asked for by name.
        let named = known.iter().filter_map(|path| path.to_str()).filter(|name| self.0.knows(name));
        let paths = named.map(|name| (RawPath::new(name), Access::Read)).collect();
        Wants { subject: Subject::Text(ALL.into()), paths }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        if args.path.as_str() != ALL {
            let checked = ask::ask(&self.0, ctx, 0).await?;
            let text = text(&checked, room(ctx.max_output));
            let directives = vec![checked.anchor()];
            let output = Output { files: vec![checked], not_checked: Vec::new() };
            return Ok(Reply { directives, ..Reply::new(text, output) });
        }
        self.all(ctx).await
    }
}

impl Diagnostics {
    async fn all(&self, ctx: &Ctx) -> Result<Reply<Output>, Fault> {
        let begun = Instant::now();
        let mut output = Output { files: Vec::new(), not_checked: Vec::new() };
        let mut asked: Vec<Directive> = Vec::new();
        for (index, path) in ctx.grants.paths().iter().enumerate() {
            ctx.check()?;
            let late = begun.elapsed() > ENOUGH;
            let answer = if late {
                Err(Fault::new(FaultKind::Timeout, "there was no time left; ask about it alone"))
            } else {
                ask::ask(&self.0, ctx, index).await
            };
            match answer {
                Ok(checked) => {
                    asked.push(checked.anchor());
                    output.files.push(checked);
                }
                Err(fault) if fault.kind == FaultKind::NotFound => {
                    self.0.known.forget(&path.absolute());
                    asked.push(ask::anchor(&path.name(), String::new()));
                }
                Err(fault) => {
                    output.not_checked.push(NotChecked { path: path.name(), why: fault.message });
                }
            }
        }
        let text = grouped(&output, room(ctx.max_output));
        Ok(Reply { directives: asked, ..Reply::new(text, output) })
    }
}

fn all() -> RawPath {
    RawPath::new(ALL)
}

fn text(checked: &Checked, most: usize) -> String {
    if checked.problems.is_empty() {
        format!("Nothing wrong in {}.", checked.path)
    } else {
        checked.lines(Severity::Hint, most)
    }
}

/// All answers, by file.
fn grouped(output: &Output, most: usize) -> String {
    if output.files.is_empty() && output.not_checked.is_empty() {
        return "No file with a language server was edited or asked about yet.".into();
    }
    let mut text = String::new();
    let mut unsaid = 0;
    for checked in &output.files {
        let part = if checked.problems.is_empty() {
            format!("{}: nothing wrong\n", checked.path)
        } else {
            format!("{}:\n{}", checked.path, checked.lines(Severity::Hint, most / 4))
        };
        if text.len() + part.len() <= most { text.push_str(&part) } else { unsaid += 1 }
    }
    for NotChecked { path, why } in &output.not_checked {
        let part = format!("{path}: {why}\n");
        if text.len() + part.len() <= most { text.push_str(&part) } else { unsaid += 1 }
    }
    if unsaid > 0 {
        let _ = writeln!(text, "… and {unsaid} more files; ask about one alone");
    }
    text
}
