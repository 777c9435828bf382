//! The desk of a house, where people decide: which questions wait, who answered first, what the answer
//! covers and how long it is remembered.
//!
//! Silence is never consent, and a yes is for exactly one call: caller, tool, arguments, the files as they
//! were, the rule that asked and the tool's definition.

mod answer;
mod asking;
mod decided;
mod desk;
mod event;
mod facts;
mod preview;
mod question;
mod register;
mod remembered;
mod wording;

pub use answer::{Answer, Answered, Choice, Remember, Remembered};
pub use asking::{PersonQuestion, Wait, Way};
pub use decided::Decided;
pub use desk::{Desk, DeskSettings, RuleBook, Surface};
pub use event::{DeskEvent, HowSettled};
pub use question::{Before, OpenQuestion, PathFact, Preview, QuestionKind, RawJson, RuleFact};

#[cfg(test)]
mod schedules;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test works on its own files")]
mod tests;
