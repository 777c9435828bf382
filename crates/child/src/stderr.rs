//! What a child writes to its standard error: the last of it in memory, and in a file if one is
//! wanted. Both are bounded whatever comes, nothing in them can act on a terminal, and secrets are
//! hidden in what is shown and in what is written.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tectum_redact::Lines;

use crate::visible::visible;

/// What is kept in memory of each server: enough for a long stack trace or two.
const MOST: usize = 64 * 1024;
/// A line's end is cut beyond this; people read lines, not files in one.
const MOST_LINE: usize = 4 * 1024;
/// The file is put aside at this size, and what was put aside before is forgotten.
const MOST_FILE: u64 = 256 * 1024;
/// What the file takes in a second, twice what it holds: a flood ends in memory, or it would keep
/// the disk busy with lines that are forgotten at once.
const MOST_A_SECOND: usize = 512 * 1024;
const SECOND: Duration = Duration::from_secs(1);
/// What an empty line still costs, so that lines without text cannot fill the memory either.
const LINE_COST: usize = 32;
/// A word that a cut line ends with is left out if it is shorter: half a secret is not known for one.
const MOST_WORD: usize = 512;
/// Stands where a line was cut.
const CUT: &str = " … (cut)";

/// The last words of one server, over all its starts.
#[derive(Debug, Default)]
pub struct Stderr {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    bytes: usize,
    /// Lines that had to go.
    dropped: u64,
    /// The line that is still being written, as bytes.
    open: Vec<u8>,
    /// Whether the open line is longer than what was kept of it.
    cut: bool,
    file: Option<LogFile>,
    /// Lines that are not in the file yet, as they came.
    unwritten: String,
    /// Hides secrets on the way to the file.
    written: Lines,
    /// When the second began that is counted, and what the file took in it.
    second: Option<(Instant, usize)>,
    /// Lines that the file has not, since too many came at once.
    skipped: u64,
}

impl Stderr {
    /// A log in memory only.
    pub fn new() -> Self {
        Self::default()
    }

    /// A log that is also appended to a file, which only its owner may read. It is opened when
    /// there is something to write.
    pub fn with_file(path: &Path) -> Self {
        let kept = Kept { file: Some(LogFile::Later(path.to_owned())), ..Kept::default() };
        Self { kept: Mutex::new(kept) }
    }

    /// The lines that are kept, oldest first, without secrets. They are looked for here and not as
    /// lines come, so that a flood costs nothing.
    pub fn lines(&self) -> Vec<String> {
        let lines: Vec<String> = self.kept.lock().lines.iter().cloned().collect();
        let mut shown = Lines::default();
        lines.iter().map(|line| shown.redact(line).into_owned()).collect()
    }

    /// How many lines are no longer kept.
    pub fn dropped(&self) -> u64 {
        self.kept.lock().dropped
    }

    /// Takes what was read, however it was split.
    pub fn push(&self, mut bytes: &[u8]) {
        let mut kept = self.kept.lock();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            kept.extend(&bytes[..end]);
            kept.close();
            bytes = &bytes[end + 1..];
        }
        kept.extend(bytes);
        kept.write();
    }

    /// Nothing more will come: a line without its end is a line too.
    pub fn finish(&self) {
        let mut kept = self.kept.lock();
        if !kept.open.is_empty() {
            kept.close();
        }
        // Last words are what a log is read for.
        if kept.skipped > 0 {
            kept.unwritten = kept.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            kept.second = None;
        }
        kept.write();
    }
}

impl Kept {
    fn extend(&mut self, bytes: &[u8]) {
        let room = MOST_LINE - self.open.len();
        self.open.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.cut |= bytes.len() > room;
    }

    fn close(&mut self) {
        let bytes = self.open.strip_suffix(b"\r").unwrap_or(&self.open);
        let mut line = harmless(&String::from_utf8_lossy(bytes));
        if self.cut {
            let end = line.rfind(char::is_whitespace).map_or(0, |space| space + 1);
            if end > 0 && line.len() - end < MOST_WORD {
                line.truncate(end);
            }
            line.push_str(CUT);
        }
        self.open.clear();
        self.cut = false;
        if self.file.is_some() {
            self.unwritten.push_str(&line);
            self.unwritten.push('\n');
        }
        self.bytes += cost(&line);
        self.lines.push_back(line);
        while self.bytes > MOST {
            let Some(gone) = self.lines.pop_front() else { break };
            self.bytes -= cost(&gone);
            self.dropped += 1;
        }
    }

    /// Writes the lines of one read at once.
    fn write(&mut self) {
        if self.file.is_none() || self.unwritten.is_empty() {
            return;
        }
        let now = Instant::now();
        let (since, taken) =
            self.second.filter(|(since, _)| now.duration_since(*since) < SECOND).unwrap_or((now, 0));
        let taken = taken + self.unwritten.len();
        self.second = Some((since, taken));
        if taken > MOST_A_SECOND {
            self.skipped += memchr::memchr_iter(b'\n', self.unwritten.as_bytes()).count() as u64;
            self.unwritten.clear();
            return;
        }
        let shown = |line: &str| format!("{}\n", self.written.redact(line));
        self.unwritten = self.unwritten.lines().map(shown).collect();
        if self.skipped > 0 {
            self.unwritten.insert_str(0, &format!("… ({} lines came too fast)\n", self.skipped));
            self.skipped = 0;
        }
        // A disk that is full must not cost the server; the memory still has the lines.
        if self.file.as_mut().is_some_and(|file| file.append(&self.unwritten).is_err()) {
            self.file = None;
        }
        self.unwritten.clear();
    }
}

