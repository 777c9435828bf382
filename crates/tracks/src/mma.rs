//! The state of orchestration as `/api/gui/mma_status` shows it: these fields and no others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Ticket, TicketStatus, Track};

/// The word for a model that nobody asks anything.
pub const IDLE: &str = "idle";
/// The most bytes of one stream; its oldest half is dropped beyond that.
const MOST_STREAM: usize = 16 * 1024;

/// The state of orchestration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MmaState {
    /// How far orchestration is.
    pub mma_status: MmaStatus,
    /// What the models do: `idle`, `sending...`, `running TOOL...`.
    pub ai_status: String,
    /// The tier that began last of those at work.
    pub active_tier: Option<String>,
    /// The id of the track that is worked on, or nothing.
    pub active_track: String,
    /// Its tickets.
    pub active_tickets: Vec<Ticket>,
    /// True if a person is asked before each ticket.
    pub mma_step_mode: bool,
    /// True while a question about a call waits.
    pub pending_tool_approval: bool,
    /// True while a question about a ticket waits.
    pub pending_mma_step_approval: bool,
    /// True while a question about a worker waits.
    pub pending_mma_spawn_approval: bool,
    /// The first or the second of these three.
    pub pending_approval: bool,
    /// The third.
    pub pending_spawn: bool,
    /// All tracks that are known.
    pub tracks: Vec<TrackSummary>,
    /// The tracks that wait for a person's consent.
    pub proposed_tracks: Vec<Track>,
    /// The end of what each worker said, by `TIER/TICKET`.
    pub mma_streams: BTreeMap<String, String>,
}

/// How far orchestration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MmaStatus {
    /// There is no track.
    #[default]
    Idle,
    /// A track is being proposed.
    Planning,
    /// Tickets are worked on.
    Executing,
    /// Nothing is left that could be worked on.
    Done,
}

/// A track in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrackSummary {
    /// Its id.
    pub id: String,
    /// Its goal.
    pub description: String,
    /// The number of its tickets.
    pub tickets: usize,
    /// Tickets nobody has begun.
    pub todo: usize,
    /// Tickets that are worked on.
    pub in_progress: usize,
    /// Tickets that are done.
    pub completed: usize,
    /// Tickets that are blocked.
    pub blocked: usize,
    /// Why nothing goes on though something is left to do.
    pub stall: Option<String>,
}

impl TrackSummary {
    /// A track in short.
    pub fn of(track: &Track) -> Self {
        let count = |status| track.tickets.iter().filter(|ticket| ticket.status == status).count();
        Self {
            id: track.id.clone(),
            description: track.description.clone(),
            tickets: track.tickets.len(),
            todo: count(TicketStatus::Todo),
            in_progress: count(TicketStatus::InProgress),
            completed: count(TicketStatus::Completed),
            blocked: count(TicketStatus::Blocked),
            stall: None,
        }
    }
}

impl Default for MmaState {
    fn default() -> Self {
        Self {
            mma_status: MmaStatus::Idle,
            ai_status: IDLE.into(),
            active_tier: None,
            active_track: String::new(),
            active_tickets: Vec::new(),
            mma_step_mode: false,
            pending_tool_approval: false,
            pending_mma_step_approval: false,
            pending_mma_spawn_approval: false,
            pending_approval: false,
            pending_spawn: false,
            tracks: Vec::new(),
            proposed_tracks: Vec::new(),
            mma_streams: BTreeMap::new(),
        }
    }
}

impl MmaState {
    /// Notes which questions wait.
    pub fn set_pending(&mut self, tool: bool, step: bool, spawn: bool) {
        self.pending_tool_approval = tool;
        self.pending_mma_step_approval = step;
        self.pending_mma_spawn_approval = spawn;
        self.pending_approval = step || tool;
        self.pending_spawn = spawn;
    }

    /// Puts a track's summary among the others.
    pub(crate) fn list(&mut self, summary: TrackSummary) {
        match self.tracks.iter_mut().find(|known| known.id == summary.id) {
            Some(known) => *known = summary,
            None => self.tracks.push(summary),
        }
    }

    /// Adds to what a worker said.
    pub(crate) fn say(&mut self, stream: &str, text: &str) {
        let said = match self.mma_streams.get_mut(stream) {
            Some(said) => said,
            None => self.mma_streams.entry(stream.to_owned()).or_default(),
        };
        said.push_str(text);
        if said.len() > MOST_STREAM {
            let kept = said.ceil_char_boundary(said.len() - MOST_STREAM / 2);
            said.drain(..kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_fields_that_clients_know() {
        let shown = serde_json::to_value(MmaState::default()).expect("JSON");
        let fields: Vec<&str> = shown.as_object().expect("an object").keys().map(String::as_str).collect();
        let expect = "mma_status ai_status active_tier active_track active_tickets mma_step_mode \
                      pending_tool_approval pending_mma_step_approval pending_mma_spawn_approval \
                      pending_approval pending_spawn tracks proposed_tracks mma_streams";
        assert_eq!(fields.join(" "), expect);
        assert_eq!((&shown["mma_status"], &shown["ai_status"]), (&"idle".into(), &"idle".into()));
    }

    #[test]
    fn the_old_names_follow_the_new_ones() {
        for bits in 0..8_u8 {
            let (tool, step, spawn) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
            let mut state = MmaState::default();
            state.set_pending(tool, step, spawn);
            assert_eq!((state.pending_approval, state.pending_spawn), (step || tool, spawn));
        }
    }

    #[test]
    fn a_stream_keeps_its_end() {
        let mut state = MmaState::default();
        for n in 0..5000 {
            state.say("worker/a", &format!("ü{n} "));
        }
        let said = &state.mma_streams["worker/a"];
        assert!(said.len() <= MOST_STREAM && said.ends_with("ü4999 "), "{}", said.len());
    }
}
