//! The steps that every editing tool shares: lock, read, compare, keep the old, write.

use std::{fmt::Write, path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{
    Ctx, Fault,
    security::{Batch, Change, Durability, PathError, SafePath, Settled, Slot},
};

use super::{
    diff,
    undo::UndoStore,
    undo_record::{Image, Left, Record, UndoStep, Was},
};
use crate::{
    Settings,
    diagnostics::Known,
    text::{TextFile, revision},
};

/// The common part of the editing tools: limits, promises and the way back.
#[derive(Debug)]
pub struct Pen {
    pub(super) durability: Durability,
    pub(crate) max_file: u64,
    pub(super) undo: UndoStore,
    /// Learns which files were changed.
    pub(crate) known: Arc<Known>,
}

/// The conditions of an edit.
#[derive(Debug)]
pub(crate) struct Terms {
    /// The content the caller believes to be there.
    pub(crate) revision: Option<String>,
    pub(crate) dry_run: bool,
}

/// What every edit of one file tells.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Written {
    /// The file.
    pub path: String,
    /// What changed, as a unified diff. A long one is cut and says so.
    pub diff: String,
    /// Names the content the file has now. Given to the next edit as `revision`, it makes sure
    /// that nobody changed the file in between.
    pub revision: String,
    /// True when nothing was written.
    pub dry_run: bool,
    /// What undo_edit takes to undo this; absent when nothing was written or kept.
    #[schemars(with = "Option<String>")]
    pub undo: Undo,
}

/// The way back from a change: the call that undo_edit takes, or why there is none. As data it is
/// the call alone.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(into = "Option<String>")]
pub struct Undo {
    call: Option<String>,
    why_not: String,
}

impl From<Undo> for Option<String> {
    fn from(undo: Undo) -> Self {
        undo.call
    }
}

impl Undo {
    /// There is none, for this reason.
    pub(crate) fn none(why: impl Into<String>) -> Self {
        Self { call: None, why_not: why.into() }
    }
}

impl Written {
    /// The last lines of a reply: the diff, the revision and the way back.
    pub(crate) fn closing(&self) -> String {
        format!("{}{}", self.diff, closing(&self.revision, &self.undo, self.dry_run))
    }
}

/// The last line of a reply.
pub(crate) fn closing(revision: &str, undo: &Undo, dry_run: bool) -> String {
    let mut line = String::new();
    if !revision.is_empty() {
        let _ = write!(line, "Revision: {revision}. ");
    }
    let _ = match &undo.call {
        Some(call) => write!(line, "Undo: {call}"),
        None if dry_run => write!(line, "Dry run: nothing was written."),
        None => write!(line, "This cannot be undone: {}.", undo.why_not),
    };
    line
}

impl Pen {
    /// With these settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            durability: settings.durability,
            max_file: settings.max_file,
            undo: UndoStore::new(settings.state_dir.clone(), settings.durability),
            known: Arc::default(),
        }
    }

    /// Reads the call's one file, lets `work` make a new one of it, and writes that: all under
    /// the lock of its folder, so nothing can come between.
    pub(crate) fn revise<T>(
        &self,
        ctx: &Ctx,
        terms: &Terms,
        work: impl FnOnce(&str, &TextFile) -> Result<(TextFile, T), Fault>,
    ) -> Result<(Written, T), Fault> {
        let path = ctx.path(0)?;
        let name = path.name();
        let batch = Batch::open(&[path], self.max_file)?;
        let current = batch.slots()[0].current().ok_or_else(|| absent(path))?;
        check_revision(&name, current, terms.revision.as_deref())?;
        let before = TextFile::decode(current.to_vec()).map_err(|not_text| not_text.fault(&name))?;
        let (after, told) = work(&name, &before)?;
        if after.bytes() == before.bytes() {
            return Err(idle(&name));
        }
        after.check_reads_again()?;
        let diff = diff::unified(&name, before.text(), after.text(), diff::REPLY);
        if terms.dry_run {
            batch.slots()[0].check_writable()?;
            let revision = revision(before.bytes());
            return Ok((Written { path: name, diff, revision, dry_run: true, undo: Undo::default() }, told));
        }
        drop(before);
        let revision = revision(after.bytes());
        let intent = Intent::write(after.into_bytes(), &revision);
        let undo = self.commit(ctx, batch, vec![intent])?;
        Ok((Written { path: name, diff, revision, dry_run: false, undo }, told))
    }

    /// Keeps what the changes take away, then makes them. Gives the id to undo them by.
    pub(crate) fn commit(&self, ctx: &Ctx, batch: Batch<'_>, intents: Vec<Intent>) -> Result<Undo, Fault> {
        ctx.begin_change()?;
        let (mut changes, mut steps) = (Vec::new(), Vec::new());
        for (slot, Intent { change, left }) in batch.slots().iter().zip(intents) {
            let made = slot.path().missing_folders();
            steps.push(UndoStep { path: full_name(slot.path()), was: was(slot), left, made });
            changes.push(change);
        }
        let changed: Vec<PathBuf> = batch.slots().iter().map(|slot| slot.path().absolute()).collect();
        let kept = self.undo.keep(ctx.call, Record { steps });
        let (undo, ()) = self.settle(ctx, kept, batch.commit(changes, self.durability))?;
        changed.into_iter().for_each(|path| self.known.note(path));
        Ok(undo)
    }

    /// The way back from a change, if its record was kept; forgets the record if nothing changed.
    pub(super) fn settle<T>(
        &self,
        ctx: &Ctx,
        kept: Result<(), String>,
        done: Result<T, PathError>,
    ) -> Result<(Undo, T), Fault> {
        match (done, kept) {
            (Ok(done), Ok(())) => {
                Ok((Undo { call: Some(ctx.call.to_string()), why_not: String::new() }, done))
            }
            (Ok(done), Err(why)) => Ok((Undo::none(why), done)),
            // Something did change, so the record may be what is left of the old content.
            (Err(error @ PathError::Unfinished { .. }), Ok(())) => {
                let hint =
                    format!("look at what is there; undo_edit {} knows what was there before", ctx.call);
                Err(Fault::from(error).hint(hint))
            }
            (Err(error), kept) => {
                if kept.is_ok() {
                    self.undo.forget(ctx.call);
                }
                Err(error.into())
            }
        }
    }
}

