//! Moves of folders, links and huge files among the changes of many calls: what is inside of a folder has
//! other names since, and each move is taken back by a call of its own.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{CallId, Card, Ctx, Fault, Reply, Subject, Wants};
use tectum_native::NativeTool;

use super::{
    pen::Undo,
    undo_edit::{check_move, move_back, paths},
    undo_images::{Images, Records},
    undo_record::{Left, UndoStep, Was},
};
use crate::cards::CHANGES;

/// The name of the tool that takes back one move.
pub const UNDO_MOVE: &str = "undo_move";

/// Something that was moved as a whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WholeMove {
    /// The call that moved it.
    pub call: String,
    /// Its name before.
    pub from: String,
    /// Its name after.
    pub to: String,
    /// True if a later move must be taken back first.
    pub waits: bool,
}

/// The changes of calls, apart by the way back.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The changes of files, under the names that these have now.
    pub(super) files: Records,
    /// The moves of whole things, the last one first.
    pub(super) moves: Vec<WholeMove>,
    /// Files whose names something else got by a later move, and that move's call.
    pub(super) covered: Vec<(String, String)>,
    /// The calls whose changes are known.
    pub(super) calls: Vec<String>,
}

impl Changes {
    /// Tells moves of whole things from changes of files.
    pub(super) fn of(records: Records) -> Self {
        let mut changes = Self::default();
        for (call, mut record) in records {
            changes.calls.push(call.to_string());
            if let Some(moved) = whole_move(call, &record.steps, &changes.moves) {
                changes.moves.push(moved);
                continue;
            }
            let Self { moves, covered, .. } = &mut changes;
            record.steps.retain_mut(|step| {
                let from = match &mut step.was {
                    Was::Elsewhere(from) => Some(from),
                    _ => None,
                };
                std::iter::once(&mut step.path).chain(from).all(|path| match name_now(path, moves) {
                    Ok(name) => {
                        *path = name;
                        true
                    }
                    Err(call) => {
                        covered.push((path.clone(), call));
                        false
                    }
                })
            });
            changes.files.push((call, record));
        }
        changes
    }
}

/// The move that these steps are, unless it is one of a file whose content can be compared.
fn whole_move(call: CallId, steps: &[UndoStep<'_>], later: &[WholeMove]) -> Option<WholeMove> {
    let UndoStep { path: to, was: Was::Elsewhere(from), left: Left::Object(..) | Left::Anything, .. } =
        steps.first()?
    else {
        return None;
    };
    let meets = |one: &str, other: &str| below(one, other).is_some() || below(other, one).is_some();
    let waits = later
        .iter()
        .any(|next| [from, to].iter().any(|name| meets(name, &next.from) || meets(name, &next.to)));
    Some(WholeMove { call: call.to_string(), from: from.clone(), to: to.clone(), waits })
}

/// The name that a file has after these moves, the last of which comes first; the call of the move that
/// gave its name to something else.
fn name_now(path: &str, later: &[WholeMove]) -> Result<String, String> {
    let mut name = path.to_owned();
    for WholeMove { call, from, to, .. } in later.iter().rev() {
        if below(&name, to).is_some() {
            return Err(call.clone());
        }
        if let Some(rest) = below(&name, from) {
            name = format!("{to}{rest}");
        }
    }
    Ok(name)
}

/// The rest of a path behind the name of a folder that it is, or is inside of.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The move that is taken back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoneMove {
    /// The call that made it.
    call: String,
    /// Only tell whether that can be done.
    #[serde(default)]
    dry_run: bool,
}

/// The thing that was moved back, or would be.
#[derive(Debug, Serialize, JsonSchema)]
struct MovedBack {
    /// The name that it had.
    from: String,
    /// The name that it has again.
    to: String,
    /// The call that undo_edit takes to undo this.
    #[schemars(with = "Option<String>")]
    undo: Undo,
}

/// Takes back one move.
pub(super) fn undo_move(images: Arc<Images>) -> NativeTool {
    let card = Card { name: UNDO_MOVE, title: "Undo a move", primary: "", ..CHANGES };
    let wants = {
        let images = images.clone();
        move |args: &UndoneMove| {
            let record = CallId::parse(&args.call).and_then(|call| images.record(call));
            let steps = record.map(|record| record.steps).unwrap_or_default();
            Wants { subject: Subject::None, paths: steps.iter().flat_map(paths).collect() }
        }
    };
    NativeTool::row(card, "Undo the move of this call.", wants, move |ctx, args| run(&images, ctx, &args))
}

fn run(images: &Images, ctx: &Ctx, args: &UndoneMove) -> Result<Reply<MovedBack>, Fault> {
    let record = CallId::parse(&args.call).and_then(|call| images.record(call));
    let record = record.filter(|record| {
        record.steps.iter().map(|step| paths(step).len()).sum::<usize>() == ctx.grants.paths().len()
    });
    let record =
        record.ok_or_else(|| Fault::not_found(format!("there is nothing to undo for call {}", args.call)))?;
    let (from, to) = (ctx.path(0)?.name(), ctx.path(1)?.name());
    let undo = if args.dry_run {
        let moved = record.steps.first().ok_or_else(|| Fault::internal("a record without steps"))?;
        check_move(ctx.path(0)?, ctx.path(1)?, &moved.left)?;
        Undo::default()
    } else {
        move_back(&images.pen, ctx, record)?.0.undo
    };
    Ok(Reply::new(format!("{from} is {to} again"), MovedBack { from, to, undo }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(from: &str, to: &str) -> WholeMove {
        WholeMove { call: format!("{from}-{to}"), from: from.into(), to: to.into(), waits: false }
    }

    #[test]
    fn a_file_is_found_where_later_moves_put_it() {
        // The last move comes first.
        let later = [moved("b", "c"), moved("a", "b")];
        for (path, expect) in [
            ("a/x", Ok("c/x")),
            ("a", Ok("c")),
            ("ab/x", Ok("ab/x")),
            ("other", Ok("other")),
            ("b/x", Err("a-b")),
            ("c/x", Err("b-c")),
        ] {
            let name = name_now(path, &later);
            assert_eq!(name.as_deref().map_err(String::as_str), expect, "{path}");
        }
    }
}
