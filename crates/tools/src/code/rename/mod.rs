//! `code_rename`: a symbol gets another name everywhere it is meant: shown first, then done in
//! all files or in none. What the text alone cannot decide is listed and left alone.

mod around;
mod hides;
mod knows;
mod literal;
mod members;
mod passing;
mod plan;
mod spaces;
mod taken;
mod target;
mod through;
mod uses;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Ctx, Fault, Reply, Subject, Wants,
    security::{Access, Batch, RawPath},
};
use tectum_syntax::{Detail, Kind, Outline};

pub(super) use self::uses::uses;
use self::{
    plan::Plan,
    target::{Home, Target},
};
use super::{Code, Only, Opened, args::project, carried::is_name, change::verify};
use crate::{
    edit::{
        diff,
        pen::{Intent, Undo, missing},
    },
    text::{TextFile, revision},
};

/// Rename a symbol. Without apply_to only shows the plan: what would change in which file, what
/// is uncertain (members of other objects, other modules) and stays. Then repeat with apply_to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file that defines it.
    pub path: RawPath,
    /// Symbol: `name`, `Class.method`, `name#2`.
    pub name: String,
    /// Its new name.
    pub new_name: String,
    /// Directory to look through; the project when absent.
    #[serde(default = "project")]
    pub within: RawPath,
    /// All files of the plan, to do it. Empty only shows it.
    #[serde(default)]
    pub apply_to: Vec<RawPath>,
    /// The plan's id; if files changed since, nothing is done.
    #[serde(default)]
    pub plan: Option<String>,
}

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
    pub uncertain: Vec<Place>,
    /// Mentions in strings and comments, which stay.
    pub in_text: usize,
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
pub struct Place {
    /// The file.
    pub path: String,
    /// Its line.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// What the row needs: the file and the directory to read, the files of the plan to write.
pub(super) fn wants(args: &Args) -> Wants {
    let mut paths = vec![(args.path.clone(), Access::Read), (args.within.clone(), Access::Read)];
    paths.extend(args.apply_to.iter().map(|path| (path.clone(), Access::Write)));
    Wants { subject: Subject::Path(args.path.clone()), paths }
}

/// Plans a rename, and does it when asked.
pub(super) fn run(code: &Code, ctx: &Ctx, args: &Args) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, Only::Any)?;
    let outline = opened.outline(ctx, Detail::Full)?;
    let index = meant(&opened, &outline, &args.name)?;
    let new = args.new_name.trim();
    if !is_name(new) {
        return Err(Fault::invalid(format!("new_name is no name: {}", args.new_name)));
    }
    let mut target = target(&opened, &outline, index, new);
    refuse_fixed(&opened, &target)?;
    refuse_promised(&opened, &outline, index)?;
    if target.old == new {
        return Err(Fault::invalid(format!("it is called {new} already; nothing was changed")));
    }
    let plan = Plan::make(code, ctx, 1, &opened, &mut target)?;
    plan.check_size()?;
    if let Some(clash) = plan.files.iter().find_map(|file| file.clash(&target)) {
        return Err(Fault::conflict(clash).hint("choose another name"));
    }
    // A keyword, or a name that makes no sense there, shows in the file that defines it.
    let own = target::edits(&plan.files[0].places, &target);
    verify(ctx, &opened, &opened.file.edited(&own)?, &own)?;
    let digest = plan.digest(&target);
    if args.apply_to.is_empty() {
        return Ok(plan.told(&target, digest, false, Undo::default(), String::new()));
    }
    if args.plan.as_ref().is_some_and(|believed| *believed != digest) {
        return Err(Fault::conflict("the files changed since the plan was made; nothing was changed")
            .hint("call again without apply_to to see the plan as it is now"));
    }
    plan.check_files(ctx)?;
    let (undo, diffs) = apply(code, ctx, &plan, &target)?;
    Ok(plan.told(&target, digest, true, undo, diffs))
}

/// The symbol that is renamed. Overloads have one name, so that any of them stands for all.
fn meant(opened: &Opened, outline: &Outline, name: &str) -> Result<u32, Fault> {
    let found = opened.all(outline, name, |_| true)?;
    let first = &outline.symbols[found[0] as usize];
    let scope = first.scope.of(opened.text());
    let overload = |index: &u32| {
        let symbol = &outline.symbols[*index as usize];
        let beside = symbol.parent == first.parent && symbol.scope.of(opened.text()) == scope;
        symbol.kind.is_callable() && beside
    };
    match opened.source.language().pack().style.overloads && found.iter().all(overload) {
        true => Ok(found[0]),
        false => opened.one(outline, name, |_| true),
    }
}

