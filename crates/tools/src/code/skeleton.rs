//! `code_skeleton`: a file with the bodies of its functions left out.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Detail, Docs, Outline, Symbol};

use super::{Code, Only, Opened, cap};

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
    /// What could not be parsed, and that more follows.
    pub notes: Vec<String>,
    /// What to pass as `from_line` for the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_line: Option<usize>,
}

/// The skeleton of the call's file, from a line on.
pub(super) fn run(code: &Code, ctx: &Ctx, only: Only, from_line: usize) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let outline = opened.outline(ctx, Detail::Outline)?;
    let from = opened.file.lines().range(from_line.max(1)).map_or(opened.text().len(), |line| line.start);
    let drawn = DrawnSkeleton::draw(&opened, &outline, from, ctx.max_output.saturating_sub(cap::ROOM));
    let mut notes = opened.gaps(&outline.gaps);
    let next_line = drawn.next.map(|offset| opened.file.lines().at(offset));
    let mut text = String::new();
    let comment = opened.source.language().pack().style.comment;
    if let Some(next) = next_line {
        notes.push(format!("more follows: code_skeleton with from_line={next} shows it"));
        text = format!("{comment} Note: more follows after this part\n");
    }
    text.push_str(&drawn.skeleton);
    notes.iter().for_each(|note| text.push_str(&format!("\n{comment} Note: {note}")));
    let language = opened.source.language().pack().title;
    let DrawnSkeleton { skeleton, left_out, .. } = drawn;
    let output =
        Output { path: opened.name, language, skeleton, bodies_left_out: left_out, notes, next_line };
    Ok(Reply::new(text, output))
}

/// A skeleton, as far as there was room.
#[derive(Default)]
struct DrawnSkeleton {
    skeleton: String,
    left_out: usize,
    /// The place in the source where the rest begins.
    next: Option<usize>,
}

impl DrawnSkeleton {
    fn draw(opened: &Opened, outline: &Outline, from: usize, room: usize) -> Self {
        let text = opened.text();
        let mut drawn = Self::default();
        let mut done = from;
        for symbol in &outline.symbols {
            let body = symbol.body.range();
            if !symbol.kind.is_callable() || body.is_empty() || body.start < done || is_kept(opened, symbol) {
                continue;
            }
            let sign = placeholder(opened, symbol);
            if !drawn.push(text, done..body.start, sign.len(), room) {
                return drawn;
            }
            drawn.skeleton.push_str(&sign);
            done = body.end;
            drawn.left_out += 1;
        }
        drawn.push(text, done..text.len(), 0, room);
        drawn
    }

    /// Takes over a stretch of the text if there is room for it and for `more` bytes; else the
    /// whole lines that fit.
    fn push(&mut self, text: &str, stretch: Range<usize>, more: usize, room: usize) -> bool {
        let piece = &text[stretch.clone()];
        if self.skeleton.len() + piece.len() + more <= room {
            self.skeleton.push_str(piece);
            return true;
        }
        let left = room.saturating_sub(self.skeleton.len() + more).min(piece.len());
        let left = piece.floor_char_boundary(left);
        let mut end = piece[..left].rfind('\n').map_or(0, |at| at + 1);
        // The first line is shown whatever it takes, so that every part goes further.
        if end == 0 && self.skeleton.is_empty() {
            end = piece.find('\n').map_or(piece.len(), |at| at + 1);
        }
        self.skeleton.push_str(&piece[..end]);
        self.next = Some(stretch.start + end);
        false
    }
}

fn is_kept(opened: &Opened, symbol: &Symbol) -> bool {
    let text = opened.text();
    // Where `#` begins a comment it begins no directive.
    let directives = opened.source.language().pack().style.comment != "#";
    KEPT.iter().any(|mark| symbol.whole.slice(text).contains(mark))
        || (directives && cuts_branches(symbol.body.slice(text)))
}

/// True if a body holds a part of an `#if` without the rest of it: what stays of that would
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

/// The text in place of a body: its documentation where that is inside, and the pack's sign.
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
