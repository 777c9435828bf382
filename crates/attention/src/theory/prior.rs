//! The prior of the basal ganglia: who acted keeps an advantage, cost counts more when dopamine is low.
//! `dynamics.prior`.

use serde::{Deserialize, Serialize};

use super::competition::softmax;

/// The advantage of whom it favours already.
const INCUMBENT: f64 = 0.1;
/// Ticks in which something novel suspends it.
const SUSPENDED: u32 = 3;

/// Whom it favours, and how long it is suspended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Whom it favours.
    pub selected: Option<String>,
    /// Ticks until it counts again.
    pub suspended: u32,
}

/// s(1 + 2·DA) − cost(1 + 1.5(1 − DA)) − 0.5.
pub fn activation(salience: f64, cost: f64, dopamine: f64) -> f64 {
    salience * (1.0 + 2.0 * dopamine) - cost * (1.0 + 1.5 * (1.0 - dopamine)) - 0.5
}

impl Prior {
    /// The factor of each proposal: 1 + softmax of its activation. Novelty without coherence suspends it,
    /// and then all factors are 1; who wins the workspace is not its business.
    pub fn factors(
        &mut self,
        organs: &[(&str, f64, f64)],
        dopamine: f64,
        novelty: f64,
        coherence: f64,
    ) -> Vec<f64> {
        if novelty > 0.8 && coherence < 0.3 {
            self.suspended = SUSPENDED;
        }
        if self.suspended > 0 || organs.is_empty() {
            self.suspended = self.suspended.saturating_sub(1);
            self.selected = None;
            return vec![1.0; organs.len()];
        }
        let advantage = |organ: &str| if self.selected.as_deref() == Some(organ) { INCUMBENT } else { 0.0 };
        let mut shares: Vec<f64> = organs
            .iter()
            .map(|(organ, s, cost)| activation(*s, *cost, dopamine) + advantage(organ))
            .collect();
        let best = (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b]).then(b.cmp(a)));
        self.selected = best.map(|at| organs[at].0.to_owned());
        softmax(&mut shares);
        shares.into_iter().map(|share| 1.0 + share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn activation_incumbent_and_suspension() {
        close(activation(0.6, 0.1, 0.5), 0.6 * 2.0 - 0.1 * 1.75 - 0.5);
        let mut prior = Prior::default();
        let pair = [("a", 0.6, 0.1), ("b", 0.6, 0.1)];
        let even = prior.factors(&pair, 0.5, 0.0, 1.0);
        close(even[0], 1.5);
        assert_eq!(prior.selected.as_deref(), Some("a"));
        let kept = prior.factors(&pair, 0.5, 0.0, 1.0);
        close(kept[0], 1.0 + 1.0 / (1.0 + (-0.1_f64).exp()));
        for _ in 0..2 {
            assert_eq!(prior.factors(&pair, 0.5, 0.9, 0.1), [1.0, 1.0]);
        }
        assert_eq!(prior.suspended, 2, "each novel tick starts it again");
        assert!(prior.selected.is_none());
    }
}
