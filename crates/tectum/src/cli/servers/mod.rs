//! The commands about other servers; this file owns what they share.

mod change;
mod import;
mod keep;
mod list;
pub(super) mod status;
mod switch;
mod trust;

use std::{
    cell::OnceCell,
    fs::File,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind, Sources,
    config::{
        accept::Base,
        file::{Owner, shown},
        servers::{Survey, edit::Draft, survey::Server},
    },
    core::nearest,
    state,
    status::Status,
};

pub(crate) use self::{
    change::{Add, Remove},
    import::Import,
    keep::{Input, restart},
    list::{get, list},
    switch::Switch,
    trust::TrustCommand,
};
use super::{
    failure::Failure,
    options::Shared,
    screen::{Screen, tell_note},
};

/// Everything a command about servers looks at.
struct Site {
    sources: Sources,
    config: Config,
    survey: Survey,
    /// Held from the first draft on, so that two commands at once both count.
    lock: OnceCell<Option<File>>,
}

impl Site {
    fn load(shared: &Shared, screen: &Screen) -> Result<Self, Failure> {
        let sources = shared.sources(Vec::new());
        let config = shared.load(Vec::new(), screen)?;
        let survey = Survey::read(&sources, &config);
        Ok(Self { sources, config, survey, lock: OnceCell::new() })
    }

    /// A server that is named somewhere.
    fn server(&self, name: &str) -> Result<&Server, Failure> {
        self.survey.server(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Failure {
        let known: Vec<&str> = self.survey.servers.iter().map(|server| server.entry.name.as_str()).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`tectum list` shows all of them".into(),
        };
        Fault::not_found(format!("there is no server `{name}`")).hint(hint).into()
    }

    /// The file that is changed: the user's, or the project's.
    fn draft(&self, project: bool) -> Result<Draft, Failure> {
        let files = &self.config.files_of_settings;
        let own = self.sources.user_file.is_some();
        let (path, owner) = match (project, files.as_slice()) {
            (true, [.., path]) if self.sources.file.is_some() => (path, Owner::Operator),
            (true, [.., path]) => (path, Owner::Project),
            (false, [path, ..]) if own => (path, Owner::Operator),
            _ => {
                let fault = Fault::invalid(
                    "there is nowhere to keep your own tectum.toml: neither XDG_CONFIG_HOME nor HOME is set to an absolute path",
                );
                return Err(fault.hint("set HOME, or write to the project's file with --project").into());
            }
        };
        // Without a state there is nowhere to lock, and hardly a second command.
        self.lock.get_or_init(|| state::lock(self.config.state.as_deref()?).ok());
        Ok(Draft::open(path, self.shown(path), owner)?)
    }

    /// The file of ours that has a table of this server, if any; the user's goes first.
    fn draft_with(&self, name: &str, project: bool) -> Result<Option<Draft>, Failure> {
        for project in if project { vec![true] } else { vec![false, true] } {
            if !project && self.sources.user_file.is_none() {
                continue;
            }
            let draft = self.draft(project)?;
            if draft.has(name) {
                return Ok(Some(draft));
            }
        }
        Ok(None)
    }

    fn shown(&self, path: &Path) -> std::sync::Arc<str> {
        shown(path, &self.config.directory, self.config.home.as_deref())
    }

    /// The user's state, which some commands cannot do without.
    fn state(&self) -> Result<&Path, Failure> {
        self.config.state.as_deref().ok_or_else(|| {
            Fault::invalid("there is nowhere to keep Tectum's state: neither XDG_STATE_HOME nor HOME is set to an absolute path")
                .hint("set HOME")
                .into()
        })
    }

    /// The directory where running servers of this project leave their traces.
    fn traces(&self) -> Option<PathBuf> {
        tectum::servers::directory(&self.config)
    }

    /// The reports of the Tectums that run for this project.
    fn running(&self) -> Vec<Status> {
        self.traces().map(|traces| tectum::status::running(&traces)).unwrap_or_default()
    }

    /// Writes a draft, or shows it with `dry_run`, and tells what was done.
    fn finish(&self, draft: &Draft, dry_run: bool, done: &Done<'_>, screen: &Screen) -> Result<(), Failure> {
        let folder = draft.path.parent().unwrap_or(Path::new("/"));
        draft.check(Base { directory: folder, home: self.config.home.as_deref() })?;
        if !dry_run && draft.is_changed() {
            draft.save().map_err(|error| cannot_write(&draft.path, &error))?;
        }
        if screen.json {
            return screen.print_json(&json!({
                "ok": true,
                "changed": draft.is_changed() && !dry_run,
                "file": draft.path,
                "servers": done.servers,
                "diff": draft.diff(),
                "notes": done.notes,
            }));
        }
        if dry_run {
            screen.print(&draft.diff())?;
        } else if !screen.quiet {
            screen.print(&screen.ok(&done.sentence))?;
        }
        for note in &done.notes {
            tell_note(note, screen);
        }
        Ok(())
    }
}

/// The outcome of a command.
struct Done<'d> {
    servers: Vec<&'d str>,
    sentence: String,
    notes: Vec<String>,
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let kind = match error.kind() {
        std::io::ErrorKind::PermissionDenied => FaultKind::Permission,
        _ => FaultKind::Conflict,
    };
    let hint = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => "free some space on that disk",
        _ => "let this user write there, or set XDG_CONFIG_HOME and XDG_STATE_HOME to other directories",
    };
    Fault::new(kind, format!("cannot write {}: {error}", path.display())).hint(hint).into()
}

/// The state of a server in one word.
fn word(server: &Server) -> &'static str {
    use tectum::config::servers::Why;
    match &server.verdict {
        Ok(_) => "enabled",
        Err(held) => match held.why {
            Why::Disabled => "disabled",
            Why::Untrusted => "untrusted",
            Why::Problem => "problem",
        },
    }
}

/// An entry as data, as written; of what may be secret, the names.
fn entry_data(entry: &tectum::config::servers::Entry) -> Value {
    use tectum::config::servers::keys;
    json!({
        "name": entry.name.as_str(),
        "transport": entry.kind(),
        "file": entry.source.path,
        "origin": entry.origin.to_string(),
        "command": tectum::config::servers::spoken::redacted(&entry.argv()),
        "env": entry.names(&keys::ENV),
        "cwd": entry.values.word(&keys::CWD),
        "url": entry.values.word(&keys::URL).map(tectum::config::servers::spoken::address),
        "headers": entry.names(&keys::HEADERS),
    })
}
