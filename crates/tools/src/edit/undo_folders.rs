//! Folders that calls made for their files: taken away with what is undone, where nothing else is in them.

use std::{collections::BTreeSet, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Subject, Wants,
    security::{Access, RawPath, SafePath},
};
use tectum_native::NativeTool;

use super::{pen::Pen, undo_images::Images, undo_record::UndoStep};
use crate::cards::CHANGES;

/// The name of the tool that takes away what calls leave empty.
pub const UNDO_FOLDERS: &str = "undo_folders";

/// The calls whose folders are taken away.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoneFolders {
    /// Their ids.
    calls: Vec<String>,
}

/// What was taken away.
#[derive(Debug, Serialize, JsonSchema)]
struct RemovedFolders {
    /// The folders, each before the one it was in.
    folders: Vec<String>,
}

/// Takes away folders. All moves must have been taken back before: the names are those that the calls saw.
pub(super) fn undo_folders(images: Arc<Images>) -> NativeTool {
    let card = Card { name: UNDO_FOLDERS, title: "Undo folders", primary: "", ..CHANGES };
    let wants = {
        let images = images.clone();
        move |args: &UndoneFolders| {
            let paths = steps(&images, &args.calls).into_iter().map(|step| RawPath::new(step.path));
            Wants { subject: Subject::None, paths: paths.map(|path| (path, Access::Write)).collect() }
        }
    };
    NativeTool::row(card, "Remove the empty folders that these calls made.", wants, move |ctx, args| {
        run(&images, ctx, &args)
    })
}

/// The steps for which a folder was made.
fn steps(images: &Images, calls: &[String]) -> Vec<UndoStep<'static>> {
    let steps = images.records(calls).into_iter().flat_map(|(_, record)| record.steps);
    steps.filter(|step| step.made > 0).collect()
}

fn run(images: &Images, ctx: &Ctx, args: &UndoneFolders) -> Result<Reply<RemovedFolders>, Fault> {
    let steps = steps(images, &args.calls);
    if steps.len() != ctx.grants.paths().len() {
        return Err(Fault::conflict("the record of a change was replaced while the call was prepared"));
    }
    ctx.begin_change()?;
    let made = ctx.grants.paths().iter().zip(&steps).map(|(path, step)| (path, step.made));
    let folders = remove_empty(&images.pen, made.collect());
    Ok(Reply::new(format!("removed {}", folders.join(", ")), RemovedFolders { folders }))
}

/// Removes so many folders above each path, if they are empty; those inside of others first. Gives their names.
pub(super) fn remove_empty(pen: &Pen, made: Vec<(&SafePath, usize)>) -> Vec<String> {
    let above = |(path, made): (_, usize)| (0..made).map(move |steps| (path, steps));
    let mut folders: Vec<(&SafePath, usize)> = made.into_iter().flat_map(above).collect();
    folders.sort_by_key(|(path, steps)| {
        std::cmp::Reverse(path.absolute().components().count().saturating_sub(*steps))
    });
    let gone = |(path, steps): (&SafePath, usize)| {
        path.remove_folder_above(steps, pen.durability).then(|| path.folder_above(steps)).flatten()
    };
    folders.into_iter().filter_map(gone).map(|name| name + "/").collect()
}

/// The names of folders that the calls of these steps made, as far as they are known by their paths.
pub(super) fn names<'s>(steps: impl Iterator<Item = &'s UndoStep<'static>>) -> BTreeSet<String> {
    let above = |step: &'s UndoStep<'static>| {
        let folders = std::path::Path::new(&step.path).ancestors().skip(1).take(step.made);
        folders.map(|folder| format!("{}/", folder.display()))
    };
    steps.flat_map(above).collect()
}
