//! The bus of phases: how much organs that swing together help each other. `dynamics.oscillators`.

/// The share of a new coherence.
const SHARE: f64 = 0.1;
/// The coherence at the start.
pub const START: f64 = 0.5;

/// A moving mean of coherence.
pub fn follow(mean: f64, coherence: f64) -> f64 {
    mean + SHARE * (coherence - mean)
}

/// 0.5 + 0.5 · mean: the factor of a proposal.
pub fn factor(mean: f64) -> f64 {
    0.5 + 0.5 * mean
}

/// 0.3 · (0.3 + 0.7 · 0.5 · mean): how strongly workspaces bleed.
pub fn bleed(mean: f64) -> f64 {
    0.3 * (0.3 + 0.7 * 0.5 * mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn one_modality_is_three_quarters() {
        close(factor(START), 0.75);
        close(bleed(START), 0.3 * 0.475);
        close(follow(START, 1.0), 0.55);
    }
}
