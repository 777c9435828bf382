//! `move_file`: gives a file or directory another name.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Subject, Wants,
    security::{Access, Batch, Kind, PathError, RawPath, Reason, SafePath},
};
use tectum_native::NativeTool;

use super::{
    delete_file::LARGEST_IMAGE,
    pen::{Pen, Undo, closing, full_name, unconfirmed, was},
    undo_record::{Image, Left, Record, UndoStep, Was},
};
use crate::{cards::CHANGES, text::revision};

/// Move or rename a file or directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    source: RawPath,
    destination: RawPath,
    #[serde(default)]
    overwrite: bool,
}

/// What was moved.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// Where it was.
    source: String,
    /// Where it is.
    destination: String,
    /// True when a file that stood there went.
    overwritten: bool,
    /// What undo_edit takes to undo this; absent when it cannot be undone.
    #[schemars(with = "Option<String>")]
    undo: Undo,
}

/// Moves things.
pub fn move_file(pen: Arc<Pen>) -> NativeTool {
    let card = Card { name: "move_file", title: "Move file", primary: "source", ..CHANGES };
    let wants = |args: &Args| Wants {
        subject: Subject::Path(args.source.clone()),
        paths: vec![(args.source.clone(), Access::Remove), (args.destination.clone(), Access::Place)],
    };
    NativeTool::row(card, "", wants, move |ctx, args: Args| rename(&pen, ctx, args.overwrite))
}

fn rename(pen: &Pen, ctx: &Ctx, overwrite: bool) -> Result<Reply<Output>, Fault> {
    let (source, destination) = (ctx.path(0)?, ctx.path(1)?);
    let (from, to) = (source.name(), destination.name());
    if from == to {
        return Err(Fault::invalid(format!("{from} already has this name")));
    }
    let standing = destination.kind();
    match standing {
        Some(Kind::Directory) => {
            let inside = format!("{to}/{}", from.rsplit('/').next().unwrap_or(&from));
            return Err(Fault::conflict(format!("already exists: {to} is a directory"))
                .hint(format!("to move into it, give the full new name: {inside}")));
        }
        Some(kind) if !overwrite => {
            return Err(Fault::conflict(format!("already exists: {to} is a {kind}"))
                .hint("choose another name, or pass overwrite=true to let it go"));
        }
        _ => {}
    }
    let record = record(source, destination, standing)?;
    ctx.begin_change()?;
    let kept = match record {
        Some(record) => pen.undo.keep(ctx.call, record),
        None => Err("what stood there is too large or too special to be kept".to_owned()),
    };
    let moved = source.rename_to(destination, overwrite, pen.durability);
    let (undo, settled) = pen.settle(ctx, kept, moved)?;
    let overwritten = standing.is_some();
    let went = if overwritten { ", replacing what stood there" } else { "" };
    let note = unconfirmed(&settled);
    let text = format!("Moved {from} to {to}{went}\n{note}{}", closing("", &undo, false));
    Ok(Reply::new(text, Output { source: from, destination: to, overwritten, undo }))
}

/// The record that undoes the move; `None` when something goes that is too large or too special to
/// keep.
fn record(
    source: &SafePath,
    destination: &SafePath,
    standing: Option<Kind>,
) -> Result<Option<Record<'static>>, Fault> {
    let left = match image(source, source.kind())? {
        Some(image) => Left::Revision(revision(&image.bytes)),
        None => source.identity().map_or(Left::Anything, |(device, inode)| Left::Object(device, inode)),
    };
    let (path, made) = (full_name(destination), destination.missing_folders());
    let moved = UndoStep { path, was: Was::Elsewhere(full_name(source)), left, made };
    if standing.is_none() {
        return Ok(Some(Record { steps: vec![moved] }));
    }
    let replaced = image(destination, standing)?;
    Ok(replaced.map(|image| {
        let (path, was) = (full_name(destination), Was::File(image));
        let replaced = UndoStep { path, was, left: Left::Anything, made: 0 };
        Record { steps: vec![moved, replaced] }
    }))
}

/// A file as it is; `None` for anything else, for what is too large to keep, and for a file with
/// other names, which keep its content.
fn image(path: &SafePath, kind: Option<Kind>) -> Result<Option<Image<'static>>, Fault> {
    if kind != Some(Kind::File) {
        return Ok(None);
    }
    match Batch::open(&[path], LARGEST_IMAGE) {
        Ok(batch) => Ok(match was(&batch.slots()[0]) {
            Was::File(image) => Some(image.into_owned()),
            _ => None,
        }),
        Err(PathError::TooLarge { .. }) => Ok(None),
        // Its other names do not care what this one is.
        Err(PathError::Denied(denied)) if denied.reason == Reason::HardLinked => Ok(None),
        Err(error) => Err(error.into()),
    }
}
