//! What a command said on one stream: its beginning and its end in memory, all of it in a file when
//! it is long. However much comes, the memory it takes is bounded.

use std::{io, sync::Arc};

use parking_lot::Mutex;
use tokio::{io::AsyncReadExt as _, net::unix::pipe};

use crate::{
    escape::Escaper,
    spool::{Growing, Kept, Spool},
};

/// Kept of the beginning; more than that goes to a file as well.
const HEAD: usize = 64 * 1024;
/// Kept of the end, twice as much for a moment.
const TAIL: usize = 64 * 1024;
/// Read at once.
const CHUNK: usize = 64 * 1024;

/// One stream of a command.
#[derive(Debug, Default)]
pub struct Output {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    head: String,
    tail: String,
    /// Bytes of text that came so far.
    total: u64,
    kept: Option<Kept>,
    /// Whether all that came is in the file, where there is one.
    lost: bool,
}

impl Held {
    /// Where the part begins that the end is kept of.
    fn tail_at(&self) -> u64 {
        self.total - self.tail.len() as u64
    }

    /// Whether nothing is missing in memory from an offset on.
    fn has_all_from(&self, from: u64) -> bool {
        self.tail_at() <= from.max(self.head.len() as u64)
    }

    /// What was said from an offset on, or what is kept of that at the end.
    fn end(&self, from: u64) -> String {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        if from >= self.tail_at() || !self.has_all_from(from) {
            return self.tail[boundary(&self.tail, place(from.saturating_sub(self.tail_at())))..].to_owned();
        }
        format!("{}{}", &self.head[boundary(&self.head, place(from))..], self.tail)
    }
}

/// A part of what was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The text, or its beginning where something is left out.
    pub head: String,
    /// Bytes between the two that are left out.
    pub omitted: u64,
    /// The end where something is left out.
    pub tail: String,
    /// Where to go on.
    pub next: u64,
}

impl Shown {
    /// As one text that says what is missing.
    pub fn text(&self, whole: Option<&str>) -> String {
        if self.omitted == 0 {
            return format!("{}{}", self.head, self.tail);
        }
        let whole = whole.map(|whole| format!("; {whole}")).unwrap_or_default();
        let line = if self.head.is_empty() || self.head.ends_with('\n') { "" } else { "\n" };
        format!("{}{line}[… {} bytes omitted{whole} …]\n{}", self.head, self.omitted, self.tail)
    }
}

impl Output {
    /// Bytes of text so far.
    pub fn total(&self) -> u64 {
        self.held.lock().total
    }

    /// What can be read of it from the disk.
    pub fn kept(&self) -> Option<Kept> {
        let held = self.held.lock();
        held.kept.clone().filter(|_| !held.lost)
    }

    /// What was said from an offset on, at most so many bytes: its beginning and its end.
    pub fn shown(&self, from: u64, most: usize) -> Shown {
        let held = self.held.lock();
        let total = held.total;
        let from = from.min(total);
        if held.has_all_from(from) && total - from <= most as u64 {
            return Shown { head: held.end(from), omitted: 0, tail: String::new(), next: total };
        }
        let half = most / 2;
        // A beginning that was shown before is not shown again.
        let begun = usize::try_from(from).ok().and_then(|from| held.head.get(from..)).unwrap_or_default();
        let begun = &begun[..floor(begun, half)];
        let ended = held.end(from.max(total.saturating_sub(half as u64)));
        let omitted = total - from - begun.len() as u64 - ended.len() as u64;
        Shown { head: begun.to_owned(), omitted, tail: ended, next: total }
    }

    /// Reads a stream to its end. A terminal's end is an error, and so is a broken pipe's.
    pub(crate) async fn read(self: Arc<Self>, mut from: pipe::Receiver, spool: Option<(Spool, String)>) {
        let mut chunk = vec![0; CHUNK];
        let mut escaper = Escaper::default();
        let mut file = SpoolFile { spool, growing: None };
        loop {
            let read = from.read(&mut chunk).await.unwrap_or(0);
            let text = if read == 0 { escaper.rest() } else { escaper.text(&chunk[..read]) };
            if self.add(&text) {
                file = self.write(file, text).await;
            }
            if read == 0 {
                return;
            }
        }
    }

    /// Keeps a text; true where it belongs into the file as well.
    fn add(&self, text: &str) -> bool {
        let mut held = self.held.lock();
        let room = if held.tail.is_empty() { HEAD - held.head.len() } else { 0 };
        let (head, tail) = text.split_at(floor(text, room));
        held.head.push_str(head);
        held.tail.push_str(tail);
        held.total += text.len() as u64;
        if held.tail.len() > 2 * TAIL {
            let cut = boundary(&held.tail, held.tail.len() - TAIL);
            held.tail.drain(..cut);
        }
        !held.tail.is_empty()
    }

