//! Reading a part of a text file: what `read_file` and `get_file_slice` share.

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{
    Ctx, Fault, Reply,
    security::{OpenFile, SafePath},
};

use super::{
    more::room,
    page::{self, Cursor},
    window,
};
use crate::text::{self, Eol, Lines, Newline, TextFile};

/// A file up to this size is read on the calling thread: handing it over would cost more.
const INLINE: u64 = 256 * 1024;
/// A larger file is not taken into memory; only the asked-for part is.
const WHOLE: u64 = 64 * 1024 * 1024;

/// What is asked of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// Where to begin.
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

    /// What a reader could not see in the text: another encoding, other line ends, a mark, bytes
    /// that are no text, lines that are not there.
    fn unusual(&self, clamped: Option<usize>) -> String {
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

/// Reads the asked-for part of the call's first path.
pub(super) async fn read(ctx: &Ctx, ask: Ask) -> Result<Reading, Fault> {
    let path = ctx.path(0)?;
    let file = path.file()?;
    if file.size() <= INLINE {
        return whole(ctx, path, &file, ask);
    }
    ctx.blocking(move |ctx| {
        let path = ctx.path(0)?;
        if file.size() <= WHOLE { whole(ctx, path, &file, ask) } else { window::read(ctx, path, &file, ask) }
    })
    .await
}

fn whole(ctx: &Ctx, path: &SafePath, file: &OpenFile, ask: Ask) -> Result<Reading, Fault> {
    let path = path.name();
    let bytes = file.bytes(WHOLE)?;
    let size = bytes.len() as u64;
    let revision = text::revision(&bytes);
    let loaded = Loaded::decode(bytes, &path)?;
    let mut reading = Reading {
        path,
        revision: Some(revision),
        encoding: loaded.encoding,
        newline: name(loaded.newline),
        bom: loaded.bom,
        damaged: loaded.damaged,
        lines_total: loaded.lines,
        first_line: loaded.lines.min(1),
        last_line: loaded.lines,
        size,
        truncated: false,
        next: None,
        content: loaded.text,
    };
    let everything = ask.from == Cursor::line(1) && ask.last.is_none_or(|last| last >= reading.lines_total);
    let notes = reading.unusual(None).len() + "\n[]".len();
    if everything && reading.content.len() + if notes > 3 { notes } else { 0 } <= ctx.max_output {
        return Ok(reading);
    }
    let last = check(&reading.path, ask, reading.lines_total)?;
    let lines = Lines::of(&reading.content);
    let page = page::cut(&reading.content, &lines, ask.from, last, room(ctx.max_output))?;
    reading.content.truncate(page.range.end);
    reading.content.drain(..page.range.start);
    reading.first_line = ask.from.line;
    reading.last_line = page.last_line;
    reading.truncated = page.next.is_some();
    reading.next = page.next.map(|next| next.to_string());
    Ok(reading)
}

/// The last line to read, if what was asked for lies in a file of this many lines.
pub(super) fn check(path: &str, ask: Ask, total: usize) -> Result<usize, Fault> {
    let last = ask.last.unwrap_or(total).min(total);
    let from = ask.from.line;
    if from >= 1 && from <= last {
        return Ok(last);
    }
    Err(missing(path, ask, total))
}

/// The refusal of lines that are not there.
pub(super) fn missing(path: &str, ask: Ask, total: usize) -> Fault {
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

/// A file's text and what is told about it.
struct Loaded {
    text: String,
    encoding: String,
    newline: Newline,
    bom: bool,
    damaged: bool,
    lines: usize,
}

impl Loaded {
    fn decode(bytes: Vec<u8>, path: &str) -> Result<Self, Fault> {
        // Nearly every file is UTF-8 with plain line ends; it is read without an index of its lines.
        let bytes = match memchr::memchr2(0, b'\r', &bytes) {
            Some(_) => bytes,
            None => match String::from_utf8(bytes) {
                Ok(text) => return Ok(Self::plain(text)),
                Err(error) => error.into_bytes(),
            },
        };
        let file = TextFile::decode(bytes).map_err(|binary| binary.fault(path))?;
        let facts = file.facts();
        Ok(Self {
            encoding: facts.encoding.name().to_owned(),
            newline: facts.newline,
            bom: facts.bom,
            damaged: !file.faithful() && file.text().contains(char::REPLACEMENT_CHARACTER),
            lines: file.lines().count(),
            text: file.raw_text().to_owned(),
        })
    }

    fn plain(text: String) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let open = usize::from(!text.is_empty() && !text.ends_with('\n'));
        Self {
            encoding: text::Encoding::Utf8.name().to_owned(),
            newline: if ends == 0 { Newline::None } else { Newline::Only(Eol::Lf) },
            bom: text.starts_with('\u{feff}'),
            damaged: false,
            lines: ends + open,
            text,
        }
    }
}

/// A line end's name in replies.
pub(super) fn name(newline: Newline) -> &'static str {
    match newline {
        Newline::None => "none",
        Newline::Only(eol) => eol.name(),
        Newline::Mixed(_) => "mixed",
    }
}
