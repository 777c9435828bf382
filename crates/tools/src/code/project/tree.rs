//! The sources below one directory in one view: listed once, then kept up by the watch.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use tectum_core::{
    Ctx, Fault, FaultKind,
    security::{Changes, Flow, Folder, Kind, SafePath, Stamp, View, Watch},
};
use tectum_syntax::{Language, Packs};

use super::{
    super::languages::Languages,
    Entry, Memo,
    ahead::{Ahead, Early},
    reader::Reader,
    rules::Rules,
};
use crate::{
    code::usages::Hits,
    files::{
        ground::{Ground, Here, Standing},
        ignores::Ignores,
        skipped::Skipped,
    },
};

/// Source files in one tree; each costs some hundred bytes before anything is known of it.
const MOST_FILES: usize = 200_000;

/// A tree.
#[derive(Debug)]
pub(crate) struct SourceTree {
    view: View,
    watching: bool,
    state: Mutex<TreeState>,
    /// The places of words.
    pub(crate) usages: Mutex<Memo<Arc<Hits>>>,
    /// The files that hold a word at all.
    pub(crate) holders: Mutex<Memo<()>>,
}

/// The sources at one moment.
#[derive(Debug)]
pub(crate) struct SourcesNow {
    /// In the order of their paths.
    pub(super) entries: Vec<Arc<Entry>>,
    /// The highest serial number given out.
    pub(super) upto: u64,
    pub(super) ground: Arc<Ground>,
    /// The files that the listing left out.
    pub(super) skipped: Skipped,
    /// The number of files that were looked at while they were listed.
    pub(super) early: usize,
}

#[derive(Debug, Default)]
struct TreeState {
    listing: Option<Listing>,
    entries: BTreeMap<Arc<OsStr>, Arc<Entry>>,
    serial: u64,
}

/// The findings of a walk about the folders.
#[derive(Debug)]
struct Listing {
    watch: Option<Watch>,
    ground: Arc<Ground>,
    rules: Rules,
    folders: HashMap<PathBuf, Ignores>,
    skipped: Skipped,
}

impl SourceTree {
    pub(super) fn new(start: &SafePath, watching: bool) -> Self {
        Self {
            view: View::of(start),
            watching,
            state: Mutex::default(),
            usages: Mutex::default(),
            holders: Mutex::default(),
        }
    }

    /// Whose tree it is.
    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// The sources as they are now: changes the watch tells are taken in, or everything is
    /// listed again.
    pub(super) fn now(
        &self,
        reader: Reader<'_>,
        start: &SafePath,
        ahead: Option<&dyn Ahead>,
    ) -> Result<SourcesNow, Fault> {
        let mut state = self.state.lock();
        let early = if state.is_current(reader.languages, start) {
            0
        } else {
            state.list(reader, start, self.watching, ahead)?
        };
        let TreeState { listing, entries, serial } = &*state;
        let Some(listing) = listing else { return Err(Fault::internal("the listing got lost")) };
        Ok(SourcesNow {
            entries: entries.values().cloned().collect(),
            upto: *serial,
            ground: listing.ground.clone(),
            skipped: listing.skipped,
            early,
        })
    }

    /// Versions with facts: when they were last used, their weight.
    pub(super) fn kept(&self) -> Vec<(u64, usize, Arc<Entry>)> {
        let state = self.state.lock();
        let kept = |entry: &Arc<Entry>| entry.used().map(|(used, weight)| (used, weight, entry.clone()));
        state.entries.values().filter_map(kept).collect()
    }
}