    /// Adds a text to the file, with the beginning if it is the first. Nobody waits for the disk on
    /// the runtime's threads; the command waits for it in the end, since its pipe is full.
    async fn write(self: &Arc<Self>, mut file: SpoolFile, text: String) -> SpoolFile {
        let output = self.clone();
        let written = tokio::task::spawn_blocking(move || {
            let done = file.add(&output, &text);
            let mut held = output.held.lock();
            match done {
                Ok(kept) => held.kept = kept,
                // What is in memory is still shown.
                Err(_) => held.lost = true,
            }
            drop(held);
            file
        });
        written.await.unwrap_or_default()
    }
}

/// The file of one stream, once there is one.
#[derive(Debug, Default)]
struct SpoolFile {
    spool: Option<(Spool, String)>,
    growing: Option<Growing>,
}

impl SpoolFile {
    fn add(&mut self, output: &Output, text: &str) -> io::Result<Option<Kept>> {
        if let Some((spool, name)) = self.spool.take() {
            let mut growing = spool.open(&name)?;
            // All that came before this text is in the beginning.
            let held = output.held.lock();
            let before = held.head[..floor(&held.head, held.total as usize - text.len())].to_owned();
            drop(held);
            growing.add(&before)?;
            self.growing = Some(growing);
        }
        let Some(growing) = &mut self.growing else { return Ok(None) };
        growing.add(text)?;
        Ok(Some(growing.kept()))
    }
}

/// The nearest place before or at this one where a character begins.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// The nearest one after or at it.
fn boundary(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a stream that says these texts, and the spool of it.
    async fn said(texts: &[String]) -> (Arc<Output>, tempfile::TempDir) {
        use tokio::io::AsyncWriteExt as _;
        let scratch = tempfile::tempdir().expect("a directory");
        let (mut to, from) = pipe::pipe().expect("a pipe");
        let output = Arc::new(Output::default());
        let spool = Some((Spool::new(scratch.path().join("kept")), "a.0".to_owned()));
        let reading = tokio::spawn(output.clone().read(from, spool));
        for text in texts {
            to.write_all(text.as_bytes()).await.expect("written");
        }
        drop(to);
        reading.await.expect("read");
        (output, scratch)
    }

    #[tokio::test]
    async fn short_output_is_whole_and_touches_no_disk() {
        let (output, scratch) = said(&["one\n".into(), "two\n".into()]).await;
        let shown = output.shown(0, 1000);
        assert_eq!((shown.text(None).as_str(), shown.omitted, shown.next), ("one\ntwo\n", 0, 8));
        assert_eq!(output.shown(4, 1000).text(None), "two\n");
        assert_eq!(output.shown(0, 4).text(None), "on\n[… 4 bytes omitted …]\no\n");
        assert_eq!(output.kept(), None);
        assert!(!scratch.path().join("kept").exists());
    }

    #[tokio::test]
    async fn of_long_output_both_ends_are_in_memory_and_all_of_it_in_a_file() {
        let lines: Vec<String> = (0..60_000).map(|number| format!("{number} ü日 line\n")).collect();
        let whole: String = lines.concat();
        let (output, _scratch) = said(&lines).await;
        assert_eq!(output.total(), whole.len() as u64);
        let kept = output.kept().expect("spooled");
        let mut read = String::new();
        while (read.len() as u64) < kept.length {
            read.push_str(&kept.read(read.len() as u64, 100_001).expect("read"));
        }
        assert!(read == whole, "the file has all of it");
        let shown = output.shown(0, 10_000);
        assert!(whole.starts_with(&shown.head) && whole.ends_with(&shown.tail));
        assert_eq!(shown.head.len() as u64 + shown.omitted + shown.tail.len() as u64, whole.len() as u64);
        assert!(shown.head.len() > 4_900 && shown.tail.len() > 4_900);
        let held = output.held.lock();
        assert!(held.head.capacity() + held.tail.capacity() < 8 * TAIL, "{}", held.tail.capacity());
        drop(held);
        // What was shown before is not shown again.
        let middle = whole.len() as u64 / 2;
        let shown = output.shown(middle, 10_000);
        assert!(shown.head.is_empty() && whole.ends_with(&shown.tail));
        let late = output.shown(whole.len() as u64 - 5, 10_000);
        assert_eq!((late.text(None).as_str(), late.omitted), ("line\n", 0));
    }
}
