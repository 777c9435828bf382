//! The plan of a rename: what changes in which file, what stays, and how that is told.

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Kind, Language, Span, Stop, Unparsed};

use super::{
    super::{
        Code, Only, Opened,
        lookup::unparsed,
        modules::stem,
        project::{Entry, Fact, Sources},
    },
    judge::JudgedPlaces,
    members::is_key_of_any,
    passing,
    taken::Clash,
    target::{File, Home, Target},
};
use crate::{
    edit::pen::{Undo, closing},
    files::spelling::count,
    text::{Lines, revision},
};

/// A rename, planned or done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The symbol.
    pub name: String,
    /// Its new name.
    pub new_name: String,
    /// Names this plan: the files as they are now, and what would change in them.
    pub plan: String,
    /// The files, with the places that change.
    pub files: Vec<FilePlan>,
    /// Places that may mean it, and stay.
    pub uncertain: Vec<RenamePlace>,
    /// Mentions in strings and comments, which stay.
    pub in_text: usize,
    /// What else the new name asks for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// True when it was done.
    pub applied: bool,
    /// What undo_edit takes to undo all of it.
    #[schemars(with = "Option<String>")]
    pub undo: Undo,
}

/// The part of a plan in one file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FilePlan {
    /// The file.
    pub path: String,
    /// The lines that change.
    pub lines: Vec<usize>,
}

/// A place that stays.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RenamePlace {
    /// The file.
    pub path: String,
    /// Its line.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// Files of one rename: a larger one is better done in parts.
const MOST_FILES: usize = 500;
/// Files that are listed with their lines.
const LISTED: usize = 60;
/// Lines of one file that are listed.
const LINES: usize = 20;
/// Uncertain places that are shown.
const SHOWN: usize = 30;

/// The changes of a rename, file by file.
#[derive(Debug)]
pub(super) struct Plan {
    /// The defining file first.
    pub(super) files: Vec<PlannedFile>,
}

/// The part of one file.
#[derive(Debug)]
pub(super) struct PlannedFile {
    pub(super) name: String,
    pub(super) revision: String,
    pub(super) places: JudgedPlaces,
    pub(super) lines: Vec<usize>,
    pub(super) uncertain: Vec<RenamePlace>,
    /// The line of what stands against the new name.
    clash: Option<RenamePlace>,
}

impl Plan {
    /// Looks through the sources of the call's `within`th path.
    pub(super) fn make(
        code: &Code,
        ctx: &Ctx,
        within: usize,
        opened: &Opened,
        target: &mut Target,
    ) -> Result<Self, Fault> {
        let stop = || ctx.cancel.is_cancelled();
        let sources = code.project.sources(&code.languages, ctx, within)?;
        let pack = opened.source.language().pack();
        let holding = sources.holding(&[&target.old], Only::Any)?;
        let named = defined(&sources, &holding, target, &stop)?;
        target.unique_home = match &target.home {
            Home::Type(class, _) => {
                let facts = sources.facts(&sources.holding(&[class], Only::Any)?, Only::Any, false)?;
                let types = facts.iter().flat_map(|(_, facts)| {
                    let of_type = |fact: &&Fact| fact.kind.is_type() && fact.kind != Kind::Impl;
                    facts.symbols.iter().filter(of_type).filter(|fact| facts.name(fact) == class)
                });
                types.filter(|fact| !fact.declaration).count() <= 1
            }
            _ => true,
        };
        // What objects of the language have by themselves tells nothing of whose it is.
        let common = matches!(target.home, Home::Type(..))
            && pack.style.members.split_ascii_whitespace().any(|name| name == target.old);
        target.unique = named <= 1 && !common;
        let names = sources.entries.iter().map(|entry| sources.spell(entry));
        target.namesakes = names.filter(|name| stem(name) == target.old).collect();
        passing::find(ctx, &sources, &holding, pack, target)?;
        let target = &*target;
        let read = sources.each(&holding, |entry, content| {
            let text = content.text()?;
            let language = sources.language(entry, &text, Only::Any)?;
            let related = language.pack().family == pack.family;
            let name = sources.spell(entry);
            (related && name != target.file).then(|| {
                let outline = language.outline(&text, Detail::Full, &stop)?;
                let file = File { name: &name, text: &text, language: &language, outline: &outline };
                let places = target.places(&file, &stop)?;
                Ok(PlannedFile::new(name.clone(), &text, places))
            })
        })?;
        let mut files = vec![own(ctx, opened, target)?];
        for (_, planned) in read {
            let planned = planned.map_err(|why| unparsed("a file of the project", why))?;
            if !planned.places.certain.is_empty()
                || !planned.uncertain.is_empty()
                || planned.places.in_text > 0
            {
                files.push(planned);
            }
        }
        Ok(Self { files })
    }

