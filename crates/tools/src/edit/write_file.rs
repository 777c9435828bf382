//! `write_file`: makes a file, or replaces all it holds.

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, ToolRole, Wants,
    security::{Access, Batch, RawPath},
};
use tectum_native::NativeTool;

use super::{
    diff,
    pen::{Intent, Pen, Undo, Written, absent, check_revision},
};
use crate::{
    cards::CHANGES,
    files::spelling::count,
    text::{Encoding, Lines, Newline, TextFile, check_nul, revision},
};

/// Create a file, or replace all of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: RawPath,
    content: String,
    revision: Option<String>,
    #[serde(default)]
    create_only: bool,
    #[serde(default)]
    dry_run: bool,
}

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// What happened to the file.
    action: WriteAction,
    /// Its size in bytes now.
    bytes: usize,
    /// Its encoding now.
    encoding: String,
    /// The file now.
    #[serde(flatten)]
    written: Written,
}

/// What happened to a file that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WriteAction {
    /// It is new.
    Created,
    /// It had other content.
    Replaced,
    /// It had this content already, and was left alone.
    Unchanged,
}

/// Writes whole files.
pub fn write_file(pen: Arc<Pen>) -> NativeTool {
    let card =
        Card { name: "write_file", title: "Write file", idempotent: true, role: ToolRole::Basic, ..CHANGES };
    let wants = |args: &Args| Wants::path(&args.path, Access::Write);
    NativeTool::row(card, "", wants, move |ctx, args| write(&pen, ctx, args))
}

fn write(pen: &Pen, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
    check_nul(&args.content)?;
    let path = ctx.path(0)?;
    let name = path.name();
    let batch = Batch::open(&[path], pen.max_file)?;
    let current = batch.slots()[0].current();
    let planned = match current {
        None if args.revision.is_some() => return Err(absent(path)),
        None => PlannedWrite::new_file(args.content),
        Some(_) if args.create_only => {
            return Err(Fault::conflict(format!("already exists: {name}"))
                .hint("choose another name, or leave create_only out to replace the file"));
        }
        Some(current) => {
            check_revision(&name, current, args.revision.as_deref())?;
            PlannedWrite::replacement(&name, current, args.content)
        }
    };
    let action = match current {
        None => WriteAction::Created,
        Some(current) if *current == *planned.bytes => WriteAction::Unchanged,
        Some(_) => WriteAction::Replaced,
    };
    let mut text = headline(&name, action, args.dry_run, &planned);
    if let (WriteAction::Replaced, Some(current)) = (action, current) {
        let _ = write!(text, " (was {})", count(current.len() as u64, "byte", "bytes"));
    }
    text.push('\n');
    for note in &planned.notes {
        let _ = writeln!(text, "Note: {note}.");
    }
    let PlannedWrite { bytes, encoding, diff, .. } = planned;
    let size = bytes.len();
    // A dry run leaves the file at the revision it has.
    let revision = if args.dry_run { current.map(revision).unwrap_or_default() } else { revision(&bytes) };
    let mut written = Written { path: name, diff, revision, dry_run: args.dry_run, undo: Undo::default() };
    if action == WriteAction::Unchanged {
        written.diff.clear();
        let _ = write!(text, "Revision: {}.", written.revision);
    } else {
        if args.dry_run {
            batch.slots()[0].check_writable()?;
        } else {
            written.undo = pen.commit(ctx, batch, vec![Intent::write(bytes, &written.revision)])?;
        }
        text.push_str(&written.closing());
    }
    Ok(Reply::new(text, Output { action, bytes: size, encoding: encoding.name().into(), written }))
}

fn headline(name: &str, action: WriteAction, dry_run: bool, planned: &PlannedWrite) -> String {
    let verb = match (action, dry_run) {
        (WriteAction::Created, false) => "Created",
        (WriteAction::Created, true) => "Would create",
        (WriteAction::Replaced, false) => "Replaced",
        (WriteAction::Replaced, true) => "Would replace",
        (WriteAction::Unchanged, _) => "Unchanged, since it already has this content:",
    };
    let bytes = count(planned.bytes.len() as u64, "byte", "bytes");
    format!("{verb} {name}: {bytes}, {}", count(planned.lines as u64, "line", "lines"))
}

/// The bytes that will be written, and the notes about them.
struct PlannedWrite {
    bytes: Vec<u8>,
    lines: usize,
    encoding: Encoding,
    diff: String,
    notes: Vec<String>,
}

impl PlannedWrite {
    fn new_file(content: String) -> Self {
        let lines = Lines::of(&content).count();
        Self {
            bytes: content.into_bytes(),
            lines,
            encoding: Encoding::Utf8,
            diff: String::new(),
            notes: Vec::new(),
        }
    }

    fn replacement(name: &str, current: &[u8], content: String) -> Self {
        let mut notes = Vec::new();
        let file = match TextFile::decode(current.to_vec()) {
            Ok(file) => file,
            Err(not_text) => {
                notes.push(format!("the file was not text before: {}", not_text.kind));
                return Self { notes, ..Self::new_file(content) };
            }
        };
        let facts = file.facts();
        let mut content = content;
        if let Newline::Only(eol) = facts.newline {
            let ended = eol.ending(&content);
            if ended != content {
                notes.push(format!("line ends were written as {}, as the file had them", eol.name()));
                content = ended;
            }
        }
        let diff = diff::unified(name, file.text(), content.trim_start_matches('\u{feff}'), diff::REPLY);
        let lines = Lines::of(&content).count();
        let encoding = facts.encoding;
        let utf8 = |content: String, mut notes: Vec<String>, why: String, diff: String| {
            notes.push(why);
            Self { bytes: content.into_bytes(), lines, encoding: Encoding::Utf8, diff, notes }
        };
        if !file.faithful() {
            let why = format!("the file was not clean {encoding} before; it is UTF-8 now");
            return utf8(content, notes, why, diff);
        }
        let unmarked = if facts.bom { content.trim_start_matches('\u{feff}') } else { &content };
        let mark = if facts.bom { encoding.mark() } else { b"" };
        match encoding.encode(unmarked) {
            Ok(bytes) => {
                let bytes = [mark, &bytes].concat();
                if encoding != Encoding::Utf8 {
                    let words = |text: &str| text.trim_start_matches('\u{feff}').to_owned();
                    let again = TextFile::decode(bytes.clone());
                    if !again.is_ok_and(|again| words(again.text()) == words(unmarked)) {
                        let why = format!(
                            "the encoding is UTF-8 now: this content would not be read as {encoding} again"
                        );
                        return utf8(content, notes, why, diff);
                    }
                    notes.push(format!("the encoding stays {encoding}"));
                }
                Self { bytes, lines, encoding, diff, notes }
            }
            Err(lacking) => {
                let code = u32::from(lacking);
                let why = format!("the encoding is UTF-8 now: {encoding} has no {lacking} (U+{code:04X})");
                utf8(content, notes, why, diff)
            }
        }
    }
}
