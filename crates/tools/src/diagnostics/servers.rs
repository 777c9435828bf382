//! The servers of this house: chosen by a file's language, started at the first question, shared
//! by all calls.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tectum_child::NotInstalled;
use tectum_core::{Fault, FaultKind};
use tectum_lsp::{Installed, Keeper, Launch, Patience, Secret, Spec};
use tectum_syntax::Packs;

use super::{
    known::Known,
    table::{self, ROWS, ServerRow},
    toolchain,
};
use crate::{LanguageServers, Settings};

/// All language servers of a house.
#[derive(Debug)]
pub struct Servers {
    settings: LanguageServers,
    packs: Packs,
    /// The files somebody asked about or edited.
    pub(super) known: Arc<Known>,
    kept: Mutex<HashMap<&'static str, Server>>,
    /// An empty home, for servers whose user's own is served.
    home: OnceLock<tempfile::TempDir>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Its program, for people.
    pub(super) program: Arc<str>,
    pub(super) keeper: Arc<Keeper>,
}

impl Servers {
    /// None is started yet.
    pub fn new(settings: &Settings, known: Arc<Known>) -> Self {
        let settings = settings.servers.clone();
        Self { settings, packs: Packs::all(), known, kept: Mutex::default(), home: OnceLock::new() }
    }

    /// The server for a file, and the protocol's name of its language.
    pub(super) fn of_file(&self, name: &str, text: &str) -> Result<(Server, &'static str), Fault> {
        let (row, language) = self.row(name, text)?;
        let mut kept = self.kept.lock();
        if let Some(server) = kept.get(row.name) {
            return Ok((server.clone(), language));
        }
        let server = self.prepare(row)?;
        kept.insert(row.name, server.clone());
        Ok((server, language))
    }

    /// True if there is a kind of server for a file of this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.row(name, "").is_ok()
    }

    fn row(&self, name: &str, text: &str) -> Result<(&'static ServerRow, &'static str), Fault> {
        let found =
            self.packs.of_file(name, text).and_then(|language| table::of_language(language.pack().id));
        found.ok_or_else(|| {
            let known: Vec<&str> =
                ROWS.iter().flat_map(|row| row.languages).map(|(language, _)| *language).collect();
            Fault::invalid(format!("no language server is known for {name}"))
                .hint(format!("the languages are {}; code_check knows the syntax of more", known.join(", ")))
        })
    }

    /// The server that would be started. A program that was installed since the last question is found.
    fn prepare(&self, row: &'static ServerRow) -> Result<Server, Fault> {
        let settings = &self.settings;
        let Some(root) = settings.roots.first() else {
            return Err(Fault::internal("the tools were set up without a directory for language servers"));
        };
        let installed = Installed::apart_from(&settings.roots);
        let (mut command, options) = match settings.commands.get(row.name) {
            Some(chosen) => chosen_command(row, chosen, &installed)?,
            None => usual_command(row, &installed)?,
        };
        let mut env: std::collections::BTreeMap<String, Secret> =
            row.env.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
        let inherited = row.inherits.iter().filter_map(|name| Some((*name, std::env::var(name).ok()?)));
        // Files of settings in a served directory are an agent's to write.
        let inherited = inherited.filter(|(_, value)| installed.is_apart(Path::new(value)));
        env.extend(inherited.map(|(name, value)| (name.to_owned(), Secret::new(value))));
        env.insert("PATH".into(), Secret::new(installed.path()));
        env.extend(self.without_served_home(&installed)?);
        if row.name == "rust" {
            let fixed = toolchain::fixed(Path::new(&command[0]), root, &installed);
            let fixed = fixed.map_err(|why| {
                unavailable(format!("{} is not started: {why}", command[0]))
                    .hint(format!("remove what chooses that toolchain, or install another: {}", row.install))
            })?;
            command[0] = fixed.program.to_string_lossy().into_owned();
            env.extend(fixed.env.into_iter().map(|(name, value)| (name.to_owned(), Secret::new(value))));
        }
        let program = Path::new(&command[0])
            .file_name()
            .map_or(command[0].as_str().into(), |name| name.to_string_lossy());
        let program = Arc::from(program);
        let mut words = command.into_iter();
        let spec = Spec {
            launch: Launch {
                command: words.next().unwrap_or_default(),
                args: words.collect(),
                env,
                cwd: Some(root.clone()),
            },
            roots: settings.roots.clone(),
            guard: settings.guard.clone(),
            memory: Some(settings.memory),
            settings: if row.section.is_empty() { Value::Null } else { json!({ row.section: options }) },
            options,
        };
        let patience = Patience { answer: settings.wait, ..Patience::default() };
        Ok(Server { program, keeper: Arc::new(Keeper::new(spec, patience)) })
    }
}

