//! Energy: competing costs, resting restores, and the dear wait. `dynamics.energy`.

use serde::{Deserialize, Serialize};

const CAPACITY: f64 = 1.0;
const RESTORED: f64 = 0.02;
const PER_WINNER: f64 = 0.05;
const PER_ENSEMBLE: f64 = 0.02;
/// Calibration errors above this make winning dearer.
const CALIBRATED: f64 = 0.15;

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Of a capacity of 1.
    pub left: f64,
}

/// What a tick cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// The order parameter of the oscillators.
    pub coherence: f64,
    /// How many won.
    pub winners: usize,
    /// Whether several workspaces ran.
    pub ensemble: bool,
    /// The free energy of the inference.
    pub free_energy: f64,
    /// How wrong confidence was lately.
    pub calibration_error: f64,
}

impl Default for Energy {
    fn default() -> Self {
        Self { left: CAPACITY }
    }
}

impl Energy {
    /// As a share of the capacity.
    pub fn ratio(self) -> f64 {
        self.left / CAPACITY
    }

    /// What is missing to one half.
    pub fn debt(self) -> f64 {
        (0.5 - self.left).max(0.0)
    }

    /// Below three tenths the coupling of the oscillators is weaker.
    pub fn coupling(self) -> f64 {
        if self.ratio() < 0.3 { (0.7 + self.ratio()).clamp(0.7, 1.0) } else { 1.0 }
    }

    /// Subtract, restore, clamp.
    pub fn tick(&mut self, spent: Spent) {
        let over = (spent.calibration_error - CALIBRATED).max(0.0);
        let winner = PER_WINNER * (1.0 + 2.0 * over);
        let cost = 0.005 * (0.5 + spent.coherence)
            + winner * spent.winners as f64
            + if spent.ensemble { PER_ENSEMBLE } else { 0.0 }
            + 0.002 * spent.free_energy.abs().min(2.0);
        self.left = (self.left - cost + RESTORED).clamp(0.0, CAPACITY);
    }

    /// Who may compete, best first: the first always, others as long as their cost fits in what is left.
    /// One that does not fit is skipped, and cheaper ones after it still enter.
    pub fn admitted(self, costs: &[f64]) -> Vec<bool> {
        let mut sum = 0.0;
        let admit = |(at, cost): (usize, &f64)| {
            let fits = at == 0 || sum + cost <= self.left;
            if fits {
                sum += cost;
            }
            fits
        };
        costs.iter().enumerate().map(admit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn a_tick_costs_and_restores() {
        let mut energy = Energy { left: 0.5 };
        energy.tick(Spent {
            coherence: 1.0,
            winners: 1,
            ensemble: true,
            free_energy: 9.0,
            ..Spent::default()
        });
        close(energy.left, 0.5 - 0.0075 - 0.05 - 0.02 - 0.004 + 0.02);
        close(energy.debt(), 0.5 - energy.left);
        let mut worse = Energy { left: 0.5 };
        worse.tick(Spent {
            coherence: 1.0,
            winners: 1,
            ensemble: true,
            free_energy: 9.0,
            calibration_error: 0.4,
        });
        close(energy.left - worse.left, 0.05 * 0.5);
        close(Energy { left: 0.1 }.coupling(), 0.8);
        close(Energy { left: 0.3 }.coupling(), 1.0);
    }

    #[test]
    fn the_dear_are_skipped_and_the_cheap_enter() {
        assert_eq!(Energy { left: 0.3 }.admitted(&[0.9, 0.1, 0.1]), [true, false, false]);
        assert_eq!(Energy { left: 0.3 }.admitted(&[0.1, 0.5, 0.15]), [true, false, true]);
        assert_eq!(Energy { left: 0.0 }.admitted(&[0.1, 0.1]), [true, false]);
    }
}