    /// Refuses what is better done in parts.
    pub(super) fn check_size(&self) -> Result<(), Fault> {
        let changed = self.changed().count();
        if changed <= MOST_FILES {
            return Ok(());
        }
        Err(Fault::invalid(format!("{changed} files would change, and at most {MOST_FILES} may at once"))
            .hint("give a smaller directory as `within`"))
    }

    pub(super) fn changed(&self) -> impl Iterator<Item = &PlannedFile> {
        self.files.iter().filter(|file| !file.places.certain.is_empty())
    }

    pub(super) fn digest(&self, target: &Target) -> String {
        let mut hasher = blake3::Hasher::new();
        for file in self.changed() {
            let places: Vec<u32> = file.places.certain.iter().map(|place| place.start).collect();
            hasher.update(format!("{}\0{}\0{places:?}\0", file.name, file.revision).as_bytes());
        }
        hasher.update(target.new.as_bytes());
        let mut hex = hasher.finalize().to_hex().to_string();
        hex.truncate(16);
        hex
    }

    /// Refuses a list of files that is not the plan's.
    pub(super) fn check_files(&self, ctx: &Ctx) -> Result<(), Fault> {
        let given: Vec<String> = ctx.grants.paths()[2..].iter().map(|path| path.name()).collect();
        let missing: Vec<&str> = self
            .changed()
            .map(|file| file.name.as_str())
            .filter(|name| !given.iter().any(|other| other == name))
            .collect();
        let surplus = given.iter().find(|name| !self.changed().any(|file| file.name == **name));
        if !missing.is_empty() {
            return Err(Fault::conflict(format!(
                "the plan also changes {}; nothing was changed",
                missing.join(", ")
            ))
            .hint("list all files of the plan in apply_to: a rename is done everywhere or nowhere"));
        }
        match surplus {
            Some(name) => {
                Err(Fault::conflict(format!("the plan changes nothing in {name}; nothing was changed"))
                    .hint("list exactly the files of the plan in apply_to"))
            }
            None => Ok(()),
        }
    }

    pub(super) fn told(
        self,
        target: &Target,
        plan: String,
        applied: bool,
        undo: Undo,
        changes: &str,
    ) -> Reply<Output> {
        let changed: Vec<&PlannedFile> = self.changed().collect();
        let places: usize = changed.iter().map(|file| file.places.certain.len()).sum();
        let (old, new) = (&target.old, &target.new);
        let verb = if applied { "Renamed" } else { "Would rename" };
        let mut text = format!(
            "{verb} {old} to {new}: {} in {}\n",
            count(places as u64, "place", "places"),
            count(changed.len() as u64, "file", "files")
        );
        if applied {
            text.push_str(changes);
        } else {
            list(&changed, &mut text);
        }
        let in_text: usize = self.files.iter().map(|file| file.places.in_text).sum();
        let uncertain: usize = self.files.iter().map(|file| file.uncertain.len()).sum();
        if uncertain > 0 {
            let _ = writeln!(
                text,
                "Uncertain, and left alone ({uncertain}): these may mean {old} or something else of that name:"
            );
        }
        for place in self.files.iter().flat_map(|file| &file.uncertain).take(SHOWN) {
            let _ = writeln!(text, "  {}:{}: {}", place.path, place.line, place.text);
        }
        if uncertain > SHOWN {
            let _ = writeln!(text, "  … and {} more", uncertain - SHOWN);
        }
        if in_text > 0 {
            let _ = writeln!(
                text,
                "{} in strings and comments left alone; code_usages lists them",
                count(in_text as u64, "mention", "mentions")
            );
        }
        if let Some(note) = &target.note {
            let _ = writeln!(text, "Note: {note}");
        }
        if applied {
            text.push_str(&closing("", &undo, false));
        } else {
            text.push_str(
                "Not seen: names made at run time, other languages, files outside the directory.\n",
            );
            let _ = write!(text, "Nothing was changed. To do it, repeat the call with plan=\"{plan}\"");
        }
        let files = changed
            .iter()
            .map(|file| FilePlan { path: file.name.clone(), lines: file.lines.clone() })
            .collect();
        let uncertain = self.files.into_iter().flat_map(|file| file.uncertain).collect();
        Reply::new(
            text,
            Output {
                name: old.clone(),
                new_name: new.clone(),
                plan,
                files,
                uncertain,
                in_text,
                note: target.note.clone(),
                applied,
                undo,
            },
        )
    }
}