impl Servers {
    /// Variables in place of those that lead a server to files of settings in a served directory.
    fn without_served_home(&self, installed: &Installed) -> Result<Vec<(String, Secret)>, Fault> {
        let served = |value: &std::ffi::OsStr| !value.is_empty() && !installed.is_apart(Path::new(value));
        let mut instead = Vec::new();
        for (name, value) in std::env::vars_os() {
            if let Some(name) = name.to_str().filter(|name| name.starts_with("XDG_"))
                && served(&value)
            {
                instead.push((name.to_owned(), Secret::new("")));
            }
        }
        if std::env::var_os("HOME").is_some_and(|home| served(&home)) {
            let home = match self.home.get() {
                Some(home) => home,
                None => {
                    let made = tempfile::Builder::new().prefix("tectum-home-").tempdir();
                    let made = made.map_err(|error| unavailable(format!("no home for a server: {error}")))?;
                    self.home.get_or_init(|| made)
                }
            };
            instead.push(("HOME".to_owned(), Secret::new(home.path().to_string_lossy())));
        }
        Ok(instead)
    }
}

/// The words of a command, and what its server is told.
type Command = (Vec<String>, Value);

fn chosen_command(row: &ServerRow, chosen: &[String], installed: &Installed) -> Result<Command, Fault> {
    let (program, args) = chosen.split_first().ok_or_else(|| {
        unavailable(format!("`diagnostics.{}` names no program", row.name))
            .hint("write the program and its arguments")
    })?;
    let found = installed.find(program).map_err(|missing| {
        let text = match &missing {
            NotInstalled::Nowhere => {
                format!("`{program}`, which `diagnostics.{}` names, is not installed", row.name)
            }
            NotInstalled::OfProject(_) => missing.describe(program),
        };
        unavailable(text).hint(
            "correct it in your own tectum.toml: a name in PATH or an absolute path, outside of the project",
        )
    })?;
    told(row, &found, args)
}

/// The first that is installed and can be used; else why the last was no good.
fn usual_command(row: &ServerRow, installed: &Installed) -> Result<Command, Fault> {
    let programs: Vec<&str> = row.programs.iter().filter_map(|words| words.first().copied()).collect();
    let mut why = unavailable(format!(
        "no language server for {} is installed: {} is not in PATH",
        row.name,
        programs.join(" or ")
    ))
    .hint(format!(
        "install one: {}; or name one as `{}` below [diagnostics] in your own tectum.toml",
        row.install, row.name
    ));
    for words in row.programs {
        let Some((program, args)) = words.split_first() else { continue };
        let found = match installed.find(program) {
            Ok(found) => found,
            Err(NotInstalled::Nowhere) => continue,
            Err(missing) => {
                why = unavailable(missing.describe(program))
                    .hint(format!("install one outside of the project: {}", row.install));
                continue;
            }
        };
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        match told(row, &found, &args) {
            Ok(command) => return Ok(command),
            Err(fault) => why = fault,
        }
    }
    Err(why)
}

fn told(row: &ServerRow, program: &Path, args: &[String]) -> Result<Command, Fault> {
    let program = program.to_string_lossy().into_owned();
    let command: Vec<String> = std::iter::once(program).chain(args.iter().cloned()).collect();
    match (row.options)(&command) {
        Ok(options) => Ok((command, options)),
        Err(why) => Err(unavailable(format!("{} cannot be used: {why}", command[0]))
            .hint(format!("install it: {}", row.install))),
    }
}

fn unavailable(message: String) -> Fault {
    Fault::new(FaultKind::Upstream, message)
}
