//! The files the servers work on, generated from a seed so that every machine has the same.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The number of files of the read case, one for each call in flight.
pub(crate) const READ_FILES: usize = 64;
/// The number of entries of the listed directory.
pub(crate) const ENTRIES: usize = 100;
const FILE_BYTES: usize = 4096;

/// The two texts that an edit swaps.
pub(crate) const EDIT: [&str; 2] = ["alpha ALPHA", "omega OMEGA"];

pub(crate) struct Data {
    root: PathBuf,
}

impl Data {
    /// Creates the small files again. The tree for searching is created on demand.
    pub(crate) fn prepare(dir: &Path) -> Result<Self> {
        let logs = dir.join("logs");
        fs::create_dir_all(&logs).with_context(|| format!("could not make `{}`", logs.display()))?;
        let data = Self { root: dir.canonicalize()? };
        for place in ["files/read", "files/list", "files/edit"] {
            fs::create_dir_all(data.root.join(place))?;
        }
        let mut text = Text::seeded(1);
        for number in 0..READ_FILES {
            fs::write(data.read_file(number), four_kib(&mut text, &read_mark(number)))?;
        }
        for number in 0..ENTRIES {
            let entry = data.listed().join(entry_name(number));
            if number % 10 == 0 {
                fs::create_dir_all(entry)?;
            } else {
                fs::write(entry, text.line())?;
            }
        }
        fs::write(data.one_byte(), "x")?;
        Ok(data)
    }

    /// The directory that servers are confined to in every case but search.
    pub(crate) fn files(&self) -> PathBuf {
        self.root.join("files")
    }

    pub(crate) fn read_file(&self, number: usize) -> PathBuf {
        self.root.join(format!("files/read/file-{number:02}.txt"))
    }

    pub(crate) fn one_byte(&self) -> PathBuf {
        self.root.join("files/one-byte.txt")
    }

    pub(crate) fn listed(&self) -> PathBuf {
        self.root.join("files/list")
    }

    /// A fresh file to edit, one for each server, with the first of the two texts in its middle.
    pub(crate) fn edit_file(&self, server: &str) -> Result<PathBuf> {
        let path = self.root.join(format!("files/edit/{server}.txt"));
        let mut text = four_kib(&mut Text::seeded(2), "end of file");
        let middle = text[..FILE_BYTES / 2].rfind('\n').context("lines are short")? + 1;
        text.replace_range(middle..middle + EDIT[0].len() + 1, &format!("{}\n", EDIT[0]));
        fs::write(&path, text)?;
        Ok(path)
    }

    /// The directory for the state and settings of a gateway, one for each.
    pub(crate) fn gateway(&self, name: &str) -> Result<PathBuf> {
        let place = self.root.join("gateway").join(name);
        fs::create_dir_all(&place).with_context(|| format!("could not make `{}`", place.display()))?;
        Ok(place)
    }

    pub(crate) fn log(&self, server: &str) -> PathBuf {
        self.root.join(format!("logs/{server}.log"))
    }

    /// The directory of the tree for searching.
    pub(crate) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }
}

/// The last line of a read file: a reply with it has read the whole file.
pub(crate) fn read_mark(number: usize) -> String {
    format!("the end of file number {number:02}")
}

pub(crate) fn entry_name(number: usize) -> String {
    format!("entry-{number:03}")
}

fn four_kib(text: &mut Text, last_line: &str) -> String {
    let mut all = String::new();
    while all.len() < FILE_BYTES {
        all.push_str(&text.line());
    }
    all.truncate(FILE_BYTES - last_line.len() - 2);
    let _ = write!(all, "\n{last_line}\n");
    all
}

/// An endless text of lines that look like prose, from a seed.
pub(crate) struct Text {
    state: u64,
}

impl Text {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Six to ten words and a line end.
    pub(crate) fn line(&mut self) -> String {
        const SYLLABLES: [&str; 16] =
            ["ba", "re", "mi", "to", "lu", "sa", "ne", "ki", "do", "fu", "ra", "le", "pi", "no", "mu", "ta"];
        let mut line = String::with_capacity(80);
        for _ in 0..6 + self.next() % 5 {
            if !line.is_empty() {
                line.push(' ');
            }
            let mut bits = self.next();
            for _ in 0..2 + bits % 3 {
                bits >>= 4;
                line.push_str(SYLLABLES[(bits % 16) as usize]);
            }
        }
        line.push('\n');
        line
    }

    /// The next number of Steele, Lea and Flood's SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_exactly_four_kib_and_ends_with_its_mark() {
        let text = four_kib(&mut Text::seeded(3), "mark");
        assert_eq!(text.len(), 4096);
        assert!(text.ends_with("\nmark\n"));
    }

    #[test]
    fn the_same_seed_gives_the_same_text() {
        assert_eq!(Text::seeded(9).line(), Text::seeded(9).line());
    }
}
