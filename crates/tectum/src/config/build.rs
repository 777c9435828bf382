//! From what the layers say to the set-up as types; what no single value shows to be wrong is
//! found here.

use std::{
    io::Read as _,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use globset::{Glob, GlobSet, GlobSetBuilder};
use tectum_core::{
    Closing, Judgement, Rule, Rules,
    security::{Durability, Links, TrackedOpens},
};
use tectum_engine::context::USUAL_BUDGET;
use tectum_journal::SyncPolicy;
use tectum_peers::{
    child::SandboxPlan,
    federation::{Exposure, Profiles},
    serve::{ClientForms, Structured},
};
use tectum_shell::EnvFile;
use tectum_turns::Limits;
use tracing::level_filters::LevelFilter;

use super::{
    keys::{self, Key},
    load::Sources,
    merged::{Layers, Merged, Setting},
    model::{
        Approval, AttentionSettings, AuthMode, Config, Diagnostics, Federation, Files, Http, JournalSettings,
        Network, Observers, Organs, Permissions, ProjectEnv, Run, Sandbox, Shell, ToolSet, Workspace,
    },
    place::{Origin, Problem, Problems},
    servers::trust::{self, Ledger, Trust},
    telemetry,
    value::{Item, Value},
};

/// The name of the older file of servers.
const SEED: &str = "mcp_config.json";
/// The file of a project's own environment.
const ENV_FILE: &str = "mcp_env.toml";
/// Longer is no environment.
const MOST_ENV: u64 = 64 * 1024;

impl Config {
    pub(super) fn from_layers(
        directory: PathBuf,
        sources: &Sources,
        files_of_settings: Vec<PathBuf>,
        mut layers: Layers,
    ) -> Result<Self, Problems> {
        let merged = layers.merged.clone();
        // Each of them tells all that is wrong with its part; all of it is told at once.
        let mut wrong = Vec::new();
        let mut own_rules = rules(&layers.operator, &mut wrong);
        own_rules.allow.extend(allowed_here(&layers.operator, &directory, &mut wrong));
        let project_rules = rules(&layers.project, &mut wrong);
        let include = [&layers.operator, &layers.project].map(|layer| {
            (layer.get(&keys::INCLUDE_TOOLS).is_some(), globs(layer, &keys::INCLUDE_TOOLS, &mut wrong))
        });
        let exclude = globs(&merged, &keys::EXCLUDE_TOOLS, &mut wrong);
        let observers = observers(&merged, &mut wrong);
        let clients = clients(&merged, &mut wrong);
        let network = network(&merged, &mut wrong);
        let profiles = profiles(&merged, &mut wrong);
        let telemetry = telemetry::target(&merged, &sources.environment, &directory, &mut wrong);
        if !wrong.is_empty() {
            return Err(Problems(wrong));
        }
        let texts = |key| merged.list(key).iter().map(|item| item.text.clone());
        let paths = |key| texts(key).map(PathBuf::from).collect();
        let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        let anchors = layers.operator.list(&keys::ROOTS).iter().map(|item| PathBuf::from(&item.text));
        let mut anchors: Vec<PathBuf> = anchors.collect();
        // With no root at all names are still spelled from somewhere.
        if anchors.is_empty() {
            anchors.push(directory.clone());
        }
        if layers.operator.word(&keys::TRACKED_OPENS) == Some("directory") {
            let tracked = layers.operator.list(&keys::TRACKED).iter();
            anchors.extend(tracked.filter_map(|item| Some(Path::new(&item.text).parent()?.to_owned())));
        }
        let (state, file) = (sources.state.as_deref(), directory.join("tectum.toml"));
        let permissions = permissions(own_rules, project_rules, &mut layers, state, &file);
        Ok(Self {
            workspace: Workspace {
                roots: paths(&keys::ROOTS),
                anchors,
                tracked: paths(&keys::TRACKED),
                tracked_opens: match merged.word(&keys::TRACKED_OPENS) {
                    Some("directory") => TrackedOpens::Directory,
                    _ => TrackedOpens::File,
                },
                read_only: texts(&keys::READ_ONLY).collect(),
                deny: texts(&keys::DENY).collect(),
                open: texts(&keys::OPEN).collect(),
                symlinks: match merged.word(&keys::SYMLINKS) {
                    Some("inside") => Links::Inside,
                    _ => Links::Never,
                },
                break_hard_links: merged.flag(&keys::BREAK_HARD_LINKS),
                show_roots: merged.flag(&keys::SHOW_ROOTS),
                git_dirs: paths(&keys::GIT_DIRS),
            },
            permissions,
            approval: Approval {
                at_clients: merged.word(&keys::VIA) != Some("desk"),
                at_desk: merged.word(&keys::VIA) != Some("client"),
                patience: Duration::from_millis(merged.number(&keys::PATIENCE).unwrap_or(60_000)),
                hold: merged.number(&keys::HOLD).map(Duration::from_millis),
            },
            tools: ToolSet {
                native: merged.flag(&keys::NATIVE),
                include: include.into_iter().filter_map(|(is_set, globs)| is_set.then_some(globs)).collect(),
                exclude,
                max_output: merged.number(&keys::MAX_OUTPUT).map(bytes),
                threads: merged.number(&keys::THREADS).map(bytes),
                tiers: texts(&keys::TIERS).collect(),
                beads_programs: merged.word(&keys::BEADS_PROGRAM) != Some("none"),
                profiles,
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
            network,
            sandbox: sandbox(&merged, sources),
            shell: Shell {
                qa: texts(&keys::QA).collect(),
                env: project_env(&directory.join(ENV_FILE), sources.state.as_deref()),
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
                    Some(_) if layers.operator.get(&keys::READ).is_none() => {
                        let own = sources.user_file.as_ref().map(|user| user.with_file_name(SEED));
                        texts(&keys::READ).map(PathBuf::from).chain(own).collect()
                    }
                    Some(_) => paths(&keys::READ),
                },
                exposure: match merged.word(&keys::EXPOSURE) {
                    Some("all") => Exposure::All,
                    Some("core") => Exposure::Core,
                    Some("search") => Exposure::Search,
                    _ => Exposure::Auto,
                },
                first_wait: merged.number(&keys::FIRST_WAIT).map(Duration::from_millis),
            },
            observers,
            journal: journal(&merged),
            telemetry,
            closing: Closing {
                append_anchors: merged.flag(&keys::APPEND_ANCHORS),
                refresh: merged.flag(&keys::REFRESH),
            },
            attention: attention(&merged, &layers.operator),
            clients,
            run: run(&merged)?,
            log: merged.word(&keys::LEVEL).and_then(|word| word.parse().ok()).unwrap_or(LevelFilter::WARN),
            home: sources.home.clone(),
            state: sources.state.clone(),
            runtime: sources.runtime.clone(),
            join: merged.word(&keys::JOIN) == Some("auto"),
            directory,
            files_of_settings,
            layers,
        })
    }
}

/// The limits of commands. What the user opens is taken off the usual list, with all below it.
fn sandbox(merged: &Merged, sources: &Sources) -> Sandbox {
    let paths = |key| merged.list(key).iter().map(|item| PathBuf::from(&item.text));
    let mut usual = SandboxPlan::default();
    usual.close_usual(sources.home.as_deref());
    let opened: Vec<PathBuf> = paths(&keys::SHELL_OPEN).collect();
    usual.closed.retain(|closed| !opened.iter().any(|open| closed.starts_with(open)));
    // Our own files stay closed: tokens, the settings of servers and the sockets of houses lie there.
    let user = sources.user_file.as_deref().and_then(Path::parent);
    let own = [sources.state.as_deref(), user, sources.runtime.as_deref()];
    let own = own.into_iter().flatten().map(Path::to_owned);
    Sandbox {
        on: merged.word(&keys::SANDBOX) != Some("off"),
        network: merged.flag(&keys::SHELL_NETWORK),
        unix_sockets: merged.flag(&keys::UNIX_SOCKETS),
        write: paths(&keys::SHELL_WRITE).collect(),
        closed: usual.closed.into_iter().chain(paths(&keys::SHELL_CLOSED)).chain(own).collect(),
    }
}

/// The meaning of each text of a list. One that has none is told with its place.
fn each<T>(
    merged: &Merged,
    key: &Key,
    wrong: &mut Vec<Problem>,
    mut read: impl FnMut(&Item) -> Result<T, String>,
) -> Vec<T> {
    let mut found = Vec::new();
    for item in merged.list(key) {
        match read(item) {
            Ok(one) => found.push(one),
            Err(why) => wrong.push(Problem::new(item.origin.clone(), why)),
        }
    }
    found
}

/// Patterns of names.
fn globs(merged: &Merged, key: &Key, wrong: &mut Vec<Problem>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    let wrong_glob = |item: &Item, error: globset::Error| {
        format!("`{}` is not a valid pattern: {}", item.text, error.kind())
    };
    for glob in each(merged, key, wrong, |item| Glob::new(&item.text).map_err(|why| wrong_glob(item, why))) {
        set.add(glob);
    }
    set.build().unwrap_or_else(|error| {
        wrong.push(Problem::new(Origin::Default, error.to_string()));
        GlobSet::empty()
    })
}

/// The least that a client may be said to take: a tool's first words and where it goes on.
const LEAST_REPLY: usize = 2000;

/// The forms of results for clients.
fn clients(merged: &Merged, wrong: &mut Vec<Problem>) -> ClientForms {
    let mut reply_chars = Vec::new();
    for item in merged.list(&keys::REPLY_CHARS) {
        let parts = item.text.rsplit_once('=').and_then(|(name, most)| {
            let most = most.trim().parse().ok().filter(|most| *most >= LEAST_REPLY)?;
            Some((Glob::new(name.trim()).ok()?.compile_matcher(), most))
        });
        match parts {
            Some(parts) => reply_chars.push(parts),
            None => {
                let why = format!("`{}` is not of the form CLIENT=CHARACTERS", item.text);
                let hint = format!("write \"codex-mcp-client=11000\"; the least is {LEAST_REPLY}");
                wrong.push(Problem::new(item.origin.clone(), why).hint(hint));
            }
        }
    }
    let (text, data) = (globs(merged, &keys::TEXT_CLIENTS, wrong), globs(merged, &keys::DATA_CLIENTS, wrong));
    let structured = match merged.word(&keys::STRUCTURED) {
        Some("always") => Structured::Always,
        Some("never") => Structured::Never,
        _ => Structured::Auto,
    };
    ClientForms { structured, text, data, reply_chars }
}

/// The tools that clients are listed.
fn profiles(merged: &Merged, wrong: &mut Vec<Problem>) -> Profiles {
    let mut profiles = Profiles::default();
    each(merged, &keys::PROFILES, wrong, |item| profiles.define(&item.text));
    each(merged, &keys::CLIENT_PROFILES, wrong, |item| profiles.choose_for(&item.text));
    if let Some(Setting { value: Value::Word(name), origin, .. }) = merged.get(&keys::PROFILE)
        && let Err(why) = profiles.choose(name)
    {
        wrong.push(Problem::new(origin.clone(), why));
    }
    profiles
}

/// Says whom to look for.
fn observers(merged: &Merged, wrong: &mut Vec<Problem>) -> Observers {
    let mut checked = |key, check: &dyn Fn(&str) -> Result<(), String>| {
        each(merged, key, wrong, |item| check(&item.text).map(|()| item.text.clone()))
    };
    let name = |text: &str| tectum_redact::name_glob(text).map(drop);
    Observers {
        on: merged.flag(&keys::DISCOVER),
        exclude: checked(&keys::EXCLUDE, &name),
        redact: merged.flag(&keys::REDACT),
        names: checked(&keys::REDACT_NAMES, &name),
        texts: checked(&keys::REDACT_TEXTS, &tectum_redact::check_text),
    }
}

/// Says what is watched for news.
fn attention(merged: &Merged, operator: &Merged) -> AttentionSettings {
    let number = |key| merged.number(key).unwrap_or_default();
    let usual = tectum_attention::Settings::default();
    let dynamics = tectum_attention::Dynamics {
        oscillators: merged.flag(&keys::OSCILLATORS),
        heads: merged.flag(&keys::HEADS),
        precision: merged.flag(&keys::PRECISION),
        adapter: merged.flag(&keys::ADAPTER),
        ensemble: merged.flag(&keys::ENSEMBLE),
        prior: merged.flag(&keys::PRIOR),
        energy: merged.flag(&keys::ENERGY),
        ..usual.dynamics
    };
    let hourly = u32::try_from(number(&keys::HOURLY)).unwrap_or(usual.hourly);
    AttentionSettings {
        organs: match merged.word(&keys::ORGANS) {
            Some("off") => Organs::Off,
            Some("auto") => Organs::Auto,
            _ => Organs::Internal,
        },
        workspace: tectum_attention::Settings { hourly, dynamics, ..usual },
        requests: usize::try_from(number(&keys::POLLS)).unwrap_or(usize::MAX),
        todo_rounds: number(&keys::TODO_ROUNDS),
        reactions: operator.reactions().to_vec(),
    }
}

/// Says what is recorded.
fn journal(merged: &Merged) -> JournalSettings {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let days = merged.number(&keys::JOURNAL_DAYS).and_then(|days| days.try_into().ok());
    JournalSettings {
        on: merged.flag(&keys::RECORD),
        sync: match merged.word(&keys::SYNC) {
            Some("always") => SyncPolicy::Always,
            Some("off") => SyncPolicy::Off,
            _ => SyncPolicy::Interval,
        },
        seed: merged.word(&keys::LAYOUT) == Some("seed"),
        other_sessions: merged.flag(&keys::OTHER_SESSIONS),
        keep: merged.number(&keys::JOURNAL_KEEP).unwrap_or(512 << 20),
        longest: DAY * days.unwrap_or(90),
    }
}

/// The addresses that network tools may use.
fn network(merged: &Merged, wrong: &mut Vec<Problem>) -> Network {
    let allow_hosts = each(merged, &keys::ALLOW_HOSTS, wrong, |item| item.text.parse());
    let mut searxng = None;
    if let Some(Setting { value: Value::Word(address), origin, .. }) = merged.get(&keys::SEARXNG) {
        match address.parse() {
            Ok(url) => searxng = Some(url),
            Err(why) => wrong.push(Problem::new(origin.clone(), why)),
        }
    }
    Network { allow_hosts, searxng, environment_proxies: merged.flag(&keys::ENVIRONMENT_PROXIES) }
}

/// The reason why an address has no place in the settings; it may hold a secret, and settings are
/// shown.
fn unfit(address: &str) -> Option<(&'static str, &'static str)> {
    let alone =
        "write the URL alone; put the key into an environment variable and name it with --api-key-env";
    if address.contains('@') {
        let why = "`run.base_url` has a user name or password before an @; do not keep secrets in settings";
        return Some((why, alone));
    }
    if address.contains(['?', '#']) {
        return Some(("`run.base_url` has a query or a fragment; do not keep secrets in settings", alone));
    }
    let scheme = address.split_once("://").is_some_and(|(scheme, host)| {
        ["http", "https"].contains(&&*scheme.to_ascii_lowercase()) && !host.is_empty()
    });
    (!scheme)
        .then_some(("`run.base_url` is not a URL", "write it as http://127.0.0.1:8080/v1 or https://host/v1"))
}

/// The settings of `tectum run`.
fn run(merged: &Merged) -> Result<Run, Problems> {
    if let Some(Setting { value: Value::Word(address), origin, .. }) = merged.get(&keys::BASE_URL)
        && let Some((why, hint)) = unfit(address)
    {
        return Err(Problems(vec![Problem::new(origin.clone(), why).hint(hint)]));
    }
    let number = |key, usual: usize| {
        merged.number(key).and_then(|number| usize::try_from(number).ok()).unwrap_or(usual)
    };
    let usual = Limits::default();
    Ok(Run {
        model: merged.word(&keys::MODEL).map(str::to_owned),
        base_url: merged.word(&keys::BASE_URL).map(str::to_owned),
        tiers: merged.word(&keys::TIERS_FILE).map(PathBuf::from),
        context: number(&keys::CONTEXT, USUAL_BUDGET),
        limits: Limits {
            concurrency: number(&keys::CONCURRENCY, usual.concurrency),
            calls: number(&keys::MAX_CALLS, usual.calls),
            rounds: number(&keys::MAX_ROUNDS, usual.rounds),
            errors: number(&keys::MAX_ERRORS, usual.errors),
            repeats: number(&keys::MAX_REPEATS, usual.repeats),
            same_tool: number(&keys::SAME_TOOL, usual.same_tool),
        },
        workers: number(&keys::WORKERS, 4),
        ask_spawn: merged.flag(&keys::ASK_SPAWN),
    })
}

/// The files that are read where nobody named others. A set-up without a user's file, such as
/// the built-in one, reads nothing.
fn usual_files(directory: &Path, sources: &Sources) -> Vec<PathBuf> {
    let Some(user) = &sources.user_file else { return Vec::new() };
    let of_project = [".mcp.json", SEED].map(|name| directory.join(name));
    of_project.into_iter().chain([user.with_file_name(SEED)]).collect()
}

/// The rules of both owners. What the project allows counts for the operator's rules only once a person
/// agreed to it; its own default it may lift at any time.
fn permissions(
    mut own: Rules,
    mut project: Rules,
    layers: &mut Layers,
    state: Option<&Path>,
    file: &Path,
) -> Permissions {
    let texts: Vec<&str> = layers.project.list(&keys::ALLOW).iter().map(|item| item.text.as_str()).collect();
    let consent = match (texts.is_empty(), state) {
        (true, _) => Trust::Own,
        (false, None) => Trust::Asked,
        (false, Some(state)) => match Ledger::load(state) {
            Ok(ledger) => ledger.compare(&trust::record_of_rules(file, &texts)),
            Err(why) => {
                layers.notes.push(format!("the project's allow rules have no effect: {why}"));
                Trust::Asked
            }
        },
    };
    if consent.suffices() {
        own.allow.extend(project.allow.iter().cloned())
    } else {
        own.held.clone_from(&project.allow)
    }
    // What the operator allows, the project's default does not take back.
    project.allow.extend(own.allow.iter().cloned());
    let refuses = !project.deny.is_empty() || !project.ask.is_empty() || project.default.is_some();
    Permissions { own, project: refuses.then_some(project), consent }
}

/// The project's own environment, if it has a file of it.
fn project_env(path: &Path, state: Option<&Path>) -> Option<ProjectEnv> {
    let mut text = String::new();
    let read = match tectum_state::open(path) {
        Ok(None) => return None,
        Ok(Some(file)) => {
            file.take(MOST_ENV + 1).read_to_string(&mut text).map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    let read = read.and_then(|bytes| match bytes as u64 > MOST_ENV {
        true => Err(format!("it has more than {MOST_ENV} bytes")),
        false => EnvFile::parse(&text, path.parent().unwrap_or(path)),
    });
    let ledger = state.and_then(|state| Ledger::load(state).ok());
    let trust = ledger.map_or(Trust::Asked, |ledger| ledger.compare(&trust::record_of_env(path, &text)));
    Some(ProjectEnv { path: path.to_owned(), read, text, trust })
}

/// The rules of `allow_in` that are for this project.
fn allowed_here(merged: &Merged, directory: &Path, wrong: &mut Vec<Problem>) -> Vec<Rule> {
    let here = directory.to_string_lossy();
    let read = |item: &Item| {
        if !item.text.starts_with('/') || !item.text.contains('=') {
            return Err(format!("`{}` is not of the form /path/of/project=tool(pattern)", item.text));
        }
        let rule = item.text.strip_prefix(&*here).and_then(|rest| rest.strip_prefix('='));
        rule.map(|rule| Rule::parse(rule, (&item.origin).into())).transpose()
    };
    each(merged, &keys::ALLOW_IN, wrong, read).into_iter().flatten().collect()
}

fn rules(merged: &Merged, wrong: &mut Vec<Problem>) -> Rules {
    let read = |item: &Item| Rule::parse(&item.text, (&item.origin).into());
    let mut rules = |key| each(merged, key, wrong, read);
    let (deny, ask, allow) = (rules(&keys::FORBID), rules(&keys::ASK), rules(&keys::ALLOW));
    let judgement = |word: &str| match word {
        "allow" => Judgement::Allow,
        "ask" => Judgement::Ask,
        _ => Judgement::Deny,
    };
    let origin = merged.get(&keys::DEFAULT).map_or(&Origin::Default, |setting| &setting.origin);
    let default = merged.word(&keys::DEFAULT).map(|word| (judgement(word), origin.into()));
    Rules { deny, ask, allow, held: Vec::new(), default }
}
