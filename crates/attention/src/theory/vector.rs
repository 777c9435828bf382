//! Vectors: means that move, angles, and projections that are fixed by a seed.

/// s ← m·s + (1 − m)·x; what x lacks counts as 0, what it has too much is cut.
pub fn follow(standing: &mut [f32], x: &[f32], momentum: f32) {
    for (at, s) in standing.iter_mut().enumerate() {
        *s = momentum * *s + (1.0 - momentum) * x.get(at).copied().unwrap_or(0.0);
    }
}

/// The length of a vector.
pub fn norm(x: &[f32]) -> f64 {
    x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

/// How much of a direction stands in another: the cosine, times how strong `standing` is beside `x`, at
/// most 1. A standing vector that has faded no longer draws attention.
pub fn relevance(x: &[f32], standing: &[f32]) -> f64 {
    let product: f64 = x.iter().zip(standing).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    let (nx, ns) = (norm(x), norm(standing));
    if nx < 1e-12 || ns < 1e-12 {
        return 0.0;
    }
    (product / (nx * ns)).max(0.0) * (ns / nx).min(1.0)
}

/// Orthonormal rows by Gram–Schmidt over seeded numbers: a projection whose transpose decodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    rows: Vec<Vec<f32>>,
}

impl Projection {
    /// From `from` dimensions to `to`; as many rows as the smaller has.
    pub fn new(from: usize, to: usize, seed: u64) -> Self {
        let (count, length) = (from.min(to), from.max(to));
        let mut random = Random::new(seed);
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(count);
        while rows.len() < count {
            let mut row: Vec<f64> = (0..length).map(|_| random.between(-1.0, 1.0)).collect();
            for other in &rows {
                let along: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.iter_mut().for_each(|x| *x /= norm);
            rows.push(row);
        }
        Self { rows: rows.into_iter().map(|row| row.into_iter().map(|x| x as f32).collect()).collect() }
    }

    /// From the smaller space into the larger.
    pub fn widen(&self, x: &[f32]) -> Vec<f32> {
        let mut wide = vec![0.0; self.rows.first().map_or(0, Vec::len)];
        for (row, x) in self.rows.iter().zip(x) {
            wide.iter_mut().zip(row).for_each(|(wide, r)| *wide += r * x);
        }
        wide
    }

    /// From the larger space into the smaller: the transpose of [`widen`](Self::widen).
    pub fn narrow(&self, x: &[f32]) -> Vec<f32> {
        self.rows.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }
}

/// A generator that gives the same numbers everywhere and for ever (splitmix64).
#[derive(Clone, Debug, PartialEq)]
pub struct Random(u64);

impl Random {
    /// A seeded generator.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` up to, not including, `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// A number of the normal distribution.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.between(f64::MIN_POSITIVE, 1.0).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.between(0.0, 1.0)).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn standing_follows_squeezed_cut_or_padded() {
        let mut standing = vec![1.0, 1.0, 1.0];
        follow(&mut standing, &[2.0, 0.0, 1.0, 9.0], 0.9);
        assert_eq!(standing, [1.1, 0.9, 1.0]);
        follow(&mut standing, &[], 0.9);
        close(f64::from(standing[2]), f64::from(0.9_f32));
    }

    #[test]
    fn projections_are_orthonormal_and_decode_what_they_encode() {
        let projection = Projection::new(8, 32, 42);
        let x: Vec<f32> = (0..8).map(|x| x as f32 / 8.0).collect();
        let back = projection.narrow(&projection.widen(&x));
        x.iter().zip(&back).for_each(|(a, b)| close(f64::from(*a), f64::from(*b)));
        close(norm(&projection.widen(&x)), norm(&x));
        assert_eq!(projection, Projection::new(8, 32, 42));
        assert_ne!(projection, Projection::new(8, 32, 43));
    }

    #[test]
    fn a_faded_standing_vector_has_little_relevance() {
        close(relevance(&[3.0, 4.0], &[3.0, 4.0]), 1.0);
        close(relevance(&[3.0, 4.0], &[0.3, 0.4]), 0.1);
        close(relevance(&[1.0, 0.0], &[0.0, 1.0]), 0.0);
        close(relevance(&[1.0, 0.0], &[-1.0, 0.0]), 0.0);
        close(relevance(&[0.0, 0.0], &[1.0, 0.0]), 0.0);
    }

    #[test]
    fn the_generator_is_the_published_one() {
        assert_eq!(Random::new(0).bits(), 0xe220_a839_7b1d_cdaf);
    }
}
