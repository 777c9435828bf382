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

/// How often a house is looked for; each time the one that was found ended before it greeted.
const TRIES: usize = 4;
/// What a connection to a house that ended says.
const HUNG_UP: [io::ErrorKind; 3] =
    [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe];

/// The way a process serves its client.
#[derive(Debug)]
pub enum Entrance {
    /// Through a house that runs already.
    Relay(UnixStream),
    /// As a house of its own, with a socket if one could be opened.
    House(Option<Door>),
}

/// Joins the house that runs for these settings, where that is wanted and there is one; else opens the
/// sockets of a new house. Of several that start together, or that a house left behind, one opens them and
/// the others join it.
pub fn enter(config: &Config, sources: &Sources) -> Entrance {
    if !config.join {
        return Entrance::House(open_door(config, sources));
    }
    let (folders, key) = (known_folders(config), key(config, sources));
    for _ in 0..TRIES {
        let stream = match door::enter(&folders, &key) {
            Ok(Entered::Opened(door)) => return Entrance::House(Some(door)),
            Ok(Entered::Joined(stream)) => stream,
            Err(error) => {
                tracing::info!(%error, "no Tectum could be joined");
                break;
            }
        };
        match greeted(&stream) {
            Ok(()) => return Entrance::Relay(stream),
            // It ended meanwhile. Perhaps another one is there by now, and else this is one.
            Err(error) if HUNG_UP.contains(&error.kind()) => {}
            Err(error) => {
                tracing::info!(%error, "the Tectum that serves this project was not joined");
                break;
            }
        }
    }
    Entrance::House(open_door(config, sources))
}

/// Opens the sockets of a house with these settings. A house without any serves its client all the same.
pub fn open_door(config: &Config, sources: &Sources) -> Option<Door> {
    opened(config, config.join.then(|| key(config, sources)))
}

/// The same for a house that nobody joins.
pub fn open_own_door(config: &Config) -> Option<Door> {
    opened(config, None)
}

fn opened(config: &Config, key: Option<String>) -> Option<Door> {
    let folders = known_folders(config);
    if folders.is_empty() {
        return None;
    }
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
