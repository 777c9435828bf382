//! The sources of one question: which files, how they are read, what is known of them.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use tectum_core::{
    Ctx, Fault,
    security::{SafePath, Stamp},
};
use tectum_syntax::Language;

use super::{
    super::languages::{Languages, Only},
    Entry, FileContent, Memo, Needle, Remembered, SourceFacts,
    content::Buffer,
    ledger::Ledger,
    reader::{Larger, Reader},
    tree::{SourceTree, SourcesNow},
    words,
};
use crate::files::{ground::Ground, skipped::Skipped, spelling};

/// Files a thread takes at a time: few enough to share evenly, enough to take seldom.
const TAKEN: usize = 8;

/// A file with what it defines.
type KnownFacts = (Arc<Entry>, Arc<SourceFacts>);
/// The same by the file's place in a list.
type Placed = (usize, Arc<SourceFacts>);

/// The sources of one question.
#[derive(Debug)]
pub(crate) struct Sources<'q> {
    languages: &'q Languages,
    ctx: &'q Ctx,
    start: &'q SafePath,
    /// In the order of their paths.
    pub(crate) entries: Vec<Arc<Entry>>,
    /// The highest serial number among them.
    pub(crate) upto: u64,
    /// Whose sources they are; none for a single file.
    pub(crate) tree: Option<Arc<SourceTree>>,
    ground: Option<Arc<Ground>>,
    skipped: Skipped,
    /// The number of files that were looked at while they were listed.
    early: usize,
    ledger: Arc<Ledger>,
}

impl<'q> Sources<'q> {
    pub(super) fn below(
        languages: &'q Languages,
        ctx: &'q Ctx,
        start: &'q SafePath,
        tree: Arc<SourceTree>,
        now: SourcesNow,
        ledger: Arc<Ledger>,
    ) -> Self {
        let SourcesNow { entries, upto, ground, skipped, early } = now;
        let (tree, ground) = (Some(tree), Some(ground));
        Self { languages, ctx, start, entries, upto, tree, ground, skipped, early, ledger }
    }

    /// A single file, whatever the rules say about it.
    pub(super) fn one(
        languages: &'q Languages,
        ctx: &'q Ctx,
        start: &'q SafePath,
        ledger: Arc<Ledger>,
    ) -> Self {
        let name = start.name();
        let named = languages.packs.by_name(&name).filter(|language| language.pack().is_code()).cloned();
        let name = name.rsplit('/').next().unwrap_or(&name);
        let entries = vec![Arc::new(Entry::new(std::ffi::OsStr::new(name).into(), 1, named))];
        let skipped = Skipped::default();
        Self { languages, ctx, start, entries, upto: 1, tree: None, ground: None, skipped, early: 0, ledger }
    }

