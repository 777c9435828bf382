//! `apply_edits`: many edits of many files, all of them or none.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Subject, ToolRole, Wants,
    security::{Access, Batch, RawPath, SafePath},
};
use tectum_native::NativeTool;

use super::{
    diff,
    draft::EditDraft,
    pen::{Intent, Pen, Undo, check_revision, closing, missing},
};
use crate::{cards::CHANGES, files::more::room, text::revision};

/// Edits in one call: a larger change is better seen in parts.
const MOST_EDITS: usize = 500;
/// Problems of a batch that are told; the others are counted.
const TOLD_PROBLEMS: usize = 20;
/// Files whose diff is shown; the others are named.
const SHOWN_FILES: usize = 25;

/// Edit several files, all or none. An empty old_string creates a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    edits: Vec<Edit>,
    #[serde(default)]
    revisions: BTreeMap<String, String>,
    #[serde(default)]
    dry_run: bool,
}

// One edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Edit {
    path: RawPath,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// What was changed.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The files, in the order of their first edit.
    files: Vec<EditedFile>,
    /// True when nothing was written.
    dry_run: bool,
    /// What undo_edit takes to undo all of it; absent when nothing was written or kept.
    #[schemars(with = "Option<String>")]
    undo: Undo,
}

/// One file that was changed.
#[derive(Debug, Serialize, JsonSchema)]
struct EditedFile {
    /// The file.
    path: String,
    /// True when it is new.
    created: bool,
    /// How many edits were made in it.
    edits: usize,
    /// What changed, as a unified diff. A long one is cut and says so.
    diff: String,
    /// Names the content the file has now.
    revision: String,
}

/// Edits many files at once.
pub fn apply_edits(pen: Arc<Pen>) -> NativeTool {
    let card =
        Card { name: "apply_edits", title: "Apply edits", primary: "", role: ToolRole::Basic, ..CHANGES };
    let wants = |args: &Args| {
        let paths = distinct(&args.edits).into_iter().map(|path| (path.clone(), Access::Write)).collect();
        Wants { subject: Subject::None, paths }
    };
    NativeTool::row(card, "", wants, move |ctx, args| apply(&pen, ctx, &args))
}

/// The paths as they were typed, each once.
fn distinct(edits: &[Edit]) -> Vec<&RawPath> {
    let mut paths: Vec<&RawPath> = Vec::new();
    for edit in edits {
        if !paths.contains(&&edit.path) {
            paths.push(&edit.path);
        }
    }
    paths
}

fn apply(pen: &Pen, ctx: &Ctx, args: &Args) -> Result<Reply<Output>, Fault> {
    if args.edits.is_empty() || args.edits.len() > MOST_EDITS {
        return Err(Fault::invalid(format!("edits must be 1 to {MOST_EDITS}, not {}", args.edits.len())));
    }
    // Several spellings may lead to one file: what counts is where they lead.
    let mut files = Vec::new();
    let mut slot_of: BTreeMap<&RawPath, usize> = BTreeMap::new();
    for (index, raw) in distinct(&args.edits).into_iter().enumerate() {
        let path = ctx.path(index)?;
        let known = files.iter().position(|(other, _)| *other == path.absolute());
        slot_of.insert(raw, known.unwrap_or(files.len()));
        if known.is_none() {
            files.push((path.absolute(), path));
        }
    }
    refuse_file_and_folder(&files)?;
    let paths: Vec<_> = files.into_iter().map(|(_, path)| path).collect();
    let batch = Batch::open(&paths, pen.max_file)?;
    let mut drafts: Vec<EditDraft> =
        batch.slots().iter().map(|slot| EditDraft::new(slot.path().name(), slot.current())).collect();

    let mut problems = Problems::default();
    for (raw, believed) in &args.revisions {
        let path = RawPath::new(raw.as_str());
        let outcome = match slot_of.get(&path).map(|slot| &batch.slots()[*slot]) {
            None => Err(Fault::invalid("no edit names this path")),
            Some(slot) => match slot.current() {
                None => Err(missing(&slot.path().name())),
                Some(current) => check_revision(&slot.path().name(), current, Some(believed)),
            },
        };
        problems.note(|| format!("revisions[{path}]"), outcome);
    }
    for (index, edit) in args.edits.iter().enumerate() {
        ctx.check()?;
        let outcome = drafts[slot_of[&edit.path]].apply(&edit.old_string, &edit.new_string, edit.replace_all);
        problems.note(|| format!("edits[{index}]"), outcome);
    }
    for slot in batch.slots() {
        problems.note(|| slot.path().name(), slot.check_writable().map_err(Fault::from));
    }
    for draft in &drafts {
        problems.note(|| draft.name.clone(), draft.check());
    }
    problems.settle()?;
    finish(pen, ctx, batch, drafts, args)
}

