//! The sources of one question: which files, how they are read, what is known of them.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tectum_core::{
    Ctx, Fault, ProgressNote,
    security::{SafePath, Stamp},
};
use tectum_syntax::Language;

use super::{
    super::{Code, Only},
    Content, Entry, Facts, Memo, Needle, Remembered,
    content::Buffer,
    entry::What,
    ledger::Ledger,
    tree::{Now, Tree},
    words,
};
use crate::files::{ground::Ground, skipped::Skipped, spelling};

/// Files a thread takes at a time: few enough to share evenly, enough to take seldom.
const TAKEN: usize = 8;
/// Files between two notes of progress.
const NOTE_EVERY: usize = 2_000;

/// The sources of one question.
#[derive(Debug)]
pub(crate) struct Sources<'q> {
    code: &'q Code,
    ctx: &'q Ctx,
    start: &'q SafePath,
    /// In the order of their paths.
    pub(crate) entries: Vec<Arc<Entry>>,
    /// The highest serial number among them.
    pub(crate) upto: u64,
    /// Whose sources they are; none for a single file.
    pub(crate) tree: Option<Arc<Tree>>,
    ground: Option<Arc<Ground>>,
    skipped: Skipped,
    ledger: Arc<Ledger>,
}

impl<'q> Sources<'q> {
    pub(super) fn of(
        code: &'q Code,
        ctx: &'q Ctx,
        start: &'q SafePath,
        tree: Arc<Tree>,
        now: Now,
        ledger: Arc<Ledger>,
    ) -> Self {
        let Now { entries, upto, ground, skipped } = now;
        Self { code, ctx, start, entries, upto, tree: Some(tree), ground: Some(ground), skipped, ledger }
    }

    /// A single file, whatever the rules say about it.
    pub(super) fn one(code: &'q Code, ctx: &'q Ctx, start: &'q SafePath, ledger: Arc<Ledger>) -> Self {
        let name = start.name();
        let named = code.packs.by_name(&name).cloned();
        let name = name.rsplit('/').next().unwrap_or(&name);
        let entries = vec![Arc::new(Entry::new(std::ffi::OsStr::new(name).into(), 1, named))];
        let skipped = Skipped::default();
        Self { code, ctx, start, entries, upto: 1, tree: None, ground: None, skipped, ledger }
    }

    /// The tools' shared things.
    pub(crate) fn code(&self) -> &'q Code {
        self.code
    }

    /// Whether it is a single file.
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

    /// How large a file is; nothing for one that cannot be looked at.
    pub(crate) fn size(&self, entry: &Entry) -> u64 {
        let stamp = entry.stamp().or_else(|| self.start.stamp_below(entry.path()));
        stamp.map_or(0, |stamp| stamp.size)
    }

    /// What was left out: by the listing, and by looking at these files.
    pub(crate) fn skipped<'e>(&self, entries: impl IntoIterator<Item = &'e Arc<Entry>>) -> Skipped {
        let mut skipped = self.skipped;
        entries.into_iter().for_each(|entry| entry.tally(&mut skipped));
        skipped
    }

    /// The files that can be in the asked language, by their names.
    pub(crate) fn fitting(&self, only: Only) -> Vec<Arc<Entry>> {
        let fits = |entry: &&Arc<Entry>| match (only, &entry.named) {
            (Only::Any, _) | (Only::One(_), None) => true,
            (Only::One("c" | "cpp"), _) if entry.path.to_string_lossy().ends_with(".h") => true,
            (Only::One(id), Some(language)) => language.pack().id == id,
        };
        self.entries.iter().filter(fits).cloned().collect()
    }

    /// The language of a file, if it is one that is asked for.
    pub(crate) fn language(&self, entry: &Entry, text: &str, only: Only) -> Option<Arc<Language>> {
        if entry.named.is_none() && !text.starts_with("#!") {
            return None;
        }
        self.code.language(&entry.path.to_string_lossy(), text, only).ok()
    }

    /// Reads these files on all threads and shows each to `work`; what it gives comes back in
    /// the order of the files, with their places.
    pub(crate) fn each<R: Send>(
        &self,
        entries: &[Arc<Entry>],
        work: impl Fn(&Arc<Entry>, Content<'_>) -> Option<R> + Sync,
    ) -> Result<Vec<(usize, R)>, Fault> {
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
                self.note(from, entries.len());
                for (at, entry) in (from..).zip(taken) {
                    if self.ctx.cancel.is_cancelled() {
                        break;
                    }
                    done.extend(self.look(entry, &mut buffer, &work).map(|found| (at, found)));
                }
            }
            all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut done);
        };
        // A handful of files is read before a second thread would have started.
        let helpers = if entries.len() <= TAKEN { 0 } else { self.code.threads.count().saturating_sub(1) };
        std::thread::scope(|scope| {
            for _ in 0..helpers.min(entries.len() / TAKEN) {
                scope.spawn(run);
            }
            run();
        });
        self.ctx.check()?;
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok(all)
    }

    fn look<R>(
        &self,
        entry: &Arc<Entry>,
        buffer: &mut Buffer,
        work: &impl Fn(&Arc<Entry>, Content<'_>) -> Option<R>,
    ) -> Option<R> {
        let Some((file, stamp)) = self.open(entry) else {
            entry.saw(None, What::Unreadable);
            return None;
        };
        match buffer.read(&file, stamp.size, self.code.max_file) {
            Ok(content) => {
                let found = work(entry, content);
                let binary = found.is_none() && content.is_doubtful() && content.text().is_none();
                entry.saw(Some(stamp), if binary { What::Binary } else { What::Text });
                found
            }
            Err(what) => {
                entry.saw(Some(stamp), what);
                None
            }
        }
    }

    fn open(&self, entry: &Entry) -> Option<(File, Stamp)> {
        if !self.is_file() {
            return self.start.open_below(entry.path());
        }
        let stamp = self.start.stamp().ok()?;
        Some((self.start.file().ok()?.handle().try_clone().ok()?, stamp))
    }

    fn note(&self, done: usize, total: usize) {
        if done > 0 && done % NOTE_EVERY < TAKEN && self.ctx.progress.wanted() {
            let message = format!("looked at {done} of {total} files");
            let (done, total) = (done as u64, Some(total as u64));
            self.ctx.progress.note(ProgressNote { done, total, message });
        }
    }

    /// What these files define, each with its place in the list. Files that are no source of
    /// the asked language are left out. `count` also counts their words.
    pub(crate) fn facts(
        &self,
        entries: &[Arc<Entry>],
        only: Only,
        count: bool,
    ) -> Result<Vec<(usize, Arc<Facts>)>, Fault> {
        let fits = |facts: &Facts| match only {
            Only::Any => true,
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
        let stop = || self.ctx.cancel.is_cancelled();
        let found = self.each(&unknown, |entry, content| {
            let text = content.text()?;
            let language = self.language(entry, &text, only)?;
            let facts = Arc::new(Facts::of(&language, &text, count, &self.ledger, &stop).ok()?);
            entry.keep(facts.clone(), &self.ledger);
            Some(facts)
        })?;
        known.extend(found.into_iter().map(|(at, facts)| (places[at], facts)));
        known.sort_unstable_by_key(|(at, _)| *at);
        Ok(known)
    }

    /// Which of these files hold at least one of many words.
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
        let known: Vec<_> =
            words.iter().map(|word| self.holders(|memo| memo.get(&key(word))).flatten()).collect();
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
        Some(with(&mut tree.holders.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
