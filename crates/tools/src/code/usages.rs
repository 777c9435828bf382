//! The uses of a name, in a file or below a directory: each place with what the name is there. Names
//! are matched as words; what a name refers to is not resolved.

mod hits;
mod line;
mod page;
mod places;
mod scan;

use std::{collections::HashMap, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Ctx, Fault, Reply, security::RawPath};
use tectum_syntax::{Role, names::Asked};

pub(crate) use self::hits::Hits;
pub use self::page::{RoleCount, Usage, UsagesOutput};
use self::{page::UsagesPage, places::UsagePlaces, scan::UsageScan};
use super::{
    Code, Only,
    project::{Entry, SourceFacts, Sources, words},
};

/// Usages in one reply unless asked otherwise.
const PAGE: usize = 100;
/// The most that can be asked for at once.
const MOST_PER_PAGE: usize = 2_000;
/// What to look for, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsagesArgs {
    /// File or directory.
    pub path: RawPath,
    pub(super) name: String,
    #[serde(default)]
    pub(super) roles: Vec<RoleName>,
    /// Also in strings and comments, last; `roles` can say so too, so that nobody is told of this.
    #[serde(default = "yes")]
    #[schemars(skip)]
    pub include_text: bool,
    /// How many, 100 by default; a page names where the next begins, so that nobody is told of this.
    #[serde(default)]
    #[schemars(skip)]
    pub limit: Option<usize>,
    #[serde(default)]
    #[schemars(with = "i64")]
    pub(super) from: Option<usize>,
}

impl UsagesArgs {
    /// The usual question about a name.
    pub fn new(path: RawPath, name: String) -> Self {
        Self { path, name, roles: Vec::new(), include_text: true, limit: None, from: None }
    }
}

fn yes() -> bool {
    true
}

/// Role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum RoleName {
    /// The name of a definition or declaration.
    Definition,
    /// Called, as a member or not.
    Call,
    /// Called as a member: `x.run()`.
    MemberCall,
    /// In an import.
    Import,
    /// A member of something, not called.
    Attribute,
    /// Any other place in code.
    Reference,
    /// In a string.
    String,
    /// In a comment.
    Comment,
}

impl RoleName {
    fn includes(self, role: Role) -> bool {
        match self {
            Self::Definition => role == Role::Definition,
            Self::Call => matches!(role, Role::Call | Role::MemberCall),
            Self::MemberCall => role == Role::MemberCall,
            Self::Import => role == Role::Import,
            Self::Attribute => role == Role::Attribute,
            Self::Reference => role == Role::Reference,
            Self::String => role == Role::String,
            Self::Comment => role == Role::Comment,
        }
    }
}

/// Finds the usages of a name below the call's first path.
pub fn usages(code: &Code, ctx: &Ctx, args: UsagesArgs, only: Only) -> Result<Reply<UsagesOutput>, Fault> {
    let limit = args.limit.unwrap_or(PAGE);
    if limit == 0 || limit > MOST_PER_PAGE {
        return Err(Fault::invalid(format!("`limit` must be 1 to {MOST_PER_PAGE}, got {limit}")));
    }
    let asked = Asked::parse(&args.name);
    let word = asked.parts.last().copied().unwrap_or_default();
    if !words::is_name(word) {
        return Err(Fault::invalid(format!("`{}` is no name", args.name))
            .hint("pass an identifier, or one with what it belongs to: `run`, `Server.run`; for other text use search_content"));
    }
    let scan = UsageScan::new(word, only);
    let sources = code.project.sources_ahead(&code.languages, ctx, 0, &scan)?;
    if sources.is_file() {
        // A file that is no source is an error of its own, not an empty answer.
        code.open(ctx, 0, only)?;
    }
    let searched = sources.fitting(only);
    let found = scan.find(&sources, &searched)?;
    let mut places = UsagePlaces::sort(&found, |role| {
        (args.roles.is_empty() || args.roles.iter().any(|wanted| wanted.includes(role)))
            && (args.include_text || role.is_code())
    });
    if asked.parts.len() > 1 {
        choose(&sources, &found, &mut places, &asked, only)?;
    }
    let skipped = sources.skipped(&searched);
    let page = UsagesPage {
        sources: &sources,
        found: &found,
        places,
        word,
        only,
        limit,
        from: args.from.unwrap_or(0),
    };
    page.write(ctx, searched.len(), skipped)
}

/// Leaves out definitions that belong to something else than what was asked for, unless none
/// would be left: then the name before the last part says nothing here.
fn choose(
    sources: &Sources<'_>,
    found: &[(Arc<Entry>, Arc<Hits>)],
    places: &mut UsagePlaces<'_, Arc<Entry>>,
    asked: &Asked<'_>,
    only: Only,
) -> Result<(), Fault> {
    let defining: Vec<usize> = (0..found.len()).filter(|at| found[*at].1.defines()).collect();
    let entries: Vec<Arc<Entry>> = defining.iter().map(|at| found[*at].0.clone()).collect();
    let facts = sources.facts(&entries, only, false)?;
    let by_file: HashMap<usize, Arc<SourceFacts>> =
        facts.into_iter().map(|(place, facts)| (defining[place], facts)).collect();
    places.choose(|file, line| {
        let Some(facts) = by_file.get(&file) else { return true };
        let module = module(&found[file].0);
        let word = asked.parts.last().copied().unwrap_or_default();
        let named =
            |(_, fact): &(u32, &super::project::Fact)| fact.name_line == line && facts.name(fact) == word;
        let mut here = (0u32..).zip(&facts.symbols).filter(named).peekable();
        if here.peek().is_none() {
            // A variable or a field: an outline does not tell what it belongs to.
            return true;
        }
        here.any(|(index, _)| {
            let mut path: Vec<&str> = module.iter().map(String::as_str).collect();
            path.extend(facts.path(index));
            path.ends_with(&asked.parts)
        })
    });
    Ok(())
}

/// A file's path as the parts of a module's name: `a/b.py` is `a`, `b`.
fn module(entry: &Entry) -> Vec<String> {
    let path = entry.path().with_extension("");
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.filter(|part| part != "__init__").collect()
}