impl TreeState {
    /// Takes in what changed; false when only a new listing can tell.
    fn is_current(&mut self, languages: &Languages, start: &SafePath) -> bool {
        let Some(listing) = self.listing.take() else { return false };
        let Some(watch) = &listing.watch else { return false };
        let Changes::Known { folders, files } = watch.changes() else { return false };
        if !listing.rules.hold(start) || folders.iter().any(|folder| listing.matters(folder)) {
            return false;
        }
        if files.iter().any(|file| file.file_name().is_some_and(Rules::is_one)) {
            return false;
        }
        for file in &files {
            self.entries.remove(file.as_os_str());
            if let Some(named) = listing.source(file, &languages.packs)
                && start.open_below(file).is_some()
            {
                self.renew(file.as_os_str().into(), named);
            }
        }
        // Through another of its names a file changes without the watch.
        let changed = |entry: &&Arc<Entry>| {
            entry.is_unreadable() || (entry.is_shared() && start.stamp_below(entry.path()) != entry.stamp())
        };
        for entry in self.entries.values().filter(changed).cloned().collect::<Vec<_>>() {
            self.renew(entry.path.clone(), entry.named.clone());
        }
        self.listing = Some(listing);
        true
    }

    fn renew(&mut self, path: Arc<OsStr>, named: Option<Arc<Language>>) {
        self.serial += 1;
        let entry = Entry::new(path.clone(), self.serial, named);
        self.entries.insert(path, Arc::new(entry));
    }

    /// Lists everything anew, and says how many files were looked at on the way. A version whose
    /// stamp still fits stays.
    fn list(
        &mut self,
        reader: Reader<'_>,
        start: &SafePath,
        watching: bool,
        ahead: Option<&dyn Ahead>,
    ) -> Result<usize, Fault> {
        let Reader { languages, ctx, .. } = reader;
        self.listing = None;
        // The stamps come before the rules are read, so that a change in between shows.
        let rules = Rules::above(start);
        let watch = if watching { Watch::new(start) } else { None };
        let lister = Lister {
            ctx,
            start,
            packs: &languages.packs,
            ground: Arc::new(Ground::look(start, true)),
            known: &self.entries,
            serial: AtomicU64::new(self.serial),
            files: AtomicUsize::new(0),
            listed: Mutex::default(),
            early: ahead.map(|ahead| Early::new(reader, ahead)),
        };
        let from_above = WalkStep::Enter(lister.ground.start.clone());
        let visit = |folder: &mut Folder<'_, WalkStep>| lister.visit(folder);
        let report = start.walk_watched(languages.threads.count(), from_above, watch.as_ref(), visit)?;
        ctx.check()?;
        let Lister { ground, serial, files, listed, early, .. } = lister;
        let early = early.map_or(0, |early| early.looked());
        if files.into_inner() > MOST_FILES {
            let name = start.name();
            let message = format!("more than {MOST_FILES} source files below {name}");
            return Err(Fault::new(FaultKind::TooLarge, message).hint("name a smaller directory"));
        }
        let listed = listed.into_inner();
        let mut skipped = listed.skipped;
        skipped.denied += report.denied as u64;
        skipped.unreadable += report.unreadable as u64;
        self.serial = serial.into_inner();
        self.entries = listed.entries.into_iter().map(|entry| (entry.path.clone(), entry)).collect();
        let rules = rules.and(listed.excludes);
        let watch = watch.filter(Watch::whole);
        self.listing = Some(Listing { watch, ground, rules, folders: listed.folders, skipped });
        Ok(early)
    }
}

impl Listing {
    /// True if a folder that came, went or changed can hold sources, or rules about them.
    fn matters(&self, folder: &Path) -> bool {
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return true };
        if Rules::is_one(name) {
            return true;
        }
        let Some(ignores) = self.folders.get(parent) else { return false };
        self.ground.at(parent, ignores).judge(name, Kind::Directory) == Standing::Shown
    }

    /// The language of a source to be seen, by its name; nothing for any other file.
    fn source(&self, file: &Path, packs: &Packs) -> Option<Option<Arc<Language>>> {
        let name = file.file_name()?;
        let named = language(name, packs)?;
        let parent = file.parent()?;
        let shown = self.ground.at(parent, self.folders.get(parent)?).judge(name, Kind::File);
        (shown == Standing::Shown).then_some(named)
    }
}

