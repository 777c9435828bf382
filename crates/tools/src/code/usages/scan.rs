//! Looking for a word: in the files that are new while they are listed, in the others
//! afterwards, and in none whose places are remembered.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use tectum_core::Fault;

use super::{
    super::{
        Only,
        project::{Ahead, Entry, FileContent, Needle, Reader, Remembered, Sources},
    },
    hits::{Hits, Room},
};

/// Files with the places of a word in them, in the order of their paths.
pub(super) type FilesWithHits = Vec<(Arc<Entry>, Arc<Hits>)>;

/// Lines held for one answer; beyond it usages are only counted.
const MOST_HELD: usize = 500_000;
/// The memory that the texts of held lines may take, about. Most pages are shown without a file being
/// read again.
const MOST_TEXTS: usize = 512 * 1024;

/// Files searched while they are listed. Other questions about the tree wait so long, and in a
/// larger one the listing is a small part of the work.
const MOST_EARLY: usize = 20_000;

/// The search for one word.
pub(super) struct UsageScan<'w> {
    word: &'w str,
    only: Only,
    needle: Needle,
    /// Lines held so far.
    held: AtomicUsize,
    /// Bytes of their texts.
    texts: AtomicUsize,
    /// The number of files that were taken while they were listed.
    taken: AtomicUsize,
    /// Results of those files.
    early: Mutex<EarlyHits>,
}

/// When a file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// While others are still listed.
    Listing,
    /// Afterwards.
    Listed,
    /// It is the only one.
    OneFile,
}

/// The word stands in a file that must be parsed, which the listing does not wait for.
#[derive(Clone, Copy, Debug)]
struct NeedsParser;

/// The places in files, by the numbers of their versions.
type ByVersion = HashMap<u64, Arc<Hits>>;
/// The same with those in which there are none.
type EarlyHits = HashMap<u64, Option<Arc<Hits>>>;

impl<'w> UsageScan<'w> {
    pub(super) fn new(word: &'w str, only: Only) -> Self {
        Self {
            word,
            only,
            needle: Needle::new(word),
            held: AtomicUsize::new(0),
            texts: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            early: Mutex::default(),
        }
    }

    /// The files in which the word stands, with the places, in the order of their paths.
    pub(super) fn find(
        &self,
        sources: &Sources<'_>,
        searched: &[Arc<Entry>],
    ) -> Result<FilesWithHits, Fault> {
        let key = format!("{}:{}", self.only.label(), self.word);
        let memo = sources.tree.as_ref().map(|tree| &tree.usages);
        let known = memo.and_then(|memo| memo.lock().get(&key));
        // A question that began later may have remembered later versions. It tells nothing about
        // those that it no longer saw, and that this one still sees.
        let known = known.filter(|known| known.upto <= sources.upto);
        let upto = known.as_ref().map_or(0, |known| known.upto);
        let before =
            |entry: &Arc<Entry>| known.as_ref().and_then(|known| known.found.get(&entry.serial)).cloned();
        let unseen: Vec<Arc<Entry>> = searched.iter().filter(|entry| entry.serial > upto).cloned().collect();
        if let Some(known) = known.as_ref().filter(|_| unseen.is_empty()) {
            let found: FilesWithHits =
                searched.iter().filter_map(|entry| Some((entry.clone(), before(entry)?))).collect();
            if found.len() == known.found.len() {
                return Ok(found);
            }
        }
        let mut all = self.rest(sources, &unseen)?;
        all.extend(searched.iter().filter_map(|entry| Some((entry.serial, before(entry)?))));
        let hits = |entry: &Arc<Entry>| Some((entry.clone(), all.get(&entry.serial)?.clone()));
        let found = searched.iter().filter_map(hits).collect();
        if let Some(memo) = memo {
            let weight = key.len() + all.values().map(|hits| hits.weight() + 32).sum::<usize>();
            let remembered = Arc::new(Remembered { upto: sources.upto, found: all, weight });
            memo.lock().put(&key, remembered);
        }
        Ok(found)
    }

    /// The places in these files, of which some were searched while they were listed. Folders are
    /// listed in any order, and where not all lines can be held, those of the first paths are:
    /// then all of the files are searched again.
    fn rest(&self, sources: &Sources<'_>, unseen: &[Arc<Entry>]) -> Result<ByVersion, Fault> {
        let early = std::mem::take(&mut *self.early.lock());
        let is_full = || self.held.load(Ordering::Relaxed) >= MOST_HELD;
        if !is_full() {
            let left = unseen.iter().filter(|entry| !early.contains_key(&entry.serial));
            let mut all = self.search(sources, &left.cloned().collect::<Vec<_>>())?;
            if early.is_empty() || !is_full() {
                all.extend(early.into_iter().filter_map(|(serial, hits)| Some((serial, hits?))));
                return Ok(all);
            }
        }
        self.held.store(0, Ordering::Relaxed);
        self.texts.store(0, Ordering::Relaxed);
        self.search(sources, unseen)
    }

    fn search(&self, sources: &Sources<'_>, entries: &[Arc<Entry>]) -> Result<ByVersion, Fault> {
        let reader = sources.reader();
        let stage = if sources.is_file() { Stage::OneFile } else { Stage::Listed };
        let found = sources
            .each(entries, |entry, content| self.hits(&reader, entry, content, stage).ok().flatten())?;
        Ok(found.into_iter().map(|(at, hits)| (entries[at].serial, hits)).collect())
    }

    fn hits(
        &self,
        reader: &Reader<'_>,
        entry: &Entry,
        content: FileContent<'_>,
        stage: Stage,
    ) -> Result<Option<Arc<Hits>>, NeedsParser> {
        if !self.needle.may_be_in(content) {
            return Ok(None);
        }
        let Some(text) = content.text() else { return Ok(None) };
        let Some(language) = reader.language(entry, &text, self.only) else { return Ok(None) };
        if stage == Stage::Listing && !language.skims() {
            return Err(NeedsParser);
        }
        let stop = || reader.is_cancelled();
        let Ok(mentions) = language.mentions(&text, self.word, &stop) else { return Ok(None) };
        let room = Room {
            rows: MOST_HELD.saturating_sub(self.held.load(Ordering::Relaxed)),
            // A single file is not read again: the rows of one are few enough.
            texts: stage == Stage::OneFile || self.texts.load(Ordering::Relaxed) < MOST_TEXTS,
        };
        let Some(hits) = Hits::find(&text, &mentions, room) else { return Ok(None) };
        self.held.fetch_add(hits.rows.len(), Ordering::Relaxed);
        self.texts.fetch_add(hits.texts_weight(), Ordering::Relaxed);
        Ok(Some(Arc::new(hits)))
    }
}

impl Ahead for UsageScan<'_> {
    fn most_bytes(&self) -> u64 {
        u64::MAX
    }

    /// True for a file that was never looked at: what was looked at before may be remembered for this
    /// word.
    fn wants(&self, _: &Reader<'_>, entry: &Entry) -> bool {
        entry.is_new()
            && entry.may_be(self.only)
            && self.held.load(Ordering::Relaxed) < MOST_HELD
            && self.taken.fetch_add(1, Ordering::Relaxed) < MOST_EARLY
    }

    fn look(&self, reader: &Reader<'_>, entry: &Arc<Entry>, content: FileContent<'_>) -> Option<()> {
        let hits = self.hits(reader, entry, content, Stage::Listing).ok()?;
        let found = hits.as_ref().map(|_| ());
        self.early.lock().insert(entry.serial, hits);
        found
    }
}
