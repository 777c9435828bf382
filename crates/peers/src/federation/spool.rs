//! Results that are too large to be passed on as they stand: kept in files, with a preview for
//! the model and an address under which the rest can be read in ranges.

use std::{
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::value::RawValue;
use tectum_core::CallId;
use tectum_state::Lasts;

use crate::wire::{Members, Object, quoted, raw};

/// The beginning of every address.
pub(crate) const ADDRESS: &str = "tectum://results/";
/// The bytes of the text that a preview shows.
const PREVIEW: usize = 16 * 1024;
/// Members beside the content that pass under every bound: they say what a result is.
const SHORT: usize = 256;
/// The bytes of one read unless less is asked for.
pub(crate) const PIECE: usize = 64 * 1024;
/// The most that is read at once.
const MOST_PIECE: usize = 1024 * 1024;
/// The most bytes of all kept results on the disk; the oldest make room.
const MOST_KEPT: u64 = 512 * 1024 * 1024;

/// The directory of large results.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    kept: AtomicU64,
}

impl Spool {
    /// A spool in this directory, which only its owner may enter.
    pub(crate) fn new(directory: PathBuf) -> Self {
        let kept = tectum_state::list(&directory).unwrap_or_default().iter().map(|file| file.size).sum();
        Self { directory, kept: AtomicU64::new(kept) }
    }

    /// Keeps a result that is longer than `most` and gives what is passed on in its place: a beginning
    /// of at most half of that, links, and what else is short. A result that this would not make
    /// shorter is passed on as it is.
    pub(crate) fn keep(&self, call: CallId, result: Box<RawValue>, most: usize) -> io::Result<Box<RawValue>> {
        let size = result.get().len();
        let members = Members::of(result.get()).unwrap_or_default();
        let content = members.get("content").map_or("[]", |raw| raw.get());
        let items: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
        let (mut preview, mut room) = (String::new(), PREVIEW.min(most / 2));
        let mut links = link(&format!("{ADDRESS}{call}"), "the whole result", "application/json", size);
        let mut parts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let item = Members::of(item.get()).unwrap_or_default();
            let (text, kind) = match (item.text("text"), item.text("data")) {
                (Some(text), _) => (text, "text/plain".to_owned()),
                (None, Some(data)) => (data, item.text("mimeType").unwrap_or_default()),
                (None, None) => continue,
            };
            if kind == "text/plain" {
                let shown = beginning(&text, &mut room);
                preview.push_str(shown);
                // What comes behind a gap would look like what follows.
                room = if shown.len() < text.len() { 0 } else { room };
            }
            if text.len() > PREVIEW && links.len() < most / 4 {
                let name = format!("part {} of the result", index + 1);
                let link = link(&format!("{ADDRESS}{call}/{index}"), &name, &kind, text.len());
                links = format!("{links},{link}");
                parts.push((format!("{call}.{index}"), text));
            }
        }
        let what = if preview.is_empty() { "nothing of it is shown here" } else { "this is its beginning" };
        let note = format!(
            "{preview}\n\n[the result has {size} bytes; {what}. All of it is kept: read \
             {ADDRESS}{call}?offset=0&length={} and so on, or the parts linked below]",
            PIECE.min(most.max(SHORT))
        );
        let text = Object::new().text("type", "text").text("text", note.trim_start()).end();
        let mut object = Object::new();
        object.raw("content", &format!("[{text},{links}]"));
        let mut room = (most / 4).max(SHORT);
        let others = members.0.iter().filter(|(name, _)| name != "content" && name != "structuredContent");
        for (name, value) in others {
            if let Some(left) = room.checked_sub(name.len() + value.get().len()) {
                object.raw(name, value.get());
                room = left;
            }
        }
        let passed = object.end();
        if passed.len() >= size {
            return Ok(result);
        }
        self.write(&format!("{call}.json"), result.get().as_bytes())?;
        for (name, text) in parts {
            self.write(&name, text.as_bytes())?;
        }
        Ok(raw(passed))
    }

    /// Reads a range of what an address names: `tectum://results/CALL[/PART][?offset=…&length=…]`.
    pub(crate) fn read(&self, uri: &str) -> io::Result<Box<RawValue>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("no such result is kept: {uri}"));
        let rest = uri.strip_prefix(ADDRESS).ok_or_else(missing)?;
        let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (call, part) = name.split_once('/').map_or((name, None), |(call, part)| (call, Some(part)));
        // Only names that we gave reach the disk.
        let call = CallId::parse(call).ok_or_else(missing)?;
        let file = match part.map(str::parse::<u32>) {
            None => format!("{call}.json"),
            Some(Ok(part)) => format!("{call}.{part}"),
            Some(Err(_)) => return Err(missing()),
        };
        let asked = |key: &str| {
            let value = query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
            value.and_then(|value| value.parse::<u64>().ok())
        };
        let (offset, length) =
            (asked("offset").unwrap_or(0), asked("length").map_or(PIECE, |length| length as usize));
        let (text, total) = range(&self.directory.join(file), offset, length.clamp(4, MOST_PIECE))
            .map_err(|error| if error.kind() == io::ErrorKind::NotFound { missing() } else { error })?;
        let next = offset + text.len() as u64;
        let mut meta = Object::new();
        meta.raw("tectum/offset", &offset.to_string()).raw("tectum/total", &total.to_string());
        if next < total {
            meta.raw("tectum/next", &quoted(&format!("{ADDRESS}{name}?offset={next}&length={length}")));
        }
        let kind = if part.is_none() { "application/json" } else { "text/plain" };
        let piece = Object::new()
            .text("uri", uri)
            .text("mimeType", kind)
            .text("text", &text)
            .raw("_meta", &meta.end())
            .end();
        Ok(raw(format!(r#"{{"contents":[{piece}]}}"#)))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let kept = self.kept.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        if kept > MOST_KEPT {
            self.make_room();
        }
        tectum_state::replace(&self.directory.join(name), bytes, Lasts::Process)
    }

    fn make_room(&self) {
        let mut files = tectum_state::list(&self.directory).unwrap_or_default();
        files.sort_by_key(|file| file.written);
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        for file in files {
            if total <= MOST_KEPT / 2 {
                break;
            }
            if tectum_state::remove(&file.path).is_ok() {
                total -= file.size;
            }
        }
        self.kept.store(total, Ordering::Relaxed);
    }
}

