//! `code_rename`: a symbol gets another name everywhere it is meant: shown first, then done in
//! all files or in none. What the text alone cannot decide is listed and left alone.

mod around;
mod hides;
mod judge;
mod knows;
mod literal;
mod members;
mod passing;
mod plan;
mod quoted;
mod shown;
mod spaces;
mod taken;
mod target;
mod through;
mod uses;
mod verdict;

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{
    Ctx, Fault, Reply, Subject, Wants,
    security::{Access, Batch, RawPath},
};
use tectum_syntax::{Detail, Kind, Outline, Span, names};

pub use self::plan::{FilePlan, Output, RenamePlace};
pub(crate) use self::shown::ShownPlans;
pub(super) use self::uses::uses;
use self::{
    judge::edits,
    plan::Plan,
    target::{Home, Target},
};
use super::{Code, Only, Opened, args::project, carried::is_name, change::verify};
use crate::{
    edit::pen::{Intent, Undo, missing},
    files::spelling::count,
    text::{TextFile, revision},
};

/// Rename a symbol. Without plan only shows it: what would change in which file, what is uncertain
/// (members of other objects, other modules) and stays. Then repeat with its id as plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    pub(super) path: RawPath,
    pub(super) name: String,
    pub(super) new_name: String,
    /// Directory searched; a rename that is too large for the project is told of this.
    #[serde(default = "project")]
    #[schemars(skip)]
    pub within: RawPath,
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) plan: Option<String>,
    /// All files of the plan; its id stands for them, so that nobody is told of this.
    #[serde(default)]
    #[schemars(skip)]
    pub apply_to: Vec<RawPath>,
}

/// The paths that the row needs: the file and the directory to read, the files of the plan to write.
pub(super) fn wants(code: &Code, args: &Args) -> Wants {
    let mut paths = vec![(args.path.clone(), Access::Read), (args.within.clone(), Access::Read)];
    let planned = args.plan.as_deref().filter(|_| args.apply_to.is_empty());
    let files = planned.and_then(|plan| code.plans.get(plan)).unwrap_or_else(|| args.apply_to.clone());
    paths.extend(files.into_iter().map(|path| (path, Access::Write)));
    Wants { subject: Subject::Path(args.path.clone()), paths }
}

/// Plans a rename, and does it when asked.
pub(super) fn run(code: &Code, ctx: &Ctx, args: &Args) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, Only::Any)?;
    let outline = opened.outline(ctx, Detail::Full)?;
    let group = meant(&opened, &outline, &args.name)?;
    let index = group[0];
    let new = args.new_name.trim();
    if !is_name(new) {
        return Err(Fault::invalid(format!("new_name is no name: {}", args.new_name)));
    }
    let mut target = Target::find(&opened, &outline, index, new);
    refuse_fixed(&opened, &target)?;
    refuse_promised(&opened, &outline, index)?;
    if target.old == new {
        return Err(Fault::invalid(format!("it is called {new} already; nothing was changed")));
    }
    let plan = Plan::make(code, ctx, 1, &opened, &mut target)?;
    check_group(&opened, &outline, &args.name, &group, &plan)?;
    plan.check_size()?;
    if let Some(clash) = plan.files.iter().find_map(|file| file.clash(&target)) {
        return Err(Fault::conflict(clash).hint("choose another name"));
    }
    // A keyword, or a name that makes no sense there, shows in the file that defines it.
    let own = edits(&plan.files[0].places, &target);
    verify(ctx, &opened, &opened.file.edited(&own)?, &own)?;
    let digest = plan.digest(&target);
    let files = ctx.grants.paths().len() - 2;
    if files == 0 && args.plan.is_none() {
        code.plans.put(&digest, plan.changed().map(|file| RawPath::new(&file.name)).collect());
        return Ok(plan.told(&target, digest, false, Undo::default(), ""));
    }
    if files == 0 {
        return Err(Fault::conflict("a plan of this id was not shown lately; nothing was changed")
            .hint("call again without plan to see it as it is now"));
    }
    if args.plan.as_ref().is_some_and(|believed| *believed != digest) {
        return Err(Fault::conflict("the files changed since the plan was made; nothing was changed")
            .hint("call again without plan to see it as it is now"));
    }
    plan.check_files(ctx)?;
    let (undo, changes) = apply(code, ctx, &plan, &target)?;
    Ok(plan.told(&target, digest, true, undo, &changes))
}

