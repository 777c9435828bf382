//! The changes that wait for a person at each server, for `tectum approve-tools`: shown as they
//! are, and approved as they were shown.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    peer::{Change, Pins, gone, remembered},
    spec::ServerSpec,
};

/// The changes at one server that wait for a person.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// The differences from what was approved. Where nobody can tell what was, everything it offered
    /// last.
    pub changes: Vec<Change>,
    /// The reason why nobody can tell what was approved.
    pub lost: Option<String>,
}

impl Review {
    /// Reads the changes that wait at a server.
    pub fn read(state: &Path, spec: &ServerSpec) -> Self {
        let lost = match Pins::read(state, &spec.name) {
            Ok(Some(pins)) => return Self { changes: pins.changes(), lost: None },
            Ok(None) if !remembered(state, spec).known => return Self::default(),
            Ok(None) => gone(state, &spec.name),
            Err(why) => why,
        };
        let changes = Pins::all_waiting(&remembered(state, spec)).changes();
        Self { changes, lost: Some(lost) }
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.lost.is_none()
    }

    /// Approves some of the changes, as a person was shown them. A file that cannot be read makes room
    /// for a new one, in which everything else waits; where it is afterwards is returned.
    pub fn approve(
        &self,
        state: &Path,
        spec: &ServerSpec,
        changes: &[Change],
    ) -> io::Result<Option<PathBuf>> {
        let _lock = Pins::lock(state)?;
        let (mut pins, aside) = match Pins::read(state, &spec.name) {
            Ok(Some(pins)) => (pins, None),
            // What was readable when it was shown and is not any more has to be shown again.
            Ok(None) | Err(_) if self.lost.is_none() => return Err(io::Error::other(CHANGED)),
            Ok(None) | Err(_) => {
                let aside = tectum_state::set_aside(&Pins::file(state, &spec.name), "broken")?;
                let offer = remembered(state, spec);
                if !offer.known {
                    return Ok(aside);
                }
                (Pins::all_waiting(&offer), aside)
            }
        };
        changes.iter().for_each(|change| pins.approve(change));
        pins.write(state, &spec.name)?;
        Ok(aside)
    }
}

const CHANGED: &str = "its approvals changed meanwhile and cannot be read; run the command again";
