//! Reading a part of a file too large to hold: one pass with a fixed buffer, keeping only the
//! page that was asked for.

use std::io::Read;

use encoding_rs::Decoder;
use tectum_core::{
    Ctx, Fault,
    security::{OpenFile, PathError, SafePath},
};

use super::{
    more::room,
    page::{self, Cursor},
    part::{PartRequest, Reading, check, newline_name},
};
use crate::text::{Encoding, Newline, TextFile};

/// The bytes of one read.
const CHUNK: usize = 128 * 1024;

/// Reads a page of a large file. Every line is counted, so the reply knows the whole.
pub(super) fn read(ctx: &Ctx, path: &SafePath, file: &OpenFile, ask: PartRequest) -> Result<Reading, Fault> {
    let path = path.name();
    let mut chunk = vec![0; CHUNK];
    let mut pieces = Pieces::open(file, &path, &mut chunk)?;
    let mut scan = PageScan::new(ask, room(ctx.max_output));
    while pieces.next(&mut chunk)? {
        ctx.check()?;
        scan.take(&pieces.text);
    }
    let lines_total = scan.line - 1 + usize::from(scan.open);
    check(&path, ask, lines_total)?;
    if scan.page.is_empty() {
        return Err(page::past_the_line(ask.from, scan.skipped));
    }
    Ok(Reading {
        path: path.clone(),
        revision: None,
        encoding: pieces.encoding.name().to_owned(),
        newline: newline_name(Newline::counted(scan.ends)),
        bom: scan.bom,
        damaged: pieces.damaged,
        lines_total,
        first_line: ask.from.line,
        last_line: scan.last_line,
        size: file.size(),
        truncated: scan.next.is_some(),
        next: scan.next.map(|next| next.to_string()),
        content: scan.page,
    })
}

/// A file as pieces of text.
struct Pieces<'f> {
    file: &'f OpenFile,
    path: &'f str,
    encoding: Encoding,
    decoder: Decoder,
    text: String,
    /// Bytes of the first chunk, read to find out the encoding and not decoded yet.
    waiting: usize,
    /// A `\r` that ended the last piece and is given with the next.
    held: bool,
    ended: bool,
    damaged: bool,
}

impl<'f> Pieces<'f> {
    fn open(file: &'f OpenFile, path: &'f str, chunk: &mut [u8]) -> Result<Self, Fault> {
        let waiting = fill(file, path, chunk)?;
        let sample = TextFile::decode(whole_characters(&chunk[..waiting]).to_vec());
        let sample = sample.map_err(|mut binary| {
            binary.size = usize::try_from(file.size()).unwrap_or(usize::MAX);
            binary.fault(path)
        })?;
        let encoding = sample.facts().encoding;
        let decoder = match encoding {
            Encoding::Utf8 => encoding_rs::UTF_8,
            Encoding::Utf16Le => encoding_rs::UTF_16LE,
            Encoding::Utf16Be => encoding_rs::UTF_16BE,
            // Of a file this large only windows are shown; the few control characters by which
            // the two differ are in no text.
            Encoding::Latin1 => encoding_rs::WINDOWS_1252,
            Encoding::Legacy(encoding) => encoding,
        }
        .new_decoder_without_bom_handling();
        let text = String::with_capacity(CHUNK * 3 + 16);
        Ok(Self { file, path, encoding, decoder, text, waiting, held: false, ended: false, damaged: false })
    }

    /// Decodes the next chunk; false at the end. A `\r` at its end waits for the next one,
    /// since it may be half of a line end.
    fn next(&mut self, chunk: &mut [u8]) -> Result<bool, Fault> {
        if self.ended {
            return Ok(false);
        }
        self.text.clear();
        if std::mem::take(&mut self.held) {
            self.text.push('\r');
        }
        let read = match std::mem::take(&mut self.waiting) {
            0 => fill(self.file, self.path, chunk)?,
            waiting => waiting,
        };
        self.ended = read == 0;
        let (_, _, damaged) = self.decoder.decode_to_string(&chunk[..read], &mut self.text, self.ended);
        self.damaged |= damaged;
        if !self.ended && self.text.ends_with('\r') {
            self.text.pop();
            self.held = true;
        }
        Ok(true)
    }
}

fn fill(file: &OpenFile, path: &str, chunk: &mut [u8]) -> Result<usize, Fault> {
    let mut filled = 0;
    while filled < chunk.len() {
        match file.handle().read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => return Err(PathError::Io { path: path.to_owned(), source }.into()),
        }
    }
    Ok(filled)
}

/// The longest start of a sample that ends with a whole character.
fn whole_characters(sample: &[u8]) -> &[u8] {
    match std::str::from_utf8(sample) {
        Err(error) if error.error_len().is_none() => &sample[..error.valid_up_to()],
        Ok(_) => sample,
        // Two bytes a unit, or an older encoding: a line end is a safe place to stop.
        Err(_) => match memchr::memrchr(b'\n', sample) {
            Some(end) if sample.contains(&0) => &sample[..end / 2 * 2],
            Some(end) => &sample[..=end],
            None => &sample[..sample.len() / 2 * 2],
        },
    }
}