    /// The tools' shared things.
    pub(crate) fn languages(&self) -> &'q Languages {
        self.languages
    }

    /// True if it is a single file.
    pub(crate) fn is_file(&self) -> bool {
        self.tree.is_none()
    }

    /// A file's path as the caller can use it in another call.
    pub(crate) fn spell(&self, entry: &Entry) -> String {
        match &self.ground {
            Some(ground) => ground.spell(entry.path()),
            None => spelling::spell(self.start.name().as_ref()).into_owned(),
        }
    }

    /// The files that were left out: by the listing, and by looking at these files.
    pub(crate) fn skipped<'e>(&self, entries: impl IntoIterator<Item = &'e Arc<Entry>>) -> Skipped {
        let mut skipped = self.skipped;
        entries.into_iter().for_each(|entry| entry.tally(&mut skipped));
        skipped
    }

    /// The files that can be in the asked language, by their names.
    pub(crate) fn fitting(&self, only: Only) -> Vec<Arc<Entry>> {
        self.entries.iter().filter(|entry| entry.may_be(only)).cloned().collect()
    }

    /// The reader for them.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { languages: self.languages, ctx: self.ctx, ledger: &self.ledger }
    }

    /// The language of a file, if it is one that is asked for.
    pub(crate) fn language(&self, entry: &Entry, text: &str, only: Only) -> Option<Arc<Language>> {
        self.reader().language(entry, text, only)
    }

    /// Reads these files on all threads and shows each to `work`; what it gives comes back in
    /// the order of the files, with their places.
    pub(crate) fn each<R: Send>(
        &self,
        entries: &[Arc<Entry>],
        work: impl Fn(&Arc<Entry>, FileContent<'_>) -> Option<R> + Sync,
    ) -> Result<Vec<(usize, R)>, Fault> {
        Ok(self.each_within(entries, u64::MAX, work)?.0)
    }

    /// The same without those that have more than `most` bytes, and how many they are.
    fn each_within<R: Send>(
        &self,
        entries: &[Arc<Entry>],
        most: u64,
        work: impl Fn(&Arc<Entry>, FileContent<'_>) -> Option<R> + Sync,
    ) -> Result<(Vec<(usize, R)>, usize), Fault> {
        let reader = self.reader();
        let larger = AtomicUsize::new(0);
        let next = AtomicUsize::new(0);
        let all = Mutex::new(Vec::new());
        let run = || {
            let mut buffer = Buffer::default();
            let mut done = Vec::new();
            loop {
                let from = next.fetch_add(TAKEN, Ordering::Relaxed);
                let Some(taken) = entries.get(from..(from + TAKEN).min(entries.len())) else { break };
                if taken.is_empty() || self.ctx.cancel.is_cancelled() {
                    break;
                }
                reader.note(self.early + from, TAKEN, Some(self.early + entries.len()));
                for (at, entry) in (from..).zip(taken) {
                    if self.ctx.cancel.is_cancelled() {
                        break;
                    }
                    let opened = self.open(entry);
                    match reader.look(entry, opened, &mut buffer, most, &work) {
                        Ok(found) => done.extend(found.map(|found| (at, found))),
                        Err(Larger) => drop(larger.fetch_add(1, Ordering::Relaxed)),
                    }
                }
            }
            all.lock().append(&mut done);
        };
        // A handful of files is read before a second thread would have started.
        let helpers =
            if entries.len() <= TAKEN { 0 } else { self.languages.threads.count().saturating_sub(1) };
        std::thread::scope(|scope| {
            for _ in 0..helpers.min(entries.len() / TAKEN) {
                scope.spawn(run);
            }
            run();
        });
        self.ctx.check()?;
        let mut all = all.into_inner();
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok((all, larger.into_inner()))
    }

    fn open(&self, entry: &Entry) -> Option<(File, Stamp)> {
        if !self.is_file() {
            return self.start.open_below(entry.path());
        }
        let stamp = self.start.stamp().ok()?;
        Some((self.start.file().ok()?.handle().try_clone().ok()?, stamp))
    }

    /// The definitions of these files, each with its place in the list. Files that are no source of the
    /// asked language are left out. `count` also counts their words.
    pub(crate) fn facts(
        &self,
        entries: &[Arc<Entry>],
        only: Only,
        count: bool,
    ) -> Result<Vec<(usize, Arc<SourceFacts>)>, Fault> {
        Ok(self.facts_within(entries, u64::MAX, only, count)?.0)
    }

    /// The definitions of the first `most_files` of these that have no more than `most_bytes`, and the
    /// number of those files. Few are too large, so nobody looks at sizes beforehand.
    pub(crate) fn facts_of_first<'e>(
        &self,
        entries: impl Iterator<Item = &'e Arc<Entry>>,
        most_files: usize,
        most_bytes: u64,
    ) -> Result<(Vec<KnownFacts>, usize), Fault> {
        let small = |entry: &&Arc<Entry>| entry.stamp().is_none_or(|stamp| stamp.size <= most_bytes);
        let mut entries = entries.filter(small);
        let (mut all, mut files) = (Vec::new(), 0);
        while files < most_files {
            let some: Vec<Arc<Entry>> = entries.by_ref().take(most_files - files).cloned().collect();
            if some.is_empty() {
                break;
            }
            let (found, larger) = self.facts_within(&some, most_bytes, Only::Any, false)?;
            files += some.len() - larger;
            all.extend(found.into_iter().map(|(at, facts)| (some[at].clone(), facts)));
        }
        Ok((all, files))
    }

    fn facts_within(
        &self,
        entries: &[Arc<Entry>],
        most: u64,
        only: Only,
        count: bool,
    ) -> Result<(Vec<Placed>, usize), Fault> {
        let fits = |facts: &SourceFacts| match only {
            Only::Any | Only::Outlined => true,
            Only::One(id) => facts.language.pack().id == id,
        };
        let mut known = Vec::with_capacity(entries.len());
        let (mut unknown, mut places) = (Vec::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            match entry.facts(&self.ledger) {
                Some(facts) if fits(&facts) && (!count || facts.words.is_some()) => known.push((at, facts)),
                _ => {
                    unknown.push(entry.clone());
                    places.push(at);
                }
            }
        }
        let reader = self.reader();
        let (found, larger) =
            self.each_within(&unknown, most, |entry, content| reader.facts(entry, content, only, count))?;
        known.extend(found.into_iter().map(|(at, facts)| (places[at], facts)));
        known.sort_unstable_by_key(|(at, _)| *at);
        Ok((known, larger))
    }

    /// Those of these files that hold at least one of many words.
    pub(crate) fn standing(&self, entries: &[Arc<Entry>], words: &[&str]) -> Result<Vec<Arc<Entry>>, Fault> {
        let table: HashSet<&str> = words.iter().copied().collect();
        let held = self.each(entries, |_, content| {
            let mut held = false;
            words::each(&content.text()?, |word| held = held || table.contains(word));
            held.then_some(())
        })?;
        Ok(held.into_iter().map(|(at, ())| entries[at].clone()).collect())
    }

    /// The files in which at least one of a few words can stand. What was found out is kept
    /// for each word.
    pub(crate) fn holding(&self, words: &[&str], only: Only) -> Result<Vec<Arc<Entry>>, Fault> {
        let fitting = self.fitting(only);
        let key = |word: &str| format!("{}:{word}", only.label());
        // What a later view found out says nothing about files that this view alone still has.
        let ours = |word: &&str| {
            self.holders(|memo| memo.get(&key(word))).flatten().filter(|known| known.upto <= self.upto)
        };
        let known: Vec<_> = words.iter().map(ours).collect();
        let upto = known.iter().map(|known| known.as_ref().map_or(0, |known| known.upto));
        let oldest = upto.min().unwrap_or(0);
        let unseen: Vec<Arc<Entry>> = fitting.iter().filter(|entry| entry.serial > oldest).cloned().collect();
        let needles: Vec<Needle> = words.iter().map(|word| Needle::new(word)).collect();
        let scanned = self.each(&unseen, |_, content| {
            let held = (0..words.len()).filter(|at| needles[*at].may_be_in(content));
            let held: Vec<usize> = held.collect();
            (!held.is_empty()).then_some(held)
        })?;
        let mut found: Vec<HashMap<u64, ()>> = vec![HashMap::new(); words.len()];
        for (at, known) in known.iter().enumerate() {
            let Some(known) = known else { continue };
            let still = fitting.iter().map(|entry| entry.serial).filter(|serial| *serial <= known.upto);
            found[at]
                .extend(still.filter(|serial| known.found.contains_key(serial)).map(|serial| (serial, ())));
        }
        for (place, held) in scanned {
            let serial = unseen[place].serial;
            for at in held {
                found[at].insert(serial, ());
            }
        }
        let holds = |entry: &&Arc<Entry>| found.iter().any(|found| found.contains_key(&entry.serial));
        let holding = fitting.iter().filter(holds).cloned().collect();
        for (word, found) in words.iter().zip(found) {
            let weight = found.len() * 16 + word.len() + 64;
            let remembered = Arc::new(Remembered { upto: self.upto, found, weight });
            self.holders(|memo| memo.put(&key(word), remembered));
        }
        Ok(holding)
    }

    fn holders<R>(&self, with: impl FnOnce(&mut Memo<()>) -> R) -> Option<R> {
        let tree = self.tree.as_ref()?;
        Some(with(&mut tree.holders.lock()))
    }
}
