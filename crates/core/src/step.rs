//! A call that runs together with others: the checks that their runner puts between the stations of its walk.

use crate::{Call, Fault, Payload, Prepared};

/// The checks of one call besides the gate. The cheapest comes first.
pub trait Checks: Send + Sync {
    /// The check before every station.
    fn first(&self, call: &Call) -> Result<(), Fault>;
    /// The check after the gate, before a person is asked. A result that is already known ends the walk.
    fn behind_gate(&self, call: &Call) -> Result<Option<Payload>, Fault>;
    /// Reports the result of the call.
    fn done(&self, payload: &Payload);
}

/// One of several calls, ready to run.
pub struct Step {
    /// The parsed arguments, or why they could not be parsed.
    pub prepared: Result<Prepared, Fault>,
    /// The checks of the call.
    pub checks: Box<dyn Checks>,
}
