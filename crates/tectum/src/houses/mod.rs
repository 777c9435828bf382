//! The sockets of running houses. Each house has one in a folder that only its user may enter; `tectum
//! status` and its neighbours find all of them there and speak to each. A second one is for relays, which
//! bring further clients of the same project.

mod address;
mod ask;
mod attend;
mod door;
mod folder;
mod join;
mod key;

pub use self::{
    ask::{HouseAnswer, ask, follow},
    attend::Attending,
    door::{Door, running},
    folder::folders,
    join::{Entrance, enter, open_door, open_own_door},
    key::key,
};

pub(crate) use self::{address::connect, attend::DoorAnswers};