/// Refuses a batch in which one file would have to hold another.
fn refuse_file_and_folder(files: &[(PathBuf, &SafePath)]) -> Result<(), Fault> {
    let names: BTreeMap<&Path, &SafePath> =
        files.iter().map(|(full, path)| (full.as_path(), *path)).collect();
    for (full, path) in files {
        if let Some(folder) = full.ancestors().skip(1).find_map(|above| names.get(above)) {
            let (folder, inside) = (folder.name(), path.name());
            return Err(Fault::invalid(format!(
                "{folder} is both a file and a folder in this batch: it also names {inside}"
            ))
            .hint("give one of them another name"));
        }
    }
    Ok(())
}

fn finish(
    pen: &Pen,
    ctx: &Ctx,
    batch: Batch<'_>,
    drafts: Vec<EditDraft>,
    args: &Args,
) -> Result<Reply<Output>, Fault> {
    let count = drafts.len();
    let limit =
        diff::Limit { lines: (160 / count).clamp(6, 40), bytes: (16 * 1024 / count).clamp(512, 4 * 1024) };
    let (mut files, mut intents) = (Vec::new(), Vec::new());
    for (index, draft) in drafts.into_iter().enumerate() {
        let diff = if index < SHOWN_FILES { draft.diff(limit) } else { String::new() };
        let (path, created, edits) = (draft.name.clone(), draft.is_new(), draft.edits);
        let revision = if args.dry_run {
            draft.revision_before()
        } else {
            let bytes = draft.into_bytes();
            let revision = revision(&bytes);
            intents.push(Intent::write(bytes, &revision));
            revision
        };
        files.push(EditedFile { path, created, edits, diff, revision });
    }
    let undo = if args.dry_run { Undo::default() } else { pen.commit(ctx, batch, intents)? };
    let output = Output { files, dry_run: args.dry_run, undo };
    Ok(Reply::new(tell(&output, args.edits.len(), room(ctx.max_output)), output))
}

/// The reply in so many bytes: the files first, then their diffs. What does not fit is counted.
fn tell(output: &Output, edits: usize, most: usize) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let files = output.files.len();
    let verb = if output.dry_run { "Would apply" } else { "Applied" };
    let mut text = format!("{verb} {edits} edit{} to {files} file{}\n", plural(edits), plural(files));
    let mut named = 0;
    for file in &output.files {
        let created = if file.created { " (new)" } else { "" };
        let revision =
            if file.revision.is_empty() { String::new() } else { format!(", revision {}", file.revision) };
        let line = format!("{}{created}: {} edit{}{revision}\n", file.path, file.edits, plural(file.edits));
        if text.len() + line.len() > most {
            break;
        }
        text.push_str(&line);
        named += 1;
    }
    if named < files {
        let _ = writeln!(text, "… and {} more files", files - named);
    }
    let mut shown = 0;
    for diff in output.files.iter().map(|file| &file.diff).take(SHOWN_FILES) {
        if text.len() + diff.len() > most {
            break;
        }
        text.push_str(diff);
        shown += 1;
    }
    if shown < files {
        let _ = writeln!(text, "… the diffs of {} more files are not shown", files - shown);
    }
    text.push_str(&closing("", &output.undo, output.dry_run));
    text
}

/// Everything that went wrong, told at once.
#[derive(Default)]
struct Problems {
    faults: Vec<(String, Fault)>,
}

impl Problems {
    fn note<T>(&mut self, place: impl FnOnce() -> String, outcome: Result<T, Fault>) {
        if let Err(fault) = outcome {
            self.faults.push((place(), fault));
        }
    }

    fn settle(self) -> Result<(), Fault> {
        let count = self.faults.len();
        let mut faults = self.faults.into_iter();
        let Some((place, mut first)) = faults.next() else { return Ok(()) };
        first.message = format!("{place}: {}", first.message);
        for (place, fault) in faults.by_ref().take(TOLD_PROBLEMS - 1) {
            let _ = write!(first.message, "\n{place}: {}", fault.message);
            if fault.kind != first.kind {
                first.kind = tectum_core::FaultKind::Conflict;
            }
        }
        let untold = faults.len();
        if untold > 0 {
            let _ = write!(first.message, "\nand {untold} more");
        }
        if count > 1 {
            first.message = format!("{count} problems, so nothing was changed:\n{}", first.message);
            first.hint = Some("correct all of them and send the whole batch again".into());
        }
        Err(first)
    }
}
