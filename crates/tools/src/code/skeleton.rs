//! `code_skeleton`: a file with the bodies of its functions left out.

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Detail, Docs, Outline, Symbol};

use super::{Code, Only, Opened};

/// A body with one of these in it, or before it, is kept: it is what the file is about.
const KEPT: [&str; 2] = ["@core_logic", "[HOT]"];

/// A skeleton.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Its language.
    pub language: &'static str,
    /// The skeleton.
    pub skeleton: String,
    /// How many bodies were left out.
    pub bodies_left_out: usize,
    /// What could not be parsed.
    pub notes: Vec<String>,
}

/// The skeleton of the call's file.
pub(super) fn run(code: &Code, ctx: &Ctx, only: Only) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let outline = opened.outline(ctx, Detail::Outline)?;
    let (skeleton, bodies_left_out) = skeleton(&opened, &outline);
    let mut notes = opened.gaps(&outline.gaps);
    let shown = skeleton.floor_char_boundary(ctx.max_output.min(skeleton.len()));
    if shown < skeleton.len() {
        notes.push(format!(
            "cut: {shown} of {} bytes are shown; code_outline is shorter, code_definition shows one symbol",
            skeleton.len()
        ));
    }
    let skeleton = skeleton[..shown].to_owned();
    let mut text = skeleton.clone();
    let comment = opened.source.language().pack().style.comment;
    notes.iter().for_each(|note| text.push_str(&format!("\n{comment} Note: {note}")));
    let language = opened.source.language().pack().title;
    Ok(Reply::new(text, Output { path: opened.name, language, skeleton, bodies_left_out, notes }))
}

fn skeleton(opened: &Opened, outline: &Outline) -> (String, usize) {
    let text = opened.text();
    let mut skeleton = String::with_capacity(text.len() / 2);
    let (mut done, mut left_out) = (0, 0);
    for symbol in &outline.symbols {
        let body = symbol.body.range();
        if !symbol.kind.is_callable() || body.is_empty() || body.start < done || is_kept(opened, symbol) {
            continue;
        }
        skeleton.push_str(&text[done..body.start]);
        skeleton.push_str(&placeholder(opened, symbol));
        done = body.end;
        left_out += 1;
    }
    skeleton.push_str(&text[done..]);
    (skeleton, left_out)
}

fn is_kept(opened: &Opened, symbol: &Symbol) -> bool {
    let text = opened.text();
    // Where `#` begins a comment it begins no directive.
    let directives = opened.source.language().pack().style.comment != "#";
    KEPT.iter().any(|mark| symbol.whole.of(text).contains(mark))
        || (directives && cuts_branches(symbol.body.of(text)))
}

/// Whether a body holds a part of an `#if` without the rest of it: what stays of that would
/// enclose something else.
fn cuts_branches(body: &str) -> bool {
    let mut open = 0usize;
    for line in body.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let word = directive.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next();
        match word.unwrap_or_default() {
            "if" | "ifdef" | "ifndef" => open += 1,
            "else" | "elif" | "elifdef" | "elifndef" | "endif" if open == 0 => return true,
            "endif" => open -= 1,
            _ => {}
        }
    }
    open > 0
}

/// What stands for a body: its documentation where that is inside, and the pack's sign.
fn placeholder(opened: &Opened, symbol: &Symbol) -> String {
    let style = &opened.source.language().pack().style;
    let text = opened.text();
    let sign = style.placeholder;
    match style.bodies {
        Bodies::Braced | Bodies::Worded => sign.to_owned(),
        Bodies::Indented if style.docs != Docs::FirstString || symbol.doc.is_empty() => sign.to_owned(),
        Bodies::Indented => {
            let start = symbol.body.start as usize;
            let line = text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
            let indent = &text[line..start];
            let doc = &text[start..symbol.doc.end as usize];
            if !indent.trim().is_empty() {
                return format!("{doc}; {sign}");
            }
            let end = opened.file.facts().newline.mostly().map_or("\n", |eol| eol.as_str());
            format!("{doc}{end}{indent}{sign}")
        }
    }
}
