//! The search itself: a walk whose visitor looks into the files of each folder.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tectum_core::{
    Ctx, Fault, ProgressNote,
    security::{Flow, Folder, Kind, SafePath, WalkEntry},
};

use super::{
    super::{
        depth::not_entered,
        ground::{Ground, Here, Standing},
        ignores::Ignores,
        skipped::Skipped,
    },
    found::{FoundLines, InFile},
    look::{Look, Looker},
    request::{Mode, Request},
};

/// A folder with more entries is shared between threads in parts of this size.
const PART: usize = 512;
/// Files between two notes of progress.
const NOTE_EVERY: u64 = 2_000;
/// Files of one folder after which the others are told of them.
const TELL_EVERY: u64 = 500;

/// The findings of a search, and the files it left out.
#[derive(Debug)]
pub(in super::super) struct Findings {
    pub(super) found: FoundLines,
    pub(super) searched: u64,
    pub(super) skipped: Skipped,
    /// The number of directories that lie too deep.
    pub(super) too_deep: u64,
    /// A sentence that names them.
    pub(super) not_entered: Option<String>,
}

/// Searches the call's first path: one file, or all below a directory.
pub(in super::super) fn run(ctx: &Ctx, request: &Request) -> Result<Findings, Fault> {
    let start = ctx.path(0)?;
    if start.kind() != Some(Kind::Directory) && start.kind().is_some() {
        return one_file(ctx, start, request);
    }
    let search = ContentSearch {
        ctx,
        request,
        ground: Ground::look(start, !request.ignored),
        found: Mutex::new(FoundLines::new(request.room(), request.max_per_file)),
        skipped: Mutex::default(),
        searched: AtomicU64::new(0),
        idle: Mutex::default(),
    };
    let state = FolderState { ignores: search.ground.start.clone(), entered: false };
    let report = start.walk(request.threads, state, |folder| search.visit(folder))?;
    ctx.check()?;
    let mut skipped = search.skipped.into_inner();
    skipped.denied += report.denied as u64;
    skipped.unreadable += (report.unreadable - report.too_deep) as u64;
    let (too_deep, not_entered) = (report.too_deep as u64, not_entered(&report, &search.ground));
    let found = search.found.into_inner();
    Ok(Findings { found, searched: search.searched.into_inner(), skipped, too_deep, not_entered })
}

/// A file given by name is searched whatever the rules say about it.
fn one_file(ctx: &Ctx, path: &SafePath, request: &Request) -> Result<Findings, Fault> {
    let file = path.file()?;
    let mut found = FoundLines::new(request.room(), request.max_per_file);
    let mut skipped = Skipped::default();
    let mut searched = 0;
    match Looker::new(ctx, request).look(file.handle(), file.size(), request.mode, || request.room()) {
        Look::Searched { count, hits, undecoded } => {
            searched = 1;
            skipped.undecoded = u64::from(undecoded);
            if count > 0 {
                found.add(InFile { path: path.name(), count, hits });
            }
        }
        other => tally(&mut skipped, &other),
    }
    ctx.check()?;
    Ok(Findings { found, searched, skipped, too_deep: 0, not_entered: None })
}

fn tally(skipped: &mut Skipped, look: &Look) {
    match look {
        Look::Searched { undecoded, .. } => skipped.undecoded += u64::from(*undecoded),
        Look::Binary => skipped.binary += 1,
        Look::TooLarge => skipped.too_large += 1,
        Look::Unreadable => skipped.unreadable += 1,
    }
}

/// One search, shared by its threads.
struct ContentSearch<'s> {
    ctx: &'s Ctx,
    request: &'s Request,
    ground: Ground,
    found: Mutex<FoundLines>,
    skipped: Mutex<Skipped>,
    searched: AtomicU64,
    /// Lookers no thread is using: each thread takes one for the time of a folder.
    idle: Mutex<Vec<Looker>>,
}

/// The state that a folder inherits.
struct FolderState {
    ignores: Ignores,
    /// This is a part of a folder whose rules were read before.
    entered: bool,
}

