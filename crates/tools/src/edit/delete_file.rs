//! `delete_file`: takes a file, a link or a directory away.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Wants,
    security::{Access, Batch, Kind, PathError, RawPath, Reason, SafePath, Settled},
};
use tectum_native::NativeTool;

use super::pen::{Intent, Pen, Undo, closing, unconfirmed};
use crate::cards::CHANGES;

/// The largest file that is kept for undo when it goes, in bytes. A larger one is deleted
/// without reading it.
pub(super) const LARGEST_IMAGE: u64 = 8 * 1024 * 1024;

/// Delete a file or directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: RawPath,
    #[serde(default)]
    recursive: bool,
}

/// What was deleted.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// Its name.
    path: String,
    /// What it was: `file`, `directory`, `symbolic link`, …
    kind: String,
    /// What undo_edit takes to bring it back; absent when it cannot be brought back.
    #[schemars(with = "Option<String>")]
    undo: Undo,
}

/// Deletes things.
pub fn delete_file(pen: Arc<Pen>) -> NativeTool {
    let card = Card { name: "delete_file", title: "Delete file", ..CHANGES };
    let wants = |args: &Args| Wants::path(&args.path, Access::Remove);
    NativeTool::row(card, "", wants, move |ctx, args: Args| delete(&pen, ctx, args.recursive))
}

fn delete(pen: &Pen, ctx: &Ctx, recursive: bool) -> Result<Reply<Output>, Fault> {
    let path = ctx.path(0)?;
    let name = path.name();
    let kind = path.kind().ok_or_else(|| PathError::NotFound(path.missing()))?;
    let Deleted { undo, settled, shared } = match kind {
        Kind::File => delete_one_file(pen, ctx, path)?,
        _ => Deleted::unkept(pen, ctx, path, recursive, format!("a {kind} is not kept"))?,
    };
    let others = if shared { " (its content has other names, hard links, which stay)" } else { "" };
    let note = unconfirmed(&settled);
    let text = format!("Deleted {kind} {name}{others}\n{note}{}", closing("", &undo, false));
    Ok(Reply::new(text, Output { path: name, kind: kind.to_string(), undo }))
}

/// The outcome of a deletion.
struct Deleted {
    undo: Undo,
    settled: Settled,
    /// True if the content has other names.
    shared: bool,
}

impl Deleted {
    fn unkept(pen: &Pen, ctx: &Ctx, path: &SafePath, recursive: bool, why: String) -> Result<Self, Fault> {
        ctx.begin_change()?;
        let settled = path.remove(recursive, pen.durability)?;
        Ok(Self { undo: Undo::none(why), settled, shared: false })
    }
}

fn delete_one_file(pen: &Pen, ctx: &Ctx, path: &SafePath) -> Result<Deleted, Fault> {
    match Batch::open(&[path], LARGEST_IMAGE) {
        Ok(batch) => match batch.slots()[0].current() {
            Some(_) => {
                let undo = pen.commit(ctx, batch, vec![Intent::delete()])?;
                Ok(Deleted { undo, settled: Settled::Confirmed, shared: false })
            }
            None => Err(PathError::NotFound(path.missing()).into()),
        },
        Err(PathError::TooLarge { limit, .. }) => {
            let why = format!("a file of more than {} MiB is not kept", limit >> 20);
            Deleted::unkept(pen, ctx, path, false, why)
        }
        // The other names keep the content, and a copy put back here would not be one of them.
        Err(PathError::Denied(denied)) if denied.reason == Reason::HardLinked => {
            let why = "a copy would not be one of its other names".to_owned();
            Ok(Deleted { shared: true, ..Deleted::unkept(pen, ctx, path, false, why)? })
        }
        Err(error) => Err(error.into()),
    }
}
