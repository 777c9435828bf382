//! A call that comes with others: what whoever runs them together puts between the stations of its
//! walk.

use crate::{Call, Fault, Payload, Prepared};

/// What one call is checked against beside the gate. The cheapest check comes first.
pub trait Checks: Send + Sync {
    /// Before every station.
    fn first(&self, call: &Call) -> Result<(), Fault>;
    /// Behind the gate, before a person is asked. A result that is known already ends the walk.
    fn behind_gate(&self, call: &Call) -> Result<Option<Payload>, Fault>;
    /// What the call gave.
    fn done(&self, payload: &Payload);
}

/// A call of several, ready to walk.
pub struct Step {
    /// Its arguments parsed, or why they could not be.
    pub prepared: Result<Prepared, Fault>,
    /// What it is checked against.
    pub checks: Box<dyn Checks>,
}
