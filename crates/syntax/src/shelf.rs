//! Sources that were asked about lately, by the hash of their text, up to a number of bytes.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::{Language, Source};

/// The bytes of memory that a source may take for each byte of its text, its tree included.
const WEIGHT: usize = 12;

/// A bounded store of sources.
#[derive(Debug)]
pub struct Shelf {
    most: usize,
    inner: Mutex<ShelfState>,
}

#[derive(Debug, Default)]
struct ShelfState {
    sources: HashMap<[u8; 32], Kept>,
    weight: usize,
    clock: u64,
    lookups: u64,
    hits: u64,
}

#[derive(Debug)]
struct Kept {
    source: Arc<Source>,
    weight: usize,
    used: u64,
}

impl Shelf {
    /// Keeps sources of about this many bytes, trees included.
    pub fn new(most: usize) -> Self {
        Self { most, inner: Mutex::default() }
    }

    /// The source of a text, with what was found out about it before.
    pub fn source(&self, language: &Arc<Language>, text: &str) -> Arc<Source> {
        let key = key(language, text);
        if let Some(known) = self.inner.lock().get(&key) {
            return known;
        }
        let source = Arc::new(Source::new(language.clone(), text.into()));
        self.keep(key, source.clone());
        source
    }

    /// The number of sources that were known when they were asked for, and the number asked for.
    pub fn counts(&self) -> (u64, u64) {
        let inner = self.inner.lock();
        (inner.hits, inner.lookups)
    }

    /// Keeps a source that was made from another.
    pub fn put(&self, source: Arc<Source>) {
        self.keep(key(source.language(), source.text()), source);
    }

    fn keep(&self, key: [u8; 32], source: Arc<Source>) {
        let weight = source.text().len().saturating_mul(WEIGHT) + 1024;
        if weight > self.most {
            return;
        }
        let mut inner = self.inner.lock();
        inner.clock += 1;
        let used = inner.clock;
        if let Some(old) = inner.sources.insert(key, Kept { source, weight, used }) {
            inner.weight -= old.weight;
        }
        inner.weight += weight;
        while inner.weight > self.most
            && let Some(oldest) = inner.sources.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| *key)
            && let Some(gone) = inner.sources.remove(&oldest)
        {
            inner.weight -= gone.weight;
        }
    }
}

impl ShelfState {
    fn get(&mut self, key: &[u8; 32]) -> Option<Arc<Source>> {
        self.clock += 1;
        self.lookups += 1;
        let kept = self.sources.get_mut(key)?;
        self.hits += 1;
        kept.used = self.clock;
        Some(kept.source.clone())
    }
}

fn key(language: &Language, text: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(language.pack().id.as_bytes());
    hasher.update(&[0]);
    hasher.update(text.as_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
#[cfg(feature = "lang-rust")]
mod tests {
    use super::*;
    use crate::{Detail, Packs};

    fn rust() -> Arc<Language> {
        Packs::all().named("rust").expect("a pack").clone()
    }

    #[test]
    fn a_known_text_is_the_same_source() {
        let shelf = Shelf::new(1 << 20);
        let language = rust();
        let first = shelf.source(&language, "fn a() {}");
        assert!(Arc::ptr_eq(&first, &shelf.source(&language, "fn a() {}")));
        assert!(!Arc::ptr_eq(&first, &shelf.source(&language, "fn b() {}")));
        assert_eq!(shelf.counts(), (1, 3));
    }

    #[test]
    fn the_oldest_goes_first_and_a_giant_is_not_kept() {
        let shelf = Shelf::new(3 * (9 * WEIGHT + 1024));
        let language = rust();
        let texts = ["fn a() {}", "fn b() {}", "fn c() {}", "fn d() {}"];
        let first = shelf.source(&language, texts[0]);
        let second = shelf.source(&language, texts[1]);
        shelf.source(&language, texts[2]);
        shelf.source(&language, texts[0]);
        shelf.source(&language, texts[3]);
        assert!(Arc::ptr_eq(&first, &shelf.source(&language, texts[0])));
        assert!(!Arc::ptr_eq(&second, &shelf.source(&language, texts[1])));
        let giant = "x".repeat(4096);
        assert!(!Arc::ptr_eq(&shelf.source(&language, &giant), &shelf.source(&language, &giant)));
        assert!(shelf.inner.lock().weight <= shelf.most);
    }

    #[test]
    fn an_edited_source_knows_what_a_fresh_one_knows() {
        let before = "fn a() { 1 }\n\nstruct S;\n\nfn b() {}\n";
        let source = Source::new(rust(), before.into());
        let never = || false;
        source.outline(Detail::Outline, &never).expect("parsed");
        let (range, inserted) = (9..10, "x.\nx");
        let after = format!("{}{inserted}{}", &before[..range.start], &before[range.end..]);
        let edited = source.edited(&range, inserted, after.as_str().into(), &never);
        let fresh = Source::new(rust(), after.as_str().into());
        assert_eq!(edited.outline(Detail::Full, &never), fresh.outline(Detail::Full, &never));
    }
}
