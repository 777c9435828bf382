//! `undo_edit`: takes one earlier change back, without git.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    CallId, Card, Ctx, Fault, Reply, Subject, Wants,
    security::{Access, Batch, Change, Kind, PathError, RawPath, SafePath, Slot},
};
use tectum_native::NativeTool;

use super::{
    pen::{Intent, Pen, Undo, closing, unconfirmed},
    undo_folders::remove_empty,
    undo_record::{Left, Record, UndoStep, Was},
};
use crate::{cards::CHANGES, text::revision};

/// Files of each kind that a reply names.
const NAMED: usize = 50;

/// Undo a change by the id in its reply.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    call_id: String,
}

/// What was undone.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The files that are as they were before the change.
    restored: Vec<String>,
    /// The files and folders the change had made, now gone.
    deleted: Vec<String>,
    /// What undo_edit takes to undo this; absent when it cannot be undone.
    #[schemars(with = "Option<String>")]
    pub(super) undo: Undo,
}

/// Undoes changes.
pub fn undo_edit(pen: Arc<Pen>) -> NativeTool {
    let card = Card { name: "undo_edit", title: "Undo edit", primary: "call_id", ..CHANGES };
    let records = pen.clone();
    // The paths of the change, as its record has them. An unknown change has none.
    let wants = move |args: &Args| {
        let record = CallId::parse(&args.call_id).and_then(|call| records.undo.find(call).ok());
        let steps = record.map(|record| record.steps).unwrap_or_default();
        Wants { subject: Subject::Text(args.call_id.clone()), paths: steps.iter().flat_map(paths).collect() }
    };
    NativeTool::row(card, "", wants, move |ctx, args| undo(&pen, ctx, &args))
}

/// The names that one step needs to be undone.
pub(super) fn paths(step: &UndoStep<'_>) -> Vec<(RawPath, Access)> {
    let path = RawPath::new(step.path.as_str());
    match (&step.was, &step.left) {
        (Was::Elsewhere(from), _) => {
            vec![(path, Access::Remove), (RawPath::new(from.as_str()), Access::Place)]
        }
        // What a move replaced: its name is taken by what was moved there until that is back.
        (_, Left::Anything) => vec![(path, Access::Place)],
        _ => vec![(path, Access::Write)],
    }
}

fn undo(pen: &Pen, ctx: &Ctx, args: &Args) -> Result<Reply<Output>, Fault> {
    let call = CallId::parse(&args.call_id).ok_or_else(|| {
        Fault::invalid(format!("`{}` is not a call id", args.call_id))
            .hint("it looks like c-0123456789abcdef and stands after `Undo:` in the reply to a change")
    })?;
    let record = pen.undo.find(call)?;
    let declared: usize = record.steps.iter().map(|step| paths(step).len()).sum();
    if ctx.grants.paths().len() != declared {
        return Err(Fault::conflict("the record of this change was replaced while the call was prepared"));
    }
    let moved = record.steps.iter().any(|step| matches!(step.was, Was::Elsewhere(_)));
    let (output, note) =
        if moved { move_back(pen, ctx, record)? } else { (put_back(pen, ctx, record)?, String::new()) };
    let mut text = format!("Undid {call}");
    for (what, names) in [("restored", &output.restored), ("deleted", &output.deleted)] {
        if names.is_empty() {
            continue;
        }
        text.push_str(&format!(", {what} {}", names[..names.len().min(NAMED)].join(", ")));
        if names.len() > NAMED {
            text.push_str(&format!(" and {} more", names.len() - NAMED));
        }
    }
    text.push('\n');
    text.push_str(&note);
    text.push_str(&closing("", &output.undo, false));
    Ok(Reply::new(text, output))
}

fn put_back(pen: &Pen, ctx: &Ctx, record: Record<'_>) -> Result<Output, Fault> {
    let files: Vec<&SafePath> = ctx.grants.paths().iter().collect();
    // The old content is written back even if the limit for edits is smaller now.
    let batch = Batch::open(&files, u64::MAX - 1)?;
    let is_back = |(slot, step): (&Slot<'_>, &UndoStep<'_>)| match (&step.was, slot.current()) {
        (Was::File(image), Some(current)) => *image.bytes == *current,
        (Was::Nothing, None) => true,
        _ => false,
    };
    let stands = |(slot, step): (&Slot<'_>, &UndoStep<'_>)| unchanged(slot.current(), &step.left);
    let pairs = || batch.slots().iter().zip(&record.steps);
    if !pairs().all(stands) && pairs().all(is_back) {
        return Err(undone());
    }
    let (mut restored, mut deleted, mut intents) = (Vec::new(), Vec::new(), Vec::new());
    let made: Vec<(&SafePath, usize)> =
        files.iter().copied().zip(record.steps.iter().map(|step| step.made)).collect();
    for (slot, step) in batch.slots().iter().zip(record.steps) {
        let name = slot.path().name();
        refuse_changed(&name, slot.current(), &step.left)?;
        intents.push(match step.was {
            Was::File(image) => {
                restored.push(name);
                Intent::restore(image)
            }
            _ => {
                deleted.push(name);
                Intent::delete()
            }
        });
    }
    let undo = pen.commit(ctx, batch, intents)?;
    deleted.extend(remove_empty(pen, made));
    Ok(Output { restored, deleted, undo })
}

