//! The write gate: how much of a proposal passes, by phase, novelty, cost and freshness.

use super::sigmoid;

/// g = σ(2 · cos(φ − Φ) + novelty − 0.5 · cost) · max(0, freshness).
pub fn gate(phase: f64, global: f64, novelty: f64, cost: f64, freshness: f64) -> f64 {
    sigmoid(2.0 * (phase - global).cos() + novelty - 0.5 * cost) * freshness.max(0.0)
}

/// What urgent news pass with at least, in whatever phase.
pub const URGENT_FLOOR: f64 = 0.9;

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::theory::close;

    #[test]
    fn open_in_phase_and_shut_in_antiphase() {
        close(gate(0.0, 0.0, 0.5, 0.0, 1.0), 0.924_141_819_979);
        close(gate(PI, 0.0, 0.5, 0.0, 1.0), 0.182_425_523_806);
        close(gate(0.0, 0.0, 0.5, 1.0, 1.0), 0.880_797_077_978);
        close(gate(0.0, 0.0, 0.5, 0.0, -1.0), 0.0);
    }
}
