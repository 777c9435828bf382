//! A part of a text file: what is asked for, what is replied, and why it cannot be had.

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Fault, Reply};

use super::page::Cursor;
use crate::text::{self, Newline};

/// The part of a file that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartRequest {
    /// The place to begin.
    pub(super) from: Cursor,
    /// The last line wanted; the file's last when absent.
    pub(super) last: Option<usize>,
}

/// A part of a text file, and the facts of the whole.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reading {
    /// The file.
    pub path: String,
    /// Exactly these characters of it, without any note.
    pub content: String,
    /// Names this content of the whole file; an edit can check against it. Absent for files
    /// too large to edit.
    pub revision: Option<String>,
    /// The encoding the bytes were read in.
    pub encoding: String,
    /// How lines end: `LF`, `CRLF`, `CR`, `mixed` or `none`.
    pub newline: &'static str,
    /// True when the file starts with a byte order mark (the content then does, too).
    pub bom: bool,
    /// True when some bytes are no text in this encoding; they are shown as U+FFFD.
    pub damaged: bool,
    /// Lines in the whole file.
    pub lines_total: usize,
    /// First line of the content; 0 when there is none.
    pub first_line: usize,
    /// Last line of the content, whole or in part; 0 when there is none.
    pub last_line: usize,
    /// Size of the file in bytes.
    pub size: u64,
    /// True when more of what was asked for follows.
    pub truncated: bool,
    /// What to pass to read_file as `offset` to go on.
    pub next: Option<String>,
}

impl Reading {
    /// The content as the text; with notes only where there is something to note.
    pub(super) fn reply(self) -> Reply<Self> {
        let partial = self.last_line < self.lines_total;
        if partial || self.next.is_some() || !self.unusual(None).is_empty() {
            Reply::new(self.text("offset", None), self)
        } else {
            Reply::showing(|reading| reading.content, self)
        }
    }

    /// The content. When it was cut, that stands before and after it; what is unusual about the file
    /// stands in a line after it. `key` is the argument to go on with, `clamped` the end that was
    /// asked for and is not there.
    pub(super) fn text(&self, key: &str, clamped: Option<usize>) -> String {
        let range = format!("lines {}-{} of {}", self.first_line, self.last_line, self.lines_total);
        let more = match self.next.as_deref() {
            Some(next) if next.contains(':') => {
                format!("[{range}; continue with read_file offset=\"{next}\"]\n")
            }
            Some(next) => format!("[{range}; continue with {key}={next}]\n"),
            None => String::new(),
        };
        let mut after = Vec::new();
        let unusual = self.unusual(clamped);
        if !unusual.is_empty() {
            after.push(format!("[{unusual}]"));
        }
        if !more.is_empty() {
            after.push(more.trim_end().to_owned());
        } else if key == "offset" && self.last_line < self.lines_total {
            after.push(format!("[{range}]"));
        }
        let end = if after.is_empty() || self.content.ends_with('\n') { "" } else { "\n" };
        format!("{more}{}{end}{}", self.content, after.join("\n"))
    }

    /// The facts that a reader could not see in the text: another encoding, other line ends, a mark,
    /// bytes that are no text, lines that are not there.
    pub(super) fn unusual(&self, clamped: Option<usize>) -> String {
        let mut facts = Vec::new();
        if self.encoding != text::Encoding::Utf8.name() {
            facts.push(format!("encoding {}", self.encoding));
        }
        if self.newline == "mixed" {
            facts.push("mixed line ends".to_owned());
        } else if !matches!(self.newline, "LF" | "none") {
            facts.push(format!("{} line ends", self.newline));
        }
        if self.bom {
            facts.push("byte order mark".to_owned());
        }
        if self.damaged {
            facts.push("bytes that are no text are shown as U+FFFD".to_owned());
        }
        if let Some(asked) = clamped {
            facts.push(format!("line {asked} is past the end: the file has {} lines", self.lines_total));
        }
        facts.join("; ")
    }
}

/// The last line to read, if what was asked for lies in a file of this many lines.
pub(super) fn check(path: &str, ask: PartRequest, total: usize) -> Result<usize, Fault> {
    let last = ask.last.unwrap_or(total).min(total);
    let from = ask.from.line;
    if from >= 1 && from <= last {
        return Ok(last);
    }
    Err(missing(path, ask, total))
}

/// The refusal of lines that are not there.
pub(super) fn missing(path: &str, ask: PartRequest, total: usize) -> Fault {
    let from = ask.from.line;
    if let Some(end) = ask.last.filter(|end| *end < from) {
        return Fault::invalid(format!(
            "the range is reversed: it starts at line {from} and ends at line {end}"
        ))
        .hint("give the smaller line first; lines count from 1 and the last is included");
    }
    let asked = match ask.last {
        Some(end) => format!("lines {from}-{end} do"),
        None => format!("line {from} does"),
    };
    let has = match total {
        0 => "is empty".to_owned(),
        1 => "has 1 line".to_owned(),
        _ => format!("has {total} lines"),
    };
    Fault::invalid(format!("{asked} not exist: {path} {has}"))
        .hint("lines count from 1 and the last is included")
}

/// A line end's name in replies.
pub(super) fn newline_name(newline: Newline) -> &'static str {
    match newline {
        Newline::None => "none",
        Newline::Only(eol) => eol.name(),
        Newline::Mixed(_) => "mixed",
    }
}
