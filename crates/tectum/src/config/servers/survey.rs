//! All servers that any file names, one for each name: which can start, and why the others cannot.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_peers::spec::{ServerName, ServerSpec};

use super::{
    super::{
        Config, Sources,
        file::shown,
        place::{Origin, Problem},
        value::Value,
    },
    Entry, Held, Place, Source, Why, build,
    context::{self, Context},
    contradictions::contradictions,
    foreign::{self, ForeignContent},
    keys, ourselves,
    overlay::{self, overlaid},
    trust::{Ledger, Trust},
    variables::Scope,
};
use crate::state;

/// The result for the federation.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The servers to have.
    pub specs: Vec<ServerSpec>,
    /// Those that are named and do not start.
    pub held: Vec<Held>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Everything that is known about the servers.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// One for each name, by name.
    pub servers: Vec<Server>,
    /// Every entry of the project with what was agreed about it, also where another is used.
    pub asked: Vec<(Entry, Trust)>,
    /// Files that cannot be read, and tables that change an entry nobody has.
    pub broken: Vec<Held>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Entries that are Tectum itself and are skipped. Other clients need them, so they are no mistake.
    pub skipped: Vec<String>,
    /// Every file that had a part in it, and those that would have if they were there.
    pub files: Vec<PathBuf>,
}

/// One server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its entry, with what other tables say about it laid on top.
    pub entry: Entry,
    /// The consent that it has.
    pub trust: Trust,
    /// Its spec, or the reason why it does not start.
    pub verdict: Result<Box<ServerSpec>, Held>,
}

/// A file of another program and what came of reading it.
pub type ForeignReading = (Arc<Source>, Result<Option<ForeignContent>, Problem>);

/// Every file that has a part in which servers there are, whether it is there or not.
pub fn files(config: &Config) -> Vec<PathBuf> {
    let mut files = config.files_of_settings.clone();
    files.extend(config.federation.read.iter().cloned());
    if let Some(state) = &config.state {
        files.extend([Ledger::path(state), context::inputs_file(state), context::generations_file(state)]);
        files.push(context::switched_file(state, &config.directory));
    }
    files
}

/// The files of other programs that a set-up reads, in order.
pub fn sources_of(config: &Config) -> Vec<Arc<Source>> {
    let source = |path: &PathBuf| {
        let name = shown(path, &config.directory, config.home.as_deref());
        Arc::new(Source::foreign(path, name, place_of(path, config)))
    };
    let mut paths: Vec<&PathBuf> = Vec::new();
    for path in &config.federation.read {
        // Two lists may name one file, and it is read once.
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths.into_iter().map(source).collect()
}

/// Whose word a file is: what an agent could write to is the project's, whoever names it.
pub fn place_of(path: &Path, config: &Config) -> Place {
    let folder = path.parent().map(state::canonical).unwrap_or_default();
    let named = folder.join(path.file_name().unwrap_or_default());
    let real = state::canonical(path);
    let reached = |root: &Path| {
        let root = state::canonical(root);
        named.starts_with(&root) || real.starts_with(&root)
    };
    let workspace = &config.workspace;
    let roots = workspace.roots.iter().chain(&workspace.tracked).map(PathBuf::as_path);
    if roots.chain([config.directory.as_path()]).any(reached) { Place::Project } else { Place::Yours }
}

impl Survey {
    /// Reads all files and looks.
    pub fn read(sources: &Sources, config: &Config) -> Self {
        let read = |source: Arc<Source>| {
            let content = foreign::read(&source, &config.directory);
            (source, content)
        };
        let readings = sources_of(config).into_iter().map(read).collect();
        Self::with(config, &Context::read(sources), readings)
    }

    /// Looks at files that were read already.
    pub fn with(config: &Config, context: &Context, readings: Vec<ForeignReading>) -> Self {
        let mut survey = Self { notes: context.notes.clone(), ..Self::default() };
        survey.files = files(config);
        let mut described = BTreeMap::new();
        // The project's table is the later layer, so it goes first.
        let (tables, overlays): (Vec<Entry>, Vec<Entry>) =
            config.merged().servers().iter().rev().cloned().partition(Entry::is_whole);
        let mut entries = tables;
        for (source, content) in readings {
            match content {
                Ok(None) => {}
                Ok(Some(content)) => {
                    survey.notes.extend(content.notes);
                    survey.files.extend(content.files);
                    described.extend(content.inputs);
                    entries.extend(content.entries);
                }
                Err(problem) => survey.broken.push(Held {
                    name: source.name.to_string(),
                    origin: problem.origin.clone(),
                    why: Why::Problem,
                    message: problem.to_string(),
                    hint: problem.hint,
                }),
            }
        }
        let scope = Scope {
            environment: &context.environment,
            directory: &config.directory,
            home: config.home.as_deref(),
            inputs: &context.inputs,
            described: &described,
        };
        let mut named: BTreeMap<ServerName, Vec<Entry>> = BTreeMap::new();
        for entry in entries {
            match ourselves::why(&entry, context, &config.http, scope) {
                Some(why) => {
                    let (at, name) = (&entry.origin, &entry.name);
                    survey
                        .skipped
                        .push(format!("{at}: `{name}` is skipped: this entry is Tectum itself ({why})"));
                }
                None => named.entry(entry.name.clone()).or_default().push(entry),
            }
        }
        survey.broken.extend(overlay::strays(&overlays, &named));
        for (_, candidates) in named {
            survey.choose(candidates, &overlays, context, scope);
        }
        survey
    }

    /// Chooses among the entries of one name. One that nobody agreed to yet never takes the place
    /// of another that may start.
    fn choose(&mut self, candidates: Vec<Entry>, overlays: &[Entry], context: &Context, scope: Scope<'_>) {
        let judged: Vec<(Entry, Trust)> = candidates
            .into_iter()
            .map(|entry| {
                let trust = context.ledger.judge(&entry);
                (entry, trust)
            })
            .collect();
        self.asked.extend(judged.iter().filter(|(entry, _)| entry.source.place == Place::Project).cloned());
        let chosen = judged.iter().position(|(_, trust)| trust.suffices()).unwrap_or(0);
        for (i, (entry, _)) in judged.iter().enumerate().filter(|(i, _)| *i != chosen) {
            let used = &judged[chosen].0.origin;
            let (at, name) = (&entry.origin, &entry.name);
            self.notes.push(if i < chosen {
                format!("{at}: `{name}` is not trusted; the one from {used} is used")
            } else {
                format!("{at}: `{name}` is not used, because {used} takes precedence")
            });
        }
        let Some((entry, trust)) = judged.into_iter().nth(chosen) else { return };
        let mut entry = overlaid(entry, overlays, &mut self.notes);
        // The user's word about this very project is the last.
        let switched = context.switched.get(entry.name.as_str()).copied();
        if let Some(on) = switched.filter(|_| entry.source.place == Place::Project) {
            entry.values.set(&keys::ENABLED, Value::Flag(on), Origin::Kept);
        }
        let verdict = verdict(&entry, &trust, context, scope);
        self.servers.push(Server { entry, trust, verdict });
    }

    /// The part of it that the federation gets.
    pub fn resolved(self) -> Resolved {
        let mut resolved = Resolved { held: self.broken, notes: self.notes, ..Resolved::default() };
        for server in self.servers {
            match server.verdict {
                Ok(spec) => resolved.specs.push(*spec),
                Err(held) => resolved.held.push(held),
            }
        }
        resolved
    }

    /// The server of a name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.entry.name.as_str() == name)
    }
}

