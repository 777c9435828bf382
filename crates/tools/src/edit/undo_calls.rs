//! Taking back the changes of many calls at once, file by file. `tectum undo` uses it for a session; it
//! is no tool of the catalog, because an agent takes back one change at a time.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    CallId, Card, Ctx, Fault, Reply, Subject, Wants,
    security::{Access, Batch, RawPath, SafePath},
};
use tectum_native::{NativeSet, NativeTool};

use super::{
    diff,
    pen::{Intent, Pen, Undo, closing, was},
    undo_folders::{self, undo_folders},
    undo_images::{Images, Records},
    undo_moves::{Changes, WholeMove, undo_move},
    undo_record::{Image, Left, Record, UndoStep, Was},
};
use crate::{Settings, cards::CHANGES, text::revision};

/// The part of a file's diff that is told.
const SHOWN: diff::Limit = diff::Limit { lines: 4000, bytes: 256 * 1024 };

/// The name of the tool that takes back what calls changed in files.
pub const UNDO_CALLS: &str = "undo_calls";

/// The tools that take back the changes of many calls.
pub fn undo_calls(settings: &Settings) -> NativeSet {
    tools(Images::new(settings))
}

/// The same in a copy of a project, whose before-images are in this directory. What was changed below the
/// first of the two directories is taken back below the second.
pub fn undo_calls_in_copy(
    settings: &Settings,
    images: Option<PathBuf>,
    places: (String, String),
) -> NativeSet {
    tools(Images::in_copy(settings, images, places))
}

fn tools(images: Images) -> NativeSet {
    let images = Arc::new(images);
    let card = Card { name: UNDO_CALLS, title: "Undo calls", primary: "", ..CHANGES };
    let wants = {
        let images = images.clone();
        move |args: &UndoneCalls| {
            let paths = files(&Changes::of(images.records(&args.calls)).files);
            let paths = paths.into_iter().map(|path| (RawPath::new(path), Access::Write)).collect();
            Wants { subject: Subject::None, paths }
        }
    };
    let (moves, folders) = (undo_move(images.clone()), undo_folders(images.clone()));
    let tool = NativeTool::row(card, "Undo the changes of these calls.", wants, move |ctx, args| {
        run(&images, ctx, &args)
    });
    NativeSet::new(vec![tool, moves, folders])
}

/// The calls whose changes are taken back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoneCalls {
    /// Their ids, the newest first.
    pub calls: Vec<String>,
    /// Only tell what would be done.
    #[serde(default)]
    pub dry_run: bool,
}

/// The changes that were taken back, or would be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Each file that the calls changed.
    pub files: Vec<FileReport>,
    /// The things that were moved as a whole, the last move first: each is taken back by a call of its own, afterwards.
    pub moves: Vec<WholeMove>,
    /// The folders that the calls made. Those that are empty then are taken away by a call of their own, after the moves.
    pub folders: Vec<String>,
    /// The calls whose changes are known.
    pub calls: Vec<String>,
    /// True when nothing was written.
    pub dry_run: bool,
    /// The call that undo_edit takes to undo this.
    #[schemars(with = "Option<String>")]
    pub undo: Undo,
}

/// What becomes of one file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileReport {
    /// Its name.
    pub path: String,
    /// What is done with it.
    pub fate: Fate,
    /// How many calls changed it.
    pub calls: usize,
    /// Why nothing is done; empty otherwise.
    pub why: String,
    /// What became of the file since before the first of these changes; empty unless this only tells.
    pub diff: String,
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It gets its earlier content.
    Restored,
    /// It was made by the calls, and goes.
    Deleted,
    /// It is as it was before already.
    Unchanged,
    /// Somebody else changed it since, or it cannot be put back from here.
    Refused,
}

/// Every file that these changes touch, once each.
fn files(changes: &Records) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for step in changes.iter().flat_map(|(_, record)| &record.steps) {
        let from = match &step.was {
            Was::Elsewhere(from) => Some(from),
            _ => None,
        };
        for path in std::iter::once(&step.path).chain(from) {
            if !files.contains(path) {
                files.push(path.clone());
            }
        }
    }
    files
}

