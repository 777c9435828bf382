//! The set-up as types: what the layers say, parsed once, so that nobody below checks again.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use globset::{Glob, GlobSet, GlobSetBuilder};
use tectum_core::{
    Closing, Judgement, Redactor, Rule, Rules, redact,
    security::{Durability, Links, TrackedOpens},
};

use super::{
    keys::{self, Key},
    load::{Merged, Setting, Sources},
    place::{Origin, Problem, Problems},
    value::{Item, Value},
};

/// The name of the older file of servers.
const SEED: &str = "mcp_config.json";

/// Everything the house is set up with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The served directory, in its canonical spelling.
    pub directory: PathBuf,
    /// What may be reached.
    pub workspace: Workspace,
    /// What may be called.
    pub permissions: Rules,
    /// The tools.
    pub tools: ToolSet,
    /// The language servers.
    pub diagnostics: Diagnostics,
    /// How files are written.
    pub files: Files,
    /// The listener of `tectum up`.
    pub http: Http,
    /// The other servers.
    pub federation: Federation,
    /// Who gets copies of calls.
    pub observers: Observers,
    /// What stands at the end of a round, for clients of MCP.
    pub closing: Closing,
    /// How much is logged.
    pub log: Level,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The files of settings, whether they are there or not.
    pub files_of_settings: Vec<PathBuf>,
    /// Where the user's state lies; `None` keeps everything in memory.
    pub state: Option<PathBuf>,
    merged: Merged,
}

/// What may be reached.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The directories, the first of which relative paths start from.
    pub roots: Vec<PathBuf>,
    /// Single files beyond them.
    pub tracked: Vec<PathBuf>,
    /// What a tracked file opens.
    pub tracked_opens: TrackedOpens,
    /// Patterns of names that are never changed, beyond the built-in ones.
    pub read_only: Vec<String>,
    /// Patterns of names that stay closed, beyond the built-in ones.
    pub deny: Vec<String>,
    /// Whether links are followed.
    pub symlinks: Links,
    /// Whether a file with other hard links may be changed.
    pub break_hard_links: bool,
}

/// Which tools there are, and their bounds.
#[derive(Clone, Debug)]
pub struct ToolSet {
    /// Whether our own tools are offered.
    pub native: bool,
    /// Which of them: those that match, or all.
    pub include: Option<GlobSet>,
    /// Those that are left out all the same.
    pub exclude: GlobSet,
    /// A cap on every tool's text, in bytes.
    pub max_output: Option<usize>,
    /// Threads a search may use; `None` lets the tools decide.
    pub threads: Option<usize>,
    /// The tiers that work can be handed over to.
    pub tiers: Vec<String>,
}

/// The language servers behind `diagnostics`.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// Commands that the operator chose, by the name of their key.
    pub commands: BTreeMap<String, Vec<String>>,
    /// The most memory that each process may take, in bytes.
    pub memory: u64,
    /// How long a question waits for a server that runs.
    pub wait: Duration,
}

/// How files are written.
#[derive(Clone, Debug)]
pub struct Files {
    /// What a finished write promises.
    pub durability: Durability,
    /// The largest file taken into memory, in bytes.
    pub max_file: u64,
}

/// The listener.
#[derive(Clone, Debug)]
pub struct Http {
    /// Where.
    pub listen: SocketAddr,
    /// Who may call.
    pub auth: AuthMode,
    /// Whether an address that other machines reach is allowed.
    pub allow_remote: bool,
    /// Further host names that are ours.
    pub hosts: Vec<String>,
}

/// Where other servers are named, and how their tools are offered.
#[derive(Clone, Debug)]
pub struct Federation {
    /// Files of other programs, the first of which wins.
    pub read: Vec<PathBuf>,
    /// Which tools are shown at once; `None` lets the engine decide.
    pub exposure: Option<Exposure>,
}

/// Who gets copies of calls, and what is hidden in them.
#[derive(Clone, Debug)]
pub struct Observers {
    /// Whether anybody is looked for.
    pub on: bool,
    /// Globs over the names of servers that get none.
    pub exclude: Vec<String>,
    /// Whether secrets are hidden.
    pub redact: bool,
    /// Globs over names whose values are hidden, beyond the built-in ones.
    pub names: Vec<String>,
    /// Regular expressions for what is hidden, beyond the built-in ones.
    pub texts: Vec<String>,
}

impl Observers {
    /// What hides secrets in copies. Each part was checked when it was read; all together may
    /// still be too much.
    pub fn redactor(&self) -> Result<Redactor, String> {
        match self.redact {
            true => Redactor::new(&self.names, &self.texts),
            false => Ok(Redactor::none()),
        }
    }
}

