//! Several workspaces that bleed into each other. `dynamics.ensemble`.

use serde::{Deserialize, Serialize};

use super::{sigmoid, vector::follow};

/// How strongly one workspace reaches another.
const BLEED: f64 = 0.3;
/// A standing vector this small says nothing.
const SILENT: f64 = 1e-8;

/// Standing vectors of the workspaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ensemble {
    standings: Vec<Vec<f32>>,
}

impl Ensemble {
    /// So many workspaces, silent.
    pub fn new(workspaces: usize, dim: usize) -> Self {
        Self { standings: vec![vec![0.0; dim]; workspaces] }
    }

    /// A broadcast of one workspace.
    pub fn broadcast(&mut self, workspace: usize, vector: &[f32]) {
        if let Some(standing) = self.standings.get_mut(workspace) {
            follow(standing, vector, 0.9);
        }
    }

    /// What the others add to the context of this workspace.
    pub fn context(&self, target: usize, coherence: f64) -> Vec<f32> {
        let mut sum = vec![0.0; self.standings.first().map_or(0, Vec::len)];
        for (source, standing) in self.standings.iter().enumerate() {
            if source == target || standing.iter().map(|x| f64::from(x.abs())).sum::<f64>() < SILENT {
                continue;
            }
            let share = (cross_bleed(coherence, 0.5) * BLEED) as f32;
            sum.iter_mut().zip(standing).for_each(|(sum, x)| *sum += share * x);
        }
        sum
    }

    /// The mean strength with which each reaches each; nothing reaches itself.
    pub fn bleed_matrix(&self, coherence: f64) -> Vec<Vec<f64>> {
        let gate = cross_bleed(coherence, 0.5);
        let mean = |standing: &Vec<f32>| {
            standing.iter().map(|x| f64::from(x.abs())).sum::<f64>() * gate * BLEED
                / standing.len().max(1) as f64
        };
        let count = self.standings.len();
        (0..count)
            .map(|i| (0..count).map(|j| if i == j { 0.0 } else { mean(&self.standings[i]) }).collect())
            .collect()
    }
}

/// σ(2 · coherence + 0.5 · salience − 1).
pub fn cross_bleed(coherence: f64, salience: f64) -> f64 {
    sigmoid(2.0 * coherence + 0.5 * salience - 1.0)
}

/// The mean cosine of the differences of phases over the shorter list; 0.5 without phases.
pub fn phase_coherence(one: &[f64], other: &[f64]) -> f64 {
    let count = one.len().min(other.len());
    if count == 0 {
        return 0.5;
    }
    one.iter().zip(other).map(|(a, b)| (a - b).cos()).sum::<f64>() / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn bleeding_by_coherence() {
        close(cross_bleed(0.5, 0.5), 0.562_176_500_886);
        close(phase_coherence(&[], &[1.0]), 0.5);
        close(phase_coherence(&[0.0, 1.0], &[0.0, 1.0, 9.0]), 1.0);
        let mut ensemble = Ensemble::new(2, 2);
        assert_eq!(ensemble.context(0, 0.5), [0.0, 0.0]);
        ensemble.broadcast(1, &[1.0, 0.0]);
        close(f64::from(ensemble.context(0, 0.5)[0]), 0.1 * 0.562_176_500_886 * 0.3);
        assert_eq!(ensemble.context(1, 0.5), [0.0, 0.0], "nothing comes from itself");
        let matrix = ensemble.bleed_matrix(0.5);
        close(matrix[1][0], 0.05 * 0.562_176_500_886 * 0.3);
        close(matrix[0][0] + matrix[1][1] + matrix[0][1], 0.0);
    }
}
