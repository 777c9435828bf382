//! Looking into one file: read into a buffer that is used again, or as a stream when large.

use std::{fs::File, io::Read};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use tectum_core::Ctx;

use super::{
    decoded::{self, SearchBytes},
    ends,
    found::LineHit,
    request::{Mode, Request},
};

/// A file shorter than this is read whole; a longer one passes through a small buffer.
const SMALL: usize = 256 * 1024;
/// A line is shown up to this many characters,
const MOST_SHOWN: usize = 400;
/// beginning this many before a match that lies further on.
const LEAD: usize = 100;
/// Matches of one file between two looks whether anybody still waits.
const CHECK_EVERY: u64 = 1_024;

/// The state that one thread needs to look into files.
pub(super) struct Looker {
    ctx: Ctx,
    matcher: RegexMatcher,
    /// For what is in memory: binary content was told apart before.
    slices: Searcher,
    /// For what is not: a NUL byte ends the search.
    streams: Searcher,
    buffer: Vec<u8>,
    /// Lines shown of one file.
    most: usize,
}

/// The result for one file.
pub(super) enum Look {
    /// It was searched.
    Searched {
        /// So many lines match,
        count: u64,
        /// and these of them were kept.
        hits: Vec<LineHit>,
        /// It is not UTF-8 and was searched as bytes.
        undecoded: bool,
    },
    /// It is no text.
    Binary,
    /// It, or one of its lines, is too large.
    TooLarge,
    /// It could not be read to its end.
    Unreadable,
}

