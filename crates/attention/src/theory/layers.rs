//! Layers of the adapter: Linear, LayerNorm, ELU, forward and backward by hand.

use serde::{Deserialize, Serialize};

use super::vector::Random;

/// What LayerNorm adds to the variance.
const EPSILON: f64 = 1e-5;

/// Linear → LayerNorm → ELU with all that can be trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Dimensions that come in.
    pub inputs: usize,
    /// Row by row.
    pub weights: Vec<f64>,
    /// Added to each output.
    pub bias: Vec<f64>,
    /// What LayerNorm's result is multiplied with.
    pub gain: Vec<f64>,
    /// What is added to it.
    pub shift: Vec<f64>,
}

/// What a forward pass leaves for the backward one.
#[derive(Clone, Debug)]
pub struct Pass {
    input: Vec<f64>,
    normal: Vec<f64>,
    deviation: f64,
    scaled: Vec<f64>,
    /// The result.
    pub output: Vec<f64>,
}

impl Block {
    /// Uniform ± 1/√inputs, as a linear layer starts.
    pub fn new(inputs: usize, outputs: usize, random: &mut Random) -> Self {
        let bound = 1.0 / (inputs.max(1) as f64).sqrt();
        let mut uniform = |count: usize| (0..count).map(|_| random.between(-bound, bound)).collect();
        Self {
            inputs,
            weights: uniform(inputs * outputs),
            bias: uniform(outputs),
            gain: vec![1.0; outputs],
            shift: vec![0.0; outputs],
        }
    }

    /// The result, with what the way back needs.
    pub fn forward(&self, input: &[f64]) -> Pass {
        let linear: Vec<f64> = self
            .bias
            .iter()
            .zip(self.weights.chunks_exact(self.inputs.max(1)))
            .map(|(bias, row)| bias + row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>())
            .collect();
        let (normal, deviation) = layer_norm(&linear);
        let scaled: Vec<f64> =
            normal.iter().zip(&self.gain).zip(&self.shift).map(|((n, g), s)| n * g + s).collect();
        let output = scaled.iter().map(|x| elu(*x)).collect();
        Pass { input: input.to_vec(), normal, deviation, scaled, output }
    }

    /// The gradient of the loss by all that can be trained, as a block, and by the input.
    pub fn backward(&self, trace: &Pass, by_output: &[f64]) -> (Self, Vec<f64>) {
        let count = by_output.len().max(1) as f64;
        let by_scaled: Vec<f64> = by_output
            .iter()
            .zip(&trace.scaled)
            .map(|(d, y)| d * if *y > 0.0 { 1.0 } else { y.exp() })
            .collect();
        let by_normal: Vec<f64> = by_scaled.iter().zip(&self.gain).map(|(d, g)| d * g).collect();
        let mean = by_normal.iter().sum::<f64>() / count;
        let along = by_normal.iter().zip(&trace.normal).map(|(d, n)| d * n).sum::<f64>() / count;
        let by_linear: Vec<f64> = by_normal
            .iter()
            .zip(&trace.normal)
            .map(|(d, n)| (d - mean - n * along) / trace.deviation)
            .collect();
        let mut by_input = vec![0.0; self.inputs];
        let mut weights = Vec::with_capacity(self.weights.len());
        for (d, row) in by_linear.iter().zip(self.weights.chunks_exact(self.inputs.max(1))) {
            weights.extend(trace.input.iter().map(|x| d * x));
            by_input.iter_mut().zip(row).for_each(|(by, w)| *by += d * w);
        }
        let gain = by_scaled.iter().zip(&trace.normal).map(|(d, n)| d * n).collect();
        (Self { inputs: self.inputs, weights, bias: by_linear, gain, shift: by_scaled }, by_input)
    }

    /// One step down the gradient.
    pub fn step(&mut self, gradient: &Self, rate: f64) {
        for (own, by) in self.parameters_mut().into_iter().zip(gradient.parameters()) {
            own.iter_mut().zip(by).for_each(|(own, by)| *own -= rate * by);
        }
    }

    /// All that can be trained.
    pub fn parameters(&self) -> [&Vec<f64>; 4] {
        [&self.weights, &self.bias, &self.gain, &self.shift]
    }

    /// The same, to change it.
    pub fn parameters_mut(&mut self) -> [&mut Vec<f64>; 4] {
        [&mut self.weights, &mut self.bias, &mut self.gain, &mut self.shift]
    }
}

/// (x − mean) / √(variance + ε), and that root.
pub fn layer_norm(x: &[f64]) -> (Vec<f64>, f64) {
    let count = x.len().max(1) as f64;
    let mean = x.iter().sum::<f64>() / count;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let deviation = (variance + EPSILON).sqrt();
    (x.iter().map(|x| (x - mean) / deviation).collect(), deviation)
}

/// x above 0, eˣ − 1 below.
pub fn elu(x: f64) -> f64 {
    if x > 0.0 { x } else { x.exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn norm_and_elu() {
        let (normal, deviation) = layer_norm(&[1.0, 2.0, 3.0]);
        close(deviation, 0.816_502_705_649);
        close(normal[2], 1.224_735_685_902);
        close(elu(2.0), 2.0);
        close(elu(-1.0), -0.632_120_558_829);
    }
}