fn cost(line: &str) -> usize {
    line.len() + LINE_COST
}

/// The text with everything spelt out that a terminal would obey or a person would not see.
fn harmless(text: &str) -> String {
    visible(text).replace('\r', "\\r")
}

/// A file that never grows beyond its bound.
#[derive(Debug)]
enum LogFile {
    Later(PathBuf),
    Open { path: PathBuf, file: File, bytes: u64 },
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = tectum_state::append(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self::Open { path: path.to_owned(), file, bytes })
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        let length = text.len() as u64;
        match self {
            Self::Later(path) => *self = Self::open(&path.clone())?,
            Self::Open { path, bytes, .. } if *bytes > 0 && *bytes + length > MOST_FILE => {
                let (path, mut aside) = (path.clone(), path.clone().into_os_string());
                aside.push(".1");
                tectum_state::rename(&path, Path::new(&aside))?;
                *self = Self::open(&path)?;
            }
            Self::Open { .. } => {}
        }
        if let Self::Open { file, bytes, .. } = self {
            file.write_all(text.as_bytes())?;
            *bytes += length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn lines_come_whole_however_they_were_split() {
        let log = Stderr::new();
        for piece in ["one\ntw", "o\r\n\nth", "ree"] {
            log.push(piece.as_bytes());
        }
        assert_eq!(log.lines(), ["one", "two", ""]);
        log.finish();
        log.finish();
        assert_eq!(log.lines(), ["one", "two", "", "three"]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test looks at the files the log made")]
    fn of_a_flood_the_file_has_the_beginning_and_the_end() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = scratch.path().join("sub/log");
        let log = Stderr::with_file(&path);
        for number in 0..20_000 {
            log.push(format!("{number} {}\n", "e".repeat(200)).as_bytes());
        }
        log.push(b"the end");
        log.finish();
        let text = std::fs::read_to_string(&path).expect("there");
        assert!(text.ends_with("\nthe end\n") && text.contains("lines came too fast"), "{}", text.len());
        assert_eq!(log.lines().last().map(String::as_str), Some("the end"));
    }

    #[test]
    fn nothing_can_act_on_a_terminal() {
        for (given, expect) in [
            (&b"\x1b[31mred\x07"[..], r"\u{1b}[31mred\u{7}"),
            ("a\u{202e}b\u{9b}c".as_bytes(), r"a\u{202e}b\u{9b}c"),
            (b"caf\xe9 \t ok", "caf\u{fffd} \t ok"),
            ("über 日本".as_bytes(), "über 日本"),
            (b"50%\r60%", r"50%\r60%"),
        ] {
            let log = Stderr::new();
            log.push(given);
            log.finish();
            assert_eq!(log.lines(), [expect]);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test looks at the file the log made")]
    fn secrets_are_neither_shown_nor_written() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = scratch.path().join("server.log");
        let log = Stderr::with_file(&path);
        // Put together here, so that nobody takes this file for a leak.
        let token = format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789");
        log.push(format!("started with {token}\nDB_PASSWORD=hunter2\n").as_bytes());
        log.push(
            format!("{{\"level\":\"info\",\"data\":\"a\\n{token}\"}}\n\x1b[31m{token}\x1b[0m\n").as_bytes(),
        );
        log.push(b"-----BEGIN PRIVATE KEY-----\nMIIEhunter2\n");
        log.push(b"hunter2hunter2\n-----END PRIVATE KEY-----\nready\n");
        log.push(format!("{} {token}", "x ".repeat((MOST_LINE - 20) / 2)).as_bytes());
        log.finish();
        let file = std::fs::read_to_string(&path).expect("there");
        for text in [file, log.lines().join("\n")] {
            for secret in ["hunter2", "abcdefg"] {
                assert!(!text.contains(secret), "{text}");
            }
            assert!(text.contains("started with [redacted]\n") && text.contains("\nready\n"), "{text}");
        }
    }

    #[test]
    fn a_line_without_an_end_does_not_grow() {
        let log = Stderr::new();
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..64 {
            log.push(&piece);
        }
        assert!(log.kept.lock().open.capacity() <= 4 * MOST_LINE);
        log.push(b"\nnext\n");
        let lines = log.lines();
        assert_eq!(lines[0], format!("{}{CUT}", "x".repeat(MOST_LINE)));
        assert_eq!(lines[1], "next");
    }

    #[test]
    fn the_last_lines_are_kept() {
        let log = Stderr::new();
        for number in 0..100_000 {
            log.push(format!("line {number}\n").as_bytes());
        }
        let lines = log.lines();
        assert_eq!(lines.last().map(String::as_str), Some("line 99999"));
        assert!(lines.iter().map(|line| cost(line)).sum::<usize>() <= MOST);
        assert_eq!(lines.len() as u64 + log.dropped(), 100_000);
        log.push(&[b'\n'; 100_000]);
        assert!(log.lines().len() <= MOST / LINE_COST);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test looks at the files the log made")]
    fn the_file_is_bounded_and_private() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = scratch.path().join("server.log");
        std::fs::write(&path, "before\n").expect("written");
        let log = Stderr::with_file(&path);
        log.push(b"first\n");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "before\nfirst\n");
        let line = format!("{}\n", "y".repeat(1000));
        for _ in 0..2000 {
            log.push(line.as_bytes());
        }
        let aside = scratch.path().join("server.log.1");
        for file in [&path, &aside] {
            let found = std::fs::metadata(file).expect("there");
            assert!(found.len() > 0 && found.len() <= MOST_FILE, "{}", found.len());
            assert_eq!(found.permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(scratch.path()).expect("read").count(), 2);
    }
}
