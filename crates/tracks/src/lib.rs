//! Tracks: tickets with dependencies, each worked on in a conversation of its own.
//!
//! [`Graph`] is the state machine and knows neither models nor files. [`schedule`] keeps a pool of
//! workers busy with what is ready, [`Crew`] is the worker that runs the engine, and [`Board`] holds
//! the state that others see and that survives a restart.
//!
//! [`schedule`]: schedule::schedule

pub mod board;
pub mod consent;
pub mod crew;
pub mod file;
pub mod graph;
pub mod kept;
pub mod mma;
mod node;
pub mod plan;
pub mod schedule;
pub mod ticket;
pub mod tiers;
mod told;

pub use board::Board;
pub use consent::{Consent, ConsentKind, ConsentQuestion};
pub use crew::{Crew, Orders};
pub use graph::Graph;
pub use kept::Keeper;
pub use mma::{MmaState, MmaStatus, TrackSummary};
pub use node::Mistake;
pub use schedule::{Done, Ended, Worker, schedule};
pub use ticket::{Ticket, TicketStatus, Track};
pub use told::Told;
