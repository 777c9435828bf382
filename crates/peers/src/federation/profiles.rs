//! The tools that a client is listed: all, the lean set for coding agents, or a set that somebody
//! named. A tool that is not listed can still be called by its name.

use std::{collections::BTreeMap, sync::Arc};

use globset::{Glob, GlobMatcher, GlobSet, GlobSetBuilder};
use serde_json::{Map, Value};
use tectum_core::{ToolInfo, ToolRole};

use super::lean;
use crate::client_table::ClientFacts;

/// The profile of each client.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    chosen: ProfileChoice,
    clients: Vec<(GlobMatcher, ProfileChoice)>,
    own: BTreeMap<String, Arc<Patterns>>,
}

/// The tools that one client is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// All.
    #[default]
    All,
    /// Those that are covered by no other one, with the arguments that tasks need.
    Lean,
    /// A set that somebody named.
    Own(Arc<Patterns>),
}

/// The globs of a set that somebody named.
#[derive(Clone, Debug)]
pub struct Patterns {
    text: String,
    include: GlobSet,
    exclude: GlobSet,
    all: bool,
}

/// The choice for a client.
#[derive(Clone, Debug, Default)]
enum ProfileChoice {
    /// Lean for a coding agent, all for others.
    #[default]
    Auto,
    This(Profile),
}

impl Profiles {
    /// Takes a profile that is written as a name and its globs: `review=read_* !read_only`.
    pub fn define(&mut self, text: &str) -> Result<(), String> {
        let (name, globs) =
            text.split_once('=').ok_or_else(|| format!("`{text}` is no profile: write NAME=GLOBS"))?;
        let name = name.trim();
        if matches!(name, "" | "auto" | "lean" | "all") {
            return Err(format!("`{name}` cannot be the name of a profile"));
        }
        self.own.insert(name.to_owned(), Arc::new(Patterns::read(globs)?));
        Ok(())
    }

    /// Takes the profile for one client: `opencode=all`.
    pub fn choose_for(&mut self, text: &str) -> Result<(), String> {
        let (client, profile) =
            text.split_once('=').ok_or_else(|| format!("`{text}` is no choice: write CLIENT=PROFILE"))?;
        let client = Glob::new(client.trim()).map_err(|error| error.to_string())?.compile_matcher();
        let choice = self.choice(profile.trim())?;
        self.clients.push((client, choice));
        Ok(())
    }

    /// Takes the profile for everybody else.
    pub fn choose(&mut self, name: &str) -> Result<(), String> {
        self.chosen = self.choice(name)?;
        Ok(())
    }

    /// The profile of a client, by the name in its `clientInfo`.
    pub fn profile(&self, client: &str, facts: &ClientFacts) -> Profile {
        let own = self.clients.iter().find(|(glob, _)| glob.is_match(client)).map(|(_, choice)| choice);
        match own.unwrap_or(&self.chosen) {
            ProfileChoice::This(profile) => profile.clone(),
            ProfileChoice::Auto if facts.coding => Profile::Lean,
            ProfileChoice::Auto => Profile::All,
        }
    }

    fn choice(&self, name: &str) -> Result<ProfileChoice, String> {
        Ok(ProfileChoice::This(match name {
            "auto" => return Ok(ProfileChoice::Auto),
            "lean" => Profile::Lean,
            "all" => Profile::All,
            name => {
                let known = self.own.keys().map(|name| format!(", {name}")).collect::<String>();
                let own = self.own.get(name).cloned();
                Profile::Own(
                    own.ok_or_else(|| format!("no profile `{name}`: there are auto, lean, all{known}"))?,
                )
            }
        }))
    }
}

impl Profile {
    /// True if a tool stands in the list.
    pub fn lists(&self, info: &ToolInfo) -> bool {
        info.listed
            && match self {
                Self::All => true,
                Self::Lean => info.role != ToolRole::Alias,
                Self::Own(patterns) => {
                    let included = patterns.all || patterns.include.is_match(&*info.name);
                    included && !patterns.exclude.is_match(&*info.name)
                }
            }
    }

    /// The schema of a tool's arguments as the list has it.
    pub fn arguments(&self, info: &ToolInfo) -> Map<String, Value> {
        let mut schema = info.input_schema.as_object().cloned().unwrap_or_default();
        if *self == Self::Lean {
            lean::shorten(info, &mut schema);
        }
        schema
    }
}

impl Patterns {
    fn read(globs: &str) -> Result<Self, String> {
        let (mut include, mut exclude) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut all = true;
        for word in globs.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (set, pattern) = match word.strip_prefix('!') {
                Some(pattern) => (&mut exclude, pattern),
                None => {
                    all = false;
                    (&mut include, word)
                }
            };
            set.add(
                Glob::new(pattern).map_err(|error| format!("`{pattern}` is not a valid pattern: {error}"))?,
            );
        }
        let built = |set: GlobSetBuilder| set.build().map_err(|error| error.to_string());
        Ok(Self { text: globs.trim().to_owned(), include: built(include)?, exclude: built(exclude)?, all })
    }
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Patterns {}

impl std::hash::Hash for Patterns {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_own_profile_or_that_of_its_kind() {
        let mut profiles = Profiles::default();
        let (codex, other) = (ClientFacts::find("codex-mcp-client", "1"), ClientFacts::unknown());
        assert_eq!(profiles.profile("codex-mcp-client", codex), Profile::Lean);
        assert_eq!(profiles.profile("program", other), Profile::All);
        profiles.define("review=read_* search_*, !search_files").expect("a profile");
        profiles.choose_for("codex-*=review").expect("a choice");
        profiles.choose("lean").expect("a choice");
        assert!(matches!(profiles.profile("codex-mcp-client", codex), Profile::Own(_)));
        assert_eq!(profiles.profile("program", other), Profile::Lean);
        for wrong in ["review", "all=x", "=x", "a={"] {
            assert!(profiles.define(wrong).is_err(), "{wrong}");
        }
        let told = profiles.choose("nothing").expect_err("unknown");
        assert_eq!(told, "no profile `nothing`: there are auto, lean, all, review");
    }

    #[test]
    fn patterns_take_and_leave_out() {
        let lists = |globs: &str, name: &str| {
            let patterns = Patterns::read(globs).expect("globs");
            (patterns.all || patterns.include.is_match(name)) && !patterns.exclude.is_match(name)
        };
        assert!(lists("read_* search_*", "read_file") && !lists("read_* search_*", "edit_file"));
        assert!(lists("!edit_*", "read_file") && !lists("!edit_*", "edit_file"));
    }
}
