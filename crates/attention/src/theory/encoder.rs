//! The encoder: any JSON as a vector of fixed length, the same in every process.

use serde_json::Value;

use crate::signal::{Leaf, fnv1a, walk};

/// Each path is hashed to a slot with a sign, and its value added there: numbers as
/// sign(x) · ln(1 + |x|) / 10 within ±1, texts by a fixed hash of the text, null as nothing.
pub fn encode(state: &Value, dim: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dim];
    if dim > 0 {
        walk(state, &mut |path, leaf| {
            let (slot, sign) = slot(path, dim);
            vector[slot] += (sign * value(leaf)) as f32;
        });
    }
    vector
}

/// ‖new − old‖₂ / √dim, at most 1.
pub fn raw_change(old: &[f32], new: &[f32]) -> f64 {
    let squares: f64 = old.iter().zip(new).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    (squares.sqrt() / (new.len().max(1) as f64).sqrt()).min(1.0)
}

fn slot(path: &str, dim: usize) -> (usize, f64) {
    let hash = fnv1a(path.as_bytes());
    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
    ((hash % dim as u64) as usize, sign)
}

fn value(leaf: Leaf<'_>) -> f64 {
    match leaf {
        Leaf::Null => 0.0,
        Leaf::Bool(flag) => f64::from(u8::from(flag)),
        Leaf::Number(x) => (x.signum() * x.abs().ln_1p() / 10.0).clamp(-1.0, 1.0),
        Leaf::Text(text) => (fnv1a(text.as_bytes()) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::theory::close;

    #[test]
    fn numbers_are_compressed_and_texts_hashed() {
        close(value(Leaf::Number(0.0)), 0.0);
        close(value(Leaf::Number(99.0)), 0.460_517_018_599);
        close(value(Leaf::Number(-99.0)), -0.460_517_018_599);
        close(value(Leaf::Number(1e300)), 1.0);
        assert!((-1.0..1.0).contains(&value(Leaf::Text("main"))));
        assert_eq!(encode(&json!({"a": 1, "b": "x"}), 16), encode(&json!({"b": "x", "a": 1}), 16));
        assert_eq!(encode(&json!(null), 4), [0.0; 4]);
        assert!(encode(&json!(1), 0).is_empty());
    }

    #[test]
    fn the_raw_change_is_a_norm_within_one() {
        close(raw_change(&[0.0; 4], &[0.5; 4]), 0.5);
        close(raw_change(&[-9.0; 4], &[9.0; 4]), 1.0);
    }
}
