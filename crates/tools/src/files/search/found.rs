//! The matches found so far. Files come in any order and in any number; what is held is
//! bounded: the first matches by path and line, and the count of all.

use std::collections::BinaryHeap;

/// The first matches in order.
#[derive(Debug)]
pub(super) struct FoundLines {
    files: BinaryHeap<InFile>,
    held: usize,
    room: usize,
    /// Lines shown of one file.
    per_file: u64,
    /// Files with a match.
    pub(super) files_matched: u64,
    /// Matching lines.
    pub(super) total: u64,
    /// Matching lines on all pages, without those beyond what is shown of one file.
    pub(super) on_pages: u64,
}

/// The matches of one file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InFile {
    /// The file, as the caller can use it. First, because files are ordered by it.
    pub(super) path: String,
    /// Matching lines, held or not.
    pub(super) count: u64,
    /// The first of them; none when only files are asked for.
    pub(super) hits: Vec<LineHit>,
}

/// One matching line.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineHit {
    pub(super) line: u64,
    pub(super) text: String,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

impl InFile {
    /// The room it takes: its lines, or one.
    fn weight(&self) -> usize {
        self.hits.len().max(1)
    }
}

impl FoundLines {
    /// Holds the first `room` matches, of each file no more than `per_file`.
    pub(super) fn new(room: usize, per_file: Option<u64>) -> Self {
        let per_file = per_file.unwrap_or(u64::MAX);
        Self { files: BinaryHeap::new(), held: 0, room, per_file, files_matched: 0, total: 0, on_pages: 0 }
    }

    /// True if the matches of this file could be among the first.
    pub(super) fn wants(&self, path: &str) -> bool {
        self.held < self.room || self.files.peek().is_some_and(|last| path < last.path.as_str())
    }

    /// Counts a file that is not wanted.
    pub(super) fn count(&mut self, lines: u64) {
        self.files_matched += 1;
        self.total += lines;
        self.on_pages += lines.min(self.per_file);
    }

    /// Takes a file's matches and lets go of what cannot be among the first any more.
    pub(super) fn add(&mut self, file: InFile) {
        self.count(file.count);
        self.held += file.weight();
        self.files.push(file);
        while let Some(last) = self.files.peek() {
            let without = self.held - last.weight();
            if without < self.room {
                break;
            }
            self.held = without;
            self.files.pop();
        }
    }

    /// The files in order.
    pub(super) fn into_sorted(self) -> Vec<InFile> {
        self.files.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: u64) -> InFile {
        let hit = |line| LineHit { line, text: String::new(), before: Vec::new(), after: Vec::new() };
        InFile { path: path.into(), count: lines, hits: (1..=lines).map(hit).collect() }
    }

    #[test]
    fn the_first_are_held_in_whatever_order_they_come() {
        let mut found = FoundLines::new(3, Some(4));
        for (path, lines) in [("d", 2), ("b", 1), ("e", 9), ("a", 1), ("c", 1)] {
            found.add(file(path, lines));
        }
        assert!(!found.wants("d"));
        assert!(found.wants("bb"));
        assert_eq!((found.files_matched, found.total, found.on_pages), (5, 14, 9));
        let paths: Vec<_> = found.into_sorted().into_iter().map(|file| file.path).collect();
        assert_eq!(paths, ["a", "b", "c"]);
    }
}
