//! Competition: proposals inhibit each other until shares are left. Only live proposals take part.

/// Rounds of inhibition.
const STEPS: usize = 5;
/// Strength of inhibition.
const INHIBITION: f64 = 1.0;
/// Keeps a sum of nothing from dividing by zero.
const TINY: f64 = 1e-8;

/// What a competition leaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Competition {
    /// The share of each proposal after inhibition, before the cut to the winners.
    pub activation: Vec<f64>,
    /// −½ xᵀWx at the end.
    pub energy: f64,
}

/// x ← softmax((Wx + x₀) / T), five times from x₀ = salience · ignition, W = −(1 − I).
pub fn compete(salience: &[f64], ignition: &[f64], temperature: f64) -> Competition {
    let input: Vec<f64> = salience.iter().zip(ignition).map(|(s, p)| s * p).collect();
    let mut x = input.clone();
    for _ in 0..STEPS {
        let sum: f64 = x.iter().sum();
        for (x, input) in x.iter_mut().zip(&input) {
            *x = (INHIBITION * (*x - sum) + input) / temperature;
        }
        softmax(&mut x);
    }
    let sum: f64 = x.iter().sum();
    let squares: f64 = x.iter().map(|x| x * x).sum();
    Competition { energy: 0.5 * INHIBITION * (sum * sum - squares), activation: x }
}

/// The `n` largest, divided by their sum; the others are 0.
pub fn winners(activation: &[f64], n: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..activation.len()).collect();
    order.sort_by(|a, b| activation[*b].total_cmp(&activation[*a]));
    let mut kept = vec![0.0; activation.len()];
    for at in order.into_iter().take(n) {
        kept[at] = activation[at];
    }
    let sum: f64 = kept.iter().sum::<f64>() + TINY;
    kept.iter_mut().for_each(|x| *x /= sum);
    kept
}

/// Shares that sum to one, by exponentials.
pub fn softmax(x: &mut [f64]) {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    x.iter_mut().for_each(|x| *x = (*x - most).exp());
    let sum: f64 = x.iter().sum();
    x.iter_mut().for_each(|x| *x /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn the_first_step_is_softmax_of_twice_the_input() {
        // For g = T = 1, (Wx + x₀) = x₀ − (Σx − x₀): the sum is the same for all and falls out.
        let input = [0.9, 0.4, 0.1];
        let mut expect: Vec<f64> = input.iter().map(|x| 2.0 * x).collect();
        softmax(&mut expect);
        for _ in 1..STEPS {
            expect.iter_mut().zip(&input).for_each(|(x, input)| *x += input);
            softmax(&mut expect);
        }
        let found = compete(&input, &[1.0; 3], 1.0);
        for (found, expect) in found.activation.iter().zip(&expect) {
            close(*found, *expect);
        }
        close(found.activation.iter().sum(), 1.0);
    }

    #[test]
    fn winners_are_normalised_and_nobody_alone_has_energy() {
        let kept = winners(&[0.2, 0.5, 0.3], 1);
        assert_eq!((kept[0], kept[2]), (0.0, 0.0));
        close(kept[1], 0.5 / (0.5 + 1e-8));
        close(compete(&[0.7], &[1.0], 1.0).energy, 0.0);
        close(compete(&[0.7, 0.7], &[1.0; 2], 1.0).energy, 0.25);
        assert!(compete(&[], &[], 1.0).activation.is_empty());
    }
}