/// The language a name tells: `None` for no source, `Some(None)` for a name without an ending,
/// which leaves it to the first line.
fn language(name: &OsStr, packs: &Packs) -> Option<Option<Arc<Language>>> {
    let name = name.to_string_lossy();
    match packs.by_name(&name) {
        Some(language) => language.pack().is_code().then(|| Some(language.clone())),
        None => (!name.contains('.')).then_some(None),
    }
}

/// One walk, shared by its threads.
struct Lister<'l> {
    ctx: &'l Ctx,
    start: &'l SafePath,
    packs: &'l Packs,
    ground: Arc<Ground>,
    known: &'l BTreeMap<Arc<OsStr>, Arc<Entry>>,
    serial: AtomicU64,
    files: AtomicUsize,
    listed: Mutex<ListedSources>,
    early: Option<Early<'l>>,
}

/// The subject of a visit.
enum WalkStep {
    /// A folder, under these rules from above it.
    Enter(Ignores),
    /// Some sources of a folder that was listed.
    Read(Vec<Arc<Entry>>),
}

#[derive(Default)]
struct ListedSources {
    entries: Vec<Arc<Entry>>,
    folders: HashMap<PathBuf, Ignores>,
    excludes: Vec<(PathBuf, Option<Stamp>)>,
    skipped: Skipped,
}

impl Lister<'_> {
    fn visit(&self, folder: &mut Folder<'_, WalkStep>) -> Flow {
        if self.ctx.cancel.is_cancelled() || self.files.load(Ordering::Relaxed) > MOST_FILES {
            return Flow::Stop;
        }
        match (folder.state, &self.early) {
            (WalkStep::Enter(above), _) => self.list(folder, above),
            (WalkStep::Read(entries), Some(early)) => early.read(folder, entries),
            (WalkStep::Read(_), None) => {}
        }
        Flow::Continue
    }

    fn list(&self, folder: &mut Folder<'_, WalkStep>, above: &Ignores) {
        let repository = folder.entries.iter().any(|entry| entry.name == ".git");
        let exclude = repository.then(|| {
            let path = folder.path.join(".git/info/exclude");
            let stamp = self.start.stamp_below(&path);
            (path, stamp)
        });
        let mut here = self.ground.enter(folder, above);
        let mut skipped = Skipped::default();
        let mut found = Vec::new();
        for entry in std::mem::take(&mut folder.entries) {
            let named = match entry.kind {
                Kind::Directory => None,
                Kind::File => match language(&entry.name, self.packs) {
                    Some(named) => Some(named),
                    None => continue,
                },
                _ => continue,
            };
            match (here.judge(&entry.name, entry.kind), named) {
                (Standing::Ignored, _) => skipped.ignored += 1,
                (Standing::Hidden, _) => skipped.hidden += 1,
                (Standing::Shown, None) => folder.descend(&entry.name, WalkStep::Enter(here.ignores.clone())),
                (Standing::Shown, Some(named)) => {
                    found.push(self.entry(folder, &mut here, &entry.name, named));
                }
            }
        }
        self.files.fetch_add(found.len(), Ordering::Relaxed);
        if let Some(early) = &self.early {
            let parts = early.parts(&found);
            parts.into_iter().for_each(|part| folder.hand_over(Vec::new(), WalkStep::Read(part)));
        }
        let mut listed = self.listed.lock();
        listed.entries.append(&mut found);
        listed.skipped.add(&skipped);
        listed.folders.insert(folder.path.to_owned(), here.ignores);
        listed.excludes.extend(exclude);
    }

    fn entry(
        &self,
        folder: &Folder<'_, WalkStep>,
        here: &mut Here,
        name: &OsStr,
        named: Option<Arc<Language>>,
    ) -> Arc<Entry> {
        let path = here.below(name).as_os_str();
        if let Some(old) = self.known.get(path)
            && old.stamp().is_some()
            && old.is(folder.stamp(name))
        {
            return old.clone();
        }
        let serial = self.serial.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(Entry::new(path.into(), serial, named))
    }
}
