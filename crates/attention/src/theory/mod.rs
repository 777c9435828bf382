//! The formulas of the workspace, each alone and without state that it does not need.

pub(crate) mod competition;
pub(crate) mod diversity;
pub(crate) mod encoder;
pub(crate) mod gate;
pub(crate) mod ignition;
pub(crate) mod phase;
pub(crate) mod vector;

/// The logistic function.
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
pub(crate) fn close(found: f64, expect: f64) {
    assert!((found - expect).abs() < 1e-6, "{found} is not {expect}");
}