/// As much of a text as fits into this room when it is written as JSON, which gets smaller by it.
fn beginning<'t>(text: &'t str, room: &mut usize) -> &'t str {
    for (at, character) in text.char_indices() {
        let written = match character {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            '\0'..'\x20' => 6,
            other => other.len_utf8(),
        };
        match room.checked_sub(written) {
            Some(left) => *room = left,
            None => return &text[..at],
        }
    }
    text
}

fn link(uri: &str, name: &str, kind: &str, size: usize) -> String {
    Object::new()
        .text("type", "resource_link")
        .text("uri", uri)
        .text("name", name)
        .text("mimeType", kind)
        .raw("size", &size.to_string())
        .end()
}

/// The text at an offset, in whole characters, and the size of all of it.
fn range(path: &Path, offset: u64, length: usize) -> io::Result<(String, u64)> {
    let mut file = tectum_state::open(path)?.ok_or(io::ErrorKind::NotFound)?;
    let total = file.metadata()?.len();
    file.seek(io::SeekFrom::Start(offset.min(total)))?;
    let mut bytes = vec![0; length.min(usize::try_from(total.saturating_sub(offset)).unwrap_or(length))];
    file.read_exact(&mut bytes)?;
    // A character that the range cuts belongs to the next one.
    let end = match std::str::from_utf8(&bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    bytes.truncate(end);
    let text = String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the offset is inside of a character"))?;
    Ok((text, total))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_large_result_is_read_back_whole_in_ranges() {
        let scratch = tempfile::tempdir().expect("a directory");
        let spool = Spool::new(scratch.path().join("results"));
        let text = "aü日".repeat(50_000);
        let result = serde_json::json!({ "content": [{ "type": "text", "text": text }], "isError": false, "odd": 1.0 });
        let result = RawValue::from_string(result.to_string()).expect("JSON");
        let call = CallId::fresh();
        let passed: Value =
            serde_json::from_str(spool.keep(call, result.clone(), 1 << 18).expect("kept").get())
                .expect("JSON");
        assert_eq!(passed["isError"], false);
        assert!(passed["content"][0]["text"].as_str().expect("text").starts_with("aü日aü日"));
        for (uri, whole) in
            [(format!("{ADDRESS}{call}"), result.get()), (format!("{ADDRESS}{call}/0"), &*text)]
        {
            let (mut next, mut got) = (Some(format!("{uri}?offset=0&length=65537")), String::new());
            while let Some(uri) = next {
                let read: Value = serde_json::from_str(spool.read(&uri).expect("read").get()).expect("JSON");
                got.push_str(read["contents"][0]["text"].as_str().expect("text"));
                next = read["contents"][0]["_meta"]["tectum/next"].as_str().map(str::to_owned);
            }
            assert!(got == whole, "{uri}");
        }
    }

    #[test]
    fn what_stands_for_a_result_is_shorter_than_its_bound_and_a_few_words() {
        let scratch = tempfile::tempdir().expect("a directory");
        let spool = Spool::new(scratch.path().join("results"));
        let texts = ["x".repeat(5000), "\u{1}\"\n".repeat(3000), "日".repeat(40_000), "x".repeat(300)];
        for (text, most) in texts.iter().flat_map(|text| [1, 1024, 4096, 16 * 1024].map(|most| (text, most)))
        {
            let many: Vec<_> = (0..20).map(|_| serde_json::json!({"type": "text", "text": text})).collect();
            let result = serde_json::json!({"content": many, "isError": true, "_meta": {"long": text}});
            let result = RawValue::from_string(result.to_string()).expect("JSON");
            let passed = spool.keep(CallId::fresh(), result.clone(), most).expect("kept");
            assert!(passed.get().len() < (most + 1024).min(result.get().len()), "{most}: {passed}");
            let passed: Value = serde_json::from_str(passed.get()).expect("JSON");
            let shown = passed["content"][0]["text"].as_str().expect("text");
            assert_eq!(shown.contains("this is its beginning"), most > 4, "{shown}");
            assert_eq!(passed["isError"], true, "{passed}");
        }
        let short =
            RawValue::from_string(r#"{"content":[{"type":"text","text":"short"}]}"#.into()).expect("JSON");
        let passed = spool.keep(CallId::fresh(), short.clone(), 10).expect("passed on");
        assert_eq!(passed.get(), short.get(), "nothing that stands for it would be shorter");
    }

    #[test]
    fn only_names_that_were_given_are_read() {
        let scratch = tempfile::tempdir().expect("a directory");
        let spool = Spool::new(scratch.path().to_owned());
        for uri in [
            "tectum://results/../secret",
            "tectum://results/c-0000000000000000",
            "tectum://results/x/../y",
            "other://",
        ] {
            assert!(spool.read(uri).is_err(), "{uri}");
        }
    }
}