/// Which tools of other servers a client is shown at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// All.
    All,
    /// A core.
    Core,
    /// A search for them.
    Search,
}

/// Who may call over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// Whoever shows the bearer token.
    Token,
    /// Anybody who can connect.
    None,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Failures.
    Error,
    /// And what may become one.
    Warn,
    /// And what happens.
    Info,
    /// And why.
    Debug,
    /// And everything else.
    Trace,
}

impl Config {
    /// The built-in set-up for a directory: no file and no environment is read, no state is kept.
    pub fn built_in(directory: impl Into<PathBuf>) -> Result<Self, Problems> {
        Sources { directory: directory.into(), ..Sources::default() }.load()
    }

    /// What the layers said, with the place of every value.
    pub fn merged(&self) -> &Merged {
        &self.merged
    }

    pub(super) fn of(
        directory: PathBuf,
        sources: &Sources,
        files_of_settings: Vec<PathBuf>,
        merged: Merged,
    ) -> Result<Self, Problems> {
        // Each of them tells all that is wrong with its part; all of it is told at once.
        let parts = [
            rules(&merged).err(),
            globs(&merged, &keys::INCLUDE_TOOLS).err(),
            globs(&merged, &keys::EXCLUDE_TOOLS).err(),
            observers(&merged).err(),
        ];
        let wrong: Vec<Problem> = parts.into_iter().flatten().flat_map(|Problems(wrong)| wrong).collect();
        if !wrong.is_empty() {
            return Err(Problems(wrong));
        }
        let texts = |key| merged.list(key).iter().map(|item| item.text.clone());
        let paths = |key| texts(key).map(PathBuf::from).collect();
        let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        Ok(Self {
            workspace: Workspace {
                roots: paths(&keys::ROOTS),
                tracked: paths(&keys::TRACKED),
                tracked_opens: match merged.word(&keys::TRACKED_OPENS) {
                    Some("directory") => TrackedOpens::Directory,
                    _ => TrackedOpens::File,
                },
                read_only: texts(&keys::READ_ONLY).collect(),
                deny: texts(&keys::DENY).collect(),
                symlinks: match merged.word(&keys::SYMLINKS) {
                    Some("inside") => Links::Inside,
                    _ => Links::Never,
                },
                break_hard_links: merged.flag(&keys::BREAK_HARD_LINKS),
            },
            permissions: rules(&merged)?,
            tools: ToolSet {
                native: merged.flag(&keys::NATIVE),
                include: match merged.get(&keys::INCLUDE_TOOLS) {
                    Some(_) => Some(globs(&merged, &keys::INCLUDE_TOOLS)?),
                    None => None,
                },
                exclude: globs(&merged, &keys::EXCLUDE_TOOLS)?,
                max_output: merged.number(&keys::MAX_OUTPUT).map(bytes),
                threads: merged.number(&keys::THREADS).map(bytes),
                tiers: texts(&keys::TIERS).collect(),
            },
            diagnostics: Diagnostics {
                commands: keys::LANGUAGE_SERVERS
                    .iter()
                    .map(|key| (key.name.to_owned(), texts(key).collect::<Vec<_>>()))
                    .filter(|(_, words)| !words.is_empty())
                    .collect(),
                memory: merged.number(&keys::MEMORY).unwrap_or(2 << 30),
                wait: Duration::from_millis(merged.number(&keys::WAIT).unwrap_or(2000)),
            },
            files: Files {
                durability: match merged.word(&keys::DURABILITY) {
                    Some("rename") => Durability::Rename,
                    _ => Durability::Full,
                },
                max_file: merged.number(&keys::MAX_FILE).unwrap_or(64 << 20),
            },
            http: Http {
                listen: merged
                    .word(&keys::LISTEN)
                    .and_then(|text| text.parse().ok())
                    .unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 8999).into()),
                auth: match merged.word(&keys::AUTH) {
                    Some("none") => AuthMode::None,
                    _ => AuthMode::Token,
                },
                allow_remote: merged.flag(&keys::ALLOW_REMOTE),
                hosts: texts(&keys::HOSTS).collect(),
            },
            federation: Federation {
                read: match merged.get(&keys::READ) {
                    None => usual_files(&directory, sources),
                    // A project says what of itself is read; it takes nothing of the user's away.
                    Some(setting) if only_the_projects(setting, sources) => {
                        let own = sources.user_file.as_ref().map(|user| user.with_file_name(SEED));
                        texts(&keys::READ).map(PathBuf::from).chain(own).collect()
                    }
                    Some(_) => paths(&keys::READ),
                },
                exposure: merged.word(&keys::EXPOSURE).map(|word| match word {
                    "core" => Exposure::Core,
                    "search" => Exposure::Search,
                    _ => Exposure::All,
                }),
            },
            observers: observers(&merged)?,
            closing: Closing {
                append_anchors: merged.flag(&keys::APPEND_ANCHORS),
                refresh: merged.flag(&keys::REFRESH),
            },
            log: match merged.word(&keys::LEVEL) {
                Some("error") => Level::Error,
                Some("info") => Level::Info,
                Some("debug") => Level::Debug,
                Some("trace") => Level::Trace,
                _ => Level::Warn,
            },
            home: sources.home.clone(),
            state: sources.state.clone(),
            directory,
            files_of_settings,
            merged,
        })
    }
}

