//! Observers of a running house: whether there are any, which are muted, and how they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_core::Tectum;
use tectum_peers::{
    federation::Federation,
    observe::{EVERYBODY, ObserverSettings, Observers},
};

use crate::{Config, config::servers::context};

/// Starts to copy calls, if that is wanted.
pub(crate) fn start(
    config: &Config,
    house: &Tectum,
    federation: &Arc<Federation>,
    place: Option<&Path>,
) -> Option<Observers> {
    if !config.observers.on {
        return None;
    }
    let settings = ObserverSettings {
        exclude: config.observers.exclude.clone(),
        muted: place.map(muted).unwrap_or_default(),
    };
    match config.observers.redactor() {
        Ok(redactor) => Some(Observers::start(house, federation, redactor, settings)),
        Err(why) => {
            tracing::error!(why, "observers are off, because secrets could not be hidden");
            None
        }
    }
}

/// The file that names the muted ones.
pub(crate) fn muted_file(place: &Path) -> PathBuf {
    place.join("muted.json")
}

/// The names that get no copies for now. A file that cannot be read mutes everybody, and is told.
pub fn muted(place: &Path) -> BTreeSet<String> {
    let path = muted_file(place);
    let read = tectum_state::read_private(&path).and_then(|text| match text {
        Some(text) => serde_json::from_str::<BTreeMap<String, bool>>(&text).map_err(io::Error::other),
        None => Ok(BTreeMap::new()),
    });
    match read {
        Ok(names) => names.into_iter().filter_map(|(name, yes)| yes.then_some(name)).collect(),
        Err(error) => {
            tracing::warn!(%error, file = %path.display(), "the list of muted observers could not be read, so all observers are muted");
            BTreeSet::from([EVERYBODY.to_owned()])
        }
    }
}

/// Mutes an observer, or takes that back; a running house follows within a second. False when it
/// was so already.
pub fn set_muted(state: &Path, place: &Path, name: &str, yes: bool) -> io::Result<bool> {
    let (mut changed, file) = (false, muted_file(place));
    let kept = context::keep::<bool>(state, &file, |names| {
        changed =
            if yes { names.insert(name.to_owned(), true).is_none() } else { names.remove(name).is_some() };
    });
    kept.map_err(|error| {
        let file = file.display();
        io::Error::new(
            error.kind(),
            format!("{file}, the list of muted observers: {error}; you can remove it"),
        )
    })?;
    Ok(changed)
}
