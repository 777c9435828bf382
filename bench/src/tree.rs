//! The tree that is searched: 100,000 small files ten directories deep, with words planted in known places.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::data::Text;

/// The number of files that a search must read.
const FILES: usize = 100_000;
/// The number of files that an ignore rule hides; they contain the words too, which exposes a search of them.
const IGNORED: usize = 2_000;
/// The depth of the tree, with two directories in each: 2,046 directories.
const DEPTH: u32 = 10;
/// The version of the tree; a change makes an older one be created again.
const EDITION: &str = "1";

/// A query, and how often it matches.
pub(crate) struct Query {
    pub(crate) name: &'static str,
    pub(crate) pattern: &'static str,
    pub(crate) regex: bool,
    /// A text that occurs once in every hit and nowhere else.
    pub(crate) mark: &'static str,
    every: usize,
    first: usize,
}

pub(crate) const QUERIES: [Query; 3] = [
    Query { name: "rare", pattern: "quixplenth", regex: false, mark: "quixplenth", every: 20_000, first: 11 },
    Query { name: "medium", pattern: "vorbantic", regex: false, mark: "vorbantic", every: 333, first: 7 },
    Query { name: "regex", pattern: "zq[0-9]{4}x", regex: true, mark: "zq", every: 500, first: 3 },
];

impl Query {
    pub(crate) fn hits(&self) -> usize {
        (FILES - self.first).div_ceil(self.every)
    }

    fn plants_in(&self, number: usize) -> bool {
        number % self.every == self.first
    }
}

/// Creates the tree unless it exists.
pub(crate) fn grow(root: &Path) -> Result<()> {
    let stamp = root.with_extension("edition");
    if fs::read_to_string(&stamp).is_ok_and(|edition| edition == EDITION) {
        return Ok(());
    }
    eprintln!("  making the tree of {FILES} files, once");
    if root.exists() {
        fs::remove_dir_all(root).with_context(|| format!("could not clear `{}`", root.display()))?;
    }
    // Ignore rules apply inside a repository, and rules above it must not.
    fs::create_dir_all(root.join(".git"))?;
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    fs::write(root.join(".gitignore"), "out/\n*.log\n")?;
    let directories = directories(root);
    for directory in &directories {
        fs::create_dir_all(directory.join("out"))?;
    }
    let mut text = Text::seeded(7);
    for number in 0..FILES {
        let directory = &directories[number % directories.len()];
        fs::write(directory.join(format!("note-{number:06}.txt")), page(&mut text, number))?;
    }
    for number in 0..IGNORED {
        let directory = &directories[number % directories.len()];
        let name =
            if number % 2 == 0 { format!("out/built-{number:04}.txt") } else { format!("{number:04}.log") };
        fs::write(directory.join(name), page(&mut text, number))?;
    }
    Ok(fs::write(stamp, EDITION)?)
}

/// Every directory, the shallow ones first.
fn directories(root: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut level = vec![root.to_owned()];
    for _ in 0..DEPTH {
        level = level.iter().flat_map(|above| [above.join("left"), above.join("right")]).collect();
        all.extend(level.iter().cloned());
    }
    all
}

/// Six to eighteen lines, some 700 bytes, with the planted words on a line of their own.
fn page(text: &mut Text, number: usize) -> String {
    let lines = 6 + text.next() % 13;
    let planted = text.next() % lines;
    let mut page = String::with_capacity(1024);
    for line in 0..lines {
        page.push_str(&text.line());
        if line == planted {
            plant(&mut page, number);
        }
    }
    page
}

fn plant(page: &mut String, number: usize) {
    for query in QUERIES.iter().filter(|query| query.plants_in(number)) {
        let word = if query.regex { format!("zq{:04}x", number % 10_000) } else { query.pattern.to_owned() };
        page.push_str(&format!("and here is {word} for once\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_as_rare_as_they_are_called() {
        assert_eq!(QUERIES.map(|query| query.hits()), [5, 301, 200]);
    }

    #[test]
    fn hits_are_where_they_are_counted() {
        for query in &QUERIES {
            assert_eq!((0..FILES).filter(|number| query.plants_in(*number)).count(), query.hits());
        }
    }

    #[test]
    fn a_page_holds_its_mark_once() {
        let page = page(&mut Text::seeded(1), 503);
        assert_eq!(page.matches("zq0503x").count(), 1);
        assert_eq!(page.matches("zq").count(), 1);
    }
}