/// The sentence a reply adds when the disk did not confirm a change that was made.
pub(super) fn unconfirmed(settled: &Settled) -> String {
    match settled {
        Settled::Confirmed => String::new(),
        Settled::Unconfirmed(error) => format!(
            "Note: this is done, but the disk did not confirm it ({error}); it may be lost if the power fails.\n"
        ),
    }
}

/// A change, and what it will leave.
#[derive(Debug)]
pub(crate) struct Intent {
    change: Change,
    left: Left,
}

impl Intent {
    /// New content, which has this revision.
    pub(crate) fn write(bytes: Vec<u8>, revision: &str) -> Self {
        Self { change: Change::Write(bytes), left: Left::Revision(revision.to_owned()) }
    }

    /// Content and mode from a record.
    pub(super) fn restore(image: Image<'_>) -> Self {
        let left = Left::Revision(revision(&image.bytes));
        Self { change: Change::Create { bytes: image.bytes.into_owned(), mode: image.mode }, left }
    }

    pub(super) fn delete() -> Self {
        Self { change: Change::Delete, left: Left::Nothing }
    }
}

/// The content of a slot, for a record.
pub(super) fn was<'s>(slot: &'s Slot<'_>) -> Was<'s> {
    match (slot.current(), slot.mode()) {
        (Some(bytes), Some(mode)) => Was::File(Image { bytes: bytes.into(), mode }),
        _ => Was::Nothing,
    }
}

/// The name a record keeps: it stays true when the primary base changes.
pub(super) fn full_name(path: &SafePath) -> String {
    path.absolute().to_string_lossy().into_owned()
}

/// Refuses content that is not the one the caller believes in.
pub(crate) fn check_revision(name: &str, content: &[u8], believed: Option<&str>) -> Result<(), Fault> {
    // Without a belief there is nothing to compare, and the content need not be hashed.
    let Some(believed) = believed else { return Ok(()) };
    let now = revision(content);
    if believed == now {
        return Ok(());
    }
    Err(Fault::conflict(format!(
        "{name} changed since revision {believed}: it is at revision {now} now; nothing was changed"
    ))
    .hint("read it again, then repeat the edit with the new revision"))
}

/// The same with the names that stand beside it.
pub(super) fn absent(path: &SafePath) -> Fault {
    let mut fault = Fault::from(PathError::NotFound(path.missing()));
    let near = fault.hint.take().unwrap_or_default();
    fault.hint(format!("{near}{} write_file makes a new file", if near.ends_with('?') { "" } else { ";" }))
}

/// The answer to an edit of nothing.
pub(crate) fn missing(name: &str) -> Fault {
    Fault::not_found(format!("file not found: {name}"))
        .hint("write_file makes a new file; list_directory shows what is there")
}

/// The answer to an edit that leaves everything as it is.
pub(crate) fn idle(name: &str) -> Fault {
    Fault::conflict(format!("{name} already has exactly this content, so the edit would change nothing"))
        .hint("line ends are always written as the file has them; check whether the edit was made before")
}