impl Looker {
    pub(super) fn new(ctx: &Ctx, request: &Request) -> Self {
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(request.mode == Mode::Lines)
            .multi_line(request.multiline)
            .before_context(request.context)
            .after_context(request.context)
            .heap_limit(Some(usize::try_from(request.max_file).unwrap_or(usize::MAX)));
        Self {
            ctx: ctx.clone(),
            matcher: request.matcher.clone(),
            slices: builder.build(),
            streams: builder.binary_detection(BinaryDetection::quit(0)).build(),
            buffer: vec![0; SMALL],
            most: request.max_per_file.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }

    /// Searches a file. `keep` is asked at the first match how many lines are worth keeping.
    pub(super) fn look(&mut self, file: &File, size: u64, mode: Mode, keep: impl FnMut() -> usize) -> Look {
        let mut lines = Collector {
            ctx: &self.ctx,
            matcher: &self.matcher,
            first_only: mode == Mode::Files,
            keep,
            most: self.most,
            room: None,
            count: 0,
            hits: Vec::new(),
            before: Vec::new(),
            binary: false,
        };
        let mut undecoded = false;
        let searched = if size < SMALL as u64 {
            let Ok(read) = fill(file, size, &mut self.buffer) else { return Look::Unreadable };
            let content = &mut self.buffer[..read];
            let mut text;
            let content = match decoded::decode(content) {
                SearchBytes::AsItIs => content,
                SearchBytes::Text(decoded) => {
                    text = decoded;
                    &mut text[..]
                }
                SearchBytes::Unknown => {
                    undecoded = true;
                    content
                }
                SearchBytes::Binary => return Look::Binary,
            };
            ends::settle(content);
            self.slices.search_slice(&self.matcher, content, &mut lines)
        } else {
            // A large file is let go as soon as nobody waits for the answer.
            let mut stream = ends::Settled::new(file, || self.ctx.cancel.is_cancelled());
            let searched = self.streams.search_reader(&self.matcher, &mut stream, &mut lines);
            undecoded = stream.undecoded();
            searched
        };
        match searched {
            _ if lines.binary => Look::Binary,
            Ok(()) => Look::Searched { count: lines.count, hits: lines.hits, undecoded },
            // The searcher's own limits are errors of no other kind.
            Err(error) if error.kind() == std::io::ErrorKind::Other => Look::TooLarge,
            Err(_) => Look::Unreadable,
        }
    }
}

/// Reads a file whose size is known; one read is enough unless it changes meanwhile.
fn fill(mut file: &File, size: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => {
                let all = filled == 0 && read as u64 == size;
                filled += read;
                if all {
                    break;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Collects the matching lines of one file.
struct Collector<'l, K> {
    ctx: &'l Ctx,
    matcher: &'l RegexMatcher,
    first_only: bool,
    keep: K,
    /// Lines kept of one file, however many would fit. The others are counted all the same.
    most: usize,
    room: Option<usize>,
    count: u64,
    hits: Vec<LineHit>,
    before: Vec<String>,
    binary: bool,
}

impl<K: FnMut() -> usize> Sink for Collector<'_, K> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let most = self.most;
        let room = *self.room.get_or_insert_with(|| (self.keep)().min(most));
        for (number, line) in (found.line_number().unwrap_or(0)..).zip(found.lines()) {
            self.count += 1;
            if self.hits.len() < room {
                let text = shown(line, || self.matcher.find(line).ok().flatten().map(|found| found.start()));
                let before = std::mem::take(&mut self.before);
                self.hits.push(LineHit { line: number, text, before, after: Vec::new() });
            }
        }
        let left = self.count.is_multiple_of(CHECK_EVERY) && self.ctx.cancel.is_cancelled();
        Ok(!self.first_only && !left)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        let text = || shown(context.bytes(), || None);
        match context.kind() {
            SinkContextKind::After => {
                // Context of a match that was counted only is dropped with it.
                let last_was_kept = self.count == self.hits.len() as u64;
                if let Some(hit) = self.hits.last_mut().filter(|_| last_was_kept) {
                    hit.after.push(text());
                }
            }
            _ if self.room.is_none_or(|room| self.hits.len() < room) => self.before.push(text()),
            _ => {}
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, Self::Error> {
        self.binary = true;
        Ok(false)
    }
}

/// A line as replies show it: without its end, and around the match when it is long.
fn shown(line: &[u8], found_at: impl FnOnce() -> Option<usize>) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MOST_SHOWN {
        return String::from_utf8_lossy(line).into_owned();
    }
    // Far more bytes than can be shown on either side need not be decoded.
    let at = found_at().unwrap_or(0);
    let begin = at.saturating_sub(MOST_SHOWN * 4);
    let window = &line[begin..line.len().min(at + MOST_SHOWN * 4)];
    let ahead = String::from_utf8_lossy(&line[begin..at]);
    let text = String::from_utf8_lossy(window);
    let before = ahead.chars().count();
    if begin == 0 && text.chars().count() <= MOST_SHOWN && window.len() == line.len() {
        return text.into_owned();
    }
    let skip = if begin == 0 && before + LEAD <= MOST_SHOWN { 0 } else { before.saturating_sub(LEAD) };
    let mut cut = String::new();
    if begin > 0 || skip > 0 {
        cut.push('…');
    }
    let mut rest = text.chars().skip(skip);
    cut.extend(rest.by_ref().take(MOST_SHOWN));
    if rest.next().is_some() || begin + window.len() < line.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, at: usize, expect: &str) {
        assert_eq!(shown(line.as_bytes(), || Some(at)), expect);
    }

    #[test]
    fn short_lines_are_whole_without_their_end() {
        check("abc\r\n", 0, "abc");
        check("abc", 0, "abc");
        check(&"é".repeat(400), 0, &"é".repeat(400));
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let long = format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000));
        check(&long, 0, &format!("{}…", "a".repeat(400)));
        check(&long, 5_000, &format!("…{}X{}…", "a".repeat(100), "b".repeat(299)));
        check(&format!("{}X", "a".repeat(1_000)), 1_000, &format!("…{}X", "a".repeat(100)));
        check(
            &format!("{}X{}", "a".repeat(300), "b".repeat(200)),
            300,
            &format!("{}X{}…", "a".repeat(300), "b".repeat(99)),
        );
    }
}