impl PlannedFile {
    fn new(name: String, text: &str, places: JudgedPlaces) -> Self {
        let all = Lines::of(text);
        let mut lines: Vec<usize> = places.certain.iter().map(|place| all.at(place.start as usize)).collect();
        lines.dedup();
        let shown = |place: &Span| {
            let line = all.at(place.start as usize);
            RenamePlace { path: name.clone(), line, text: brief(text, &all, line) }
        };
        let uncertain = places.uncertain.iter().map(shown).collect();
        let clash = match &places.clash {
            Some(Clash::Captured(place) | Clash::Used(place)) => Some(shown(place)),
            Some(Clash::Known) | None => None,
        };
        Self { revision: revision(text.as_bytes()), places, lines, uncertain, clash, name }
    }

    /// Its changed lines, as they are afterwards.
    pub(super) fn shown(&self, after: &str) -> String {
        let (all, mut text) = (Lines::of(after), format!("{}\n", self.name));
        for line in self.lines.iter().take(LINES) {
            let _ = writeln!(text, "  {line}: {}", brief(after, &all, *line));
        }
        if self.lines.len() > LINES {
            let _ = writeln!(text, "  … and {} more lines", self.lines.len() - LINES);
        }
        text
    }

    /// The objection to the new name in this file, in words.
    pub(super) fn clash(&self, target: &Target) -> Option<String> {
        let (old, new) = (&target.old, &target.new);
        let place =
            self.clash.as_ref().map(|RenamePlace { path, line, text }| format!("{path}:{line}: {text}"));
        let place = place.unwrap_or_default();
        Some(match self.places.clash? {
            Clash::Known => {
                format!("{new} is defined or imported in {} already; nothing was changed", self.name)
            }
            Clash::Captured(_) => format!(
                "{new} is a parameter or local variable where {old} is meant, and would hide it; nothing was changed\n  {place}"
            ),
            Clash::Used(_) => format!(
                "{new} is used for something else already, and would mean the renamed {old}; nothing was changed\n  {place}"
            ),
        })
    }
}

/// The beginning of a line.
fn brief(text: &str, lines: &Lines, line: usize) -> String {
    let written = lines.range(line).map_or("", |range| text[range].trim());
    written.chars().take(120).collect()
}

/// Names the files that would change, with their lines.
fn list(changed: &[&PlannedFile], text: &mut String) {
    for file in changed.iter().take(LISTED) {
        let lines: Vec<String> = file.lines.iter().take(LINES).map(usize::to_string).collect();
        let more = if file.lines.len() > LINES { ", …" } else { "" };
        let word = if file.lines.len() == 1 { "line" } else { "lines" };
        let _ = writeln!(text, "  {}: {word} {}{more}", file.name, lines.join(", "));
    }
    if changed.len() > LISTED {
        let _ = writeln!(text, "  … and {} more files", changed.len() - LISTED);
    }
}

/// The number of symbols of the files that are defined under the target's name, fields and constants
/// included, and keys of literals where it may be one.
fn defined(
    sources: &Sources<'_>,
    holding: &[Arc<Entry>],
    target: &Target,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<usize, Fault> {
    let found = sources.each(holding, |entry, content| {
        let text = content.text()?;
        let language = sources.language(entry, &text, Only::Any)?;
        Some(defined_in(&language, &text, target, &|| stop()))
    })?;
    let counts = found.into_iter().map(|(_, count)| match count {
        // What cannot be read defines nothing.
        Err(Unparsed::TooLarge(_) | Unparsed::Late(_) | Unparsed::Grammar(_)) => Ok(0),
        count => count,
    });
    let counts = counts.collect::<Result<Vec<usize>, _>>();
    Ok(counts.map_err(|why| unparsed("a file of the project", why))?.into_iter().sum())
}

fn defined_in(language: &Language, text: &str, target: &Target, stop: Stop<'_>) -> Result<usize, Unparsed> {
    let outline = language.outline(text, Detail::Full, stop)?;
    let symbols = outline.symbols.iter().filter(|symbol| symbol.kind != Kind::Impl && !symbol.declaration);
    let count = symbols.filter(|symbol| symbol.name.slice(text) == target.old).count();
    let may_be_key = !target.callable && matches!(target.home, Home::Type(..));
    let key = may_be_key && is_key_of_any(language, text, &target.old, stop)?;
    Ok(count + usize::from(key))
}

/// The defining file's part.
fn own(ctx: &Ctx, opened: &Opened, target: &Target) -> Result<PlannedFile, Fault> {
    let outline = opened.outline(ctx, Detail::Full)?;
    let file = File {
        name: &opened.name,
        text: opened.text(),
        language: opened.source.language(),
        outline: &outline,
    };
    let places =
        target.places(&file, &|| ctx.cancel.is_cancelled()).map_err(|why| unparsed(&opened.name, why))?;
    Ok(PlannedFile::new(opened.name.clone(), opened.text(), places))
}
