//! What is remembered over a restart: one file in the project's state, written by one house at a time. A
//! second house of the same project begins without it and keeps nothing.

use std::{
    fs::File,
    path::PathBuf,
    time::{Duration, Instant},
};

use tectum_attend::{Attention, Saved};
use tectum_state::Lasts;

use crate::{Config, state};

/// Its name.
const FILE: &str = "attention.json";
/// After a save that took long the next one waits so many times as long: saving takes at most a fiftieth of
/// the time.
const PAUSE: u32 = 50;

/// The file, and the right to write it.
#[derive(Debug)]
pub(crate) struct KeptAttention {
    file: Option<PathBuf>,
    /// Held to the end by the house that writes.
    lock: Option<File>,
    not_before: Option<Instant>,
}

impl KeptAttention {
    /// The file of this project; none where no state is kept or another house has it.
    pub(crate) fn open(config: &Config) -> Self {
        let folder = config.state.as_deref().map(|state| state::of_project(state, &config.directory));
        let lock = folder.as_ref().and_then(|folder| {
            tectum_state::make_folder(folder).ok()?;
            tectum_state::try_lock(&folder.join("attention.lock")).ok().flatten()
        });
        let file = folder.filter(|_| lock.is_some()).map(|folder| folder.join(FILE));
        Self { file, lock, not_before: None }
    }

    /// The same file for somebody who only looks.
    pub(crate) fn beside(config: &Config) -> Self {
        let folder = config.state.as_deref().map(|state| state::of_project(state, &config.directory));
        Self { file: folder.map(|folder| folder.join(FILE)), lock: None, not_before: None }
    }

    /// What was saved. A file in another form is put aside.
    pub(crate) fn read(&self) -> Option<Saved> {
        let file = self.file.as_deref()?;
        let text = match tectum_state::read_private(file) {
            Ok(text) => text?,
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "what attention remembers could not be read");
                return None;
            }
        };
        let saved = Saved::parse(&text);
        if saved.is_none() && self.lock.is_some() {
            let aside = tectum_state::set_aside(file, "unreadable");
            tracing::warn!(?aside, "what attention remembers is in another form, and was put aside");
        }
        saved
    }

    /// Saves what changed, unless it was saved a moment ago and that took long; `now` saves in any case.
    pub(crate) fn save(&mut self, attention: &Attention, now: bool) {
        let Some(file) = self.file.as_ref().filter(|_| self.lock.is_some()) else { return };
        let began = Instant::now();
        if !now && self.not_before.is_some_and(|not_before| began < not_before) {
            return;
        }
        let Some(saved) = attention.unsaved() else { return };
        if let Err(error) = tectum_state::replace(file, saved.text().as_bytes(), Lasts::Process) {
            tracing::warn!(%error, file = %file.display(), "what attention remembers could not be saved");
        }
        self.not_before = Some(Instant::now() + began.elapsed().min(Duration::from_secs(60)) * PAUSE);
    }
}
