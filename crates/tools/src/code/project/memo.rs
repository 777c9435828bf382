//! Answers about single words, kept while the versions of the files they are about live.

use std::{collections::HashMap, sync::Arc};

/// Words remembered at a time.
const MOST_WORDS: usize = 64;
/// The memory that all remembered words may take together.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The knowledge about one word: every version of a file up to a serial number was looked at, and these
/// are the ones that hold it.
#[derive(Debug)]
pub(crate) struct Remembered<V> {
    /// Versions with a higher number were not looked at.
    pub(crate) upto: u64,
    /// The findings, by the number of the version.
    pub(crate) found: HashMap<u64, V>,
    /// The size of all of it in memory.
    pub(crate) weight: usize,
}

/// A bounded number of words.
#[derive(Debug)]
pub(crate) struct Memo<V> {
    words: HashMap<String, (Arc<Remembered<V>>, u64)>,
    weight: usize,
    clock: u64,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self { words: HashMap::new(), weight: 0, clock: 0 }
    }
}

impl<V> Memo<V> {
    /// The knowledge about a word.
    pub(crate) fn get(&mut self, word: &str) -> Option<Arc<Remembered<V>>> {
        self.clock += 1;
        let (known, used) = self.words.get_mut(word)?;
        *used = self.clock;
        Some(known.clone())
    }

    /// Remembers a word, and lets go of those not asked for longest. A word that alone would
    /// take more than half of the room is not kept.
    pub(crate) fn put(&mut self, word: &str, known: Arc<Remembered<V>>) {
        self.forget(word);
        if known.weight > MOST_BYTES / 2 {
            return;
        }
        self.clock += 1;
        self.weight += known.weight;
        self.words.insert(word.to_owned(), (known, self.clock));
        while self.weight > MOST_BYTES || self.words.len() > MOST_WORDS {
            let oldest = self.words.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(word, _)| word.clone()) else { break };
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, word: &str) {
        if let Some((gone, _)) = self.words.remove(word) {
            self.weight -= gone.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(weight: usize) -> Arc<Remembered<()>> {
        Arc::new(Remembered { upto: 0, found: HashMap::new(), weight })
    }

    #[test]
    fn words_are_bounded_by_number_and_by_weight() {
        let mut memo = Memo::default();
        for n in 0..MOST_WORDS * 2 {
            memo.put(&n.to_string(), word(1));
            memo.get("0");
        }
        assert_eq!((memo.words.len(), memo.weight), (MOST_WORDS, MOST_WORDS));
        assert!(memo.get("0").is_some(), "what is asked for stays");
        for n in 0..9 {
            memo.put(&n.to_string(), word(MOST_BYTES / 2));
        }
        assert!(memo.weight <= MOST_BYTES);
        memo.put("8", word(MOST_BYTES));
        assert!(memo.get("8").is_none(), "a giant is not kept, nor what was known before");
    }
}
