//! The adapter between an organ's content and the workspace, trained so that decoding what was encoded
//! gives the content back.

use serde::{Deserialize, Serialize};

use super::{layers::Block, vector::Random};

/// Encoder and decoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adapter {
    encoder: Block,
    decoder: Block,
}

impl Adapter {
    /// An untrained adapter.
    pub fn new(latent: usize, workspace: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            encoder: Block::new(latent, workspace, &mut random),
            decoder: Block::new(workspace, latent, &mut random),
        }
    }

    /// Whether all numbers are finite and of one shape, for weights that come from a file.
    pub fn is_sound(&self) -> bool {
        let finite = |block: &Block| block.parameters().iter().all(|each| each.iter().all(|x| x.is_finite()));
        let (wide, narrow) = (self.encoder.bias.len(), self.decoder.bias.len());
        let shaped = |block: &Block, inputs: usize| {
            let outputs = block.bias.len();
            block.inputs == inputs
                && block.weights.len() == inputs * outputs
                && block.gain.len() == outputs
                && block.shift.len() == outputs
        };
        finite(&self.encoder)
            && finite(&self.decoder)
            && shaped(&self.encoder, narrow)
            && shaped(&self.decoder, wide)
    }

    /// Content as the workspace sees it.
    pub fn encode(&self, content: &[f64]) -> Vec<f64> {
        self.encoder.forward(content).output
    }

    /// A broadcast as an organ sees it.
    pub fn decode(&self, broadcast: &[f64]) -> Vec<f64> {
        self.decoder.forward(broadcast).output
    }

    /// mean((x − dec(enc x))²).
    pub fn cycle_loss(&self, content: &[f64]) -> f64 {
        let back = self.decode(&self.encode(content));
        back.iter().zip(content).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / content.len().max(1) as f64
    }

    /// One step of gradient descent; returns the loss before it.
    pub fn train(&mut self, content: &[f64], rate: f64) -> f64 {
        let (loss, encoder, decoder) = self.gradient(content);
        self.encoder.step(&encoder, rate);
        self.decoder.step(&decoder, rate);
        loss
    }

    fn gradient(&self, content: &[f64]) -> (f64, Block, Block) {
        let encoded = self.encoder.forward(content);
        let decoded = self.decoder.forward(&encoded.output);
        let count = content.len().max(1) as f64;
        let away: Vec<f64> = decoded.output.iter().zip(content).map(|(a, b)| a - b).collect();
        let loss = away.iter().map(|x| x * x).sum::<f64>() / count;
        let by_output: Vec<f64> = away.iter().map(|x| 2.0 * x / count).collect();
        let (decoder, by_encoded) = self.decoder.backward(&decoded, &by_output);
        let (encoder, _) = self.encoder.backward(&encoded, &by_encoded);
        (loss, encoder, decoder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let adapter = Adapter::new(5, 7, 42);
        let content = [0.3, -0.8, 0.5, 0.1, -0.2];
        let (_, encoder, decoder) = adapter.gradient(&content);
        let step = 1e-5;
        for (part, gradient) in [(0, &encoder), (1, &decoder)] {
            for (kind, by) in gradient.parameters().iter().enumerate() {
                for at in 0..by.len() {
                    let loss = |delta: f64| {
                        let mut moved = adapter.clone();
                        let block = if part == 0 { &mut moved.encoder } else { &mut moved.decoder };
                        block.parameters_mut()[kind][at] += delta;
                        moved.cycle_loss(&content)
                    };
                    close((loss(step) - loss(-step)) / (2.0 * step), by[at]);
                }
            }
        }
    }

    #[test]
    fn training_lowers_the_loss_and_an_untrained_one_works() {
        let mut adapter = Adapter::new(8, 16, 1);
        let mut random = Random::new(2);
        let contents: Vec<Vec<f64>> =
            (0..20).map(|_| (0..8).map(|_| random.between(-0.9, 0.9)).collect()).collect();
        let mean = |adapter: &Adapter| contents.iter().map(|x| adapter.cycle_loss(x)).sum::<f64>() / 20.0;
        let before = mean(&adapter);
        assert!(before.is_finite() && adapter.is_sound());
        for _ in 0..100 {
            contents.iter().for_each(|x| {
                adapter.train(x, 0.05);
            });
        }
        assert!(mean(&adapter) < before / 2.0);
        assert_eq!(Adapter::new(8, 16, 1), Adapter::new(8, 16, 1));
    }

    #[test]
    fn weights_of_a_wrong_shape_are_not_sound() {
        let mut adapter = Adapter::new(4, 6, 1);
        adapter.encoder.gain.pop();
        assert!(!adapter.is_sound());
        let mut adapter = Adapter::new(4, 6, 1);
        adapter.decoder.weights[0] = f64::NAN;
        assert!(!adapter.is_sound());
    }
}
