//! The state of a track on the disk, and how it meets the track's file when work goes on.
//!
//! One process works on a track at a time: it holds the lock. The state is replaced as a whole.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use tectum_core::Fault;
use tectum_state::Lasts;

use crate::{Ticket, TicketStatus, Track, TrackSummary};

/// The end of the name of a state file.
const STATE: &str = ".state.json";

/// The state file of one track, and the right to change it.
#[derive(Debug)]
pub struct Keeper {
    path: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
}

impl Keeper {
    /// Takes the track of this id in a folder of tracks. Waits for the disk.
    pub fn take(folder: &Path, id: &str) -> Result<Self, Fault> {
        let lock = tectum_state::try_lock(&folder.join(format!("{id}.lock")));
        let lock = lock.map_err(|error| unkept(folder, &error))?.ok_or_else(|| {
            Fault::conflict(format!("another process works on the track `{id}`"))
                .hint("wait for it, or end it; both would do the same tickets")
        })?;
        Ok(Self { path: folder.join(format!("{id}{STATE}")), _lock: lock })
    }

    /// The state as it was kept. Waits for the disk.
    pub fn load(&self) -> Result<Option<Track>, Fault> {
        let bytes = tectum_state::read(&self.path).map_err(|error| unkept(&self.path, &error))?;
        let track = bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose();
        track.map_err(|error| {
            Fault::conflict(format!("the state in {} cannot be read: {error}", self.path.display()))
                .hint("--restart forgets it and begins with the first ticket")
        })
    }

    /// Keeps this state. Waits for the disk.
    pub fn save(&self, track: &Track) -> Result<(), Fault> {
        let bytes = serde_json::to_vec_pretty(track).map_err(|error| Fault::internal(error.to_string()))?;
        tectum_state::replace(&self.path, &bytes, Lasts::PowerCut).map_err(|error| unkept(&self.path, &error))
    }
}

fn unkept(path: &Path, error: &std::io::Error) -> Fault {
    Fault::conflict(format!("the state of the track cannot be kept in {}: {error}", path.display()))
        .hint("make room, or make it writable; what was completed before is kept")
}

/// All tracks whose state is in a folder; one that cannot be read is left out. Waits for the disk.
pub fn summaries(folder: &Path) -> Vec<TrackSummary> {
    let entries = tectum_state::list(folder).unwrap_or_default();
    let states = entries.into_iter().filter(|entry| entry.path.to_string_lossy().ends_with(STATE));
    let read =
        |path: PathBuf| -> Option<Track> { serde_json::from_slice(&tectum_state::read(&path).ok()??).ok() };
    let mut tracks: Vec<TrackSummary> =
        states.filter_map(|entry| read(entry.path)).map(|track| TrackSummary::of(&track)).collect();
    tracks.sort_by(|a, b| a.id.cmp(&b.id));
    tracks
}

/// This id, or the first like it that no track in a folder has. Waits for the disk.
pub fn free_id(folder: &Path, id: &str) -> String {
    let is_free = |id: &String| matches!(tectum_state::open(&folder.join(format!("{id}{STATE}"))), Ok(None));
    let numbered = (2..1000).map(|n| format!("{id}-{n}"));
    std::iter::once(id.to_owned()).chain(numbered).find(is_free).unwrap_or_else(|| id.to_owned())
}

/// The track of a file with the state that was kept: what is completed stays completed, everything else
/// begins again. A completed ticket that is another piece of work now is refused.
pub fn resume(mut file: Track, kept: &Track) -> Result<Track, Fault> {
    let mut changed = Vec::new();
    for ticket in &mut file.tickets {
        let Some(before) = kept.ticket(&ticket.id).filter(|before| before.status == TicketStatus::Completed)
        else {
            continue;
        };
        if !ticket.is_same_work(before) {
            changed.push(format!("`{}`", ticket.id));
        }
        *ticket = Ticket { step_mode: ticket.step_mode, ..before.clone() };
    }
    if changed.is_empty() {
        return Ok(file);
    }
    let (are, them) = if changed.len() == 1 { ("is", "it a new id") } else { ("are", "them new ids") };
    Err(Fault::conflict(format!("{} {are} completed, and changed in the file since", changed.join(", ")))
        .hint(format!(
            "give {them} if the work is to be done again, or begin the whole track anew with --restart"
        )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::tests::track;

    fn half_done() -> Track {
        let mut kept = track(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("gone", &[])]);
        for (ticket, status) in kept.tickets.iter_mut().zip([
            TicketStatus::Completed,
            TicketStatus::InProgress,
            TicketStatus::Blocked,
            TicketStatus::Completed,
        ]) {
            ticket.status = status;
        }
        kept.tickets[0].result = Some("did it".into());
        kept.tickets[2].blocked_reason = Some("it burned".into());
        kept
    }

    #[test]
    fn what_is_completed_stays_and_the_rest_begins_again() {
        let file = track(&[("a", &[]), ("new", &[]), ("b", &["a", "new"]), ("c", &["a"])]);
        let track = resume(file, &half_done()).expect("fits");
        let states: Vec<TicketStatus> = track.tickets.iter().map(|ticket| ticket.status).collect();
        assert_eq!(
            states,
            [TicketStatus::Completed, TicketStatus::Todo, TicketStatus::Todo, TicketStatus::Todo]
        );
        assert_eq!(track.tickets[0].result.as_deref(), Some("did it"));
        assert_eq!(track.tickets[3].blocked_reason, None);
    }

    #[test]
    fn completed_work_that_changed_is_refused() {
        let mut file = track(&[("a", &[]), ("b", &["a"])]);
        file.tickets[0].description = "do more".into();
        let fault = resume(file, &half_done()).expect_err("refused");
        assert_eq!(fault.message, "`a` is completed, and changed in the file since");
        assert!(fault.hint.is_some_and(|hint| hint.contains("--restart")));
    }

    #[test]
    fn one_process_keeps_a_track() {
        let home = tempfile::tempdir().expect("a directory");
        let keeper = Keeper::take(home.path(), "t").expect("free");
        assert_eq!(keeper.load().expect("readable"), None);
        let fault = Keeper::take(home.path(), "t").expect_err("taken");
        assert!(fault.message.contains("another process works on the track `t`"));
        keeper.save(&half_done()).expect("kept");
        assert_eq!(keeper.load().expect("readable"), Some(half_done()));
        drop(keeper);
        let keeper = Keeper::take(home.path(), "t").expect("free again");
        let [summary] = summaries(home.path()).try_into().expect("one");
        assert_eq!((free_id(home.path(), "t"), free_id(home.path(), "u")), ("t-2".into(), "u".into()));
        assert_eq!((summary.id.as_str(), summary.completed, summary.blocked), ("t", 2, 1));
        tectum_state::replace(&keeper.path, b"{", Lasts::Process).expect("written");
        let fault = keeper.load().expect_err("broken");
        assert!(fault.hint.is_some_and(|hint| hint.contains("--restart")));
        assert!(summaries(home.path()).is_empty());
    }
}