/// One pass over the text.
struct PageScan {
    from: Cursor,
    last: usize,
    budget: usize,
    /// The line the scan is in, and whether any of it was seen.
    line: usize,
    open: bool,
    /// Characters of the first wanted line that lie before the wanted one.
    skipped: usize,
    page: String,
    /// The part of the page that is whole lines.
    whole: usize,
    last_line: usize,
    next: Option<Cursor>,
    bytes: u64,
    bom: bool,
    /// Line ends by kind: `\n`, `\r\n`, `\r`.
    ends: [usize; 3],
}

impl PageScan {
    fn new(ask: PartRequest, budget: usize) -> Self {
        Self {
            from: ask.from,
            last: ask.last.unwrap_or(usize::MAX),
            budget,
            line: 1,
            open: false,
            skipped: 0,
            page: String::new(),
            whole: 0,
            last_line: 0,
            next: None,
            bytes: 0,
            bom: false,
            ends: [0; 3],
        }
    }

    fn take(&mut self, text: &str) {
        if self.bytes == 0 {
            self.bom = text.starts_with('\u{feff}');
        }
        self.bytes += text.len() as u64;
        let bytes = text.as_bytes();
        let mut begin = 0;
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let kind = match bytes[at] {
                b'\n' => usize::from(at > begin && bytes[at - 1] == b'\r'),
                _ if bytes.get(at + 1) == Some(&b'\n') => continue,
                _ => 2,
            };
            self.ends[kind] += 1;
            self.keep(&text[begin..=at], true);
            self.line += 1;
            self.open = false;
            begin = at + 1;
        }
        if begin < text.len() {
            self.keep(&text[begin..], false);
            self.open = true;
        }
    }

    /// Adds a piece of the current line to the page, if it belongs there and fits.
    fn keep(&mut self, mut piece: &str, ends_line: bool) {
        if self.line < self.from.line || self.line > self.last || self.next.is_some() {
            return;
        }
        if self.line == self.from.line && self.skipped + 1 < self.from.character {
            let wanted = self.from.character - 1 - self.skipped;
            let at = piece.char_indices().nth(wanted).map_or(piece.len(), |(at, _)| at);
            self.skipped += piece[..at].chars().count();
            piece = &piece[at..];
        }
        if piece.is_empty() {
            return;
        }
        let room = self.budget.saturating_sub(self.page.len());
        if piece.len() <= room {
            self.page.push_str(piece);
            self.last_line = self.line;
            if ends_line {
                self.whole = self.page.len();
            }
        } else if self.whole > 0 {
            self.page.truncate(self.whole);
            self.last_line = self.line - 1;
            self.next = Some(Cursor::line(self.line));
        } else {
            // Not even one character fits any more; but a page is never empty.
            let full = !self.page.is_empty() && room < piece.chars().next().map_or(0, char::len_utf8);
            let end = if full { 0 } else { page::piece(piece, 0, room) };
            self.page.push_str(&piece[..end]);
            self.last_line = self.line;
            let character = self.from.character + self.page.chars().count();
            self.next = Some(Cursor { line: self.line, character });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Lines;

    /// A scan in pieces of any size gives the same page as the whole text in memory.
    fn check(text: &str, budget: usize) {
        let lines = Lines::of(text);
        for step in 1..=text.chars().count() {
            let mut from = Cursor::line(1);
            for last in [lines.count(), 2] {
                loop {
                    let page = page::cut(text, &lines, from, last, budget).expect("a page");
                    let mut scan = PageScan::new(PartRequest { from, last: Some(last) }, budget);
                    for piece in pieces(text, step) {
                        scan.take(&piece);
                    }
                    assert_eq!(scan.page, text[page.range], "{text:?} from {from} by {step}");
                    assert_eq!(
                        (scan.last_line, scan.next),
                        (page.last_line, page.next),
                        "{text:?} from {from} by {step}"
                    );
                    assert_eq!(scan.line - 1 + usize::from(scan.open), lines.count());
                    assert_eq!(Newline::counted(scan.ends), Newline::of(text));
                    match page.next {
                        Some(next) => from = next,
                        None => break,
                    }
                }
                from = Cursor::line(2);
            }
        }
    }

    /// Pieces of so many characters; a `\r` at the end of one goes to the next.
    fn pieces(text: &str, step: usize) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut piece = String::new();
        for (n, c) in text.chars().enumerate() {
            piece.push(c);
            if n % step == 0 && c != '\r' {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        pieces.push(piece);
        pieces
    }

    #[test]
    fn a_window_is_the_same_page_as_in_memory() {
        for budget in [4, 5, 7, 100] {
            check("one\ntwo\nthree\n", budget);
            check("a\r\nbb\r\rccc\nend", budget);
            check("äö😀äö😀äö😀\nx\n\nyy", budget);
        }
    }

    #[test]
    fn a_sample_ends_with_a_whole_character() {
        assert_eq!(whole_characters("aé".as_bytes()), "aé".as_bytes());
        assert_eq!(whole_characters(&"aé".as_bytes()[..2]), b"a");
        assert_eq!(whole_characters(b"caf\xe9\nx\xe9"), b"caf\xe9\n");
        assert_eq!(whole_characters(b"\xff\xfea\0\n\0b"), b"\xff\xfea\0");
    }
}
