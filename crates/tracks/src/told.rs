//! What is told of a track as it happens, to whoever shows it to people.

use tectum_engine::Event;

use crate::Ticket;

/// Something that happened.
#[derive(Debug)]
pub enum Told<'t> {
    /// A ticket changed.
    Ticket(&'t Ticket),
    /// Something happened in a conversation.
    Event {
        /// The tier.
        tier: &'t str,
        /// The ticket, or nothing while a track is planned.
        ticket: &'t str,
        /// The event.
        event: &'t Event<'t>,
    },
}
