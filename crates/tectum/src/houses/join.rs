//! Joining the house that serves a project already, or becoming the one that others join.

use std::{
    io::{self, Read as _},
    os::unix::net::UnixStream,
    path::PathBuf,
    time::Duration,
};

use super::{
    Door,
    door::{self, Entered},
    folders, key,
};
use crate::{Config, Sources};

/// The first line of a house to a relay that it serves.
pub(super) const GREETING: &[u8] = concat!("tectum ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// The time a house may take to greet: one that is stopped, or that waits for its servers, is not joined.
const PATIENCE: Duration = Duration::from_secs(5);

/// The way a process serves its client.
#[derive(Debug)]
pub enum Entrance {
    /// Through a house that runs already.
    Relay(UnixStream),
    /// As a house of its own, with a socket if one could be opened.
    House(Option<Door>),
}

/// Joins the house that runs for these settings, where that is wanted and there is one; else opens the
/// sockets of a new house. Of several that start together one opens them and the others join it.
pub fn enter(config: &Config, sources: &Sources) -> Entrance {
    if config.join {
        let folders = known_folders(config);
        match door::enter(&folders, &key(config, sources)) {
            Ok(Entered::Opened(door)) => return Entrance::House(Some(door)),
            Ok(Entered::Joined(stream)) => match greeted(&stream) {
                Ok(()) => return Entrance::Relay(stream),
                Err(error) => tracing::info!(%error, "the Tectum that serves this project was not joined"),
            },
            Err(error) => tracing::info!(%error, "no Tectum could be joined"),
        }
    }
    Entrance::House(open_door(config, sources))
}

/// Opens the sockets of a house with these settings. A house without any serves its client all the same.
pub fn open_door(config: &Config, sources: &Sources) -> Option<Door> {
    let folders = known_folders(config);
    if folders.is_empty() {
        return None;
    }
    let key = config.join.then(|| key(config, sources));
    let opened = Door::open(&folders, key.as_deref());
    if let Err(error) = &opened {
        tracing::warn!(%error, "no socket for `tectum status` and its neighbours could be opened");
    }
    opened.ok()
}

fn known_folders(config: &Config) -> Vec<PathBuf> {
    folders(config.runtime.as_deref(), config.state.as_deref())
}

/// Waits until the house says that it serves this relay.
fn greeted(mut stream: &UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut greeting = vec![0; GREETING.len()];
    stream.read_exact(&mut greeting)?;
    stream.set_read_timeout(None)?;
    if greeting == GREETING {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "it speaks otherwise"))
}
