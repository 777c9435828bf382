//! A track and its tickets, as they are shown and kept.

use serde::{Deserialize, Serialize};

/// A goal, and the tickets that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// Its name, also of the file that keeps its state.
    pub id: String,
    /// The goal.
    pub description: String,
    /// The tickets, in the order of the file.
    pub tickets: Vec<Ticket>,
}

/// One piece of work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its name in the track.
    pub id: String,
    /// The work.
    pub description: String,
    /// How far it is.
    pub status: TicketStatus,
    /// The tier that works on it.
    pub assigned_to: String,
    /// The file that is to be changed.
    pub target_file: Option<String>,
    /// Files that are shown to the worker.
    pub context_requirements: Vec<String>,
    /// The tickets that must be completed before.
    pub depends_on: Vec<String>,
    /// Why it is blocked.
    pub blocked_reason: Option<String>,
    /// True if a person is asked before it begins.
    pub step_mode: bool,
    /// The worker's last words.
    #[serde(default)]
    pub result: Option<String>,
    /// The QA tier's opinion on why it failed.
    #[serde(default)]
    pub analysis: Option<String>,
}

/// How far a ticket is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketStatus {
    /// Nobody has begun.
    #[default]
    Todo,
    /// A worker is at it.
    InProgress,
    /// It is done.
    Completed,
    /// It failed, was refused, or waits for one that is blocked.
    Blocked,
}

impl Ticket {
    /// True if the other one is the same piece of work, however far each is.
    pub fn is_same_work(&self, other: &Self) -> bool {
        let work = |ticket: &Self| {
            let Self { id, description, assigned_to, target_file, context_requirements, depends_on, .. } =
                ticket.clone();
            (id, description, assigned_to, target_file, context_requirements, depends_on)
        };
        work(self) == work(other)
    }
}

impl Track {
    /// The ticket of this name.
    pub fn ticket(&self, id: &str) -> Option<&Ticket> {
        self.tickets.iter().find(|ticket| ticket.id == id)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A ticket that waits for these.
    pub(crate) fn ticket(id: &str, depends_on: &[&str]) -> Ticket {
        Ticket {
            id: id.into(),
            description: format!("do {id}"),
            status: TicketStatus::Todo,
            assigned_to: "worker".into(),
            target_file: None,
            context_requirements: Vec::new(),
            depends_on: depends_on.iter().map(ToString::to_string).collect(),
            blocked_reason: None,
            step_mode: false,
            result: None,
            analysis: None,
        }
    }

    /// A track of these tickets.
    pub(crate) fn track(tickets: &[(&str, &[&str])]) -> Track {
        let tickets = tickets.iter().map(|(id, depends_on)| ticket(id, depends_on)).collect();
        Track { id: "t".into(), description: "the goal".into(), tickets }
    }
}