/// The symbols that are renamed together. Overloads have one name, so that any of them stands for
/// all, and so have a value and a type that are declared side by side. Whether one name is really
/// all that the language gives them, the plan tells: see [`check_group`].
fn meant(opened: &Opened, outline: &Outline, name: &str) -> Result<Vec<u32>, Fault> {
    let found = opened.all(outline, name, |_| true)?;
    let first = &outline.symbols[found[0] as usize];
    let scope = first.scope.slice(opened.text());
    let beside = |index: &u32| {
        let symbol = &outline.symbols[*index as usize];
        symbol.parent == first.parent && symbol.scope.slice(opened.text()) == scope
    };
    let is_part = |index: &&u32| {
        let symbol = &outline.symbols[**index as usize];
        let decorators = Span { start: symbol.whole.start, end: symbol.head.start };
        names::is_part(decorators.slice(opened.text()), symbol.name.slice(opened.text()))
    };
    // All but one say that they are parts of it, unless nobody has to say so.
    let one = opened.source.language().pack().style.overloads
        || found.iter().filter(is_part).count() + 1 >= found.len();
    if one && found.iter().all(beside) {
        return Ok(found);
    }
    Ok(vec![opened.one(outline, name, |_| true)?])
}

/// Refuses a name of several symbols that the plan does not rename together.
fn check_group(
    opened: &Opened,
    outline: &Outline,
    name: &str,
    group: &[u32],
    plan: &Plan,
) -> Result<(), Fault> {
    let certain = &plan.files[0].places.certain;
    if group.iter().all(|index| certain.contains(&outline.symbols[*index as usize].name)) {
        return Ok(());
    }
    Err(opened.ambiguous(outline, name, group))
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
    let Some(of) = members::trait_of(block.head.slice(opened.text())) else { return Ok(()) };
    let name = symbol.name.slice(opened.text());
    Err(Fault::invalid(format!("{name} is what the trait {of} asks for; nothing was changed"))
        .hint("rename it in the trait, if that is part of the project; its blocks go along"))
}

/// Changes all files of the plan, or none. Tells what the changed lines are now.
fn apply(code: &Code, ctx: &Ctx, plan: &Plan, target: &Target) -> Result<(Undo, String), Fault> {
    let mut paths = Vec::new();
    for path in &ctx.grants.paths()[2..] {
        if !paths.iter().any(|other: &&tectum_core::security::SafePath| other.absolute() == path.absolute()) {
            paths.push(path);
        }
    }
    let batch = Batch::open(&paths, code.pen.max_file)?;
    let (mut intents, mut kept, mut changes, mut left_out) = (Vec::new(), Vec::new(), String::new(), 0);
    for slot in batch.slots() {
        let name = slot.path().name();
        let current = slot.current().ok_or_else(|| missing(&name))?;
        let file = TextFile::decode(current.to_vec()).map_err(|not_text| not_text.fault(&name))?;
        let planned = plan.changed().find(|planned| planned.name == name);
        let planned = planned.filter(|planned| planned.revision == revision(file.text().as_bytes()));
        let Some(planned) = planned else {
            return Err(Fault::conflict(format!("{name} changed meanwhile; nothing was changed"))
                .hint("call again without plan to see it as it is now"));
        };
        let opened = code.opened(name, file, Only::Any)?;
        let edits = edits(&planned.places, target);
        let after = opened.file.edited(&edits)?;
        kept.push(verify(ctx, &opened, &after, &edits)?);
        after.check_reads_again()?;
        let shown = planned.shown(after.text());
        if changes.len() + shown.len() <= ctx.max_output / 2 {
            changes.push_str(&shown);
        } else {
            left_out += 1;
        }
        let bytes = after.into_bytes();
        let revision = revision(&bytes);
        intents.push(Intent::write(bytes, &revision));
    }
    if left_out > 0 {
        let files = count(left_out, "file is", "files are");
        let _ = writeln!(changes, "[changes of {files} not shown; get_git_diff shows them]");
    }
    let undo = code.pen.commit(ctx, batch, intents)?;
    kept.into_iter().for_each(|source: Arc<_>| code.languages.shelf.put(source));
    Ok((undo, changes))
}
