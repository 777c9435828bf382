//! `tectum enable` and `disable`. A server of yours is switched in a `tectum.toml`; one that the
//! project brings along in your state for this project, so that no other project hears of it.

use clap::Args;
use serde_json::json;
use tectum::{
    Fault,
    config::{
        Origin,
        servers::{Place, context, keys, survey::Server},
    },
};

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Screen, tell_note},
    },
    Done, Site, cannot_write,
    change::Target,
};

/// One server to switch.
#[derive(Debug, Args)]
pub(crate) struct Switch {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    target: Target,
    #[arg(skip)]
    on: bool,
}

impl Switch {
    /// Switches the server on or off.
    pub(crate) fn run(mut self, on: bool, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        self.on = on;
        let site = Site::load(shared, screen)?;
        let server = site.server(&self.name)?;
        if let Some(fault) = self.overruled(&site, server) {
            return Err(fault.into());
        }
        let theirs = server.entry.source.place == Place::Project;
        let own_word = said(server).is_some_and(|(_, at)| is_in(at, &site, false));
        if theirs && !self.target.project && !own_word {
            self.keep(&site, server, shared, screen)
        } else {
            self.write(&site, server, screen)
        }
    }

    /// Keeps it in the state of this project.
    fn keep(&self, site: &Site, server: &Server, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let state = site.state()?;
        let file = context::switched_file(state, &site.config.directory);
        let changed = self.on != said(server).is_none_or(|(on, _)| on);
        if changed && !self.target.dry_run {
            let set = |word: Option<bool>| {
                let kept = context::keep::<bool>(state, &file, |table| {
                    match word {
                        Some(word) => drop(table.insert(self.name.clone(), word)),
                        None => drop(table.remove(&self.name)),
                    };
                });
                kept.map_err(|error| cannot_write(&file, &error))
            };
            set((!self.on).then_some(false))?;
            // Its own file may switch it off; then we must say so.
            if self.on && said(Site::load(shared, screen)?.server(&self.name)?).is_some_and(|(on, _)| !on) {
                set(Some(true))?;
            }
        }
        let notes = self.notes(server);
        if screen.json {
            return screen.print_json(&json!({
                "ok": true,
                "changed": changed && !self.target.dry_run,
                "file": file,
                "servers": [self.name],
                "diff": "",
                "notes": notes,
            }));
        }
        let sentence = match (changed, self.target.dry_run) {
            (true, false) => format!("switched `{}` {} for this project", self.name, self.word()),
            (true, true) => format!("`{}` would be switched {} for this project", self.name, self.word()),
            (false, _) => self.already(),
        };
        if !screen.quiet {
            screen.print(&screen.ok(&sentence))?;
        }
        notes.iter().for_each(|note| tell_note(note, screen));
        Ok(())
    }

    /// Writes one line: in the table of the server where there is one, else in a table of its own,
    /// which stands over the entry of another file.
    fn write(&self, site: &Site, server: &Server, screen: &Screen) -> Result<(), Failure> {
        let Self { name, on, target } = self;
        let mut draft = match site.draft_with(name, target.project)? {
            Some(draft) => draft,
            None => site.draft(target.project)?,
        };
        if *on {
            draft.enable(name, None);
            // Another file may have switched it off; then ours must say so.
            let elsewhere = said(server).is_some_and(|(on, at)| {
                !on && !matches!(at, Origin::File { name, .. } if *name == draft.name)
            });
            if elsewhere || says_off_itself(site, name, &draft.name) {
                draft.enable(name, Some(true));
            }
        } else {
            draft.enable(name, Some(false));
        }
        let sentence = if draft.is_changed() {
            format!("switched `{name}` {} in {}", self.word(), draft.name)
        } else {
            self.already()
        };
        let notes = self.notes(server);
        site.finish(&draft, target.dry_run, &Done { servers: vec![name], sentence, notes }, screen)
    }

    /// The reason why the file that would be changed has no say.
    fn overruled(&self, site: &Site, server: &Server) -> Option<Fault> {
        let (_, at) = said(server).filter(|(on, _)| *on != self.on)?;
        let theirs = server.entry.source.place == Place::Project;
        let given = site.sources.file.is_some();
        let heard = if !self.target.project {
            // A project's file may switch off what is yours, and nothing takes that back but itself.
            theirs || !is_in(at, site, true)
        } else if !self.on && !theirs {
            true
        } else {
            given || is_in(at, site, true) || (theirs && !is_in(at, site, false) && *at != Origin::Kept)
        };
        if heard {
            return None;
        }
        let (name, word) = (&self.name, if self.on { "off" } else { "on" });
        let command = if self.on { "enable" } else { "disable" };
        let project = if self.target.project { "" } else { " --project" };
        let fault = Fault::conflict(format!("`{name}` is switched {word} in {at}, which takes precedence"));
        Some(fault.hint(format!("`tectum {command} {name}{project}` changes it there")))
    }

    /// The other reasons that keep a server from starting although it is switched on.
    fn notes(&self, server: &Server) -> Vec<String> {
        let waits = self.on && !server.trust.suffices();
        waits
            .then(|| format!("it starts once it is trusted: `tectum trust {}`", self.name))
            .into_iter()
            .collect()
    }

    fn already(&self) -> String {
        format!("`{}` is already {}; nothing was changed", self.name, self.word())
    }

    fn word(&self) -> &'static str {
        if self.on { "on" } else { "off" }
    }
}

/// The switch of a server, and its place.
fn said(server: &Server) -> Option<(bool, &Origin)> {
    let values = &server.entry.values;
    Some((values.flag(&keys::ENABLED)?, values.origin(&keys::ENABLED)?))
}

/// True if a place is in the project's `tectum.toml`, or in the user's.
fn is_in(origin: &Origin, site: &Site, project: bool) -> bool {
    let files = &site.config.files_of_settings;
    let file =
        if project { files.last() } else { files.first().filter(|_| site.sources.user_file.is_some()) };
    let Origin::File { name, .. } = origin else { return false };
    file.is_some_and(|file| site.shown(file) == *name)
}

/// True if the entry below our table switches itself off.
fn says_off_itself(site: &Site, name: &str, file: &std::sync::Arc<str>) -> bool {
    let sources = tectum::config::servers::survey::sources_of(&site.config);
    sources.iter().any(|source| {
        let content = tectum::config::servers::foreign::read(source, &site.config.directory);
        let entries = content.ok().flatten().map(|content| content.entries).unwrap_or_default();
        source.name != *file
            && entries
                .iter()
                .any(|entry| entry.name.as_str() == name && entry.values.flag(&keys::ENABLED) == Some(false))
    })
}