fn verdict(
    entry: &Entry,
    trust: &Trust,
    context: &Context,
    scope: Scope<'_>,
) -> Result<Box<ServerSpec>, Held> {
    let held = |why, message: String, hint: Option<String>| Held {
        name: entry.name.to_string(),
        origin: entry.origin.clone(),
        why,
        message,
        hint,
    };
    let problem = |problem: Problem| held(Why::Problem, problem.to_string(), problem.hint);
    let name = &entry.name;
    if entry.values.flag(&keys::ENABLED) == Some(false) {
        let origin = entry.values.origin(&keys::ENABLED).unwrap_or(&entry.origin);
        // What the project's file switches off of yours is switched on there.
        let there = matches!(origin, Origin::File { name, .. } if &**name == "tectum.toml");
        let project = if there && entry.source.place != Place::Project { " --project" } else { "" };
        let hint = Some(format!("switch it on with `tectum enable {name}{project}`"));
        return Err(held(Why::Disabled, format!("it is switched off in {origin}"), hint));
    }
    if let Some(why) = context.switched_lost.as_ref().filter(|_| entry.source.place == Place::Project) {
        let hint = "fix or remove that file; then switch off the servers that should not start";
        return Err(held(Why::Problem, format!("it may be switched off: {why}"), Some(hint.into())));
    }
    if let Some(wrong) = entry.problem.clone().or_else(|| contradictions(entry).into_iter().next()) {
        return Err(problem(wrong));
    }
    let hint = Some(format!("review and approve it with `tectum trust {name}`"));
    match trust {
        Trust::Own | Trust::Given => {}
        Trust::Asked => {
            let message = format!("{} comes with the project and is not approved yet", entry.origin);
            return Err(held(Why::Untrusted, message, hint));
        }
        Trust::Changed(changes) => {
            let message = format!("{} changed since it was trusted: {}", entry.origin, changes.join("; "));
            return Err(held(Why::Untrusted, message, hint));
        }
    }
    let generation = context.generations.get(name.as_str()).copied().unwrap_or(0);
    let spec = build::spec(entry, scope, generation).map_err(problem)?;
    if ourselves::is_above(&spec, context) {
        let message = format!("{}: the Tectum that started this one already runs it", entry.origin);
        let hint = "call it there, or configure it only in the tectum.toml of this directory".to_owned();
        return Err(held(Why::Problem, message, Some(hint)));
    }
    Ok(Box::new(spec))
}

#[cfg(test)]
#[path = "survey_tests.rs"]
pub(super) mod tests;
