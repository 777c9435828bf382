//! Phase: an oscillator that follows another, and the mean of many.

use std::f64::consts::TAU;

/// The coupling of a step; not multiplied by its duration.
pub const COUPLING: f64 = 0.1;

/// φ ← (φ + 2π·f·dt + K·sin(Φ − φ)) mod 2π; without Φ there is no coupling.
pub fn step(phase: f64, frequency: f64, dt: f64, global: Option<f64>, coupling: f64) -> f64 {
    let pull = global.map_or(0.0, |global| coupling * (global - phase).sin());
    (phase + TAU * frequency * dt + pull).rem_euclid(TAU)
}

/// atan2(Σ sin, Σ cos), which does not break near 2π, and how close all are to one: 0 to 1.
pub fn mean(phases: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sin, mut cos, mut count) = (0.0, 0.0, 0.0_f64);
    for phase in phases {
        sin += phase.sin();
        cos += phase.cos();
        count += 1.0;
    }
    (sin.atan2(cos).rem_euclid(TAU), sin.hypot(cos) / count.max(1.0))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::theory::close;

    #[test]
    fn a_step_turns_and_is_pulled() {
        close(step(0.0, 1.0, 0.01, None, COUPLING), 0.062_831_853_072);
        close(step(0.0, 0.0, 0.01, Some(PI / 2.0), COUPLING), 0.1);
        close(step(0.0, 1.0, 1.0, None, COUPLING), 0.0);
        assert!((0.0..TAU).contains(&step(0.0, 0.0, 0.0, Some(-1.0), COUPLING)));
    }

    #[test]
    fn the_mean_of_phases_around_zero_is_zero() {
        let (mean, coherence) = mean([TAU - 0.2, 0.2].into_iter());
        assert!(mean < 1e-9 || TAU - mean < 1e-9, "{mean}");
        close(coherence, 0.2_f64.cos());
    }
}
