//! `code_rename`: a symbol gets another name everywhere it is meant: shown first, then done in
//! all files or in none. What the text alone cannot decide is listed and left alone.

mod around;
mod hides;
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

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Ctx, Fault, Reply, Subject, Wants,
    security::{Access, Batch, RawPath},
};
use tectum_syntax::{Detail, Kind, Outline, Span, Symbol, names};

pub(crate) use self::shown::Shown;
pub(super) use self::uses::uses;
use self::{
    plan::Plan,
    target::{Home, Target},
};
use super::{Code, Only, Opened, args::project, carried::is_name, change::verify, lookup::ambiguous};
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
pub struct Place {
    /// The file.
    pub path: String,
    /// Its line.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// What the row needs: the file and the directory to read, the files of the plan to write.
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
    let mut target = target(&opened, &outline, index, new);
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
    let own = target::edits(&plan.files[0].places, &target);
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
    let scope = first.scope.of(opened.text());
    let beside = |index: &u32| {
        let symbol = &outline.symbols[*index as usize];
        symbol.parent == first.parent && symbol.scope.of(opened.text()) == scope
    };
    let is_part = |index: &&u32| {
        let symbol = &outline.symbols[**index as usize];
        let decorators = Span { start: symbol.whole.start, end: symbol.head.start };
        names::is_part(decorators.of(opened.text()), symbol.name.of(opened.text()))
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
    let pack = opened.source.language().pack();
    Err(ambiguous(pack, opened.text(), outline, &opened.name, name, group))
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
        note: file_note(opened, symbol, new),
    }
}

/// A note where the file of a type must be called as the type is.
fn file_note(opened: &Opened, symbol: &Symbol, new: &str) -> Option<String> {
    let (folder, name) = opened.name.rsplit_once('/').unwrap_or(("", &opened.name));
    let (stem, ending) = name.rsplit_once('.')?;
    let public = symbol.head.of(opened.text()).split_whitespace().any(|word| word == "public");
    let style = &opened.source.language().pack().style;
    let named = style.public_named && symbol.parent.is_none() && symbol.kind.is_type();
    (named && public && stem == symbol.name.of(opened.text())).then(|| {
        let slash = if folder.is_empty() { "" } else { "/" };
        format!("{} must become {folder}{slash}{new}.{ending}: a public type has a file of its name; use move_file", opened.name)
    })
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
        let edits = target::edits(&planned.places, target);
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
    kept.into_iter().for_each(|source: Arc<_>| code.shelf.put(source));
    Ok((undo, changes))
}
