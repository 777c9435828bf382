//! What a path's own history makes of a reading.

mod category;
mod leaves;
mod number;
mod path;
mod resource;
mod severity;
mod template;

use serde::{Deserialize, Serialize};

pub(crate) use self::{
    leaves::{Leaf, walk},
    number::Number,
    resource::{Noticed, ResourceMemory},
    template::fnv1a,
};
use crate::input::{Direction, Seconds, Severity};

/// The most surprising change of a reading against the history of its resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Which organ's reading.
    pub organ: String,
    /// Where in the state: member names joined by dots, elements of a list by their identity in brackets.
    pub path: String,
    /// What kind of history judged it.
    pub kind: SignalKind,
    /// The value before, as JSON text; absent for what is new.
    pub old: Option<String>,
    /// The value now, as JSON text; absent for what was removed.
    pub new: Option<String>,
    /// How surprising against this path's history, 0 to 1.
    pub surprise: f64,
    /// How bad the new value is.
    pub severity: Severity,
    /// Where the change leads.
    pub direction: Direction,
    /// How many readings of the path the history has.
    pub rarity_readings: u64,
    /// How long the history reaches back.
    pub rarity_span: Seconds,
    /// How many of these readings had the new value (or one as extreme); 0 is the first time.
    pub seen_before: u64,
}

/// Which kind of history judged a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    /// One of few values.
    #[default]
    Category,
    /// A number.
    Number,
    /// A text, by its template.
    Text,
    /// A member or element that is new.
    Added,
    /// A member or element that is gone.
    Removed,
    /// A fact of an internal organ.
    Event,
    /// The seed's norm of the change of the whole state (`change = "raw"`).
    Raw,
}
