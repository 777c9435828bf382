//! The formulas of the workspace, each alone and without state that it does not need.

pub mod adapter;
pub mod bus;
pub mod competition;
pub mod diversity;
pub mod encoder;
pub mod energy;
pub mod ensemble;
pub mod gate;
pub mod heads;
pub mod ignition;
pub mod layers;
pub mod phase;
pub mod prior;
pub mod vector;

/// The logistic function.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
pub(crate) fn close(found: f64, expect: f64) {
    assert!((found - expect).abs() < 1e-6, "{found} is not {expect}");
}