/// One file on its way back.
#[derive(Debug, Default)]
struct Track {
    /// What stands there on the disk.
    disk: Option<Image<'static>>,
    /// What would stand there with the changes so far taken back.
    now: Option<Image<'static>>,
    /// What the oldest change took away.
    first: Option<Image<'static>>,
    calls: usize,
    refused: Option<String>,
}

impl Track {
    /// Takes one change back, if what it left is there.
    fn back(&mut self, call: CallId, left: &Left, was: Option<Image<'static>>) {
        self.calls += 1;
        self.first.clone_from(&was);
        if self.refused.is_some() {
            return;
        }
        if stands(self.now.as_ref(), left) {
            self.now = was;
        } else {
            self.refused = Some(format!("it was changed by somebody else after call {call}"));
        }
    }

    fn report(&self, path: String, dry_run: bool) -> FileReport {
        let same = |one: &Option<Image<'_>>, other: &Option<Image<'_>>| match (one, other) {
            (Some(one), Some(other)) => one.bytes == other.bytes,
            (None, None) => true,
            _ => false,
        };
        let (fate, why) = match &self.refused {
            Some(_) if same(&self.disk, &self.first) => (Fate::Unchanged, String::new()),
            Some(why) => (Fate::Refused, why.clone()),
            None if same(&self.disk, &self.now) => (Fate::Unchanged, String::new()),
            None if self.now.is_some() => (Fate::Restored, String::new()),
            None => (Fate::Deleted, String::new()),
        };
        let diff = if dry_run { self.diff(&path) } else { String::new() };
        FileReport { path, fate, calls: self.calls, why, diff }
    }

    fn diff(&self, path: &str) -> String {
        let text = |image: &Option<Image<'_>>| {
            String::from_utf8_lossy(image.as_ref().map_or(&[][..], |image| &image.bytes)).into_owned()
        };
        let (before, after) = (text(&self.first), text(&self.disk));
        if before == after { String::new() } else { diff::unified(path, &before, &after, SHOWN) }
    }
}

/// Whether this is what a call left.
fn stands(now: Option<&Image<'_>>, left: &Left) -> bool {
    match (left, now) {
        (Left::Revision(left), Some(image)) => revision(&image.bytes) == *left,
        (Left::Nothing, None) | (Left::Anything, _) => true,
        _ => false,
    }
}

fn run(images: &Images, ctx: &Ctx, args: &UndoneCalls) -> Result<Reply<Report>, Fault> {
    let records = images.records(&args.calls);
    let folders = undo_folders::names(records.iter().flat_map(|(_, record)| &record.steps));
    let Changes { files: changes, moves: whole, covered, calls } = Changes::of(records);
    let names = files(&changes);
    if names.len() != ctx.grants.paths().len() {
        return Err(Fault::conflict("the record of a change was replaced while the call was prepared"));
    }
    let mut tracks: BTreeMap<String, Track> = BTreeMap::new();
    for (name, path) in names.iter().zip(ctx.grants.paths()) {
        ctx.check()?;
        tracks.insert(name.clone(), look(path));
    }
    let mut moves = Vec::new();
    for (call, record) in &changes {
        take_back(&mut tracks, &mut moves, *call, record);
    }
    spread_refusals(&mut tracks, &moves);
    let granted: BTreeMap<&String, &SafePath> = names.iter().zip(ctx.grants.paths()).collect();
    let shown = |path: &String| granted.get(path).map_or_else(|| path.clone(), |granted| granted.name());
    let mut files: Vec<FileReport> =
        tracks.iter().map(|(path, track)| track.report(shown(path), args.dry_run)).collect();
    let mut undo = Undo::default();
    if !args.dry_run {
        let changed =
            tracks.iter().zip(&files).filter(|(_, file)| matches!(file.fate, Fate::Restored | Fate::Deleted));
        let changed: Vec<(&SafePath, &Track)> =
            changed.filter_map(|((path, track), _)| Some((*granted.get(path)?, track))).collect();
        if !changed.is_empty() {
            undo = put_back(&images.pen, ctx, &changed)?;
        }
    }
    files.extend(covered.into_iter().map(|(path, call)| {
        let why =
            format!("call {call} moved something else to this name later; undo that first, then try again");
        FileReport { path, fate: Fate::Refused, calls: 1, why, diff: String::new() }
    }));
    let folders = folders.into_iter().collect();
    let report = Report { files, moves: whole, folders, calls, dry_run: args.dry_run, undo };
    let count = |fate: Fate| report.files.iter().filter(|file| file.fate == fate).count();
    let text = format!(
        "{} restored, {} deleted, {} unchanged, {} refused\n{}",
        count(Fate::Restored),
        count(Fate::Deleted),
        count(Fate::Unchanged),
        count(Fate::Refused),
        closing("", &report.undo, report.dry_run)
    );
    Ok(Reply::new(text, report))
}

