//! `code_move`: a definition goes to another place or file, in one change.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply, security::Batch};
use tectum_syntax::{Detail, Symbol, names};

use super::{
    Code, Only, Opened, add, anchor,
    args::Move,
    carried::{self, Carried},
    change::{Edits, decoded, verify},
    left::Gone,
    remove::{refuse_shared, without},
};
use crate::{
    edit::{
        diff,
        pen::{Intent, Undo, closing, missing},
    },
    text::{Newline, TextFile, revision},
};

/// What a move did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What was done, and what to know about it.
    pub notes: Vec<String>,
    /// The files, the source first.
    pub files: Vec<MovedFile>,
    /// True when nothing was written.
    pub dry_run: bool,
    /// What undo_edit takes to undo all of it.
    #[schemars(with = "Option<String>")]
    pub undo: Undo,
}

/// One file of a move.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MovedFile {
    /// The file.
    pub path: String,
    /// What changed.
    pub diff: String,
    /// Names the content the file has now.
    pub revision: String,
}

/// Moves a definition.
pub(super) fn run(code: &Code, ctx: &Ctx, args: &Move, only: Only) -> Result<Reply<Output>, Fault> {
    let (from, to) = (ctx.path(0)?, ctx.path(1)?);
    if from.absolute() == to.absolute() {
        return within(code, ctx, args, only);
    }
    let batch = Batch::open(&[from, to], code.pen.max_file)?;
    let current = batch.slots()[0].current().ok_or_else(|| missing(&from.name()))?;
    let source = code.opened(from.name(), decoded(&from.name(), current)?, only)?;
    let target = match batch.slots()[1].current() {
        Some(bytes) => decoded(&to.name(), bytes)?,
        None => decoded(&to.name(), b"")?,
    };
    let target = code.opened(to.name(), target, only)?;
    if source.source.language().pack().id != target.source.language().pack().id {
        let title = |opened: &Opened| opened.source.language().pack().title;
        return Err(Fault::invalid(format!(
            "{} is {} and {} is {}: code cannot move between languages",
            source.name,
            title(&source),
            target.name,
            title(&target)
        )));
    }
    let outline = source.outline(ctx, Detail::Full)?;
    let index = source.one(&outline, &args.name, movable)?;
    refuse_shared(&source, &outline, index)?;
    let moved = Carried::find(ctx, &source, &outline, index, args.dest_name.as_deref())?;
    let there = target.outline(ctx, Detail::Full)?;
    let spot = anchor::find(ctx, &target, &there, args.anchor_type, args.anchor_symbol.as_deref())?;
    add::refuse_known(&target, &there, spot.parent, &moved.name, &moved.text)?;
    let needs = carried::needs(ctx, &source, &outline, index, &target, &there, &moved)?;
    let mut insertions: Edits = needs.edits;
    insertions.push(spot.filled(&target, &moved.text));
    let insertions = ending_as(&source, &target, joined(insertions, anchor::blank_at_top(&target)));
    let (removal, filled) = without(ctx, &source, source.with_doc(&outline.symbols[index as usize]))?;

    let (source_after, target_after) = (source.file.edited(&removal)?, target.file.edited(&insertions)?);
    let kept =
        [verify(ctx, &source, &source_after, &removal)?, verify(ctx, &target, &target_after, &insertions)?];
    [&source_after, &target_after].into_iter().try_for_each(TextFile::check_reads_again)?;
    let full = names::full_name(source.source.language().pack(), source.text(), &outline, index);
    let verb = verb(args);
    let mut notes = vec![format!("{verb} {full} from {} to {}", source.name, target.name)];
    if filled {
        notes.push("Note: nothing else was in its block, so `pass` stands there now".to_owned());
    }
    notes.extend(needs.notes);
    let gone = Gone {
        source: &source,
        outline: &outline,
        index,
        target: &target.name,
        moved: &moved,
        removal: &removal,
        after: &source_after,
    };
    notes.extend(gone.notes(code, ctx)?);
    let files = [(&source, source_after), (&target, target_after)];
    let mut done = Vec::new();
    let mut intents = Vec::new();
    for (before, after) in files {
        let diff = diff::unified(&before.name, before.text(), after.text(), diff::REPLY);
        let bytes = after.into_bytes();
        let revision = revision(&bytes);
        intents.push(Intent::write(bytes, &revision));
        done.push(MovedFile { path: before.name.clone(), diff, revision });
    }
    let undo = if args.dry_run { Undo::default() } else { code.pen.commit(ctx, batch, intents)? };
    if !args.dry_run {
        kept.into_iter().for_each(|source| code.languages.shelf.put(source));
    }
    Ok(reply(notes, done, args.dry_run, undo))
}

