//! Salience by content and context: four heads with seeded weights, precision, and the broadcast to
//! modules. `dynamics.heads`, `dynamics.precision`.

use serde::{Deserialize, Serialize};

use super::{
    competition::softmax,
    layers::{elu, layer_norm},
    vector::Random,
};

const HEADS: usize = 4;
/// The spread of the weights at the start.
const SPREAD: f64 = 0.02;

/// Weights of the heads, row by row, and of the linear part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heads {
    dim: usize,
    queries: Vec<f64>,
    keys: Vec<f64>,
    linear: Vec<f64>,
    scale: f64,
}

impl Heads {
    /// Seeded weights.
    pub fn new(dim: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut normal = |count: usize| (0..count).map(|_| SPREAD * random.normal()).collect();
        Self { dim, queries: normal(dim * dim), keys: normal(dim * dim), linear: normal(dim), scale: 1.0 }
    }

    /// (linear(c) + mean over heads of the largest q·k / √(d/4)) · precision · scale.
    pub fn salience(&self, content: &[f64], context: &[Vec<f64>], precision: f64) -> f64 {
        let linear: f64 = self.linear.iter().zip(content).map(|(w, x)| w * x).sum();
        let query = times(&self.queries, self.dim, content);
        let keys: Vec<Vec<f64>> = context.iter().map(|item| times(&self.keys, self.dim, item)).collect();
        let width = self.dim / HEADS;
        let head = |head: usize| {
            let part = head * width..(head + 1) * width;
            let product = |key: &Vec<f64>| {
                query[part.clone()].iter().zip(&key[part.clone()]).map(|(q, k)| q * k).sum::<f64>()
                    / (width as f64).sqrt()
            };
            keys.iter().map(product).fold(f64::NEG_INFINITY, f64::max)
        };
        let relevance = if keys.is_empty() { 0.0 } else { (0..HEADS).map(head).sum::<f64>() / HEADS as f64 };
        (linear + relevance) * precision * self.scale
    }
}

fn times(matrix: &[f64], columns: usize, x: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(columns.max(1)).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
}

/// An estimate of precision within its bounds.
pub fn precision(estimate: f64) -> f64 {
    if estimate.is_finite() { estimate.clamp(0.1, 10.0) } else { 1.0 }
}

/// ELU(LayerNorm(Linear(Σ wᵢcᵢ))): what the winners leave in the workspace.
pub fn workspace_vector(weights: &[f64], contents: &[Vec<f64>], linear: &[f64]) -> Vec<f64> {
    let dim = contents.first().map_or(0, Vec::len);
    let mut sum = vec![0.0; dim];
    for (weight, content) in weights.iter().zip(contents) {
        sum.iter_mut().zip(content).for_each(|(sum, x)| *sum += weight * x);
    }
    let (normal, _) = layer_norm(&times(linear, dim, &sum));
    normal.into_iter().map(elu).collect()
}

/// What each module gets: its own projection, by attention over the modules, as strong as the best ignition.
pub fn global_broadcast(
    vector: &[f64],
    modules: &[Vec<f64>],
    attention: &[f64],
    ignition: f64,
) -> Vec<Vec<f64>> {
    let mut shares = attention.to_vec();
    softmax(&mut shares);
    let dim = vector.len();
    modules
        .iter()
        .zip(shares)
        .map(|(module, share)| times(module, dim, vector).into_iter().map(|x| x * share * ignition).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn salience_of_heads_by_hand() {
        let mut heads = Heads::new(4, 7);
        heads.queries = (0..16).map(|at| f64::from(at % 5 == 0)).collect();
        heads.keys = heads.queries.clone();
        heads.linear = vec![0.5, 0.0, 0.0, 0.0];
        // One dimension a head: q·k is the product of the parts; the context with the larger one counts.
        let content = [1.0, 2.0, 3.0, 4.0];
        let context = vec![vec![1.0, 0.0, 0.0, 0.0], vec![0.0, 1.0, 1.0, 1.0]];
        close(heads.salience(&content, &context, 1.0), 0.5 + (1.0 + 2.0 + 3.0 + 4.0) / 4.0);
        close(heads.salience(&content, &context, 2.0), 6.0);
        close(heads.salience(&content, &[], 1.0), 0.5);
        assert!(Heads::new(64, 7).queries.iter().all(|w| w.abs() < 0.2));
    }

    #[test]
    fn precision_is_bounded() {
        for (estimate, expect) in [(0.0, 0.1), (1.5, 1.5), (99.0, 10.0), (f64::NAN, 1.0)] {
            close(precision(estimate), expect);
        }
    }

    #[test]
    fn the_workspace_vector_and_its_broadcast() {
        let identity = [1.0, 0.0, 0.0, 1.0];
        let vector = workspace_vector(&[0.75, 0.25], &[vec![4.0, 0.0], vec![0.0, 4.0]], &identity);
        // Linear gives (3, 1): mean 2, deviation 1.
        close(vector[0], 0.999_995_000_037);
        close(vector[1], (-0.999_995_000_037_f64).exp() - 1.0);
        let told =
            global_broadcast(&[1.0, 2.0], &[identity.to_vec(), vec![0.0, 1.0, 1.0, 0.0]], &[0.0, 0.0], 0.8);
        close(told[0][1], 0.8);
        close(told[1][0], 0.8);
    }
}
