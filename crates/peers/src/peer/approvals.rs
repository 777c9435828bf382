//! The approvals of every server, in memory: a server's file is looked at when what it offers is
//! another thing, or when somebody may have written to it, and read when it changed. It is written
//! beside whoever answers clients, under a lock that `tectum approve-tools` takes as well.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use tectum_state::{Lasts, Stamp};

use super::{Offer, Pins, Standing};
use crate::{
    spec::{ServerName, ServerSpec},
    writer::Writer,
};

/// The approvals of all servers.
#[derive(Debug, Default)]
pub(crate) struct Approvals {
    /// The directory they are kept in; nothing is kept without it.
    state: Option<PathBuf>,
    /// The standing where nothing is kept.
    nothing: Arc<Standing>,
    servers: Mutex<Servers>,
    /// Writes beside whoever answers clients.
    pub(crate) writer: Arc<Writer>,
}

#[derive(Debug, Default)]
struct Servers {
    known: HashMap<ServerName, KnownFile>,
    /// Servers that an earlier run met: their approvals must be there.
    met_before: HashSet<ServerName>,
    /// The number of looks at files, and of reads of one.
    #[cfg(test)]
    counted: (usize, usize),
}

/// The known state of one server's file.
#[derive(Clone, Debug, Default)]
struct KnownFile {
    /// The file as it was before it was read; `None` when that cannot be said.
    stamp: Option<Stamp>,
    /// The offer that was compared last; `None` when the file has to be looked at again.
    offer: Option<Arc<Offer>>,
    /// The approvals; `None` for a server that was never met.
    standing: Option<Arc<Standing>>,
    /// True once the file was there.
    kept: bool,
    /// True while it is about to be written.
    pending: bool,
}

impl Approvals {
    pub(crate) fn new(state: Option<PathBuf>) -> Self {
        Self { state, ..Self::default() }
    }

    /// A server is known from an earlier run. If its approvals are absent, somebody removed them.
    pub(crate) fn expect(&self, server: &ServerName) {
        self.servers.lock().met_before.insert(server.clone());
    }

    /// The approvals of a server, brought up to date with what it offers. The same is given out until
    /// one of the two changes.
    pub(crate) fn standing(self: &Arc<Self>, spec: &ServerSpec, offer: &Arc<Offer>) -> Arc<Standing> {
        let Some(state) = &self.state else { return self.nothing.clone() };
        let mut servers = self.servers.lock();
        let compared = |known: &KnownFile| known.offer.as_ref().is_some_and(|last| Arc::ptr_eq(last, offer));
        let before = servers.known.get(&spec.name).cloned().unwrap_or_default();
        if compared(&before) {
            return before.standing.unwrap_or_else(|| self.nothing.clone());
        }
        let mut now = servers.looked(state, &spec.name, before.clone());
        let mut changed = false;
        let next = match now.standing.as_deref() {
            Some(Standing::Known(pins)) => {
                let next = pins.updated(offer, spec.new_tools);
                changed = next.as_ref().is_some_and(|next| next.adds_to(pins));
                next
            }
            Some(Standing::Lost(_)) => None,
            None if offer.fresh || offer.known => {
                changed = true;
                Some(Pins::first(offer))
            }
            None => None,
        };
        if let Some(next) = next {
            now.standing = Some(Arc::new(Standing::Known(next)));
        }
        now.offer = Some(offer.clone());
        let standing = now.standing.clone().unwrap_or_else(|| self.nothing.clone());
        standing.tell(&spec.name, before.standing.as_deref());
        if changed {
            (now.pending, now.stamp) = (true, None);
        }
        let must_be_there = servers.must_be_there(&spec.name, &now);
        servers.known.insert(spec.name.clone(), now);
        drop(servers);
        if changed {
            self.write_soon(spec, offer, &standing, must_be_there);
        }
        standing
    }

    /// Remembers what a server offers for the next run, but never without its approvals: the next run
    /// would take them for lost.
    pub(crate) fn remember(
        &self,
        server: &ServerName,
        to_keep: impl FnOnce(&Path) -> Option<(PathBuf, Vec<u8>)> + Send + 'static,
    ) {
        let Some(state) = self.state.clone() else { return };
        let (approvals, server) = (Pins::file(&state, server), server.clone());
        self.writer.submit(&state.join(format!("{server}.json")), move || {
            let Some((path, bytes)) = to_keep(&state) else { return };
            if !approvals.exists() && !path.exists() {
                return;
            }
            if let Err(error) = tectum_state::replace(&path, &bytes, Lasts::Process) {
                tracing::debug!(%server, %error, "what it offers could not be kept");
            }
        });
    }