/// Refuses a name by which the language itself knows the symbol.
fn refuse_fixed(opened: &Opened, target: &Target) -> Result<(), Fault> {
    let pack = opened.source.language().pack();
    let constructs = matches!(&target.home, Home::Type(class, _) if *class == target.old);
    let fault = |why: &str| Fault::invalid(format!("{} is {why}; nothing was changed", target.old));
    if constructs && target.callable {
        return Err(fault("called as its type is").hint("rename the type"));
    }
    if (pack.style.fixed)(&target.old) {
        return Err(fault(&format!("a name that {} gives a meaning", pack.title))
            .hint("write it under another name with code_update_definition, if that is meant"));
    }
    Ok(())
}

/// Refuses what a block has because a trait asks for it: the trait says what it is called.
fn refuse_promised(opened: &Opened, outline: &Outline, index: u32) -> Result<(), Fault> {
    let symbol = &outline.symbols[index as usize];
    let parent = symbol.parent.map(|at| &outline.symbols[at as usize]);
    let Some(block) = parent.filter(|parent| parent.kind == Kind::Impl) else { return Ok(()) };
    let Some(of) = members::trait_of(block.head.of(opened.text())) else { return Ok(()) };
    let name = symbol.name.of(opened.text());
    Err(Fault::invalid(format!("{name} is what the trait {of} asks for; nothing was changed"))
        .hint("rename it in the trait, if that is part of the project; its blocks go along"))
}

fn target(opened: &Opened, outline: &Outline, index: u32, new: &str) -> Target {
    let symbol = &outline.symbols[index as usize];
    let parent = symbol.parent.map(|at| &outline.symbols[at as usize]);
    let scope = symbol.scope.of(opened.text());
    let home = match parent {
        Some(parent) if parent.kind.is_callable() => Home::Function(parent.whole),
        Some(parent) if parent.kind.is_type() => {
            Home::Type(parent.name.of(opened.text()).to_owned(), parent.whole)
        }
        _ if !scope.is_empty() => {
            let class = scope.rsplit("::").next().unwrap_or(scope);
            Home::Type(class.split('<').next().unwrap_or(class).trim().to_owned(), symbol.whole)
        }
        _ => Home::File,
    };
    Target {
        old: symbol.name.of(opened.text()).to_owned(),
        new: new.to_owned(),
        file: opened.name.clone(),
        name: symbol.name,
        home,
        callable: symbol.kind.is_callable(),
        is_macro: symbol.kind == Kind::Macro,
        is_value: !(symbol.kind.is_type() || matches!(symbol.kind, Kind::Typedef | Kind::Namespace)),
        namespace: parent
            .filter(|parent| parent.kind == Kind::Namespace)
            .map(|parent| parent.name.of(opened.text()).to_owned()),
        space: spaces::path(
            opened.text(),
            outline,
            symbol.parent.filter(|at| outline.symbols[*at as usize].kind == Kind::Namespace),
        ),
        unique: false,
        unique_home: false,
        passing: Vec::new(),
        doors: Vec::new(),
        namesakes: Vec::new(),
    }
}

/// Changes all files of the plan, or none.
fn apply(code: &Code, ctx: &Ctx, plan: &Plan, target: &Target) -> Result<(Undo, String), Fault> {
    let mut paths = Vec::new();
    for path in &ctx.grants.paths()[2..] {
        if !paths.iter().any(|other: &&tectum_core::security::SafePath| other.absolute() == path.absolute()) {
            paths.push(path);
        }
    }
    let batch = Batch::open(&paths, code.pen.max_file)?;
    let (mut intents, mut kept, mut diffs) = (Vec::new(), Vec::new(), String::new());
    let limit = diff::Limit {
        lines: (160 / paths.len()).clamp(6, 40),
        bytes: (16 * 1024 / paths.len()).clamp(512, 4 * 1024),
    };
    for slot in batch.slots() {
        let name = slot.path().name();
        let current = slot.current().ok_or_else(|| missing(&name))?;
        let file = TextFile::decode(current.to_vec()).map_err(|not_text| not_text.fault(&name))?;
        let planned = plan.changed().find(|planned| planned.name == name);
        let planned = planned.filter(|planned| planned.revision == revision(file.text().as_bytes()));
        let Some(planned) = planned else {
            return Err(Fault::conflict(format!("{name} changed meanwhile; nothing was changed"))
                .hint("call again without apply_to to see the plan as it is now"));
        };
        let opened = code.opened(name, file, Only::Any)?;
        let edits = target::edits(&planned.places, target);
        let after = opened.file.edited(&edits)?;
        kept.push(verify(ctx, &opened, &after, &edits)?);
        after.check_reads_again()?;
        diffs.push_str(&diff::unified(&opened.name, opened.text(), after.text(), limit));
        let bytes = after.into_bytes();
        let revision = revision(&bytes);
        intents.push(Intent::write(bytes, &revision));
    }
    let undo = code.pen.commit(ctx, batch, intents)?;
    kept.into_iter().for_each(|source: Arc<_>| code.shelf.put(source));
    Ok((undo, diffs))
}
