//! Reading a part of a text file: what `read_file` and `get_file_slice` share.

use tectum_core::{
    Ctx, Fault,
    security::{OpenFile, SafePath},
};

use super::{
    more::room,
    page::{self, Cursor},
    part::{PartRequest, Reading, check, newline_name},
    window,
};
use crate::text::{self, Eol, Lines, Newline, TextFile};

/// A file up to this size is read on the calling thread: handing it over would cost more.
const INLINE: u64 = 256 * 1024;
/// A larger file is not taken into memory; only the asked-for part is.
const WHOLE: u64 = 64 * 1024 * 1024;
/// Reads the asked-for part of the call's first path.
pub(super) async fn read(ctx: &Ctx, ask: PartRequest) -> Result<Reading, Fault> {
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

fn whole(ctx: &Ctx, path: &SafePath, file: &OpenFile, ask: PartRequest) -> Result<Reading, Fault> {
    let path = path.name();
    let bytes = file.bytes(WHOLE)?;
    let size = bytes.len() as u64;
    let revision = text::revision(&bytes);
    let loaded = LoadedText::decode(bytes, &path)?;
    let mut reading = Reading {
        path,
        revision: Some(revision),
        encoding: loaded.encoding,
        newline: newline_name(loaded.newline),
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

/// A file's text and what is told about it.
struct LoadedText {
    text: String,
    encoding: String,
    newline: Newline,
    bom: bool,
    damaged: bool,
    lines: usize,
}

impl LoadedText {
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