impl ContentSearch<'_> {
    fn visit(&self, folder: &mut Folder<'_, FolderState>) -> Flow {
        if self.ctx.cancel.is_cancelled() {
            return Flow::Stop;
        }
        let mut here = if folder.state.entered {
            self.ground.inside(folder, &folder.state.ignores)
        } else {
            self.ground.enter(folder, &folder.state.ignores)
        };
        let mut entries = std::mem::take(&mut folder.entries);
        if entries.len() > PART && self.request.threads > 1 {
            while !entries.is_empty() {
                let part = entries.split_off(entries.len().saturating_sub(PART));
                folder.hand_over(part, FolderState { ignores: here.ignores.clone(), entered: true });
            }
            return Flow::Continue;
        }
        let mut skipped = Skipped::default();
        let mut searched = 0;
        let mut looker = self.looker();
        for entry in &entries {
            if self.ctx.cancel.is_cancelled() {
                return Flow::Stop;
            }
            if !self.visible(&mut here, entry, &mut skipped) {
                continue;
            }
            if entry.kind == Kind::Directory {
                folder.descend(&entry.name, FolderState { ignores: here.ignores.clone(), entered: false });
                continue;
            }
            let look = self.look(folder, &mut here, entry, &mut looker);
            searched += u64::from(matches!(look, Look::Searched { .. }));
            tally(&mut skipped, &look);
            if searched == TELL_EVERY {
                self.progress(std::mem::take(&mut searched));
            }
        }
        self.idle.lock().push(looker);
        if skipped != Skipped::default() {
            self.skipped.lock().add(&skipped);
        }
        self.progress(searched);
        Flow::Continue
    }

    /// True if an entry is to be searched; if not, it is counted. Globs come first, so only
    /// what would have been searched counts as left out.
    fn visible(&self, here: &mut Here, entry: &WalkEntry, skipped: &mut Skipped) -> bool {
        let means = |globs: &super::super::glob::Globs, here: &mut Here| {
            globs.mean(here.below(&entry.name), &entry.name)
        };
        match entry.kind {
            Kind::File if self.request.include.as_ref().is_some_and(|globs| !means(globs, here)) => {
                return false;
            }
            Kind::File | Kind::Directory => {}
            _ => return false,
        }
        if self.request.exclude.as_ref().is_some_and(|globs| means(globs, here)) {
            return false;
        }
        match here.judge(&entry.name, entry.kind) {
            Standing::Shown => true,
            Standing::Ignored => {
                skipped.ignored += 1;
                false
            }
            Standing::Hidden => {
                let shown = self.request.hidden && (self.request.ignored || entry.name != ".git");
                skipped.hidden += u64::from(!shown);
                shown
            }
        }
    }

    fn look(
        &self,
        folder: &Folder<'_, FolderState>,
        here: &mut Here,
        entry: &WalkEntry,
        looker: &mut Looker,
    ) -> Look {
        let Some((file, size)) = folder.open(&entry.name) else { return Look::Unreadable };
        if size > self.request.max_file {
            return Look::TooLarge;
        }
        let mut path = String::new();
        let mut wanted = false;
        let lines = if self.request.mode == Mode::Lines { self.request.room() } else { 0 };
        let look = looker.look(&file, size, self.request.mode, || {
            path = self.ground.spell(here.below(&entry.name));
            wanted = self.found.lock().wants(&path);
            if wanted { lines } else { 0 }
        });
        match look {
            Look::Searched { count, hits, undecoded } if wanted => {
                self.found.lock().add(InFile { path, count, hits });
                Look::Searched { count, hits: Vec::new(), undecoded }
            }
            Look::Searched { count, .. } if count > 0 => {
                self.found.lock().count(count);
                look
            }
            other => other,
        }
    }

    fn looker(&self) -> Looker {
        let idle = self.idle.lock().pop();
        idle.unwrap_or_else(|| Looker::new(self.ctx, self.request))
    }

    fn progress(&self, searched: u64) {
        let before = self.searched.fetch_add(searched, Ordering::Relaxed);
        let done = before + searched;
        if before / NOTE_EVERY != done / NOTE_EVERY && self.ctx.progress.wanted() {
            let message = format!("searched {done} files");
            self.ctx.progress.note(ProgressNote { done, total: None, message });
        }
    }
}
