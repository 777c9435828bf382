//! One text file: its bytes, the text they stand for, and how a change of the text becomes a
//! change of the bytes.

use std::ops::Range;

use tectum_core::{Ctx, Fault};

use super::{Encoding, Eol, Facts, Indent, Lines, Newline, NotText, binary, encoding, lines};

/// A file's bytes with their text beside them.
#[derive(Clone, Debug)]
pub struct TextFile {
    /// The text with its byte order mark. For UTF-8 these are the file's bytes.
    whole: String,
    /// The file's bytes, where they are not the bytes of `whole`.
    encoded: Option<Vec<u8>>,
    /// True if the text gives these bytes again. If not, it can be shown but not edited.
    faithful: bool,
    facts: Facts,
    lines: Lines,
}

/// U+FEFF in UTF-8.
const MARK: &str = "\u{feff}";

impl TextFile {
    /// Reads bytes as text: as they declare themselves, by byte order mark, as strict UTF-8, as UTF-16 by its zeros, or in
    /// the older encoding they look most like. What is no text is named instead.
    pub fn decode(bytes: Vec<u8>) -> Result<Self, NotText> {
        if let Some(declared) =
            encoding::decode_declared(&bytes).filter(|decoded| !decoded.text.contains('\0'))
        {
            return Ok(Self::new(declared.text, Some(bytes), declared.encoding, true));
        }
        let bytes = match plain_utf8(bytes) {
            Ok(whole) => return Ok(Self::new(whole, None, Encoding::Utf8, true)),
            Err(bytes) => bytes,
        };
        let binary = |kind| NotText { kind, size: bytes.len() };
        if let Some(kind) = binary::by_magic(&bytes) {
            return Err(binary(kind));
        }
        let decoded = match encoding::utf16(&bytes) {
            Some((encoding, marked)) => {
                let decoded = encoding::decode_utf16(&bytes, encoding);
                // Without a mark the zeros were only a sign; broken pairs are a stronger one.
                let doubtful = !marked && !decoded.faithful;
                if doubtful || decoded.text.contains('\0') {
                    return Err(binary("binary data"));
                }
                decoded
            }
            None if binary::looks_binary(&bytes) => return Err(binary("binary data")),
            None => encoding::decode_legacy(&bytes),
        };
        Ok(Self::new(decoded.text, Some(bytes), decoded.encoding, decoded.faithful))
    }

    /// The call's `index`th path as text, refusing more than `most` bytes, and its name.
    pub(crate) fn of_call(ctx: &Ctx, index: usize, most: u64) -> Result<(String, Self), Fault> {
        let path = ctx.path(index)?;
        let name = path.name();
        let file = Self::decode(path.file()?.bytes(most)?).map_err(|not_text| not_text.fault(&name))?;
        Ok((name, file))
    }

    fn new(whole: String, encoded: Option<Vec<u8>>, encoding: Encoding, faithful: bool) -> Self {
        let bom = whole.starts_with(MARK);
        let text = &whole[if bom { MARK.len() } else { 0 }..];
        let lines = Lines::of(text);
        let facts = Facts {
            encoding,
            bom,
            newline: Newline::of(text),
            final_newline: text.ends_with(['\n', '\r']),
            indent: Indent::of_lines(text, &lines),
        };
        Self { whole, encoded, faithful, facts, lines }
    }

    /// The text, without a byte order mark. Offsets everywhere are offsets in it.
    pub fn text(&self) -> &str {
        &self.whole[self.mark().len()..]
    }

    /// The text with its byte order mark, if it has one.
    pub fn raw_text(&self) -> &str {
        &self.whole
    }

