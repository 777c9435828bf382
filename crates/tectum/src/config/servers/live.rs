//! The servers while a house is running: read anew whenever one of the files changed.
//!
//! A file that is broken for a while keeps the servers it had when it was right.

use std::{
    collections::HashMap,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use tectum_state::Stamp;

use super::{
    super::{Config, Problem, Problems, Sources},
    Resolved, Survey,
    context::Context,
    files,
    foreign::{self, ForeignContent},
    keys,
    survey::{self, ForeignReading},
};

/// True if a server may be required: a table of ours says so, or there is a file of another
/// program that might.
pub fn may_require(config: &Config) -> bool {
    let says_so = |entry: &super::Entry| entry.values.flag(&keys::REQUIRED) == Some(true);
    config.merged().servers().iter().any(says_so)
        || config.federation.read.iter().any(|file| file.symlink_metadata().is_ok())
}

/// The servers of a running house.
#[derive(Debug)]
pub struct Live {
    sources: Sources,
    listening: Option<SocketAddr>,
    bound: Arc<OnceLock<SocketAddr>>,
    /// True if the servers were chosen with the address that was bound.
    chosen_bound: bool,
    config: Option<Config>,
    /// The problems of the settings as they are now; those before hold on.
    broken: Vec<Problem>,
    /// The number of times the settings were read.
    reads: u64,
    good: HashMap<PathBuf, ForeignContent>,
    stamps: Vec<(PathBuf, Stamp)>,
    told: Vec<String>,
    told_skipped: Vec<String>,
}

impl Live {
    /// Servers from these sources. Nothing is read before [`Live::specs`].
    pub fn new(sources: Sources) -> Self {
        Self {
            sources,
            listening: None,
            bound: Arc::default(),
            chosen_bound: false,
            config: None,
            broken: Vec::new(),
            reads: 0,
            good: HashMap::new(),
            stamps: Vec::new(),
            told: Vec::new(),
            told_skipped: Vec::new(),
        }
    }

    /// Sets the address at which this house listens, if it is not the one in its settings: a server
    /// there is this house itself.
    pub fn listening(mut self, address: SocketAddr) -> Self {
        self.listening = Some(address);
        self
    }

    /// To be set when it really listens: with port 0 nobody knows the address before. Entries that
    /// name it are skipped from then on.
    pub fn bound(&self) -> Arc<OnceLock<SocketAddr>> {
        self.bound.clone()
    }

    /// The servers as the files name them now. Broken settings keep the last good ones, and so
    /// does each broken file of another program; both are told, and logged once. Files are read
    /// on the spot, so a caller that must not block asks from a thread of its own.
    pub fn specs(&mut self) -> Resolved {
        let mut notes = Vec::new();
        self.chosen_bound = self.bound.get().is_some();
        // Looked at before they are read: what changes meanwhile is seen as a change afterwards.
        let before: Vec<(PathBuf, Stamp)> = match &self.config {
            Some(config) => files(config).into_iter().map(stamped).collect(),
            None => Vec::new(),
        };
        self.reads += 1;
        self.broken.clear();
        match self.load() {
            Ok(config) => self.config = Some(config),
            Err(problems) => {
                self.broken.clone_from(&problems.0);
                let kept =
                    if self.config.is_some() { "; the last valid settings stay in effect" } else { "" };
                notes.extend(problems.0.iter().map(|problem| format!("{problem}{kept}")));
            }
        }
        let Some(config) = self.config.clone() else {
            let own = self.sources.file.clone().unwrap_or_else(|| self.sources.directory.join("tectum.toml"));
            self.stamps = self.sources.user_file.iter().cloned().chain([own]).map(stamped).collect();
            return Resolved { notes, ..Resolved::default() };
        };
        let mut stamps: HashMap<PathBuf, Stamp> = files(&config).into_iter().map(stamped).collect();
        stamps.extend(before);
        let readings =
            survey::sources_of(&config).into_iter().map(|source| self.read(source, &config, &mut notes));
        let readings: Vec<ForeignReading> = readings.collect();
        let survey = Survey::with(&config, &Context::read(&self.sources), readings);
        for file in &survey.files {
            stamps.entry(file.clone()).or_insert_with(|| Stamp::read(file));
        }
        stamps.retain(|path, _| survey.files.contains(path));
        self.stamps = stamps.into_iter().collect();
        for skipped in survey.skipped.iter().filter(|skipped| !self.told_skipped.contains(skipped)) {
            tracing::info!("{skipped}");
        }
        self.told_skipped.clone_from(&survey.skipped);
        let mut resolved = survey.resolved();
        resolved.notes.splice(0..0, notes);
        // Some programs write their files every few seconds; what was logged once is known.
        for note in resolved.notes.iter().filter(|note| !self.told.contains(note)) {
            tracing::warn!("{note}");
        }
        self.told.clone_from(&resolved.notes);
        resolved
    }

    /// The last good settings, once they were read, and what is wrong with those there are now.
    pub fn settings(&self) -> (Option<&Config>, &[Problem]) {
        (self.config.as_ref(), &self.broken)
    }

    /// Where the settings come from.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The number of times the settings were read.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// The files that [`Live::specs`] read, or looked for.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.stamps.iter().map(|(path, _)| path.clone())
    }

    /// True when one of the files is not as it was then, or our own address became known. It takes about a
    /// dozen calls to the system.
    pub fn is_stale(&self) -> bool {
        let found = !self.chosen_bound && self.bound.get().is_some();
        found || self.stamps.iter().any(|(path, stamp)| Stamp::read(path) != *stamp)
    }

    fn load(&self) -> Result<Config, Problems> {
        let mut config = self.sources.load()?;
        let own = self.bound.get().copied().or(self.listening);
        config.http.listen = own.unwrap_or(config.http.listen);
        Ok(config)
    }

    fn read(
        &mut self,
        source: Arc<super::Source>,
        config: &Config,
        notes: &mut Vec<String>,
    ) -> ForeignReading {
        let path = source.path.clone();
        let content = match foreign::read(&source, &config.directory) {
            Ok(Some(content)) => {
                self.good.insert(path, content.clone());
                Ok(Some(content))
            }
            Ok(None) => {
                self.good.remove(&path);
                Ok(None)
            }
            Err(problem) => match self.good.get(&path) {
                Some(content) => {
                    notes.push(format!("{problem}; its servers stay unchanged"));
                    Ok(Some(ForeignContent { notes: Vec::new(), ..content.clone() }))
                }
                None => {
                    notes.push(problem.to_string());
                    Err(problem)
                }
            },
        };
        (source, content)
    }
}

fn stamped(path: PathBuf) -> (PathBuf, Stamp) {
    let stamp = Stamp::read(&path);
    (path, stamp)
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