/// A file as it stands on the disk.
fn look(path: &SafePath) -> Track {
    match Batch::open(&[path], u64::MAX - 1) {
        Ok(batch) => {
            let disk = match was(&batch.slots()[0]) {
                Was::File(image) => Some(image.into_owned()),
                _ => None,
            };
            Track { now: disk.clone(), disk, ..Track::default() }
        }
        Err(error) => Track { refused: Some(Fault::from(error).message), ..Track::default() },
    }
}

/// Takes back what one call did. A move is two changes: the content goes to its old name, and what it had
/// replaced comes back.
fn take_back(
    tracks: &mut BTreeMap<String, Track>,
    moves: &mut Vec<(String, String)>,
    call: CallId,
    record: &Record<'static>,
) {
    let image = |step: &UndoStep<'static>| match &step.was {
        Was::File(image) => Some(image.clone()),
        _ => None,
    };
    match record.steps.as_slice() {
        [moved, replaced @ ..] if let Was::Elsewhere(from) = &moved.was => {
            moves.push((from.clone(), moved.path.clone()));
            let content = tracks.get(&moved.path).and_then(|track| track.now.clone());
            if let Some(there) = tracks.get_mut(&moved.path) {
                there.back(call, &moved.left, replaced.first().and_then(image));
            }
            if let Some(back) = tracks.get_mut(from) {
                back.back(call, &Left::Nothing, content);
            }
        }
        steps => {
            for step in steps {
                if let Some(track) = tracks.get_mut(&step.path) {
                    track.back(call, &step.left, image(step));
                }
            }
        }
    }
}

/// Both names of a move go back, or none of them.
fn spread_refusals(tracks: &mut BTreeMap<String, Track>, moves: &[(String, String)]) {
    let refused = |tracks: &BTreeMap<String, Track>, path: &String| {
        tracks.get(path).is_some_and(|track| track.refused.is_some())
    };
    let mut spread = true;
    while spread {
        spread = false;
        for (one, other) in moves.iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
            if refused(tracks, one)
                && !refused(tracks, other)
                && let Some(track) = tracks.get_mut(other)
            {
                track.refused = Some(format!("it was moved from or to {one}, which stays as it is"));
                spread = true;
            }
        }
    }
}

/// Writes what the files were, all of them or none.
fn put_back(pen: &Pen, ctx: &Ctx, changed: &[(&SafePath, &Track)]) -> Result<Undo, Fault> {
    let paths: Vec<&SafePath> = changed.iter().map(|(path, _)| *path).collect();
    let batch = Batch::open(&paths, u64::MAX - 1)?;
    for (slot, (path, track)) in batch.slots().iter().zip(changed) {
        if slot.current() != track.disk.as_ref().map(|image| &*image.bytes) {
            let name = path.name();
            return Err(Fault::conflict(format!("{name} was changed just now; nothing was undone"))
                .hint("run it again to see what is left to undo"));
        }
    }
    let intent = |(_, track): &(&SafePath, &Track)| match track.now.clone() {
        Some(image) => Intent::restore(image),
        None => Intent::delete(),
    };
    pen.commit(ctx, batch, changed.iter().map(intent).collect())
}