    /// The facts that an edit keeps.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.encoded.as_deref().unwrap_or(self.whole.as_bytes())
    }

    /// The lines of [`Self::text`].
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// One line without its end; nothing where there is no such line.
    pub fn line(&self, number: usize) -> &str {
        self.lines.range(number).map_or("", |range| lines::body(&self.text()[range]))
    }

    /// True if the text gives exactly these bytes again. If not, some bytes are shown as
    /// U+FFFD or have another spelling, and an edit is refused.
    pub fn faithful(&self) -> bool {
        self.faithful
    }

    /// The bytes after these edits: ascending ranges of [`Self::text`] that do not overlap,
    /// each with what takes its place.
    pub fn splice(&self, edits: &[(Range<usize>, String)]) -> Result<Vec<u8>, Fault> {
        Ok(self.edited(edits)?.into_bytes())
    }

    /// The file after these edits, in the same encoding. Inserted text gets the line ends of
    /// its place; every byte outside the ranges is copied.
    pub fn edited(&self, edits: &[(Range<usize>, String)]) -> Result<Self, Fault> {
        if !self.faithful {
            let encoding = self.facts.encoding;
            return Err(Fault::conflict(format!(
                "the file is not clean {encoding}: reading and writing it again would change bytes far from the edit"
            ))
            .hint("convert the file to UTF-8 first, or replace it as a whole with write_file"));
        }
        let text = self.text();
        let mut whole = self.mark().to_owned();
        let mut encoded = self.encoded.as_ref().map(|bytes| Encoded::new(bytes, self));
        let mut done = 0;
        for (range, inserted) in edits {
            let fits = done <= range.start && range.start <= range.end && text.get(range.clone()).is_some();
            if !fits {
                return Err(Fault::internal("edits overlap or are out of order"));
            }
            let inserted = self.with_line_ends_of(range, inserted);
            if let Some(encoded) = &mut encoded {
                encoded.replace(done..range.start, range.clone(), &inserted)?;
            }
            whole.push_str(&text[done..range.start]);
            whole.push_str(&inserted);
            done = range.end;
        }
        whole.push_str(&text[done..]);
        let encoded = encoded.map(Encoded::finish);
        Ok(Self::new(whole, encoded, self.facts.encoding, true))
    }

    /// The file's bytes, given away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.encoded.unwrap_or(self.whole.into_bytes())
    }

    fn mark(&self) -> &str {
        if self.facts.bom { MARK } else { "" }
    }

    /// The text with line ends as they are at this place. The first line end takes the kind of
    /// the first one it replaces, and so on; where none is left, the kind around it.
    fn with_line_ends_of(&self, range: &Range<usize>, inserted: &str) -> String {
        let around = match self.facts.newline {
            Newline::None => return inserted.to_owned(),
            Newline::Only(eol) => {
                let plain = eol == Eol::Lf && memchr::memchr(b'\r', inserted.as_bytes()).is_none();
                if plain {
                    return inserted.to_owned();
                }
                eol
            }
            Newline::Mixed(mostly) => self.eol_around(range).unwrap_or(mostly),
        };
        let mut kinds = lines::split(&self.text()[range.clone()]).into_iter().filter_map(Eol::of);
        let mut converted = String::with_capacity(inserted.len());
        let mut last = None;
        for line in lines::split(inserted) {
            converted.push_str(lines::body(line));
            if Eol::of(line).is_some() {
                last = kinds.next().or(last);
                converted.push_str(last.unwrap_or(around).as_str());
            }
        }
        converted
    }

    /// The line end of the line in which this range ends. Whole lines put between two others follow the
    /// one before them.
    fn eol_around(&self, range: &Range<usize>) -> Option<Eol> {
        let at = self.lines.at(range.end);
        let kind = |number| Eol::of(&self.text()[self.lines.range(number)?]);
        let between = range.is_empty() && self.lines.range(at).is_some_and(|line| line.start == range.start);
        let before = kind(at.saturating_sub(1));
        if between { before.or(kind(at)) } else { kind(at).or(before) }
    }
}

/// Strict UTF-8 without NUL, or the bytes back.
fn plain_utf8(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if memchr::memchr(0, &bytes).is_some() {
        return Err(bytes);
    }
    String::from_utf8(bytes).map_err(|error| error.into_bytes())
}

/// New bytes growing beside new text. The old bytes of a piece of text are as many as its
/// encoding makes of it: that was proven for the whole file when it was read.
struct Encoded<'f> {
    old: &'f [u8],
    read: usize,
    new: Vec<u8>,
    file: &'f TextFile,
}

impl<'f> Encoded<'f> {
    fn new(old: &'f [u8], file: &'f TextFile) -> Self {
        let mark = if file.facts.bom { file.facts.encoding.mark().len() } else { 0 };
        Self { old, read: mark, new: old[..mark].to_vec(), file }
    }

    fn replace(&mut self, kept: Range<usize>, replaced: Range<usize>, inserted: &str) -> Result<(), Fault> {
        let kept = self.length(kept)?;
        self.new.extend_from_slice(&self.old[self.read..self.read + kept]);
        self.read += kept + self.length(replaced)?;
        let encoding = self.file.facts.encoding;
        let bytes = encoding.encode(inserted).map_err(|lacking| lacking_character(encoding, lacking))?;
        self.new.extend_from_slice(&bytes);
        Ok(())
    }

    fn length(&self, range: Range<usize>) -> Result<usize, Fault> {
        let bytes = self.file.facts.encoding.encode(&self.file.text()[range]);
        bytes
            .map(|bytes| bytes.len())
            .map_err(|_| Fault::internal("a faithful text could not be encoded again"))
    }

    fn finish(mut self) -> Vec<u8> {
        self.new.extend_from_slice(&self.old[self.read..]);
        self.new
    }
}

fn lacking_character(encoding: Encoding, lacking: char) -> Fault {
    Fault::invalid(format!(
        "the file is {encoding}, which has no {} (U+{:04X}); nothing was changed",
        lacking.escape_debug(),
        u32::from(lacking)
    ))
    .hint(format!("use only characters of {encoding}, or convert the file to UTF-8 first"))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
