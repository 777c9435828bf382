//! The running house that serves a directory, and the token of this user, found without being told.

use std::{
    cmp::Reverse,
    path::{Path, PathBuf},
    thread,
};

use super::wire::HouseDoor;
use crate::{Sources, houses, state, token};

/// The address of a house that nobody said otherwise about.
pub const USUAL_URL: &str = "http://127.0.0.1:8999";

/// The house that `TECTUM_URL` names, else the one that serves this directory.
pub(super) fn serving(directory: &Path) -> Option<HouseDoor> {
    let sources = Sources::of_process(directory);
    match variable("TECTUM_URL") {
        Some(url) => HouseDoor::at(&url, token(sources.state.as_deref())).ok(),
        None => nearest(&sources, &state::canonical(directory)).map(HouseDoor::behind),
    }
}

/// The token of this user, if there is one.
pub(super) fn token(state: Option<&Path>) -> Option<String> {
    let given = variable("TECTUM_TOKEN");
    given.or_else(|| token::kept(state?).ok()?)
}

/// The state directory of this user.
pub(super) fn state_directory() -> Option<PathBuf> {
    Sources::of_process(".").state
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The socket of the house whose directory is the nearest one around this; of several the one that listens
/// on HTTP, which outlives a client.
fn nearest(sources: &Sources, directory: &Path) -> Option<PathBuf> {
    let sockets = houses::running(&houses::folders(sources.runtime.as_deref(), sources.state.as_deref()));
    let fitness = |socket: &PathBuf| {
        let house = houses::ask(socket, "GET", "/api/house", &[], None).ok()?.body;
        let around = state::canonical(Path::new(house["project"].as_str()?));
        let rank = (around.as_os_str().len(), house["transport"] == "http", Reverse(house["pid"].as_u64()));
        directory.starts_with(&around).then_some(rank)
    };
    // One that is stopped does not keep the others waiting.
    let ranks: Vec<_> = thread::scope(|scope| {
        let asking: Vec<_> = sockets.iter().map(|socket| scope.spawn(move || fitness(socket))).collect();
        asking.into_iter().map(|one| one.join().ok().flatten()).collect()
    });
    let fits = sockets.into_iter().zip(ranks).filter_map(|(socket, rank)| Some((rank?, socket)));
    fits.max().map(|(_, socket)| socket)
}