/// Gives a moved thing its old name, then puts back what it had replaced.
pub(super) fn move_back(pen: &Pen, ctx: &Ctx, record: Record<'_>) -> Result<(Output, String), Fault> {
    let (there, back) = (ctx.path(0)?, ctx.path(1)?);
    let mut steps = record.steps.into_iter();
    let moved = steps.next().ok_or_else(|| Fault::internal("a record without steps"))?;
    check_move(there, back, &moved.left)?;
    let replaced = steps.next();
    let own = match (&moved.was, &replaced) {
        (Was::Elsewhere(from), None) => {
            let again = UndoStep {
                path: from.clone(),
                was: Was::Elsewhere(moved.path.clone()),
                left: moved.left.clone(),
                made: back.missing_folders(),
            };
            Some(Record { steps: vec![again] })
        }
        // Undoing this would mean to overwrite once more, which a person should ask for.
        _ => None,
    };
    ctx.begin_change()?;
    let kept = match own {
        Some(record) => pen.undo.keep(ctx.call, record),
        None => Err("that would overwrite a file once more".to_owned()),
    };
    let (undo, settled) = pen.settle(ctx, kept, there.rename_to(back, false, pen.durability))?;
    let mut restored = vec![back.name()];
    if let Some(UndoStep { was: Was::File(image), .. }) = replaced {
        let batch = Batch::open(&[ctx.path(2)?], u64::MAX - 1)?;
        let again = Change::Create { bytes: image.bytes.into_owned(), mode: image.mode };
        batch.commit(vec![again], pen.durability).map_err(|error| half_undone(error, there, back))?;
        restored.push(there.name());
    }
    let deleted = remove_empty(pen, vec![(there, moved.made)]);
    Ok((Output { restored, deleted, undo }, unconfirmed(&settled)))
}

/// Refuses to move back what is not there any more, and to where something else stands.
pub(super) fn check_move(there: &SafePath, back: &SafePath, left: &Left) -> Result<(), Fault> {
    if is_this(back, left) && !is_this(there, left) {
        return Err(undone());
    }
    match *left {
        Left::Revision(_) => {
            let batch = Batch::open(&[there], u64::MAX - 1)?;
            refuse_changed(&there.name(), batch.slots()[0].current(), left)?;
        }
        Left::Object(device, inode) => match there.identity() {
            Some(now) if now == (device, inode) => {}
            Some(_) => return Err(changed(&there.name(), "something else has this name now")),
            None => return Err(changed(&there.name(), "it is gone now")),
        },
        Left::Nothing | Left::Anything => {}
    }
    if let Some(kind) = back.kind() {
        let (there, back) = (there.name(), back.name());
        return Err(Fault::conflict(format!(
            "{there} cannot get its old name back: {back} is a {kind} now; nothing was undone"
        ))
        .hint(format!("move or delete {back} first, or give {there} a name with move_file")));
    }
    Ok(())
}

/// True if the thing a move left is what stands here.
fn is_this(path: &SafePath, left: &Left) -> bool {
    match left {
        Left::Revision(_) if path.kind() == Some(Kind::File) => {
            let batch = Batch::open(&[path], u64::MAX - 1);
            batch.is_ok_and(|batch| unchanged(batch.slots()[0].current(), left))
        }
        Left::Object(device, inode) => path.identity() == Some((*device, *inode)),
        _ => false,
    }
}

/// True if what a call left still stands there.
fn unchanged(current: Option<&[u8]>, left: &Left) -> bool {
    match (left, current) {
        (Left::Anything | Left::Object(..), _) | (Left::Nothing, None) => true,
        (Left::Revision(left), Some(current)) => revision(current) == *left,
        _ => false,
    }
}

fn half_undone(error: PathError, there: &SafePath, back: &SafePath) -> Fault {
    let mut fault = Fault::from(error);
    let (there, back) = (there.name(), back.name());
    fault.message =
        format!("{back} has its old name again, but what stood at {there} is not back: {}", fault.message);
    fault
}

fn undone() -> Fault {
    Fault::conflict("everything is as it was before that call, so it was undone already; nothing was changed")
        .hint("to make the change again, undo the undoing: its reply ended with its own id")
}

fn refuse_changed(name: &str, current: Option<&[u8]>, left: &Left) -> Result<(), Fault> {
    if unchanged(current, left) {
        return Ok(());
    }
    let now = match (left, current) {
        (_, None) => "it is gone now".to_owned(),
        (Left::Revision(_), Some(current)) => format!("it is at revision {} now", revision(current)),
        (_, Some(_)) => "a new file stands there now".to_owned(),
    };
    Err(changed(name, &now))
}

fn changed(name: &str, now: &str) -> Fault {
    Fault::conflict(format!("{name} was changed after that call: {now}; nothing was undone"))
        .hint("undo the later changes first, newest first, or edit the file by hand")
}