/// Patterns of names, each checked at its place.
fn globs(merged: &Merged, key: &'static Key) -> Result<GlobSet, Problems> {
    let mut set = GlobSetBuilder::new();
    let mut wrong = Vec::new();
    for item in merged.list(key) {
        match Glob::new(&item.text) {
            Ok(glob) => drop(set.add(glob)),
            Err(error) => {
                let why = format!("`{}` is no pattern of names: {}", item.text, error.kind());
                wrong.push(Problem::new(item.origin.clone(), why));
            }
        }
    }
    if !wrong.is_empty() {
        return Err(Problems(wrong));
    }
    set.build().map_err(|error| Problems(vec![Problem::new(Origin::Default, error.to_string())]))
}

/// Says whom to look for.
fn observers(merged: &Merged) -> Result<Observers, Problems> {
    let mut wrong = Vec::new();
    let mut checked = |key, check: &dyn Fn(&str) -> Result<(), String>| -> Vec<String> {
        for item in merged.list(key) {
            if let Err(why) = check(&item.text) {
                wrong.push(Problem::new(item.origin.clone(), why));
            }
        }
        merged.list(key).iter().map(|item| item.text.clone()).collect()
    };
    let name = |text: &str| redact::name_glob(text).map(drop);
    let observers = Observers {
        on: merged.flag(&keys::DISCOVER),
        exclude: checked(&keys::EXCLUDE, &name),
        redact: merged.flag(&keys::REDACT),
        names: checked(&keys::REDACT_NAMES, &name),
        texts: checked(&keys::REDACT_TEXTS, &redact::check_text),
    };
    if wrong.is_empty() { Ok(observers) } else { Err(Problems(wrong)) }
}

/// Whether nobody but the project's own file said anything about a list.
fn only_the_projects(setting: &Setting, sources: &Sources) -> bool {
    let own = |origin: &Origin| matches!(origin, Origin::File { name, .. } if &**name == "tectum.toml");
    let items: &[Item] = if let Value::List(items) = &setting.value { items } else { &[] };
    sources.file.is_none() && own(&setting.origin) && items.iter().all(|item| own(&item.origin))
}

/// The files that are read where nobody named others. A set-up without a user's file, such as
/// the built-in one, reads nothing.
fn usual_files(directory: &Path, sources: &Sources) -> Vec<PathBuf> {
    let Some(user) = &sources.user_file else { return Vec::new() };
    let of_project = [".mcp.json", SEED].map(|name| directory.join(name));
    of_project.into_iter().chain([user.with_file_name(SEED)]).collect()
}

fn rules(merged: &Merged) -> Result<Rules, Problems> {
    let mut wrong = Vec::new();
    let mut rules = |key| -> Vec<Rule> {
        let mut rules = Vec::new();
        for item in merged.list(key) {
            match Rule::parse(&item.text, (&item.origin).into()) {
                Ok(rule) => rules.push(rule),
                Err(why) => wrong.push(Problem::new(item.origin.clone(), why)),
            }
        }
        rules
    };
    let (deny, ask, allow) = (rules(&keys::FORBID), rules(&keys::ASK), rules(&keys::ALLOW));
    if !wrong.is_empty() {
        return Err(Problems(wrong));
    }
    let judgement = |word: &str| match word {
        "allow" => Judgement::Allow,
        "ask" => Judgement::Ask,
        _ => Judgement::Deny,
    };
    let origin = merged.get(&keys::DEFAULT).map_or(&Origin::Default, |setting| &setting.origin);
    Ok(Rules {
        deny,
        ask,
        allow,
        default: merged.word(&keys::DEFAULT).map(|word| (judgement(word), origin.into())),
    })
}
