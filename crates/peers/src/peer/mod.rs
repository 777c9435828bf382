//! One federated server: one task that starts it, keeps it and learns what it offers.
//!
//! Others hold a handle. They get a live connection or a fault that says why there is none;
//! what the server offers is always answered from memory.

mod approvals;
mod class;
mod early;
mod failure;
mod first_wait;
mod handle;
mod health;
mod keeper;
mod listing;
mod offer;
mod pins;
pub(crate) mod questions;
mod shares;
mod standing;
mod surroundings;
mod tasks;
mod wishes;

use self::{offer::What, shares::Shares};

pub use self::pins::{Change, Subject};
pub(crate) use self::{
    approvals::{Approvals, gone},
    class::Class,
    failure::Failure,
    first_wait::late_word,
    handle::{Peer, remembered},
    health::State,
    keeper::start,
    offer::{Item, Offer},
    pins::Pins,
    standing::Standing,
    surroundings::Surroundings,
    tasks::Tasks,
    wishes::{Levels, Watchers},
};