    /// True when a file is not what it was: somebody approved something, or removed it.
    pub(crate) fn is_stale(&self) -> bool {
        let Some(state) = &self.state else { return false };
        let kept = |(name, known): (&ServerName, &KnownFile)| (name.clone(), known.stamp);
        // Nobody waits while thousands of files are looked at.
        let stamps: Vec<_> =
            self.servers.lock().known.iter().filter(|(_, known)| !known.pending).map(kept).collect();
        stamps.iter().any(|(name, stamp)| *stamp != Some(Stamp::read(&Pins::file(state, name))))
    }

    /// Somebody may have approved something: every file is looked at before it is relied on again.
    pub(crate) fn look_again(&self) {
        self.servers.lock().known.values_mut().for_each(|known| known.offer = None);
    }

    /// Forgets servers that are there no longer.
    pub(crate) fn keep_only(&self, is_there: impl Fn(&ServerName) -> bool) {
        let mut servers = self.servers.lock();
        servers.known.retain(|name, _| is_there(name));
        servers.met_before.retain(is_there);
    }

    fn write_soon(
        self: &Arc<Self>,
        spec: &ServerSpec,
        offer: &Arc<Offer>,
        standing: &Arc<Standing>,
        must_be_there: bool,
    ) {
        let Some(state) = self.state.clone() else { return };
        let (approvals, standing) = (self.clone(), standing.clone());
        let (name, new_tools, offer) = (spec.name.clone(), spec.new_tools, offer.clone());
        self.writer.submit(&Pins::file(&state, &spec.name), move || {
            let file = Pins::file(&state, &name);
            let write = || -> io::Result<(Pins, Stamp)> {
                let _lock = Pins::lock(&state)?;
                let held = match (Pins::read(&state, &name), &*standing) {
                    (Ok(Some(held)), _) => held,
                    (Ok(None), Standing::Known(first)) if !must_be_there => {
                        first.write(&state, &name)?;
                        return Ok((first.clone(), Stamp::read(&file)));
                    }
                    (Ok(None), _) => return Err(io::Error::other(gone(&state, &name))),
                    (Err(why), _) => return Err(io::Error::other(why)),
                };
                let next = held.updated(&offer, new_tools);
                if let Some(next) = next.as_ref().filter(|next| next.adds_to(&held)) {
                    next.write(&state, &name)?;
                }
                // Nobody else writes while the lock is held.
                Ok((next.unwrap_or(held), Stamp::read(&file)))
            };
            let written = write();
            let mut servers = approvals.servers.lock();
            let Some(known) = servers.known.get_mut(&name) else { return };
            known.pending = false;
            match written {
                Ok((now, stamp)) => {
                    known.kept = true;
                    match known.standing.as_deref() {
                        Some(Standing::Known(pins)) if *pins == now => known.stamp = Some(stamp),
                        // What somebody else wrote meanwhile is read by the next who asks.
                        _ => known.offer = None,
                    }
                }
                Err(error) => {
                    tracing::warn!(server = %name, %error, "what was approved of it could not be kept");
                    known.offer = None;
                }
            }
        });
    }

    #[cfg(test)]
    pub(crate) fn counted(&self) -> (usize, usize) {
        self.servers.lock().counted
    }
}

impl Servers {
    /// The known state of a server's file after a look at it.
    fn looked(&mut self, state: &Path, server: &ServerName, mut known: KnownFile) -> KnownFile {
        if known.pending {
            return known;
        }
        #[cfg(test)]
        {
            self.counted.0 += 1;
        }
        // The stamp is taken first: what is written meanwhile is another content afterwards.
        let stamp = Some(Stamp::read(&Pins::file(state, server)));
        if known.stamp == stamp {
            return known;
        }
        #[cfg(test)]
        {
            self.counted.1 += 1;
        }
        known.stamp = stamp;
        match Pins::read(state, server) {
            Ok(Some(pins)) => {
                known.kept = true;
                known.standing = Some(Arc::new(Standing::Known(pins)));
            }
            Ok(None) if self.must_be_there(server, &known) => {
                known.standing = Some(Arc::new(Standing::Lost(gone(state, server))));
            }
            // A person set aside what could not be read, and nothing else is known of the server.
            Ok(None) => {
                known.standing.take_if(|standing| matches!(**standing, Standing::Lost(_))).map_or((), drop)
            }
            Err(why) => known.standing = Some(Arc::new(Standing::Lost(why))),
        }
        known
    }

    fn must_be_there(&self, server: &ServerName, known: &KnownFile) -> bool {
        known.kept || self.met_before.contains(server)
    }
}

/// The message about approvals that were there once.
pub(crate) fn gone(state: &Path, server: &ServerName) -> String {
    format!("its approvals in {} are gone", Pins::file(state, server).display())
}

#[cfg(test)]
mod tests;