/// A move inside one file.
fn within(code: &Code, ctx: &Ctx, args: &Move, only: Only) -> Result<Reply<Output>, Fault> {
    let reply = super::change::change(code, ctx, only, args.dry_run, |opened, outline| {
        let index = opened.one(outline, &args.name, movable)?;
        refuse_shared(opened, outline, index)?;
        let symbol = &outline.symbols[index as usize];
        let moved = Carried::find(ctx, opened, outline, index, args.dest_name.as_deref())?;
        let spot = anchor::find(ctx, opened, outline, args.anchor_type, args.anchor_symbol.as_deref())?;
        let renamed = moved.name != symbol.name.slice(opened.text());
        if spot.parent != symbol.parent || renamed {
            add::refuse_known(opened, outline, spot.parent, &moved.name, &moved.text)?;
        }
        let insertion = spot.filled(opened, &moved.text);
        let (mut edits, filled) = without(ctx, opened, opened.with_doc(symbol))?;
        let removed = edits[0].0.clone();
        if removed.start < insertion.0.start && insertion.0.start < removed.end {
            return Err(Fault::invalid("the anchor lies inside the definition that moves")
                .hint("choose an anchor outside of it"));
        }
        edits.push(insertion);
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let pack = opened.source.language().pack();
        let full = names::full_name(pack, opened.text(), outline, index);
        let mut notes = vec![format!("{} {full} within {}", verb(args), opened.name)];
        if filled {
            notes.push("Note: nothing else was in its block, so `pass` stands there now".to_owned());
        }
        if renamed {
            notes.push(format!("Note: it is called {} now; places that use it were not changed", moved.name));
        }
        Ok((edits, notes))
    })?;
    let super::change::Output { notes, written } = reply.output;
    let file = MovedFile { path: written.path, diff: written.diff, revision: written.revision };
    Ok(self::reply(notes, vec![file], written.dry_run, written.undo))
}

fn verb(args: &Move) -> &'static str {
    if args.dry_run { "Would move" } else { "Moved" }
}

fn movable(symbol: &Symbol) -> bool {
    symbol.kind != tectum_syntax::Kind::Namespace
}

/// A new file has its line ends from where its code comes from.
fn ending_as(source: &Opened, target: &Opened, edits: Edits) -> Edits {
    match (target.file.facts().newline, source.file.facts().newline.mostly()) {
        (Newline::None, Some(eol)) => {
            edits.into_iter().map(|(range, text)| (range, eol.ending(&text))).collect()
        }
        _ => edits,
    }
}

/// Edits in order; those at one place become one, with blank lines between.
fn joined(mut edits: Edits, blank: usize) -> Edits {
    edits.sort_by_key(|(range, _)| range.start);
    let mut joined: Edits = Vec::new();
    for (range, inserted) in edits {
        match joined.last_mut() {
            Some((last, text)) if *last == range => {
                let there = inserted.len() - inserted.trim_start_matches('\n').len();
                text.push_str(&"\n".repeat(blank.saturating_sub(there)));
                text.push_str(&inserted);
            }
            _ => joined.push((range, inserted)),
        }
    }
    joined
}

fn reply(notes: Vec<String>, files: Vec<MovedFile>, dry_run: bool, undo: Undo) -> Reply<Output> {
    let mut text = String::new();
    for note in &notes {
        let _ = writeln!(text, "{note}");
    }
    files.iter().for_each(|file| text.push_str(&file.diff));
    text.push_str(&closing("", &undo, dry_run));
    Reply::new(text, Output { notes, files, dry_run, undo })
}
